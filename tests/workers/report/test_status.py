"""A health at one glance never sounds better than what was measured."""

from __future__ import annotations

import pytest

from schemas.alerts import AlertKind
from schemas.reports import Figure, Health
from tests.workers.report.specimens import figure
from workers.report.page import Condition
from workers.report.status import HEALTH_OF, status

_J, _S = Health.JUDGE, Health.SERVED


def band(margin: float | None, metric: str = "specificity", criterion: str = "c1") -> Figure:
    scope = {"criterion": criterion, "slice": "all", "metric": metric}
    return figure("band_margin", margin, health=_J, scope=scope)


def served(value: float | None, lo: float | None = None, hi: float | None = None) -> list[Figure]:
    cap = figure("served_defect_cap", 0.02, health=_S, scope={}, n=None)
    return [figure("served_defect_rate", value, health=_S, scope={}, lo=lo, hi=hi), cap]


def test_every_kind_of_alert_belongs_to_a_health() -> None:
    assert set(HEALTH_OF) == set(AlertKind)


@pytest.mark.parametrize(
    ("health", "figures", "condition"),
    [
        (Health.GENERATOR, [], Condition.UNKNOWN),
        (Health.GENERATOR, [figure()], Condition.CALM),
        (_J, [], Condition.UNKNOWN),
        (_J, [band(None)], Condition.UNKNOWN),
        (_J, [band(0.1), band(None, criterion="c2")], Condition.UNKNOWN),
        (_J, [band(0.1), band(None, "recall")], Condition.CALM),
        (_J, [band(-0.1), band(None, criterion="c2")], Condition.ATTENTION),
        (_S, [], Condition.UNKNOWN),
        (_S, served(None), Condition.UNKNOWN),
        (_S, served(0.01, 0.005, 0.015), Condition.CALM),
        (_S, served(0.01, 0.005, 0.03), Condition.UNKNOWN),
        (_S, served(0.05, 0.03, 0.08), Condition.ATTENTION),
        (_S, served(0.01), Condition.UNKNOWN),
        (Health.RATERS, [], Condition.UNKNOWN),
    ],
)
def test_what_was_not_measured_is_not_calm(health: Health, figures: list[Figure], condition: Condition) -> None:
    assert status(health, figures, [])[0] is condition


def test_the_reason_is_in_the_sentence() -> None:
    _, sentence = status(_S, served(None), [])
    assert "41 more post-revision labels" in sentence
