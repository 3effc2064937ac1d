"""What may be spent, as whole numbers: meters with a cap each, and a ledger that never lets one pass it. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from schemas.bom import CostCaps
from workers.judge.pricing import Price

NANO: Final = 1_000_000_000
"""Money is counted in nano-dollars: sums of whole numbers do not drift."""

HOUR_S: Final = 3_600
DAY_S: Final = 86_400
LONG_S: Final = 400 * DAY_S

FRAME_TOKENS: Final = 500
"""Around every prompt: chat markup, the schema or tool in the vendor's own words (Anthropic: about 350 tokens)."""


class Charge(NamedTuple):
    """So much on one meter, which may hold ``cap`` in all. ``kept_s`` is how long the meter matters."""

    meter: str
    amount: int
    cap: int
    kept_s: int
    window: str  # hour, day, version, calls

    @property
    def money(self) -> bool:
        """False for calls: one that was made is never given back."""
        return self.window != "calls"


class Ledger:
    """The sums of this process. Whoever takes says afterwards what it really was."""

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}

    def take(self, charges: Sequence[Charge]) -> bool:
        """All of them, or none: False where one would pass its cap."""
        if any(self.sum(charge.meter) + charge.amount > charge.cap for charge in charges):
            return False
        for charge in charges:
            self.add(charge.meter, charge.amount)
        return True

    def add(self, meter: str, amount: int) -> None:
        self._sums[meter] = self.sum(meter) + amount

    def sum(self, meter: str) -> int:
        return self._sums.get(meter, 0)

    def forget(self, *, but: set[str]) -> None:
        """Meters of hours and days that are over."""
        for meter in self._sums.keys() - but:
            del self._sums[meter]


def charges_of(caps: CostCaps, *, bom: str, version: str, nano_usd: int, now: datetime) -> tuple[Charge, ...]:
    """What one call puts on which meter. ``now`` is in UTC. Hours and days go on over versions of a BOM.

    The BOM's name stands in braces, so that its meters are in one slot of a Redis cluster.
    """
    windows = (
        ("hour", now.strftime("%Y%m%dT%H"), nano_usd, _nano(caps.per_hour_usd), 2 * HOUR_S),
        ("day", now.strftime("%Y%m%d"), nano_usd, _nano(caps.per_day_usd), 2 * DAY_S),
        ("version", version, nano_usd, _nano(caps.per_bom_usd), LONG_S),
        ("calls", version, 1, caps.max_calls, LONG_S),
    )
    return tuple(
        Charge(f"{{{bom}}}:{window}:{period}", amount, cap, kept_s, window)
        for window, period, amount, cap, kept_s in windows
        if cap is not None
    )


def _nano(usd: float | None) -> int | None:
    return None if usd is None else round(usd * NANO)


def most_nano_usd(price: Price, *, prompt_bytes: int, max_output_tokens: int) -> int:
    """The most that a call can cost: no tokenizer makes more tokens than the text has bytes."""
    return nano_usd(price, input_tokens=prompt_bytes + FRAME_TOKENS, output_tokens=max_output_tokens)


def nano_usd(price: Price, *, input_tokens: int, output_tokens: int) -> int:
    """The cost of a call, rounded up. A dollar a million tokens is a thousand nano-dollars a token."""
    return math.ceil(1_000 * (input_tokens * price.input_per_mtok + output_tokens * price.output_per_mtok))
