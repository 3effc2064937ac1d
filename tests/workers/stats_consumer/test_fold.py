"""The fold: any order, split, duplication, crash and correction give what a batch over the set of messages gives."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.decisions import ItemDecision, RoundAbandoned
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Flag
from stats.cells import EVERYTHING, GATE, Cells
from tests.workers.stats_consumer.said import BOM, MONDAY, attempt, canary, decided, in_week, sampled, vote
from tests.workers.stats_consumer.simulated import EXAMPLE
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.cells import (
    ABANDONED,
    ATTRIBUTION,
    CONFLICT,
    FIRST_DRAFTS,
    FLAGS,
    GOLD,
    LABELS,
    PAIRS,
    PANEL,
    RESTARTED,
    ROUNDS,
    STATUS,
    TWO_TEXTS,
    WRONG_REVISION,
    PanelItem,
    Reasons,
)
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.weeks import pane_of

PANE = pane_of(MONDAY)
bounded = settings(max_examples=60, deadline=None, derandomize=True)


def folded(messages: list[Message]) -> Fold:
    fold = Fold(watched=["new_item"])
    for message in messages:
        fold.apply(message)
    return fold


def counts(fold: Fold, subject: str, stratum: str = "", slice_: str = EVERYTHING) -> dict[str, int]:
    return dict(fold.cells.counts.get((BOM, subject, slice_, stratum, PANE), {}))  # type: ignore[call-overload]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Items with restarts, attempts, decisions, samples, votes, corrections: consistent, in the order of the topics."""
    said: list[Message] = []
    for number in range(draw(st.integers(1, 4))):
        item, slices = f"item-{number}", draw(st.sampled_from([(), ("new_item",), ("other",)]))
        for restart in range(draw(st.integers(1, 2))):
            last = draw(st.integers(0, 3))
            for k in range(last + 1):
                labels = {
                    "c1": "fail" if k < last else draw(st.sampled_from(["pass", "fail", "abstain"])),
                    "c2": "pass",
                }
                at = in_week(0, 1000 * restart + k)
                said.append(attempt(item, k, labels, restart=restart, at=at, slices=slices))
            if draw(st.booleans()):
                stratum = "served_after_revision" if last else "served_first_pass"
                said.append(decided(item, stratum, last, restart=restart, at=at, slices=slices))
                pair = [(k, "pair") for k in (0, 1) if 0 < last != k]
                for k, kind in [(last, "sample"), *pair]:
                    judge = {"c1": draw(st.sampled_from(["pass", "fail"])), "c2": "pass"}
                    said.append(
                        sampled(
                            item, judge, stratum=stratum, number=k, restart=restart, slices=slices, kind=kind,
                            guidelines="g1", citable=["G-1.1"],
                        )
                    )  # fmt: skip
                    guidelines, clause = draw(st.sampled_from([("g1", "G-1.1"), ("g1", "G-9.9"), ("g2", None)]))
                    said += [
                        vote(
                            item, rater, draw(st.sampled_from(["pass", "fail", "cannot_tell"])), number=k, kind=kind,
                            restart=restart, version=version, retracted=draw(st.booleans()) and version > 0,
                            guidelines=guidelines, clause=clause,
                        )
                        for rater in "abc"
                        for version in range(draw(st.integers(1, 2)))
                    ]  # fmt: skip
    return [*said, canary(2)]


@bounded
@given(histories(), st.randoms(use_true_random=False))
def test_any_order_and_any_duplication_give_the_same_cells(said: list[Message], rng: random.Random) -> None:
    shuffled = [*said, *(rng.choice(said) for _ in said)]
    rng.shuffle(shuffled)
    assert folded(shuffled).cells == folded(said).cells


@bounded
@given(histories())
def test_the_gate_counts_what_a_plain_loop_over_the_records_counts(said: list[Message]) -> None:
    fold = folded(said)
    records = [m for m in said if isinstance(m, AttemptRecord)]
    expected = Counter((m.attempt, str(m.attempt_outcome)) for m in records)
    counted = {**counts(fold, GATE, "first"), **counts(fold, GATE, "revised")}
    assert counted == {f"{k}|{outcome}": n for (k, outcome), n in expected.items()}
    ended = Counter((str(m.decision), m.attempt) for m in said if isinstance(m, ItemDecision))
    by_stratum = {s: counts(fold, ROUNDS, s) for s in ("served_first_pass", "served_after_revision")}
    assert {(s, int(k)): n for s, at in by_stratum.items() for k, n in at.items()} == ended


@bounded
@given(histories(), st.data())
def test_a_crash_between_any_two_saves_and_a_resume_give_the_batch(said: list[Message], data: st.DataObject) -> None:
    crash_at = data.draw(st.integers(0, len(said)))
    saved: dict[str, bytes] = {}
    fold = Fold(watched=["new_item"])
    for number, message in enumerate(said):
        if number == crash_at:
            fold = Fold.restored(saved, watched=["new_item"])  # what was in memory is gone, what was saved is not
        fold.apply(message)
        for name, row in fold.changes().items():
            saved.pop(name, None) if row is None else saved.__setitem__(name, row)
    batch = folded(said)
    assert Fold.restored(saved).cells == batch.cells
    assert Fold.restored(saved).snapshot() == batch.snapshot()


@bounded
@given(histories())
def test_votes_taken_back_were_never_counted(said: list[Message]) -> None:
    fold = folded(said)
    for message in said:
        if getattr(message, "rater_id", None):
            fold.apply(message.model_copy(update={"version": 9, "retracted": True}))
    assert not [key for key in fold.cells.counts if key.criterion.startswith(PANEL)]
    assert not [n for at in fold.cells.counts.values() for n in at.values() if n < 0]


def test_a_new_bom_version_starts_new_series() -> None:
    fold = folded([attempt("a"), attempt("b", bom="bom-2")])
    assert {key.bom_version for key in fold.cells.counts} == {"bom-1", "bom-2"}
    assert counts(fold, GATE, "first") == {"0|serve": 1}


def test_a_slice_that_nobody_watches_makes_no_series() -> None:
    fold = folded([attempt("a", slices=["new_item", "sku:123", "sku:456"])])
    assert {key.slice for key in fold.cells.counts} == {"all", "new_item", "generator:gen"}


def test_a_round_that_a_later_one_outdates_is_a_restart_until_it_ends_after_all() -> None:
    fold = folded([attempt("a", 0, {"c1": "fail"}), attempt("a", 0, restart=1, at=in_week(0, 5), text="new")])
    assert counts(fold, ROUNDS, STATUS) == {RESTARTED: 1}
    fold.apply(decided("a", "dropped", 3, at=in_week(0, 9)))
    assert counts(fold, ROUNDS, STATUS) == {}


def test_a_round_without_an_answer_is_abandoned_and_comes_back_with_its_next_attempt() -> None:
    fold = folded([attempt("a", 0, {"c1": "fail"}), attempt("b"), decided("b")])
    assert [r.item_id for r in fold.abandon(before=in_week(0, 1))] == ["a"]
    assert fold.abandon(before=in_week(0, 1)) == []
    assert counts(fold, ROUNDS, STATUS) == {ABANDONED: 1}
    fold.apply(attempt("a", 1, {"c1": "fail"}, at=in_week(0, 7)))
    assert counts(fold, ROUNDS, STATUS) == {}
    assert [r.item_id for r in fold.rounds.open_rounds()] == ["a"]


def test_our_own_word_on_an_abandoned_round_holds_until_an_answer_comes() -> None:
    (said,) = Assurance(EXAMPLE).assess(folded([attempt("a", 0, {"c1": "fail"})]), now=in_week(1))[:1]
    assert isinstance(said, RoundAbandoned)
    assert (said.item_id, said.attempt, said.abandoned_at) == ("a", 0, MONDAY + timedelta(days=1))
    rebuilt = folded([attempt("a", 0, {"c1": "fail"}), said, said])
    assert counts(rebuilt, ROUNDS, STATUS) == {ABANDONED: 1}
    assert not [m for m in Assurance(EXAMPLE).assess(rebuilt, now=in_week(1)) if isinstance(m, RoundAbandoned)]
    answered = folded([attempt("a", 0, {"c1": "fail"}), attempt("a", 1, {"c1": "fail"}), said])
    assert counts(answered, ROUNDS, STATUS) == {}


def test_a_draft_that_quotes_another_request_is_counted_in_whatever_order_it_comes() -> None:
    first, second = attempt("a", 0, {"c1": "fail"}), attempt("a", 1, {"c1": "fail"})
    stray = second.model_copy(update={"revision_id": "somebody-elses"})
    passed_already = [attempt("b"), attempt("b", 1)]
    for said in ([first, stray, stray], [stray, first, first], passed_already):
        assert counts(folded(said), ROUNDS, STATUS) == {WRONG_REVISION: 1}
    assert counts(folded([second, first, attempt("a", 2)]), ROUNDS, STATUS) == {}


def test_another_text_and_another_decision_of_one_round_are_counted_beside_the_first() -> None:
    second, other = attempt("a", 0, {"c1": "fail"}, text="other"), decided("a", "dropped", 3)
    fold = folded([attempt("a"), second, second, decided("a"), decided("a"), other, other])
    assert counts(fold, ROUNDS, STATUS) == {TWO_TEXTS: 1, CONFLICT: 1}
    assert counts(fold, GATE, "first") == {"0|serve": 1}


def test_flags_are_counted_once_an_attempt() -> None:
    assert counts(folded([attempt("a", flags=[Flag.CACHE_DOWN, Flag.CACHE_DOWN])]), FLAGS) == {"cache_down": 1}


def test_gold_items_never_reach_the_panel() -> None:
    fold = folded([sampled("g", kind="gold", known={"c1": "fail"}), vote("g", "ann", "pass", kind="gold")])
    assert counts(fold, GOLD, "c1") == {"ann|pass|fail": 1}
    assert not [key for key in fold.cells.counts if key.criterion.startswith(PANEL)]


def test_an_adjudicated_item_counts_by_the_adjudicators_word() -> None:
    votes = [vote("a", "ann", "pass"), vote("a", "bob", "pass"), vote("a", "chief", "fail", stage="adjudicated")]
    (cell,) = counts(folded([sampled("a"), *votes]), PANEL + "c1", "served_first_pass")
    assert PanelItem.of(cell) == PanelItem("pass", 1.0, (("ann", "pass"), ("bob", "pass")), "fail")


@pytest.mark.parametrize(
    ("history", "how"),
    [
        ([{"c1": "fail"}, {"c1": "pass"}], "caught_then_missed"),
        ([{"c1": "pass", "c2": "fail"}, {"c1": "pass"}], "never_failed"),
        ([None, {"c1": "pass"}], "unknown"),
    ],
)
def test_a_defect_after_revision_is_traced_to_what_the_judge_said_before(
    history: list[dict[str, str] | None], how: str
) -> None:
    said = [attempt("a", k, labels) for k, labels in enumerate(history) if labels]
    labelled = [sampled("a", stratum="served_after_revision", number=1), *votes_of("a", "fail", 1)]
    for order in ([*said, *labelled], [*labelled, *said]):
        assert counts(folded(order), ATTRIBUTION, "served_after_revision") == {f"c1|{how}": 1}


def test_a_caught_first_draft_and_its_bad_revision_are_a_pair() -> None:
    said = [
        sampled("a", {"c1": "fail"}, number=0, stratum="dropped", kind="pair", inclusion=0.5),
        sampled("a", {"c1": "pass"}, number=1, stratum="served_after_revision", kind="pair", inclusion=0.5),
        *votes_of("a", "fail", 0, kind="pair"),
        *votes_of("a", "fail", 1, kind="pair"),
    ]
    for order in (said, said[::-1]):
        assert counts(folded(order), PAIRS) == {'["c1","pass",2.0]': 1}
        assert counts(folded(order), FIRST_DRAFTS) == {'["c1","fail",2.0]': 1}


def test_verdicts_of_two_bom_versions_are_no_pair() -> None:
    said = [
        sampled("a", {"c1": "fail"}, number=0, stratum="dropped", kind="pair", bom="bom-0"),
        sampled("a", {"c1": "pass"}, number=1, stratum="dropped", kind="pair"),
        *votes_of("a", "fail", 0, kind="pair"),
        *votes_of("a", "fail", 1, kind="pair"),
    ]
    assert not [key for key in folded(said).cells.counts if key.criterion == PAIRS]


def test_labels_that_do_not_fit_their_tasks_guidelines_are_counted_and_do_not_decide() -> None:
    """Two of today's guidelines pass it, two of another version fail it; one names a clause that there is not."""
    said = [
        sampled("a", {"c1": "fail"}, guidelines="g2", citable=["G-1.1"], clauses={"c1": "G-1.1"}),
        vote("a", "ann", "pass", guidelines="g2"),
        vote("a", "bob", "pass", guidelines="g2"),
        vote("a", "cleo", "fail", guidelines="g2", clause="G-9.9"),
        vote("a", "dan", "fail", guidelines="g1", clause="G-1.1"),
        vote("a", "eve", "fail", guidelines="g1", clause="G-1.1"),
        vote("a", "eve", "fail", guidelines="g1", version=1, retracted=True),
        vote("a", "ann", "fail", "c9", guidelines="g1"),  # a criterion that the task does not ask for
    ]
    for order in (said, said[::-1]):
        fold = folded(order)
        assert counts(fold, LABELS, "c1") == {"fits": 2, "unknown_clause": 1, "other_guidelines": 1}
        (cell,) = counts(fold, PANEL + "c1", "served_first_pass")
        assert PanelItem.of(cell)[2:] == ((("ann", "pass"), ("bob", "pass"), ("cleo", "fail")), None, None)
    # Told again as what was meant, they fit.
    meant = [
        vote("a", "cleo", "fail", guidelines="g2", clause="G-1.1", version=1),
        vote("a", "dan", "fail", guidelines="g2", version=1),
    ]
    fold = folded(said + meant)
    assert counts(fold, LABELS, "c1") == {"fits": 4}
    (cell,) = counts(fold, PANEL + "c1", "served_first_pass")
    assert PanelItem.of(cell).reasons == Reasons(None, "G-1.1", (("cleo", "G-1.1"),))


def test_an_adjudicator_decides_under_whatever_guidelines() -> None:
    """Votes under two versions of the guidelines need one: the newer wording may be why he was asked."""
    said = [
        sampled("a", guidelines="g1", citable=["G-1.1"]),
        vote("a", "ann", "pass", guidelines="g1"),
        vote("a", "bob", "pass", guidelines="g1"),
        vote("a", "chief", "fail", guidelines="g2", clause="G-2.2", stage="adjudicated"),
    ]
    (cell,) = counts(folded(said), PANEL + "c1", "served_first_pass")
    assert PanelItem.of(cell).adjudicated == "fail"
    assert PanelItem.of(cell).reasons == Reasons("G-2.2", None, ())


def test_what_comes_after_a_week_is_final_is_late_and_changes_nothing() -> None:
    fold = folded([attempt("a"), sampled("a"), *votes_of("a", "pass", 0)])
    fold.close(PANE)
    before = Cells.from_json(fold.cells.to_json())
    fold.apply(attempt("b"))
    fold.apply(vote("a", "ann", "fail", version=5))
    assert fold.cells == before
    assert fold.late == {PANE: 1}


def test_weeks_beyond_the_horizon_are_forgotten_row_by_row() -> None:
    fold = folded([attempt("a"), decided("a"), attempt("b", at=in_week(3)), vote("orphan", "ann", "pass")])
    saved = dict(fold.changes())
    fold.forget(before=PANE + 2)
    saved |= fold.changes()
    assert {key.pane for key in Fold.restored({n: r for n, r in saved.items() if r}).cells.counts} == {PANE + 3}
    assert fold.unmatched == 1


def test_closed_rounds_are_remembered_up_to_a_bound() -> None:
    fold = Fold(closed_kept=10)
    for number in range(50):
        fold.apply(attempt(f"i{number}"))
        fold.apply(decided(f"i{number}"))
        fold.changes()
    assert len(fold.rounds.by_id) == len(fold.rounds.by_item) == 10


def votes_of(item: str, said: str, number: int, *, kind: str = "sample") -> list[Message]:
    at = MONDAY + timedelta(days=9)
    return [vote(item, rater, said, number=number, kind=kind, at=at) for rater in ("ann", "bob", "cleo")]
