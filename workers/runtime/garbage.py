"""How often Python looks for cycles: less often than by default in a process that makes hardly any."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 20_000
"""Net new objects before the youngest are looked through; 700 by default, which hundreds of records in flight exceed
at every tick. What is in flight survives, moves on, and is looked through again and again."""


def collect_less() -> None:
    """Call once, in a process that is one worker, when its code is loaded: that is left out from now on.

    Memory stays flat all the same, since records and messages form no cycles. CPU a draft of the judge by rules: some
    10 % less.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 10)
