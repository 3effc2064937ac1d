"""Which items do people see? A hash decides: a replay draws the same sample, shards can be merged (S2 7.7)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from stats.checks import StatsInputError, count, share
from stats.unavailable import Number, Unavailable

SPAN = 2**64


def draw(salt: str, item_id: str) -> int:
    """A number in [0, 2^64) that looks random and is the same on every machine; the salt names the draw (BOM, week)."""
    digest = blake2b(f"{len(salt)}:{salt}{item_id}".encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


def sampled(salt: str, item_id: str, rate: float) -> bool:
    """Independent draw with probability ``rate``, decided the moment the item is served; inclusion is ``rate``."""
    return draw(salt, item_id) < share("rate", rate) * SPAN


@dataclass(slots=True)
class StratumSample:
    """The k smallest numbers of a stratum, a simple random sample without replacement, and how many items it saw.

    heap: (minus the number, item id), so that its root is the largest number kept, the one to beat.
    """

    population: int = 0
    heap: list[tuple[int, str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    def offer(self, number: int, item_id: str, k: int) -> bool:
        one = (-number, item_id)
        full = len(self.heap) >= k
        if item_id in self.ids or (full and one < self.heap[0]):
            return item_id in self.ids
        if full:
            self.ids.discard(heapq.heapreplace(self.heap, one)[1])
        else:
            heapq.heappush(self.heap, one)
        self.ids.add(item_id)
        return True


class BottomK:
    """k items a stratum, whatever the order of arrival and however the stream was split.

    ``add`` expects each item of the population once; an item that comes again is not drawn twice, but it would be
    counted twice in the population, so feed it from a deduplicated stream. Every stratum keeps at most k items.
    """

    __slots__ = ("k", "salt", "strata")

    def __init__(self, k: int, *, salt: str) -> None:
        self.k = count("k", k, at_least=1)
        self.salt = salt
        self.strata: dict[str, StratumSample] = {}

    def add(self, stratum: str, item_id: str) -> bool:
        """Count the item; is it in the sample for now?"""
        sample = self.strata.get(stratum)
        if sample is None:
            sample = self.strata[stratum] = StratumSample()
        sample.population += 1
        return sample.offer(draw(self.salt, item_id), item_id, self.k)

    def sample(self, stratum: str) -> list[str]:
        """The drawn items in the order of their numbers."""
        sample = self.strata.get(stratum, StratumSample())
        return [item_id for _, item_id in sorted(sample.heap, reverse=True)]

    def inclusion(self, stratum: str) -> Number:
        """Probability with which an item of this stratum is in the sample; its inverse is the item's weight."""
        population = self.strata.get(stratum, StratumSample()).population
        return min(1.0, self.k / population) if population else Unavailable("nothing came into this stratum")

    def merge(self, other: BottomK) -> BottomK:
        """Both samples as if one consumer had seen everything; their populations must be disjoint."""
        if (self.k, self.salt) != (other.k, other.salt):
            raise StatsInputError("other", (other.k, other.salt), f"must be drawn with k, salt = {(self.k, self.salt)}")
        merged = BottomK(self.k, salt=self.salt)
        for source in (self, other):
            for stratum, theirs in source.strata.items():
                mine = merged.strata.setdefault(stratum, StratumSample())
                mine.population += theirs.population
                for negated, item_id in theirs.heap:
                    mine.offer(-negated, item_id, self.k)
        return merged

    def to_json(self) -> dict[str, Any]:
        strata = {
            name: {"population": s.population, "items": self.sample(name)} for name, s in sorted(self.strata.items())
        }
        return {"k": self.k, "salt": self.salt, "strata": strata}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> BottomK:
        state = cls(document["k"], salt=document["salt"])
        for name, stored in document["strata"].items():
            sample = state.strata[name] = StratumSample(count("population", stored["population"]))
            for item_id in stored["items"]:
                sample.offer(draw(state.salt, item_id), item_id, state.k)
        return state
