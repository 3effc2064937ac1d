"""Counters that tests can read."""

from __future__ import annotations

from collections import defaultdict


class Counted:
    def __init__(self) -> None:
        self.counts: dict[str, float] = defaultdict(float)

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        self.counts[" ".join([name, *labels.values()])] += amount
