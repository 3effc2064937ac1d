"""What a sampled item and people's word on it add to the counts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import orjson

from schemas.decisions import Decision
from schemas.labels import TaskKind
from stats.cells import EVERYTHING
from stats.verdicts import FAIL, PASS
from workers.stats_consumer.cells import (
    ATTRIBUTION,
    AUDIT,
    CALIBRATION,
    FIRST_DRAFTS,
    GOLD,
    ITEMS,
    LABELS,
    PAIRS,
    PANEL,
    PPI,
    Mark,
    PanelItem,
)
from workers.stats_consumer.units import Sample, Unit


def marks_of(unit: Unit, earlier: Unit | None, *, watched: frozenset[str]) -> list[Mark]:
    """What a unit adds to the counts now. ``earlier``: the first draft of a pair, where this is its revision.

    Gold items never enter band or defect counts (S2 7.7 item 2); nor do pairs, which are another draw than the sample.
    """
    sample = unit.sample
    if sample is None:
        return []
    return [*_fits(unit, sample), *_by_kind(unit, sample, earlier, watched)]


def _by_kind(unit: Unit, sample: Sample, earlier: Unit | None, watched: frozenset[str]) -> Iterator[Mark]:
    match TaskKind(sample.kind):
        case TaskKind.GOLD:
            yield from _gold(unit, sample)
        case TaskKind.AUDIT:
            yield _whole(unit, sample, AUDIT, EVERYTHING)
            yield from _predicted(unit, sample)
        case TaskKind.PAIR:
            yield from _first_draft(unit, sample)
            yield from _pair(unit, sample, earlier)
        case TaskKind.SAMPLE:
            for slice_ in (EVERYTHING, *sorted(watched.intersection(sample.slices))):
                yield from _panel(unit, sample, slice_)
                if _was_decided_on(sample):
                    yield _whole(unit, sample, ITEMS, slice_)
            yield from _calibration(unit, sample)
            yield from _attribution(unit, sample)
            yield from _first_draft(unit, sample)
            yield from _pair(unit, sample, earlier)


def _fits(unit: Unit, sample: Sample) -> Iterator[Mark]:
    """Labels that name a clause nobody has, or were given under other guidelines, are counted and not just left out."""
    for criterion, fit in unit.fits():
        yield ((sample.bom_version, LABELS, EVERYTHING, criterion, sample.pane), str(fit), 1)


def _panel(unit: Unit, sample: Sample, slice_: str) -> Iterable[Mark]:
    for criterion, judge in sample.judge.items():
        votes, adjudicated = unit.cast(criterion), unit.adjudicated(criterion)
        if votes or adjudicated:
            key = (sample.bom_version, PANEL + criterion, slice_, sample.stratum, sample.pane)
            yield (key, PanelItem(judge, sample.weight, votes, adjudicated, unit.reasons(criterion)).cell(), 1)


def _whole(unit: Unit, sample: Sample, subject: str, slice_: str) -> Mark:
    cell = orjson.dumps([sample.attempt, sample.weight, unit.settled()]).decode()
    return ((sample.bom_version, subject, slice_, sample.stratum, sample.pane), cell, 1)


def _predicted(unit: Unit, sample: Sample) -> Iterable[Mark]:
    """The audit judge's word beside the people's, for prediction-powered inference (S2 6.3)."""
    if sample.audit in (PASS, FAIL) and unit.settled() != "unsettled":
        yield ((sample.bom_version, PPI, EVERYTHING, "", sample.pane), f"{sample.audit}|{unit.settled()}", 1)


def _calibration(unit: Unit, sample: Sample) -> Iterable[Mark]:
    """How sure the judge was, and whether people agree."""
    key = (sample.bom_version, CALIBRATION, EVERYTHING, "", sample.pane)
    for criterion, thousandths in sample.confidence.items():
        if (gold := unit.gold(criterion)) is not None:
            right = "right" if sample.judge.get(criterion) == gold else "wrong"
            yield (key, f"{criterion}|{thousandths}|{right}", 1)


def _was_decided_on(sample: Sample) -> bool:
    """The first draft of a round that was served after revision says nothing of what was served."""
    return not (sample.stratum == Decision.SERVED_AFTER_REVISION and sample.attempt == 0)


def _gold(unit: Unit, sample: Sample) -> list[Mark]:
    return [
        ((sample.bom_version, GOLD, EVERYTHING, criterion, sample.pane), f"{rater}|{vote}|{known}", 1)
        for criterion, known in sample.known.items()
        for rater, vote in unit.cast(criterion)
    ]


def _attribution(unit: Unit, sample: Sample) -> list[Mark]:
    """S2 6.2: the judge had failed this criterion on an earlier draft, or never had."""
    if sample.stratum != Decision.SERVED_AFTER_REVISION:
        return []
    key = (sample.bom_version, ATTRIBUTION, EVERYTHING, sample.stratum, sample.pane)
    return [
        (key, f"{criterion}|{_how(unit.failed, sample.attempt, criterion)}", 1)
        for criterion in sample.judge
        if unit.gold(criterion) == FAIL
    ]


def _how(failed: Mapping[int, tuple[str, ...]], attempt: int, criterion: str) -> str:
    before = [criteria for earlier, criteria in failed.items() if earlier < attempt]
    if any(criterion in criteria for criteria in before):
        return "caught_then_missed"
    return "never_failed" if len(before) == attempt else "unknown"


def _first_draft(unit: Unit, sample: Sample) -> Iterator[Mark]:
    """A first draft that is bad for people: did the judge miss it? Those that ended their round come with the sample,
    those that were revised with the pairs; each stands for 1 / its own inclusion probability first drafts."""
    if sample.attempt > 0:
        return
    key = (sample.bom_version, FIRST_DRAFTS, EVERYTHING, "", sample.pane)
    for criterion, judge in sample.judge.items():
        if judge in (FAIL, PASS) and unit.gold(criterion) == FAIL:
            yield (key, orjson.dumps([criterion, judge, sample.weight]).decode(), 1)


def _pair(unit: Unit, sample: Sample, earlier: Unit | None) -> Iterator[Mark]:
    """A first draft that the judge caught and its revision, both bad for people (S2 6.2, for rho).

    The pair was drawn as one: its weight is the first draft's, also where the sample had asked for the revision.
    """
    before = earlier.sample if earlier else None
    if earlier is None or before is None or before.bom_version != sample.bom_version:
        return
    key = (sample.bom_version, PAIRS, EVERYTHING, "", sample.pane)
    for criterion, judge in sample.judge.items():
        caught = before.judge.get(criterion) == FAIL and judge in (FAIL, PASS)
        if caught and unit.gold(criterion) == earlier.gold(criterion) == FAIL:
            yield (key, orjson.dumps([criterion, judge, before.weight]).decode(), 1)
