"""The canary's runs as counts, and what they say: is the judge behind the BOM still the one that was certified?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemas.alerts import AlertKind
from schemas.canary import CanaryRun
from stats.canary import canary_over_days
from stats.cells import EVERYTHING
from stats.unavailable import Unavailable
from workers.stats_consumer.cells import CANARY, Key, Mark
from workers.stats_consumer.outcome import Evidence, Fires, NoData, Outcome, Quiet
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.week import Week


def canary_key(run: CanaryRun, *, pane: int) -> Key:
    return (run.bom_version, CANARY, EVERYTHING, run.ended_at.date().isoformat(), pane)


def was_counted(run: CanaryRun, cells: Iterable[str]) -> bool:
    """Is the run among what stands under its key?"""
    return any(cell.startswith(f"run|{run.event_id}|") for cell in cells)


def canary_marks(run: CanaryRun, key: Key) -> Iterator[Mark]:
    """The run with its baseline, and each verdict with its outcome. Injection cases are apart."""
    baseline = "" if run.baseline_flip_rate is None else repr(run.baseline_flip_rate)
    yield (key, f"run|{run.event_id}|{baseline}|{run.threshold_reason or ''}", 1)
    for v in run.verdicts:
        outcome = "flipped" if v.flipped else "same" if v.label.decided else "undecided"
        yield (key, f"{'injection' if v.injection else 'item'}|{outcome}|{v.criterion_id}|{v.item_id}", 1)


def vendor_change(weeks: Sequence[Week], rules: Rules) -> Outcome:
    """The canary's distinct flips over the last days are more than an unchanged judge shows (S2 7.6 item 9)."""
    days, baseline = _canary_days(weeks)
    if not days:
        return NoData(AlertKind.VENDOR_CHANGE, {}, "canary runs")
    if baseline is None:
        return NoData(AlertKind.VENDOR_CHANGE, {}, "a test-retest baseline: `assay canary certify`")
    read = canary_over_days(days[-rules.canary_days :], baseline=baseline)
    if isinstance(read, Unavailable):
        return NoData(AlertKind.VENDOR_CHANGE, {}, read.reason)
    if not read.alarm:
        return Quiet(AlertKind.VENDOR_CHANGE, {})
    evidence: Evidence = {"flipped": read.flipped, "threshold": read.threshold, "p_value": read.p_value}
    summary = f"{read.flipped} canary verdicts differ from the certified ones; {read.threshold} are too many"
    return Fires(AlertKind.VENDOR_CHANGE, {}, summary, evidence)


def _canary_days(weeks: Sequence[Week]) -> tuple[list[tuple[set[str], set[str]]], float | None]:
    """Per day in order: verdicts made, verdicts flipped; and the newest baseline. Injection cases are apart."""
    days: list[tuple[set[str], set[str]]] = []
    baseline: float | None = None
    for week in weeks:
        for _, cells in sorted(week.strata(CANARY).items()):
            judged, flipped = set(), set()
            for cell in cells:
                kind, *rest = cell.split("|", 2)
                if kind == "run":
                    stated = rest[1].split("|", 1)[0]
                    baseline = float(stated) if stated else None
                elif kind == "item" and rest[0] != "undecided":
                    judged.add(rest[1])
                    flipped |= {rest[1]} if rest[0] == "flipped" else set()
            days.append((judged, flipped))
    return days, baseline
