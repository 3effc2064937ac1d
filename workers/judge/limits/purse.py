"""The caps on money and calls of a BOM, for every judge of a worker: reserved before a call, settled after it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from schemas.bom import CostCaps
from schemas.errors import ModelError
from schemas.verdict_space import Cause
from workers.judge.limits.shared_spending import SharedSpending
from workers.judge.limits.spending import Charge, Ledger, charges_of
from workers.judge.protocols import Counters


class Purse:
    """Never overspends: a call goes out only when the most it can cost still fits under every cap.

    What does not fit waits, inside its deadline, while calls of this worker are out whose real cost may make room; then
    it is ModelError(OVER_BUDGET). ``now`` is the wall clock in UTC.
    """

    def __init__(
        self,
        caps: CostCaps,
        *,
        bom: str,
        version: str,
        shared: SharedSpending | None,
        counters: Counters,
        now: Callable[[], datetime],
    ) -> None:
        self._caps, self._bom, self._version = caps, bom, version
        self._shared, self._counters, self._now = shared, counters, now
        self._ledger = Ledger()
        self._out: Counter[str] = Counter()  # reserved for calls that are out, by meter
        self._settled = asyncio.Event()
        self._first_in_line = asyncio.Lock()

    async def reserve(self, nano_usd: int, *, deadline: float) -> Reservation:
        """Raises ModelError(OVER_BUDGET), without a call, where it fits under no circumstances or not in time."""
        try:
            async with asyncio.timeout_at(deadline), self._first_in_line:
                while (charges := await self._take(nano_usd)) is None:
                    await self._room(nano_usd)
        except TimeoutError as error:
            raise self._over_budget("no room under the caps before the deadline") from error
        self._out.update({charge.meter: charge.amount for charge in charges if charge.money})
        return Reservation(self, charges)

    def settle(self, charges: Sequence[Charge], *, nano_usd: int | None, called: bool) -> None:
        """Corrects what was reserved; unknown cost (None) stays at the most it can be."""
        for charge in charges:
            if charge.money:
                self._correct(charge, 0 if nano_usd is None else nano_usd - charge.amount)
                self._out[charge.meter] -= charge.amount
            elif not called:
                self._correct(charge, -charge.amount)
        self._settled.set()

    def _correct(self, charge: Charge, amount: int) -> None:
        if amount:
            self._ledger.add(charge.meter, amount)
            if self._shared is not None:
                self._shared.add(charge, amount)

    async def _take(self, nano_usd: int) -> tuple[Charge, ...] | None:
        self._settled.clear()  # before looking: what is settled from here on is another look
        charges = self._charges(nano_usd)
        self._forget_past(charges)
        if not self._ledger.take(charges):
            return None
        granted = False
        try:
            granted = self._shared is None or await self._shared.take(charges)
        finally:
            if not granted:
                for charge in charges:
                    self._ledger.add(charge.meter, -charge.amount)
        return charges if granted else None

    async def _room(self, nano_usd: int) -> None:
        """Returns when something was settled. Raises where no call of this worker that is out could make room."""
        charges = self._charges(nano_usd)
        none_is_out = not any(self._out[charge.meter] for charge in charges)
        if none_is_out or any(self._spent(charge.meter) + charge.amount > charge.cap for charge in charges):
            raise self._over_budget("a cap is reached")
        await self._settled.wait()

    def _spent(self, meter: str) -> int:
        return self._ledger.sum(meter) - self._out[meter]

    def _forget_past(self, charges: Sequence[Charge]) -> None:
        """Hours and days that are over, and none of whose calls is out."""
        self._out = +self._out
        self._ledger.forget(but={charge.meter for charge in charges} | set(self._out))

    def _charges(self, nano_usd: int) -> tuple[Charge, ...]:
        return charges_of(self._caps, bom=self._bom, version=self._version, nano_usd=nano_usd, now=self._now())

    def _over_budget(self, detail: str) -> ModelError:
        self._counters.count("over_budget")
        return ModelError(Cause.OVER_BUDGET, detail, calls=0)


class Reservation:
    """Room for one call. Settled once, whatever comes of it."""

    __slots__ = ("_charges", "_purse")

    def __init__(self, purse: Purse, charges: Sequence[Charge]) -> None:
        self._purse, self._charges = purse, charges

    def settle(self, *, nano_usd: int | None, called: bool = True) -> None:
        self._purse.settle(self._charges, nano_usd=nano_usd, called=called)
