"""Where defects after revision come from, and how persistent misses are: the chain of S2 6.2, sent through the fold."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from schemas.message import Message
from schemas.reports import Figure
from schemas.telemetry import AttemptRecord
from tests.workers.stats_consumer.said import BOM, MONDAY, attempt, decided, sampled, vote
from tests.workers.stats_consumer.simulated import EXAMPLE, folded
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of


def figures(messages: list[Message]) -> dict[str, tuple[float | None, int | None]]:
    read = Assurance(EXAMPLE).figures(weeks_of(folded(messages).cells)[BOM], pane_of(MONDAY))
    return {f.name: (f.value, f.n) for f in read if not f.scope or set(f.scope.values()) == {"c1"}}


def labelled_bad(
    item: str, number: int, judge: str, stratum: str, *, kind: str = "sample", inclusion: float = 1.0
) -> list[Message]:
    said: list[Message] = [
        attempt(item, number, {"c1": judge}),
        sampled(item, {"c1": judge}, number=number, stratum=stratum, kind=kind, inclusion=inclusion),
    ]
    return said + [vote(item, rater, "fail", number=number, kind=kind) for rater in ("ann", "bob")]


def bad_pair(item: str, second: str, *, inclusion: float, kinds: tuple[str, str] = ("pair", "pair")) -> list[Message]:
    """A first draft that was caught, and its revision; two raters fail both."""
    stratum = "served_after_revision" if second == "pass" else "dropped"
    first = labelled_bad(item, 0, "fail", stratum, kind=kinds[0], inclusion=inclusion)
    weight = {"inclusion": inclusion} if kinds[1] == "pair" else {"inclusion": 1.0}
    return first + labelled_bad(item, 1, second, stratum, kind=kinds[1], **weight)


def test_misses_after_a_catch_give_the_persistence() -> None:
    """Pairs are drawn with 1/4, first drafts that ended their round with 1/2. By hand:

    50 pairs, 4 missed after a catch: 4/50 = 8 %. Bad first drafts: 50 caught that stand for 200, and of those served
    at once 25 missed that stand for 50: m = 50 / 250 = 20 % (unweighted it would be 25 / 75). rho = 1 - 8 % / 20 %.
    """
    said: list[Message] = []
    for i in range(50):
        said += bad_pair(f"p{i}", "pass" if i < 4 else "fail", inclusion=0.25)
    for i in range(25):
        said += labelled_bad(f"s{i}", 0, "pass", "served_first_pass", inclusion=0.5)
    expected = (pytest.approx(0.6), 50)
    assert figures(said)["miss_persistence"] == expected
    random.Random(1).shuffle(said)
    assert figures(said)["miss_persistence"] == expected  # whatever comes first


def test_what_the_sample_asked_for_already_is_the_pairs_second_half() -> None:
    """Its own weight is another draw's: the pair keeps the pair's. 40 of weight 4 and none missed, 10 of 1 all missed:
    10 / 170 after a catch. First drafts: 170 caught and, served at once, 30 missed: m = 30 / 200. rho = 1 - .0588/.15.
    """
    said: list[Message] = []
    for i in range(40):
        said += bad_pair(f"p{i}", "fail", inclusion=0.25, kinds=("pair", "sample"))
    for i in range(10):
        said += bad_pair(f"q{i}", "pass", inclusion=1.0, kinds=("pair", "sample"))
    for i in range(30):
        said += labelled_bad(f"s{i}", 0, "pass", "served_first_pass")
    assert figures(said)["miss_persistence"] == (pytest.approx(1 - (10 / 170) / 0.15), 50)


def test_without_enough_pairs_it_is_said_how_many_are_missing() -> None:
    said = [message for i in range(12) for message in bad_pair(f"p{i}", "fail", inclusion=0.5)]
    said += labelled_bad("s", 0, "pass", "served_first_pass")
    said += labelled_bad("alone", 0, "fail", "dropped", kind="pair")  # its revision has no label yet
    said += bad_pair("undecided", "abstain", inclusion=0.5)
    read = Assurance(EXAMPLE).figures(weeks_of(folded(said).cells)[BOM], pane_of(MONDAY))
    (figure,) = [f for f in read if f.name == "miss_persistence"]
    assert (figure.value, figure.n) == (None, 12)
    assert figure.reason == "18 more pairs with a caught bad first draft and a bad revision (hitl.weekly_pairs)"


def test_pairs_are_in_no_other_figure() -> None:
    """They are another draw than the sample: what the sample says of defects, agreement and bands stays as it was."""
    sample = [m for i in range(30) for m in labelled_bad(f"s{i}", 0, "pass", "served_first_pass", inclusion=0.5)]
    pairs = [m for i in range(40) for m in bad_pair(f"p{i}", "fail", inclusion=0.25)]
    telemetry = [m for m in pairs if m.ce_type == AttemptRecord.ce_type]

    def others(messages: list[Message]) -> list[Figure]:
        fold = folded(messages)
        read = Assurance(EXAMPLE).figures(weeks_of(fold.cells)[BOM], pane_of(MONDAY))
        return [f for f in read if f.name not in ("miss_persistence", "unknown_clause_rate", "other_guidelines_rate")]

    assert others(sample + telemetry) == others(sample + pairs)


def chain(n: int, rho: float, rng: random.Random) -> list[Message]:
    """S2 6.2's defaults at K = 3, item by item; what is served after a revision is labelled with its truth."""
    said: list[Message] = []
    for i in range(n):
        item, unfixable, type_ = f"i{i}", rng.random() < 0.2, rng.random()
        sticky = None if type_ >= rho else rng.random() < 0.1  # always missed, always caught, or afresh
        bad = unfixable or rng.random() < 0.6
        for k in range(4):
            missed = rng.random() < 0.1 if sticky is None else sticky
            passed = missed if bad else rng.random() < 0.8
            said.append(attempt(item, k, {"c1": "pass" if passed else "fail"}))
            if passed:
                break
            bad = unfixable or (rng.random() >= 0.4 if bad else rng.random() < 0.1)
        if not passed or k == 0:
            continue
        said += [decided(item, "served_after_revision", k), sampled(item, stratum="served_after_revision", number=k)]
        said += [vote(item, rater, "fail" if bad else "pass", number=k) for rater in ("ann", "bob")]
    return said


@pytest.mark.parametrize(("rho", "share"), [(0.0, 0.216), (0.5, 0.119), (1.0, 0.002)])
def test_the_stratum_after_revision_is_as_dirty_as_the_seed_says(rho: float, share: float) -> None:
    """21.6 %, 11.9 % and 0.2 % of what is served after revision (S2 6.2). 3,000 items leave 1.1 points of noise."""
    fold = folded(chain(3000, rho, random.Random(7)))
    read = Assurance(EXAMPLE).figures(weeks_of(fold.cells)[BOM], pane_of(MONDAY))
    scoped = {(f.name, *sorted(f.scope.values())): f for f in read}
    after = scoped["defect_rate", "all", "served_after_revision"]
    assert after.value == pytest.approx(share, abs=0.034)
    # Every item there was failed on c1 before: whatever is bad now was caught once, or is new under the same criterion.
    origins = Counter({how: scoped[how,].n or 0 for how in ("caught_then_missed", "never_failed", "unknown")})
    assert scoped["never_failed",].value in (None, 0.0)
    assert origins["caught_then_missed"] == round((after.value or 0) * (after.n or 0))
