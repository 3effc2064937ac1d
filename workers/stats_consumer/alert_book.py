"""What has been said and is not said again: alerts told once, again after a while, resolved, or without data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson

from schemas.alerts import Alert, AlertState, Severity
from schemas.ids import event_id
from workers.stats_consumer.kinds import MEANINGS, RUNBOOK
from workers.stats_consumer.outcome import Fires, NoData, Outcome, Quiet, key_of

_PREFIX = "a|"


class Standing(NamedTuple):
    """The last thing said about one kind and scope. Times in epoch seconds."""

    state: str
    since: float
    told_at: float
    times: int


class AlertBook:
    """``tell`` turns outcomes into the alerts to publish. ``again_after``: how long a firing one stays silent."""

    def __init__(self, rows: Mapping[str, bytes] | None = None, *, again_after: timedelta = timedelta(days=1)) -> None:
        self._standing = {
            name.removeprefix(_PREFIX): Standing(*orjson.loads(row))
            for name, row in (rows or {}).items()
            if name.startswith(_PREFIX)
        }
        self._again_after = again_after
        self._changes: dict[str, bytes | None] = {}

    def tell(self, outcomes: Iterable[Outcome], *, window: str, bom_version: str, now: datetime) -> list[Alert]:
        """Only what is news: it began, it goes on after ``again_after``, it ended, it can no longer be computed."""
        told = (self._told(outcome, window, bom_version, now) for outcome in outcomes)
        return [alert for alert in told if alert is not None]

    def firing(self) -> int:
        return sum(one.state == AlertState.FIRING for one in self._standing.values())

    def changes(self) -> dict[str, bytes | None]:
        changes, self._changes = self._changes, {}
        return changes

    def rows(self) -> dict[str, bytes | None]:
        return {_PREFIX + key: orjson.dumps(list(one)) for key, one in self._standing.items()}

    def _told(self, outcome: Outcome, window: str, bom: str, now: datetime) -> Alert | None:
        key, at = key_of(outcome), now.timestamp()
        before = self._standing.get(key)
        match outcome:
            case Fires():
                if before is None or before.state != AlertState.FIRING:
                    after = Standing(AlertState.FIRING, at, at, 1)
                elif at - before.told_at >= self._again_after.total_seconds():
                    after = before._replace(told_at=at, times=before.times + 1)
                else:
                    return None
            case Quiet():
                if before is None:
                    return None
                self._set(key, None)
                if before.state != AlertState.FIRING:
                    return None
                after = before._replace(state=AlertState.RESOLVED, told_at=at)
                return _alert(outcome, after, before, window, bom, now)
            case NoData():
                if before is not None and before.state == AlertState.NO_DATA:
                    return None
                after = Standing(AlertState.NO_DATA, at, at, 1)
        self._set(key, after)
        return _alert(outcome, after, before, window, bom, now)

    def _set(self, key: str, standing: Standing | None) -> None:
        if standing is None:
            del self._standing[key]
        else:
            self._standing[key] = standing
        self._changes[_PREFIX + key] = None if standing is None else orjson.dumps(list(standing))


def _alert(
    outcome: Outcome, standing: Standing, before: Standing | None, window: str, bom: str, now: datetime
) -> Alert:
    meaning = MEANINGS[outcome.kind]
    fired = before is not None and before.state == AlertState.FIRING
    severity = meaning.severity
    if isinstance(outcome, NoData):
        severity = Severity.TICKET if fired else Severity.INFO
    elif isinstance(outcome, Quiet):
        severity = Severity.INFO
    return Alert(
        event_id=event_id("alert", key_of(outcome), standing.state, bom, window, str(standing.told_at)),
        kind=outcome.kind, state=AlertState(standing.state), severity=severity, scope=dict(outcome.scope),
        summary=_summary(outcome), diagnosis=meaning.diagnosis, action=meaning.action,
        runbook=f"{RUNBOOK}#{outcome.kind}",
        evidence=dict(outcome.evidence) if isinstance(outcome, Fires) else {}, window=window, bom_version=bom,
        times=standing.times, since=datetime.fromtimestamp(standing.since, tz=now.tzinfo), at=now,
    )  # fmt: skip


def _summary(outcome: Outcome) -> str:
    match outcome:
        case Fires(summary=summary):
            return summary
        case NoData(missing=missing):
            return f"cannot be computed; missing: {missing}"
        case Quiet():
            return "no longer so"
