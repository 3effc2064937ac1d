"""Canary runs on their topic: the record of one, and those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from schemas.canary import CanaryRun
from schemas.codec import decode, encode
from schemas.errors import BadMessage
from schemas.headers import CE_TYPE, header, headers_for
from schemas.topics import CANARY
from stats.unavailable import Unavailable
from workers.canary.certificate import Certificate
from workers.canary.comparing import finding
from workers.runtime.connection import Connection
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.reading import read_to_end
from workers.runtime.records import OutRecord


def canary_record(run: CanaryRun, names: Names, *, at: datetime) -> OutRecord:
    headers = headers_for(run, event_id=run.event_id, source="/assay/canary", at=at)
    return OutRecord(names.of(run), run.key().encode(), encode(run), headers)


async def runs_on_record(kafka: Connection, names: Names, certificate: Certificate) -> Sequence[CanaryRun]:
    """The runs against this certificate, each once, oldest first. Raises DependencyUnavailable."""
    runs: dict[str, CanaryRun] = {}
    async for record in read_to_end(kafka, [names.full(CANARY)]):
        try:
            run = decode(CANARY, record.value, ce_type=header(record.headers, CE_TYPE)).message
        except BadMessage:
            continue  # not a run: whoever wrote it there, it is no evidence
        if isinstance(run, CanaryRun) and run.canary_digest == certificate.digest:
            runs.setdefault(run.event_id, run)
    return sorted(runs.values(), key=lambda run: run.started_at)


def show_run(run: CanaryRun, metrics: Metrics) -> None:
    """The newest run as metrics. A threshold that does not exist is absent: 0 would be reached by every run."""
    found = finding(run)
    numbers = {
        "assay_canary_flips": found.flips,
        "assay_canary_alarm": found.alarm,
        "assay_canary_run_timestamp_seconds": run.ended_at.timestamp(),
        "assay_canary_threshold": found.threshold,
    }
    for name, number in numbers.items():
        metrics.clear(name)
        if not isinstance(number, Unavailable):
            metrics.set(name, float(number), bom_version=run.bom_version)
