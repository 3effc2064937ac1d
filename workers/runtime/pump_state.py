"""Bounds of a pump, and what it tells about itself."""

from __future__ import annotations

from dataclasses import dataclass

from workers.runtime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PumpOptions:
    """Bounds of one pump; see Settings for their meaning."""

    concurrency: int = 400
    window: int = 2_000
    commit_interval_s: float = 0.1
    commit_timeout_s: float = 1.0
    drain_timeout_s: float = 20.0
    produce_timeout_s: float = 60.0
    stall_timeout_s: float = 300.0
    look_ahead_s: float = 5.0
    """How often Kafka is asked how much waits in paused partitions."""

    @classmethod
    def of(cls, settings: Settings) -> PumpOptions:
        return cls(
            concurrency=settings.concurrency,
            window=settings.window,
            commit_interval_s=settings.commit_interval_s,
            drain_timeout_s=settings.drain_timeout_s,
            produce_timeout_s=settings.produce_timeout_s,
            stall_timeout_s=settings.stall_timeout_s,
        )


@dataclass(slots=True)
class PumpCounts:
    """What happened so far. Plain numbers: counter objects would cost more than the rest at full speed."""

    admitted: int = 0
    skipped: int = 0
    """Finished before a restart, known from the metadata."""
    done: int = 0
    dropped: int = 0
    """Not started, or not finished in time, when partitions went: their new owner runs them."""
    discarded: int = 0
    """Results thrown away because of a hold or a revocation."""
    oversize: int = 0
    commits: int = 0
    commits_refused: int = 0
    revocations: int = 0


@dataclass(slots=True)
class PumpState:
    """How things stand, as of the last tick."""

    partitions: int = 0
    in_memory: int = 0
    running: int = 0
    oldest_s: float = 0.0
    """How long the slowest partition's position has not moved while something was unfinished."""
    lag: int = 0
    """Records in Kafka beyond the positions, as far as fetches have told."""
    metadata_bytes: int = 0
    last_drain_s: float = 0.0
    paused: bool = False
