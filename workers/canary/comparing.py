"""One run beside the certificate, and several runs together: how many flips are too many? (S2 7.6)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from schemas.canary import CanaryRun, CanaryVerdict
from schemas.ids import event_id
from schemas.verdict_space import Label
from stats.canary import CanaryVerdict as Accumulated
from stats.canary import canary_over_days, canary_power, canary_threshold
from stats.unavailable import Number, Unavailable
from workers.canary.certificate import Certificate
from workers.canary.judging import Judged, Key

TRIPLED, SEED_RATE = 3, 0.02
"""The rise that the stated power is for: three times the baseline, or from 2 to 6 % (S2 7.6) where none was seen."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one run says. ``compared`` counts verdicts that were decided today and are no injection cases."""

    compared: int
    flips: int
    threshold: int | Unavailable
    power_rate: float
    power: Number
    injection_flips: tuple[CanaryVerdict, ...]
    not_decided: int

    @property
    def alarm(self) -> bool:
        """At or above the threshold, or any flip of an injection case."""
        reached = not isinstance(self.threshold, Unavailable) and self.flips >= self.threshold
        return reached or bool(self.injection_flips)


def canary_run(
    certificate: Certificate, today: Mapping[Key, Judged], *, cause: str, started: datetime, ended: datetime
) -> CanaryRun:
    """The record of one run. ``cause`` makes its id: the same day's scheduled run always has the same one."""
    verdicts = tuple(
        _beside(certified.key, certified.label, today[certified.key]) for certified in certificate.verdicts
    )
    threshold = canary_threshold(len(_counted(verdicts)), certificate.baseline.flip_rate)
    return CanaryRun(
        event_id=run_id(certificate, cause),
        bom_version=certificate.bom_version,
        canary_digest=certificate.digest,
        baseline_flip_rate=certificate.baseline.flip_rate,
        threshold=None if isinstance(threshold, Unavailable) else threshold,
        threshold_reason=threshold.reason if isinstance(threshold, Unavailable) else None,
        verdicts=verdicts,
        models_served=tuple(sorted({model for judged in today.values() for model in judged.models})),
        started_at=started,
        ended_at=ended,
    )


def run_id(certificate: Certificate, cause: str) -> str:
    return event_id("canary_run", certificate.bom_version, certificate.digest, cause)


def finding(run: CanaryRun) -> Finding:
    """Read a run. The threshold is the run's own: it was fixed when the verdicts were compared."""
    compared = len(_counted(run.verdicts))
    rate = min(1.0, TRIPLED * (run.baseline_flip_rate or SEED_RATE))
    threshold = run.threshold if run.threshold is not None else Unavailable(run.threshold_reason or "no threshold")
    return Finding(
        compared=compared,
        flips=run.flips,
        threshold=threshold,
        power_rate=rate,
        power=threshold if isinstance(threshold, Unavailable) else canary_power(compared, threshold, rate),
        injection_flips=tuple(v for v in run.verdicts if v.injection and v.flipped),
        not_decided=sum(not v.label.decided for v in run.verdicts),
    )


def accumulated(runs: Iterable[CanaryRun]) -> Accumulated | Unavailable:
    """Distinct flipped verdicts over the runs of one certificate; injection cases are left out.

    Runs of one moment counted twice would lower the threshold's level: pass each event id once.
    """
    kept = list(runs)
    if not kept:
        return Unavailable("no run is on record")
    days = [(_names(_counted(run.verdicts)), _names(v for v in _counted(run.verdicts) if v.flipped)) for run in kept]
    return canary_over_days(days, baseline=kept[-1].baseline_flip_rate or 0.0)


def _beside(key: Key, certified: Label, judged: Judged) -> CanaryVerdict:
    return CanaryVerdict(
        item_id=key.item_id,
        criterion_id=key.criterion_id,
        certified=certified,
        label=judged.label,
        cause=judged.cause,
        injection=judged.injection,
    )


def _counted(verdicts: Iterable[CanaryVerdict]) -> list[CanaryVerdict]:
    return [v for v in verdicts if v.label.decided and not v.injection]


def _names(verdicts: Iterable[CanaryVerdict]) -> list[str]:
    return [f"{v.item_id}/{v.criterion_id}" for v in verdicts]
