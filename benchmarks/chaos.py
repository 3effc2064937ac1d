"""Chaos on a real Kafka and Redis: judges, broker, cache and model are killed, stopped, paused and emptied under load.

The faults and their moments derive from the seed; how they meet the work does not. Afterwards a checker that shares no
code with the workers reads the topics and counts.
"""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from redis.asyncio import Redis

from benchmarks.figures import Figure, at_most
from schemas.errors import DependencyUnavailable, FatalError
from schemas.topics import DRAFTS, MAX_MESSAGE_BYTES
from tests.faults.checker import Changed, Findings
from tests.faults.faulty_model import FaultyModel, http_bom
from tests.faults.scene import JUDGE, Out, Scene, load
from tests.services.kafka import RealKafka
from tests.services.redis import RealRedis
from workers.judge.cache import BREAKER_PERIOD_S, TIME_OUT_S
from workers.runtime.connection import Connection
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.records import OutRecord

JUDGES = 2
DRAFTS_PER_S = 30.0
BATCH = 15
UNSURE_AFTER_S = 20.0
QUIET_S = 180.0
"""How long the last drafts may take once all faults are over."""

LEFT_ALONE = timedelta(seconds=BREAKER_PERIOD_S + 1)
"""Judges do not ask a Redis that failed for so long, nor while the first of them tries again."""

ROUND_TRIP = timedelta(seconds=2 * TIME_OUT_S)

KILLED, STOPPED_AT_START, SERVICE_AWAY, STOPPED_ITSELF = -signal.SIGKILL, -signal.SIGTERM, 3, 5
EXPECTED_EXITS = {0, KILLED, STOPPED_AT_START, SERVICE_AWAY, STOPPED_ITSELF}
"""A judge that is told to stop while Python still imports has nothing to drain, and dies of the signal."""


class Kind(StrEnum):
    """A fault: what it hits, and what happens to it."""

    KILL_JUDGE = "judge kill"
    STOP_JUDGE = "judge stop"
    PAUSE_JUDGE = "judge pause"
    KILL_BROKER = "broker kill"
    STOP_BROKER = "broker stop"
    HANG_BROKER = "broker hang"
    KILL_REDIS = "redis kill"
    FLUSH_REDIS = "redis flush"
    MODEL_HANGS = "model hang"
    MODEL_REFUSES = "model refuse"
    MODEL_BREAKS = "model break"
    MODEL_LATE = "model late"


class Fault(NamedTuple):
    """``at_s`` after the start, for ``lasts_s`` where it lasts: beyond the 3 s of a worker's session too."""

    at_s: float
    kind: Kind
    lasts_s: float


def plan(rng: random.Random, duration_s: float) -> Iterator[Fault]:
    """Every kind in a random order, again and again; any minute holds all of them."""
    at_s, kinds = 0.0, list[Kind]()
    while True:
        kinds = kinds or rng.sample(list(Kind), len(Kind))
        at_s += rng.uniform(1.5, 4.5)
        if at_s > duration_s:
            return
        yield Fault(at_s, kinds.pop(), rng.uniform(0.5, 5.0))


class Outage(NamedTuple):
    """Redis was away or lost what it held, and what the judges' breaker adds to that."""

    began: datetime
    ended: datetime

    def between(self, one: datetime, other: datetime) -> bool:
        """Did it touch the time between two judgments? A paused judge may publish the earlier one last."""
        return self.began <= max(one, other) + ROUND_TRIP and min(one, other) - ROUND_TRIP <= self.ended


class Result(NamedTuple):
    """What was done and what the checker found."""

    faults: Counter[Kind]
    exits: Counter[int]
    found: Findings
    outages: tuple[Outage, ...]

    @property
    def forgotten(self) -> list[Changed]:
        """Drafts judged again, and otherwise, since Redis had lost what was said of them or could not be asked.

        It was killed or emptied in between, or a verdict of theirs owns that it was made without it. Both stand under
        one event id, and readers keep the first: counted, not wrong.
        """
        rounds = {changed.round_id for changed in self.found.changed if self._explains(changed)}
        return [changed for changed in self.found.changed if changed.round_id in rounds]

    def _explains(self, changed: Changed) -> bool:
        away = any(outage.between(changed.first_at, changed.again_at) for outage in self.outages)
        return away or changed.owned

    @property
    def wrong(self) -> list[str]:
        """Nothing, or what must not be: lost, decided twice, out of order, said otherwise while Redis was there all
        the time, an exit that nothing explains."""
        odd = [f"exit code {code} x{count}" for code, count in self.exits.items() if code not in EXPECTED_EXITS]
        excused = set(map(str, self.forgotten))
        return [line for line in self.found.wrong if line not in excused] + odd


class Publisher:
    """Publishes at DRAFTS_PER_S, and what was not confirmed again under the same event ids: it outlives every fault."""

    def __init__(self, scene: Scene) -> None:
        self._kafka, self._topic = Connection((scene.kafka,)), scene.prefix + DRAFTS.name
        self._producer: ConfirmedProducer | None = None

    async def publish(self, drafts: Sequence[Out]) -> None:
        began = time.monotonic()
        try:
            for first in range(0, len(drafts), BATCH):
                rows = [OutRecord(self._topic, *draft) for draft in drafts[first : first + BATCH]]
                while not await self._taken(rows):
                    continue
                await asyncio.sleep(max(0.0, first / DRAFTS_PER_S - (time.monotonic() - began)))
        finally:
            await self._drop()

    async def _taken(self, rows: Sequence[OutRecord]) -> bool:
        try:
            async with asyncio.timeout(UNSURE_AFTER_S):
                if self._producer is None:
                    producer = ConfirmedProducer(self._kafka, max_message_bytes=MAX_MESSAGE_BYTES)
                    await producer.start()
                    self._producer = producer
                await self._producer.produce(rows)
        except (TimeoutError, FatalError, DependencyUnavailable):
            await self._drop()
            await asyncio.sleep(1.0)
            return False
        return True

    async def _drop(self) -> None:
        if self._producer is not None:
            producer, self._producer = self._producer, None
            await producer.stop()


class Chaos:
    """One run: services, judges that are started again whenever they end, faults."""

    def __init__(self, kafka: RealKafka, redis: RealRedis, model: FaultyModel, scene: Scene) -> None:
        self._kafka, self._redis, self._model, self._scene = kafka, redis, model, scene
        self._judges: list[subprocess.Popen[bytes]] = []
        self._busy: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._faults, self._exits, self._outages = Counter[Kind](), Counter[int](), list[Outage]()

    async def run(self, rng: random.Random, duration_s: float) -> Result:
        await self._scene.create_topics()
        keeping = asyncio.create_task(self._keep())
        drafts = load(int(duration_s * DRAFTS_PER_S / 7))
        publishing = asyncio.create_task(Publisher(self._scene).publish(list(drafts)))
        try:
            await self._scene.until_more_verdicts(10)
            await asyncio.gather(*[self._commit(fault, rng.random()) for fault in plan(rng, duration_s)])
            await publishing
            await self._scene.until_answered(timeout_s=QUIET_S)
        finally:
            publishing.cancel()
            keeping.cancel()
            await asyncio.gather(publishing, keeping, return_exceptions=True)
        for judge in self._judges:
            self._exits[await asyncio.to_thread(self._scene.stop, judge)] += 1
        return Result(self._faults, self._exits, await self._scene.check(), tuple(self._outages))

    async def _keep(self) -> None:
        """The supervisor: a judge that ended is started again."""
        while True:
            for judge in [judge for judge in self._judges if judge.poll() is not None]:
                self._judges.remove(judge)
                self._exits[judge.returncode] += 1
            while len(self._judges) < JUDGES:
                self._judges.append(self._scene.start(JUDGE))
            await asyncio.sleep(0.5)

    async def _commit(self, fault: Fault, pick: float) -> None:
        """One fault, when it is due. Broker, Redis and model have one at a time; judges may have several."""
        await asyncio.sleep(fault.at_s)
        target, what = fault.kind.split()
        if target == "judge":
            await self._hit(self._judges[int(pick * len(self._judges))], what, fault.lasts_s)
        else:
            async with self._busy[target]:
                hits = {"broker": self._hit_broker, "redis": self._hit_redis, "model": self._hit_model}
                await hits[target](what, fault.lasts_s)
        self._faults[fault.kind] += 1

    async def _hit(self, judge: subprocess.Popen[bytes], what: str, lasts_s: float) -> None:
        signals = {"kill": signal.SIGKILL, "stop": signal.SIGTERM, "pause": signal.SIGSTOP}
        judge.send_signal(signals[what])
        if what == "pause":
            await asyncio.sleep(lasts_s)
            judge.send_signal(signal.SIGCONT)

    async def _hit_broker(self, what: str, lasts_s: float) -> None:
        if what == "hang":
            self._kafka.nodes[0].pause()
            await asyncio.sleep(lasts_s)
            self._kafka.nodes[0].resume()
            return
        await asyncio.to_thread(self._kafka.kill if what == "kill" else self._kafka.stop)
        await asyncio.sleep(lasts_s / 2)
        await asyncio.to_thread(self._kafka.start)

    async def _hit_redis(self, what: str, lasts_s: float) -> None:
        began = datetime.now(UTC)
        if what == "flush":
            async with Redis.from_url(self._redis.url) as redis:
                await redis.flushall()
            self._outages.append(Outage(began, datetime.now(UTC)))
            return
        self._redis.kill()
        await asyncio.sleep(lasts_s)
        await asyncio.to_thread(self._redis.start)
        self._outages.append(Outage(began, datetime.now(UTC) + LEFT_ALONE))

    async def _hit_model(self, what: str, lasts_s: float) -> None:
        self._model.mode = what
        await asyncio.sleep(lasts_s)
        self._model.mode = "ok"


async def run_chaos(kafka: RealKafka, redis: RealRedis, folder: Path, *, seed: int, duration_s: float) -> Result:
    """Faults for ``duration_s``, then as long as it takes to answer every draft. Raises TimeoutError after QUIET_S."""
    async with FaultyModel() as model:
        scene = Scene(
            kafka.bootstrap, f"chaos-{seed}.", ASSAY_REDIS=redis.url, ASSAY_BOM=str(http_bom(folder / "bom")),
            ASSAY_MODEL_BASE_URL=f"http://127.0.0.1:{model.port}/v1", ASSAY_PRODUCE_TIMEOUT_S="15",
        )  # fmt: skip
        try:
            return await Chaos(kafka, redis, model, scene).run(random.Random(seed), duration_s)
        finally:
            scene.close()


def chaos(*, minutes: float, seed: int) -> list[Figure]:
    """Chaos for so many minutes on services of its own."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # a broker that comes and goes is the subject
    with RealKafka() as kafka, RealRedis() as redis, tempfile.TemporaryDirectory(prefix="assay-chaos-") as folder:
        run = asyncio.run(run_chaos(kafka, redis, Path(folder), seed=seed, duration_s=60 * minutes))
    found = run.found
    return [
        at_most(
            "chaos",
            f"{minutes:g} min, seed {seed}: lost, decided twice, disordered, said otherwise",
            f"{len(run.wrong)}",
            f"{sum(run.faults.values())} faults",
            ratio=len(run.wrong),
            target=0,
            notes=(
                f"{found.drafts} drafts, {found.verdicts} judged, {found.dead_letters} dead letters, "
                f"{found.decisions} rounds decided once; {found.repeated} repeated under the same event id, "
                f"{len(run.found.changed)} records say otherwise than the first of their id, "
                f"{len(run.forgotten)} of them since Redis was away or emptied",
                "faults: " + ", ".join(f"{kind} x{count}" for kind, count in sorted(run.faults.items())),
                "judges ended with: " + ", ".join(f"{code} x{count}" for code, count in sorted(run.exits.items())),
                *run.wrong[:20],
            ),
        )
    ]
