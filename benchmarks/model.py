"""A model endpoint that takes its time: ``python -m benchmarks.model steady|lognormal``.

It prints its base URL and ends when its standard input does. ``steady`` answers after 1 s; ``lognormal`` after 0.5 to
5 s, median 1.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys

from aiohttp import web

from benchmarks.load import MODEL, PASS

MEDIAN_S, SIGMA, LEAST_S, MOST_S = 1.0, 0.6, 0.5, 5.0


def steady(_: random.Random) -> float:
    return 1.0


def lognormal(rng: random.Random) -> float:
    return min(max(MEDIAN_S * rng.lognormvariate(0.0, SIGMA), LEAST_S), MOST_S)


LATENCIES = {"steady": steady, "lognormal": lognormal}


def mean_s(kind: str) -> float:
    """The mean of a kind of latency, seconds: over a million draws, good to 0.1 %."""
    rng = random.Random(7)
    return statistics.fmean(LATENCIES[kind](rng) for _ in range(1_000_000 if kind == "lognormal" else 1))


async def serve(kind: str) -> None:
    rng = random.Random(1)
    body = json.dumps(
        {
            "model": MODEL,
            "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(PASS)}}],
            "usage": {"prompt_tokens": 600, "completion_tokens": 24},
        }
    ).encode()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        await asyncio.sleep(LATENCIES[kind](rng))
        return web.Response(body=body, content_type="application/json")

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}/v1\n")
    sys.stdout.flush()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
