"""Where CPU time goes: every few milliseconds of it, note whose code runs; nothing else is slowed down."""

from __future__ import annotations

import signal
from collections import Counter
from types import FrameType

EVERY_S = 0.004

_WHOSE = (
    ("schemas/codec.py:encode", "encode"),
    ("schemas/codec.py", "decode"),
    ("workers/runtime/handling.py:_read", "decode"),
    ("workers/runtime/handling.py:_written", "encode"),
    ("schemas/headers.py:headers_for", "encode"),
    ("schemas/headers.py:_time", "encode"),
    ("schemas/headers.py", "decode"),
    ("workers/judge/rules/", "rules"),
    ("workers/judge/cache", "cache"),
    ("workers/judge/coalescing.py", "cache"),
    ("workers/judge/single_flight.py", "cache"),
    ("/redis/", "cache"),
    ("workers/judge/providers/", "model call"),
    ("workers/judge/asking.py", "model call"),
    ("/httpx", "model call"),
    ("/aiohttp/", "model call"),
    ("workers/judge/instrument.py", "judge, rest"),
    ("workers/judge/model_judge.py", "judge, rest"),
    ("workers/judge/template.py", "prompt"),
    ("workers/judge/neutralise.py", "prompt"),
    ("workers/judge/telemetry.py", "telemetry"),
    ("workers/judge/measuring.py", "telemetry"),
    ("workers/runtime/metrics.py", "telemetry"),
    ("workers/judge/worker.py", "gate"),
    ("workers/judge/release.py", "gate"),
    ("workers/judge/", "judge, rest"),
    ("workers/runtime/producing.py", "produce"),
    ("/aiokafka/producer/", "produce"),
    ("workers/runtime/committing.py", "commit"),
    ("workers/runtime/finished.py", "commit"),
    ("workers/runtime/offsets.py", "commit"),
    ("workers/runtime/slots.py", "lanes"),
    ("workers/runtime/lanes.py", "lanes"),
    ("workers/runtime/tracker.py", "lanes"),
    ("workers/runtime/pump.py", "lanes"),
    ("workers/runtime/", "read"),
    ("/aiokafka/consumer/", "read"),
    ("/faststream/", "read"),
    ("/aiokafka/", "Kafka wire"),
    ("/asyncio/", "event loop"),
)
"""Path fragment (and function) -> whose time it is; the first that fits the innermost frame that anything fits."""


class Sampler:
    """Counts whose code the CPU is in. For the main thread of one process."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._known: dict[tuple[str, str], str | None] = {}

    def start(self) -> None:
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _sample(self, _: int, frame: FrameType | None) -> None:
        while frame is not None:
            if (whose := self._whose(frame.f_code.co_filename, frame.f_code.co_name)) is not None:
                self.counts[whose] += 1
                return
            frame = frame.f_back
        self.counts["rest"] += 1

    def _whose(self, file: str, function: str) -> str | None:
        if (file, function) not in self._known:
            where = f"{file}:{function}"
            self._known[file, function] = next((whose for part, whose in _WHOSE if part in where), None)
        return self._known[file, function]
