"""One subscription of a worker: which topic, as whom, and what a record of it leads to."""

from __future__ import annotations

from typing import NamedTuple

from workers.runtime.slots import Oversize, Process


class Route(NamedTuple):
    """``topic`` is a full name. Routes of one worker share its producer and nothing else: none delays another."""

    topic: str
    group: str
    process: Process
    oversize: Oversize
