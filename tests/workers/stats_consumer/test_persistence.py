"""Where defects after revision come from, and how persistent misses are: the chain of S2 6.2, sent through the fold."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from schemas.message import Message
from tests.workers.stats_consumer.said import BOM, MONDAY, attempt, decided, sampled, vote
from tests.workers.stats_consumer.simulated import EXAMPLE, folded
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of


def figures(messages: list[Message]) -> dict[str, tuple[float | None, int | None]]:
    read = Assurance(EXAMPLE).figures(weeks_of(folded(messages).cells)[BOM], pane_of(MONDAY))
    return {f.name: (f.value, f.n) for f in read if not f.scope or set(f.scope.values()) == {"c1"}}


def labelled_bad(item: str, number: int, judge: str, stratum: str) -> list[Message]:
    said: list[Message] = [
        attempt(item, number, {"c1": judge}),
        sampled(item, {"c1": judge}, number=number, stratum=stratum),
    ]
    return said + [vote(item, rater, "fail", number=number) for rater in ("ann", "bob")]


def test_misses_after_a_catch_give_the_persistence() -> None:
    """200 pairs, 10 missed after a catch: 5 %. Of 500 bad drafts 50 missed: m = 10 %. rho = 1 - .05 / .1 (S2 6.2)."""
    said: list[Message] = []
    for i in range(200):
        second, stratum = ("pass", "served_after_revision") if i < 10 else ("fail", "dropped")
        said += labelled_bad(f"p{i}", 0, "fail", stratum) + labelled_bad(f"p{i}", 1, second, stratum)
    for i in range(100):
        said += labelled_bad(f"s{i}", 0, *(("pass", "served_first_pass") if i < 40 else ("fail", "dropped")))
    assert figures(said)["miss_persistence"][0] == pytest.approx(0.5)


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
