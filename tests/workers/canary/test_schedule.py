"""A run in every slot, none of them twice."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from schemas.canary import CanaryRun
from tests.workers.canary.specimens import FlippingJudge, certificate, items
from workers.canary.comparing import canary_run
from workers.canary.judging import judge_set
from workers.canary.schedule import keep_running, slot_of

DAY_S = 86_400.0


class EndOfTest(Exception):
    pass


def test_slots_are_days_in_utc_and_a_moment_lies_in_one():
    slot = slot_of(datetime(2026, 12, 1, 23, 59, tzinfo=UTC), interval_s=DAY_S)
    assert (slot.start, slot.end) == (datetime(2026, 12, 1, tzinfo=UTC), datetime(2026, 12, 2, tzinfo=UTC))
    assert slot_of(slot.end, interval_s=DAY_S).start == slot.end


class Days:
    """A clock that sleeping moves; it ends the test after some days."""

    def __init__(self, start: datetime, days: int) -> None:
        self.at, self.left, self.published = start, days, list[CanaryRun]()

    def now(self) -> datetime:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.left -= 1
        if not self.left:
            raise EndOfTest

    async def run(self, cause: str) -> CanaryRun:
        today = await judge_set(items(3), FlippingJudge(0, random.Random(0)), at_once=2)
        return canary_run(certificate(3, flip_rate=0.02), today, cause=cause, started=self.at, ended=self.at)

    async def publish(self, run: CanaryRun) -> None:
        self.published.append(run)

    async def seen(self) -> set[str]:
        return {run.event_id for run in self.published}

    async def go(self, days: int) -> None:
        self.left = days
        with pytest.raises(EndOfTest):
            await keep_running(
                certificate(3, flip_rate=0.02), self.run, self.publish, self.seen,
                interval_s=DAY_S, now=self.now, sleep=self.sleep,
            )  # fmt: skip


@pytest.mark.anyio
async def test_three_days_are_three_runs_and_a_restart_within_a_day_adds_none():
    days = Days(datetime(2026, 12, 1, 9, tzinfo=UTC), 0)
    await days.go(2)
    days.at -= timedelta(hours=1)  # started again on the evening of the second day
    await days.go(1)
    assert len(days.published) == 2
    await days.go(1)
    assert [run.started_at.day for run in days.published] == [1, 2, 3]
    assert len({run.event_id for run in days.published}) == 3
