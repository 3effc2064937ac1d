"""Counters that tests can read."""

from __future__ import annotations

from collections import Counter


class Counted:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def count(self, name: str, **labels: str) -> None:
        self.counts[" ".join([name, *labels.values()])] += 1
