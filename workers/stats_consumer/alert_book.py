"""What has been said and is not said again: alerts told once, again after a while, resolved, or without data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson

from schemas.alerts import Alert, AlertKind, AlertState, Severity, alert_key
from schemas.ids import event_id
from workers.stats_consumer.kinds import MEANINGS, RUNBOOK
from workers.stats_consumer.outcome import Ended, Fires, Looked, NoData, Outcome, Quiet

_PREFIX = "a|"


class Standing(NamedTuple):
    """The last thing said about one kind, BOM version and scope. Times in epoch seconds; ``times`` it fired."""

    kind: str
    bom_version: str
    scope: Mapping[str, str]
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

    def tell(self, looked: Sequence[Looked], *, window: str, now: datetime) -> list[Alert]:
        """Only what is news: it began, it goes on after ``again_after``, it ended, it can no longer be computed.

        ``looked`` is everything: a BOM version that is not there judges no more, and what stood of it ends.
        """
        said = [(look.bom_version, outcome) for look in looked for outcome in look.outcomes]
        said += list(self._not_looked_at(looked, {_key(bom, outcome) for bom, outcome in said}))
        told = (self._told(outcome, window, bom, now) for bom, outcome in said)
        return [alert for alert in told if alert is not None]

    def firing(self) -> int:
        return sum(one.state == AlertState.FIRING for one in self._standing.values())

    def changes(self) -> dict[str, bytes | None]:
        changes, self._changes = self._changes, {}
        return changes

    def rows(self) -> dict[str, bytes | None]:
        return {_PREFIX + key: orjson.dumps(list(one)) for key, one in self._standing.items()}

    def _not_looked_at(self, looked: Iterable[Looked], seen: set[str]) -> Iterator[tuple[str, Outcome]]:
        """Of what stands and no check spoke of: what became of it."""
        by_bom = {look.bom_version: look for look in looked}
        for key, one in self._standing.items():
            kind, bom, scope = AlertKind(one.kind), one.bom_version, one.scope
            look = by_bom.get(bom)
            if key in seen:
                continue
            if look is None:
                yield bom, Ended(kind, scope, f"{bom} judges no more, and its weeks are final")
            elif kind in look.ended:
                yield bom, Ended(kind, scope, f"{bom} has judged nothing this week")
            elif any(outcome.kind is kind for outcome in look.outcomes):
                yield bom, NoData(kind, scope, "anything of it in the week that is looked at")

    def _told(self, outcome: Outcome, window: str, bom: str, now: datetime) -> Alert | None:
        key = _key(bom, outcome)
        before = self._standing.get(key)
        after = self._after(outcome, bom, before, now.timestamp())
        if after is None:
            return None
        self._set(key, None if after.state == AlertState.RESOLVED else after)
        return _alert(outcome, after, window, now)

    def _after(self, outcome: Outcome, bom: str, before: Standing | None, at: float) -> Standing | None:
        """What stands from now on; None when nothing is news."""
        state = before.state if before is not None else None
        match outcome:
            case Fires():
                if before is None or state != AlertState.FIRING:
                    return _standing(outcome, bom, AlertState.FIRING, at, 1)
                if at - before.told_at < self._again_after.total_seconds():
                    return None
                return before._replace(told_at=at, times=before.times + 1)
            case NoData():
                if before is None:
                    return _standing(outcome, bom, AlertState.NO_DATA, at, 0)
                no_data = before._replace(state=AlertState.NO_DATA, since=at, told_at=at)
                return None if state == AlertState.NO_DATA else no_data
            case Quiet() | Ended():
                return before and before._replace(state=AlertState.RESOLVED, told_at=at)

    def _set(self, key: str, standing: Standing | None) -> None:
        if standing is None:
            del self._standing[key]
        else:
            self._standing[key] = standing
        self._changes[_PREFIX + key] = None if standing is None else orjson.dumps(list(standing))


def _key(bom: str, outcome: Outcome) -> str:
    return alert_key(outcome.kind, bom, outcome.scope)


def _standing(outcome: Outcome, bom: str, state: AlertState, at: float, times: int) -> Standing:
    return Standing(outcome.kind, bom, dict(outcome.scope), state, at, at, times)


def _alert(outcome: Outcome, standing: Standing, window: str, now: datetime) -> Alert:
    meaning, bom = MEANINGS[outcome.kind], standing.bom_version
    severity = meaning.severity
    if isinstance(outcome, NoData):
        severity = Severity.TICKET if standing.times else Severity.INFO
    elif isinstance(outcome, Quiet | Ended):
        severity = Severity.INFO
    return Alert(
        event_id=event_id("alert", _key(bom, outcome), standing.state, window, str(standing.told_at)),
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
        case Ended(why=why):
            return why
        case Quiet():
            return "no longer so"
