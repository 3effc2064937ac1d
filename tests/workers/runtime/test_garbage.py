"""Collecting less: what is loaded is left out, and cycles are still found."""

from __future__ import annotations

import gc
import weakref

from workers.runtime.garbage import collect_less


class Cycle:
    def __init__(self):
        self.me = self


def test_what_is_loaded_is_left_out_and_cycles_are_still_found():
    before = gc.get_threshold()
    try:
        collect_less()
        assert gc.get_freeze_count() > 10_000
        lost = weakref.ref(Cycle())
        kept = [[] for _ in range(2 * gc.get_threshold()[0])]
        assert lost() is None
        assert kept
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
