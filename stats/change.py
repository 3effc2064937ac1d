"""Has a rate moved between two periods, by enough to matter and by more than chance?"""

from __future__ import annotations

import math
from typing import Literal

from stats.checks import count, open_share, share, successes
from stats.distributions import two_sided_z
from stats.unavailable import Unavailable

Change = Literal["rose", "dropped", "unchanged"]


def rate_change(
    now: tuple[int, int],
    before: tuple[int, int],
    *,
    level: float = 0.01,
    least: float = 0.03,
    min_n: int = 30,
) -> Change | Unavailable:
    """Two counts (x, n) compared: rose or dropped when the difference is at least ``least`` and significant.

    The pooled two-sided z test of two proportions at ``level``; with tens of thousands of drafts the smallest
    difference is significant, so ``least`` says what is worth a person's time. Unavailable below ``min_n`` on a side.
    Source: Fleiss, Levin & Paik (2003), 3.1.

    >>> rate_change((540, 1000), (620, 1000)), rate_change((600, 1000), (620, 1000))
    ('dropped', 'unchanged')
    """
    (x, n), (x0, n0) = now, before
    n, n0 = count("now", n), count("before", n0)
    successes("now", x, n)
    successes("before", x0, n0)
    least, level = share("least", least), open_share("level", level)
    for which, size in (("now", n), ("before", n0)):
        if size < min_n:
            return Unavailable(f"{which}: {size} observations, at least {min_n} are needed to compare")
    difference, pooled = x / n - x0 / n0, (x + x0) / (n + n0)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n0))
    if abs(difference) < least or abs(difference) <= two_sided_z(1 - level) * error:
        return "unchanged"
    return "rose" if difference > 0 else "dropped"
