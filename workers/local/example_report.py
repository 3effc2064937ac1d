"""What the stats worker would have published of the example's weeks, without Kafka and Redis."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from schemas.bom import Bom
from workers.local.example_weeks import WEEKS, Terms, example_weeks
from workers.report.published import Published
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.running import watched_slices
from workers.stats_consumer.weeks import end_of, last_closed

SEED = 7


def example_published(bom: Bom, *, now: datetime, terms: Terms = Terms()) -> Published:  # noqa: B008 - frozen
    """The last six closed weeks, looked at when all but the last have ended, and now."""
    last = last_closed(now)
    fold, assurance, published = Fold(watched=watched_slices(bom)), Assurance(bom), Published()
    before, looked = end_of(last - 1), False
    for message in example_weeks(bom, first_monday=end_of(last - WEEKS), rng=random.Random(SEED), terms=terms):
        week_of_last = getattr(message, "judged_at", before - timedelta(1)) >= before
        if week_of_last and not looked:
            looked = True
            _look(assurance, fold, published, now=before + timedelta(hours=12))
        fold.apply(message)
        published.add(message)
    _look(assurance, fold, published, now=now)
    return published


def _look(assurance: Assurance, fold: Fold, published: Published, *, now: datetime) -> None:
    for said in assurance.assess(fold, now=now):
        published.add(said)
