"""In which order criteria are asked, and what is said of those that are not."""

from __future__ import annotations

import pytest

from schemas.verdict_space import Cause, Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict
from tests.workers.judge.composed.members import ABSTAIN, F, P, Says, said
from tests.workers.judge.specimens import CHARTER, draft
from workers.judge.gate import decide, gated_labels
from workers.judge.instrument import CriterionJudge, Instrument, StopAtFirstFail

pytestmark = pytest.mark.anyio

NAMES = ("a", "b", "c")


class Rules:
    def __init__(self, label: Label) -> None:
        self.label = label

    def verdict(self, draft: object) -> CriterionVerdict:
        return said(self.label)


def judges(*labels: Label) -> list[Says]:
    made = [Says(label) for label in labels]
    for name, judge in zip(NAMES, made, strict=True):
        judge.verdict = judge.verdict.model_copy(update={"criterion_id": name})
    return made


async def stopped(models: list[Says], *, enforced: set[str] | None = None, rules: dict[str, Label] | None = None):  # type: ignore[no-untyped-def]
    criteria = [
        CriterionJudge(name, rules=_named(name, (rules or {}).get(name)), model=model)
        for name, model in zip(NAMES, models, strict=True)
    ]
    asking = StopAtFirstFail(set(NAMES) if enforced is None else enforced)
    return await Instrument(criteria, deadline_s=5, asking=asking).judge(draft())


def _named(name: str, label: Label | None) -> Rules | None:
    if label is None:
        return None
    rules = Rules(label)
    rules.verdict = lambda draft: said(label).model_copy(update={"criterion_id": name})  # type: ignore[method-assign]
    return rules


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        ((P, P, P), (1, 1, 1)),
        ((F, P, P), (1, 0, 0)),
        ((P, F, F), (1, 1, 0)),
        ((ABSTAIN, F, P), (1, 1, 0)),
        ((P, P, F), (1, 1, 1)),
    ],
)
async def test_asking_stops_at_the_first_fail_in_the_charters_order(
    labels: tuple[Label, ...], asked: tuple[int, ...]
) -> None:
    models = judges(*labels)
    verdicts = await stopped(models)
    assert tuple(model.asked for model in models) == asked
    assert [v.criterion_id for v in verdicts] == list(NAMES)
    for verdict, label, was_asked in zip(verdicts, labels, asked, strict=True):
        assert verdict.label is (label if was_asked else ABSTAIN)
        if not was_asked:
            assert (verdict.cause, verdict.usage.cost_usd, verdict.usage.calls) == (Cause.STOPPED_EARLY, 0.0, 0)


async def test_a_fail_by_rules_stops_before_the_first_call_whatever_its_place() -> None:
    models = judges(P, P, P)
    verdicts = await stopped(models, rules={"c": F})
    assert [model.asked for model in models] == [0, 0, 0]
    assert [v.label for v in verdicts] == [ABSTAIN, ABSTAIN, F]


async def test_a_fail_that_the_gate_does_not_enforce_stops_nothing() -> None:
    models = judges(F, P, P)
    verdicts = await stopped(models, enforced={"b", "c"})
    assert [v.label for v in verdicts] == [F, P, P]


async def test_the_outcome_is_the_one_that_asking_all_would_have_had() -> None:
    criteria = CHARTER.criteria.must_have
    for labels in [(F, P, P), (P, F, ABSTAIN), (ABSTAIN, F, P), (P, P, P), (P, ABSTAIN, P)]:
        early = await stopped(judges(*labels))
        whole = [model.verdict for model in judges(*labels)]
        outcomes = {
            decide(gated_labels(said_, criteria, enforced={"a", "b"}), 0, retry_budget=2) for said_ in (early, whole)
        }
        assert len(outcomes) == 1
        assert outcomes <= set(AttemptOutcome)
