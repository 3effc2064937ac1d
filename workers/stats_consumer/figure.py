"""Figures made of counts: a share with its Wilson interval, a value, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from schemas.reports import Figure, Health
from stats.proportions import wilson
from stats.unavailable import Number, Unavailable

Scope = Mapping[str, str]
NO_SCOPE: Scope = MappingProxyType({})


def share(health: Health, name: str, x: int, n: int, *, of: str, missing: str = "", scope: Scope = NO_SCOPE) -> Figure:
    """x of n. Without any n the figure says what is missing."""
    interval = wilson(x, n)
    if isinstance(interval, Unavailable):
        return Figure(
            health=health, name=name, of=of, scope=dict(scope), value=None, n=0, reason=missing or f"no {of} yet"
        )
    return Figure(
        health=health, name=name, of=of, scope=dict(scope), value=interval.p, lo=interval.lo, hi=interval.hi, n=n
    )  # fmt: skip


def value(
    health: Health,
    name: str,
    number: Number,
    *,
    of: str = "",
    lo: Number | None = None,
    hi: Number | None = None,
    n: int | None = None,
    scope: Scope = NO_SCOPE,
) -> Figure:
    """A number, with an interval where there is one."""
    if isinstance(number, Unavailable):
        return Figure(health=health, name=name, of=of, scope=dict(scope), value=None, n=n, reason=number.reason)
    low, high = (None if bound is None or isinstance(bound, Unavailable) else float(bound) for bound in (lo, hi))
    return Figure(health=health, name=name, of=of, scope=dict(scope), value=float(number), lo=low, hi=high, n=n)
