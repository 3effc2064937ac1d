"""Certified verdicts: what the judge of one BOM version said of the canary set, and how often it repeats itself."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import ValidationError

from schemas.bom import Bom
from schemas.errors import BomError
from schemas.message import UtcTime
from schemas.strict import Strict
from schemas.verdict_space import Label
from stats.agreement import retest_agreement
from stats.proportions import wilson
from stats.unavailable import Unavailable
from workers.bom import CERTIFIED
from workers.bom.labelled_set import CANARY_SET
from workers.canary.judging import Judged, Key

MIN_RUNS = 2


class CertifiedVerdict(Strict):
    """The label of most runs, and how often each was given."""

    item_id: str
    criterion_id: str
    label: Label
    votes: dict[Label, int]

    @property
    def key(self) -> Key:
        return Key(self.item_id, self.criterion_id)


class Undecided(Strict):
    """An item whose runs have no majority: it has no certified verdict and is not compared."""

    item_id: str
    criterion_id: str
    votes: dict[Label, int]


class Baseline(Strict):
    """Flip rate of the unchanged judge, 1 - test-retest agreement (S2 7.5), with a 95 % interval over verdicts."""

    flip_rate: float
    lo: float
    hi: float
    verdicts: int
    runs: int


class Certificate(Strict):
    """``certified.json``: for one BOM version and no other. ``unstable`` differed between runs, majority or not."""

    bom_version: str
    canary_sha256: str
    baseline: Baseline
    verdicts: tuple[CertifiedVerdict, ...]
    unstable: tuple[str, ...] = ()
    without_majority: tuple[Undecided, ...] = ()
    models_served: tuple[str, ...] = ()
    certified_at: UtcTime

    def to_bytes(self) -> bytes:
        return (self.model_dump_json(indent=1) + "\n").encode()

    @property
    def digest(self) -> str:
        """Names this certificate; every run carries it, so that runs against another one are never mixed in."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def certify(bom: Bom, runs: Sequence[Mapping[Key, Judged]], *, now: datetime) -> Certificate:
    """The majority of the runs, item by item. Injection cases have certified verdicts and no part in the baseline.

    All runs hold the same keys. Raises BomError where the judge could not be asked: an outage is no verdict.
    """
    _refuse_outages(runs)
    votes = {key: Counter(run[key].label for run in runs) for key in runs[0]}
    most = {key: tally.most_common(1)[0] for key, tally in votes.items()}
    settled = {key: label for key, (label, times) in most.items() if 2 * times > len(runs)}
    return Certificate(
        bom_version=bom.version,
        canary_sha256=bom.digests[CANARY_SET],
        baseline=_baseline([[run[key].label for run in runs] for key in runs[0] if not runs[0][key].injection]),
        verdicts=tuple(
            CertifiedVerdict(item_id=key.item_id, criterion_id=key.criterion_id, label=label, votes=votes[key])
            for key, label in settled.items()
        ),
        unstable=tuple(f"{key.item_id}/{key.criterion_id}" for key, tally in votes.items() if len(tally) > 1),
        without_majority=tuple(
            Undecided(item_id=key.item_id, criterion_id=key.criterion_id, votes=tally)
            for key, tally in votes.items()
            if key not in settled
        ),
        models_served=tuple(sorted({model for run in runs for j in run.values() for model in j.models})),
        certified_at=now,
    )


def certificate_of(bom: Bom) -> Certificate:
    """The certificate in the BOM's folder. Raises BomError where there is none, or one for another version."""
    remedy = "run `assay canary certify`"
    if CERTIFIED not in bom.files:
        raise BomError(f"the canary set is not certified for {bom.version}: {CERTIFIED} is missing; {remedy}")
    try:
        certificate = Certificate.model_validate_json(bom.files[CERTIFIED])
    except ValidationError as error:
        raise BomError(f"{CERTIFIED} cannot be read ({error.error_count()} mistakes); {remedy}") from error
    if certificate.bom_version != bom.version or certificate.canary_sha256 != bom.digests.get(CANARY_SET):
        raise BomError(
            f"{CERTIFIED} was certified for {certificate.bom_version[:40]!r}, the BOM is {bom.version}; {remedy}"
        )
    return certificate


def _refuse_outages(runs: Sequence[Mapping[Key, Judged]]) -> None:
    if len(runs) < MIN_RUNS:
        raise BomError(f"{len(runs)} run cannot be compared with itself; certify with at least {MIN_RUNS}")
    outages = Counter(
        str(j.cause) for run in runs for j in run.values() if j.cause is not None and j.could_not_be_asked
    )
    if outages:
        told = ", ".join(f"{times} x {cause}" for cause, times in outages.most_common())
        raise BomError(f"nothing was certified: the judge could not be asked ({told}); mend that, then certify again")


def _baseline(runs_of_each: Sequence[Sequence[Label]]) -> Baseline:
    agreement = retest_agreement(runs_of_each)
    if isinstance(agreement, Unavailable):
        raise BomError(f"{CANARY_SET}: {agreement.reason}; it needs items that are no injection cases")
    n, rate = agreement.n, 1 - agreement.pairwise
    # The mean of shares in [0, 1] varies at most as much as a proportion with that mean over as many verdicts.
    low, high = wilson(math.floor(rate * n), n), wilson(math.ceil(rate * n - 1e-9), n)
    assert not isinstance(low, Unavailable)
    assert not isinstance(high, Unavailable)
    return Baseline(flip_rate=rate, lo=low.lo, hi=high.hi, verdicts=n, runs=len(runs_of_each[0]))
