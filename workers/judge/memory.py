"""What a judge said and might not say again: a draft that comes twice under one event id is told the same twice.

Decided verdicts stand in the verdict cache. An abstain does not, for another draft with the same text must be asked
anew; so the verdicts of a draft that hold one are kept for a while under their own event id, before they are
published. After a crash, a rebalance or a producer's repetition the same words come out again (docs/adr/0007).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from pydantic import TypeAdapter, ValidationError

from schemas.verdict_space import Cause, Flag
from schemas.verdicts import CriterionVerdict, Vote
from workers.judge.cache import CacheDown, VerdictCache
from workers.judge.protocols import Counters

Verdicts = tuple[CriterionVerdict, ...]

LOOK_AGAIN_AFTER_S: Final = 0.05
"""What was read before a judgment took that long may be old: a worker that was taken for dead may have spoken since."""

# Raised whenever entries of the version before can no longer be read as the verdicts they were.
_VERSION = b"1 "
_VERDICTS: TypeAdapter[Verdicts] = TypeAdapter(Verdicts)
_LASTING = frozenset(
    {Cause.OVERSIZE, Cause.NO_INSTRUCTION, Cause.SAME_FAMILY, Cause.NOT_BOUND, Cause.NO_RIVAL, Cause.STOPPED_EARLY,
     Cause.NOT_RECORDED}
)  # fmt: skip
"""Causes that follow from the draft and the BOM alone, or from another verdict of the draft."""


def said_key(event_id: str) -> str:
    return f"assay:v1:said:{{{event_id}}}"


def may_change(verdict: CriterionVerdict) -> bool:
    """Might the same draft be judged otherwise the next time, though the verdict cache keeps what is decided? Pure.

    So does an abstain that a model, its endpoint or a clock had a part in, alone or as one of several votes, and
    what was decided by the fallback or without the cache.
    """
    if Flag.FALLBACK_JUDGE in verdict.flags or Flag.CACHE_DOWN in verdict.flags:
        return True
    return _open(verdict) or any(_open(vote) for vote in verdict.votes)


def _open(one: CriterionVerdict | Vote) -> bool:
    return one.cause is not None and one.cause not in _LASTING and not one.judge.startswith("rule:")


def _flagged_down(verdict: CriterionVerdict) -> CriterionVerdict:
    """A model's verdict of a draft of which it is not known whether it was judged before, or that was not kept."""
    if verdict.judge.startswith("rule:") or Flag.CACHE_DOWN in verdict.flags:
        return verdict
    return verdict.model_copy(update={"flags": (*verdict.flags, Flag.CACHE_DOWN)})


class VerdictMemory:
    """Keeps for ``ttl_s``, the first words stand. ``clock`` is the event loop's.

    Without Redis it just judges, and the verdicts say so (the flag ``cache_down``).
    """

    def __init__(self, cache: VerdictCache, *, ttl_s: float, counters: Counters, clock: Callable[[], float]) -> None:
        self._cache, self._ttl_s, self._counters, self._clock = cache, ttl_s, counters, clock

    async def same(self, event_id: str, judge: Callable[[], Awaitable[Verdicts]]) -> Verdicts:
        """What was said under this event id before, or else what ``judge`` says now."""
        key, started = said_key(event_id), self._clock()
        early = self._cache.ask(key)  # in the same MGET as the judge's own look into the cache
        verdicts = await judge()
        try:
            if any(map(may_change, verdicts)):
                return await self._kept(key, verdicts)
            said = await self._said(early)
            if said is None and self._clock() - started > LOOK_AGAIN_AFTER_S:
                said = await self._said(self._cache.ask(key))
        except CacheDown:
            self._count("down")
            return tuple(map(_flagged_down, verdicts))
        return verdicts if said is None else said

    async def _said(self, asked: asyncio.Future[list[bytes | None]] | None) -> Verdicts | None:
        """Raises CacheDown where it cannot be known."""
        if asked is None:
            raise CacheDown("left alone after a failure")
        (raw,) = await asked
        return None if raw is None else self._read(raw)

    async def _kept(self, key: str, verdicts: Verdicts) -> Verdicts:
        """The words that stand, ours or those that another worker kept first."""
        entry = _VERSION + _VERDICTS.dump_json(verdicts)
        standing = await self._cache.keep(key, entry, ttl_s=self._ttl_s)
        if standing == entry:
            self._count("kept")
            return verdicts
        return self._read(standing) or verdicts

    def _read(self, raw: bytes) -> Verdicts | None:
        try:
            said = _VERDICTS.validate_json(raw.removeprefix(_VERSION)) if raw.startswith(_VERSION) else None
        except ValidationError:
            said = None
        self._count("corrupt" if said is None else "repeated")
        return said

    def _count(self, outcome: str) -> None:
        self._counters.count("verdict_memory", outcome=outcome)
