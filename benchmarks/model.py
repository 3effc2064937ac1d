"""A model endpoint that takes its time: ``python -m benchmarks.model steady|lognormal|slow``.

It prints its base URL; when its standard input ends, it prints how many calls it had in flight at most, and ends.
``steady`` answers after 1 s; ``lognormal`` after 0.5 to 5 s, median 1; ``slow`` after 2 to 12 s, median 5.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

from aiohttp import web

from benchmarks.load import MODEL, PASS

DRAWS = 200_000


class Latency(NamedTuple):
    """Lognormal, cut at both ends; in seconds. Sigma 0 is no scatter at all."""

    median_s: float
    sigma: float
    least_s: float
    most_s: float

    def drawn(self, rng: random.Random) -> float:
        return min(max(self.median_s * rng.lognormvariate(0.0, self.sigma), self.least_s), self.most_s)

    def mean_s(self) -> float:
        """Over 200,000 draws, good to 0.2 %."""
        rng = random.Random(7)
        return statistics.fmean(self.drawn(rng) for _ in range(DRAWS)) if self.sigma else self.median_s


LATENCIES = {
    "steady": Latency(1.0, 0.0, 1.0, 1.0),
    "lognormal": Latency(1.0, 0.6, 0.5, 5.0),
    "slow": Latency(5.0, 0.3, 2.0, 12.0),
}


class Model:
    """A running endpoint; ``most_in_flight`` ends it and returns what it counted."""

    def __init__(self, process: subprocess.Popen[str], to: IO[str], said: IO[str]) -> None:
        self._process, self._to, self._said = process, to, said
        self.url = said.readline().strip()

    def most_in_flight(self) -> int:
        self.end()
        return int(self._said.readline())

    def end(self) -> None:
        self._to.close()
        self._process.wait(10)


@contextmanager
def model(kind: str) -> Iterator[Model]:
    """A model endpoint in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.model", kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        running = Model(process, process.stdin, process.stdout)
        try:
            yield running
        finally:
            running.end()


class Counter:
    """How many calls run now, and how many ran at once at most."""

    def __init__(self) -> None:
        self.now = self.most = 0

    def __enter__(self) -> None:
        self.now += 1
        self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        self.now -= 1


async def serve(kind: str) -> None:
    rng, latency, in_flight = random.Random(1), LATENCIES[kind], Counter()
    body = json.dumps(
        {
            "model": MODEL,
            "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(PASS)}}],
            "usage": {"prompt_tokens": 600, "completion_tokens": 24},
        }
    ).encode()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        with in_flight:
            await request.read()
            await asyncio.sleep(latency.drawn(rng))
        return web.Response(body=body, content_type="application/json")

    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()
    print(in_flight.most, flush=True)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
