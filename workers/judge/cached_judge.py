"""A judge behind the verdict cache: the same text under the same BOM is judged once, by one worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from schemas.drafts import Draft
from schemas.verdict_space import Flag
from schemas.verdicts import CriterionVerdict
from workers.judge.cache import CacheDown, Claimed, VerdictCache
from workers.judge.cache_entry import free_of_charge, read_entry, verdict_key, write_entry
from workers.judge.protocols import Counters, Judge
from workers.judge.single_flight import SingleFlight

FIRST_POLL_S = 0.02
LONGEST_POLL_S = 0.5


class CachedJudge:
    """Wraps any judge. Only decided verdicts are stored, the first one stands, and without Redis it just judges.

    A hit equals the first verdict but for ``cached`` and ``usage``. A verdict that was made while Redis was down
    carries the flag ``cache_down``. An abstain is shared with whoever waits in this process and with nobody else.
    ``entry`` tells apart the judges that serve one criterion; a criterion's only judge goes by the criterion's id.
    """

    def __init__(
        self,
        judge: Judge,
        cache: VerdictCache,
        *,
        bom_version: str,
        counters: Counters,
        clock: Callable[[], float],
        entry: str | None = None,
    ) -> None:
        self._judge, self._cache, self._bom_version = judge, cache, bom_version
        self._entry = judge.criterion_id if entry is None else entry
        self._counters, self._clock = counters, clock
        self._flights: SingleFlight[CriterionVerdict] = SingleFlight()

    @property
    def criterion_id(self) -> str:
        return self._judge.criterion_id

    def entry_of(self, draft: Draft) -> str:
        return verdict_key(draft.judged_sha256, self._bom_version, self._entry)

    def recall(self, entry: bytes | None) -> CriterionVerdict | None:
        hit = None if entry is None else read_entry(entry, criterion_id=self.criterion_id)
        if hit is not None:
            self._count("hit")
        return hit

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        """For a draft of which nothing was recalled. The claim looks once more: somebody may have judged it since."""
        key = self.entry_of(draft)
        try:
            verdict, joined = await self._flights.run(
                key, lambda: self._settle(draft, key, deadline), deadline=deadline
            )
        except TimeoutError:  # joined one with a later deadline; the judge words the abstain and makes no call any more
            return await self._judge.judge(draft, deadline=deadline)
        return free_of_charge(verdict) if joined else verdict

    async def _settle(self, draft: Draft, key: str, deadline: float) -> CriterionVerdict:
        """The verdict of whichever worker gets to judge it."""
        try:
            found = await self._hit_or_token(key, deadline)
        except CacheDown:
            return await self._without_cache(draft, deadline)
        if isinstance(found, CriterionVerdict):
            return found
        return await self._judge_and_store(draft, key, found, deadline)

    async def _hit_or_token(self, key: str, deadline: float) -> CriterionVerdict | str:
        """Another worker's verdict, or the token of our claim; waits while another one is judging.

        When the deadline comes first the token is empty: the judge, out of time, abstains, and nothing is stored.
        """
        poll_s, corrupt, missed = FIRST_POLL_S, b"", False
        while True:
            state, value, token = await self._cache.claim(key, corrupt=corrupt)
            if state is Claimed.HIT:
                if (hit := self.recall(value)) is not None:
                    return hit
                self._count("corrupt")
                corrupt = value
                continue
            if not missed and not corrupt:
                self._count("miss")
            missed = True
            remaining_s = deadline - self._clock()
            if state is Claimed.CLAIMED or remaining_s <= 0:
                return token
            await asyncio.sleep(min(poll_s, remaining_s))
            poll_s = min(poll_s * 1.7, LONGEST_POLL_S)

    async def _judge_and_store(self, draft: Draft, key: str, token: str, deadline: float) -> CriterionVerdict:
        decided = False
        try:
            verdict = await self._judge.judge(draft, deadline=deadline)
            decided = verdict.label.decided
        finally:
            if not decided:
                self._cache.release(key, token)
        return await self._stored(verdict, key, token) if decided else await self._undecided(verdict, key)

    async def _stored(self, verdict: CriterionVerdict, key: str, token: str) -> CriterionVerdict:
        """The verdict that stands: ours, or the one that another worker stored first, at what ours has cost."""
        entry = write_entry(verdict)
        try:
            standing = await self._cache.store(key, token, entry)
        except CacheDown:
            return _flagged_down(verdict)
        first = None if standing == entry else read_entry(standing, criterion_id=self.criterion_id)
        return verdict if first is None else first.model_copy(update={"cached": False, "usage": verdict.usage})

    async def _undecided(self, verdict: CriterionVerdict, key: str) -> CriterionVerdict:
        """The abstain, unless another worker has decided meanwhile: a claim that ran out may have passed on."""
        try:
            raw = await self._cache.read(key)
        except CacheDown:
            return verdict
        decided = None if raw is None else read_entry(raw, criterion_id=self.criterion_id)
        return verdict if decided is None else decided.model_copy(update={"cached": False, "usage": verdict.usage})

    async def _without_cache(self, draft: Draft, deadline: float) -> CriterionVerdict:
        self._count("down")
        return _flagged_down(await self._judge.judge(draft, deadline=deadline))

    def _count(self, outcome: str) -> None:
        self._counters.count("cache_lookups", criterion=self.criterion_id, outcome=outcome)


def _flagged_down(verdict: CriterionVerdict) -> CriterionVerdict:
    return verdict.model_copy(update={"flags": (*verdict.flags, Flag.CACHE_DOWN)})
