"""A worker as a process of its own, for tests that kill it: KAFKA DRAFTS OUT GROUP LOG JSON-OPTIONS.

Every start and end of a handler is appended to LOG as a line ``start|done PID PARTITION OFFSET``.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from pathlib import Path

from prometheus_client import CollectorRegistry

from workers.runtime.metrics import Metrics
from workers.runtime.records import InRecord, OutRecord
from workers.runtime.route import Route
from workers.runtime.settings import Settings
from workers.runtime.worker import Worker


class Handler:
    def __init__(self, out: str, log: Path, *, lo: float, hi: float, slow: int, slow_s: float) -> None:
        self.out, self.log = out, log.open("a", buffering=1)
        self.lo, self.hi, self.slow, self.slow_s = lo, hi, slow, slow_s
        self.rng = random.Random(os.getpid())

    async def __call__(self, record: InRecord) -> list[OutRecord]:
        self._note("start", record)
        await asyncio.sleep(self.slow_s if record.offset == self.slow else self.rng.uniform(self.lo, self.hi))
        self._note("done", record)
        return [OutRecord(self.out, record.key, record.value, record.headers)]

    def _note(self, what: str, record: InRecord) -> None:
        self.log.write(f"{what} {os.getpid()} {record.partition} {record.offset}\n")


async def main(kafka: str, drafts: str, out: str, group: str, log: str, options: str) -> None:
    defaults = {"lo": 0.05, "hi": 0.2, "slow": -1, "slow_s": 0.0, "drain_s": 3.0}
    given = defaults | json.loads(options)
    settings = Settings(kafka=kafka, concurrency=100, window=300).model_copy(
        update={
            "session_timeout_s": given.pop("session_s"), "rebalance_timeout_s": 8.0,
            "drain_timeout_s": given.pop("drain_s"),
        }
    )  # fmt: skip
    routes = [Route(drafts, group, Handler(out, Path(log), **given), lambda *_: [])]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await Worker("faulty", settings, routes, metrics=Metrics(CollectorRegistry())).run(topics=[out], stop=stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
