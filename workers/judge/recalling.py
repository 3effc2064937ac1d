"""What the judges of a draft said before: one look into the cache for all its criteria, before anybody is asked."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.drafts import Draft
from schemas.verdicts import CriterionVerdict
from workers.judge.cache import CacheDown, VerdictCache
from workers.judge.protocols import Judge, RecallingJudge

Known = list[CriterionVerdict | None]
"""Criterion by criterion: its verdict, or None where none is known yet."""


class Recall:
    """``models`` are the judges of an instrument's criteria, in its order; None stands for one without a model."""

    def __init__(self, models: Sequence[Judge | None], cache: VerdictCache) -> None:
        self._models = [model if isinstance(model, RecallingJudge) else None for model in models]
        self._cache = cache

    async def __call__(self, draft: Draft, settled: Sequence[CriterionVerdict | None]) -> Known:
        """The verdicts of the cache for the criteria that are not ``settled``. Without Redis it remembers nothing."""
        known: Known = [None] * len(settled)
        asked = [
            (number, model, key)
            for number, model in enumerate(self._models)
            if model is not None and settled[number] is None and (key := model.entry_of(draft)) is not None
        ]
        if not asked:
            return known
        try:
            entries = await self._cache.read_all(tuple(key for _, _, key in asked))
        except CacheDown:
            return known
        for (number, model, _), entry in zip(asked, entries, strict=True):
            known[number] = model.recall(entry)
        return known
