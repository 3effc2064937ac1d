"""Two halves that arrive apart (both orders of a pair; a judgment and its label): an open join with a bounded wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stats.checks import StatsInputError, count


class Half(NamedTuple):
    """The half that came first; ts: its event time in seconds."""

    side: str
    value: Any
    ts: float


class Joins:
    """Keyed halves that wait for the other one. A half that is never met is counted as unmatched, never guessed.

    At most ``capacity`` halves wait, the oldest goes first. The same side again is a redelivery and is ignored.
    """

    __slots__ = ("capacity", "sides", "unmatched", "waiting")

    def __init__(self, sides: tuple[str, str], *, capacity: int) -> None:
        self.sides = (sides[0], sides[1])
        self.capacity = count("capacity", capacity, at_least=1)
        self.waiting: dict[str, Half] = {}
        self.unmatched = 0

    def put(self, key: str, side: str, value: Any, *, ts: float) -> tuple[Any, Any] | None:
        """Both values, in the order of ``sides``, once they are there."""
        if side not in self.sides:
            raise StatsInputError("side", side, f"must be one of {', '.join(self.sides)}")
        half = self.waiting.get(key)
        if half is None:
            self._make_room()
            self.waiting[key] = Half(side, value, ts)
            return None
        if half.side == side:
            return None
        del self.waiting[key]
        return (value, half.value) if side == self.sides[0] else (half.value, value)

    def expire(self, *, before: float) -> int:
        """Give up on halves older than ``before``; how many."""
        old = [key for key, half in self.waiting.items() if half.ts < before]
        for key in old:
            del self.waiting[key]
        self.unmatched += len(old)
        return len(old)

    def to_json(self) -> dict[str, Any]:
        waiting = {key: list(half) for key, half in self.waiting.items()}
        return {"sides": list(self.sides), "capacity": self.capacity, "unmatched": self.unmatched, "waiting": waiting}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Joins:
        first, second = document["sides"]
        joins = cls((first, second), capacity=document["capacity"])
        joins.unmatched = document["unmatched"]
        joins.waiting = {key: Half(*half) for key, half in document["waiting"].items()}
        return joins

    def _make_room(self) -> None:
        if len(self.waiting) >= self.capacity:
            oldest = min(self.waiting, key=lambda key: self.waiting[key].ts)
            del self.waiting[oldest]
            self.unmatched += 1
