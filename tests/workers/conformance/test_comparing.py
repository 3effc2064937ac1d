"""Pairs and scores through real forms of the BOM's, over models that are fair or are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.bom import Bom, Charter
from schemas.drafts import Draft
from schemas.verdict_space import Choice, Label
from schemas.verdicts import CriterionVerdict
from tests.workers.conformance.test_preparing import BOM
from workers.conformance import monotonicity, permutation
from workers.conformance.comparing import Dominance, compared, scored
from workers.conformance.findings import Result
from workers.conformance.judging import Verdicts, run_all
from workers.conformance.pairs import OrdinalPair, PairRun

pytestmark = pytest.mark.anyio

RIVAL = Draft.model_validate({"item_id": "r", "text": "A long kettle text.", "rival": "A kettle."})


def bom_with(**criterion: object) -> Bom:
    charter = BOM.charter.model_dump(mode="json")
    charter["criteria"]["must_have"] = [{"id": "c", "judge": "primary", **criterion}]
    return replace(BOM, charter=Charter.model_validate(charter))


PAIRWISE = bom_with(form="pairwise")
ORDINAL = bom_with(form="ordinal", scale={"min": 1, "max": 9, "pass_at": 5})


class Preferring:
    """Prefers the longer text; or always the draft, whichever it is."""

    def __init__(self, *, biased: bool) -> None:
        self._biased = biased

    async def judge(self, draft: Draft) -> Verdicts:
        longer = len(draft.text) > len(draft.rival or "")
        preference = Choice.A if self._biased or longer else Choice.B
        label = Label.PASS if preference is Choice.A else Label.FAIL
        return (CriterionVerdict(criterion_id="c", label=label, judge="j", preference=preference),)


class Scoring:
    """Scores long texts high; or short ones."""

    def __init__(self, sign: int) -> None:
        self._sign = sign

    async def judge(self, draft: Draft) -> Verdicts:
        score = 5 + self._sign * (1 if len(draft.text) > 10 else -1)
        label = Label.PASS if score >= 5 else Label.FAIL
        return (CriterionVerdict(criterion_id="c", label=label, judge="j", score=score),)


@pytest.mark.parametrize(
    ("biased", "pair", "result"),
    [(False, PairRun("r, c", "A", "A"), Result.PASS), (True, PairRun("r, c", "A", "B"), Result.FAIL)],
)
async def test_a_pair_is_asked_with_its_texts_in_both_places(biased: bool, pair: PairRun, result: Result) -> None:
    subject = Preferring(biased=biased)
    pairs = await compared(subject, await run_all(subject, [RIVAL], at_once=1), PAIRWISE, at_once=2)
    assert pairs == [pair]
    assert permutation.evaluate(pairs).result is result


@pytest.mark.parametrize(
    ("sign", "pair", "result"),
    [(1, OrdinalPair("r over s, c", 6, 4), Result.PASS), (-1, OrdinalPair("r over s, c", 4, 6), Result.FAIL)],
)
async def test_the_better_draft_is_scored_beside_the_worse(sign: int, pair: OrdinalPair, result: Result) -> None:
    worse = Draft.model_validate({"item_id": "s", "text": "Short."})
    pairs = await scored(Scoring(sign), [Dominance(RIVAL, worse)], ORDINAL, at_once=2)
    assert pairs == [pair]
    assert monotonicity.evaluate(pairs).result is result


async def test_a_judge_of_another_form_compares_and_scores_nothing() -> None:
    assert await compared(Preferring(biased=True), [], BOM, at_once=1) is None
    assert await scored(Scoring(1), [], BOM, at_once=1) is None
    assert permutation.evaluate(await compared(Preferring(biased=True), [], PAIRWISE, at_once=1) or []).result is (
        Result.UNAVAILABLE
    )
