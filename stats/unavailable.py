"""A number that does not exist, and why: never 0, never NaN, never silently compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from numbers import Number as AnyNumber
from typing import Any, NoReturn, TypeGuard


class UnavailableError(TypeError):
    """Somebody calculated, compared or branched with a number that does not exist."""


@dataclass(frozen=True, slots=True, eq=False)
class Unavailable:
    """The answer is no number at all; ``reason`` says why.

    Arithmetic, ordering, truth tests, conversion to float or to an array raise ``UnavailableError``, so that
    ``if rate < floor`` cannot pass by accident. Two of them are equal when their reasons are.

    >>> Unavailable("no human fail")
    Unavailable(reason='no human fail')
    >>> Unavailable("no human fail") < 0.95
    Traceback (most recent call last):
    stats.unavailable.UnavailableError: unavailable: no human fail
    """

    reason: str

    def _refuse(self, *_: object) -> NoReturn:
        raise UnavailableError(str(self))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __round__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __float__ = __int__ = __index__ = __complex__ = __array__ = _refuse
    __array_ufunc__ = None  # numpy hands the operation to us instead of guessing

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unavailable):
            return self.reason == other.reason
        if isinstance(other, AnyNumber) or hasattr(other, "__array__"):
            self._refuse()
        return NotImplemented

    def __hash__(self) -> int:
        return hash((Unavailable, self.reason))

    def __str__(self) -> str:
        return f"unavailable: {self.reason}"


Number = float | Unavailable
"""What a metric returns: a finite number, or the reason why there is none."""


def available(value: Number) -> TypeGuard[float]:
    """Whether this is a number."""
    return not isinstance(value, Unavailable)


def ratio(numerator: float, denominator: float, reason: str) -> Number:
    """numerator / denominator; unavailable for this reason when the denominator is 0."""
    return numerator / denominator if denominator else Unavailable(reason)


def jsonable(result: Any) -> Any:
    """A result as JSON values: ``null`` with a reason where a number does not exist.

    A field ``spec`` that is unavailable becomes ``"spec": null, "spec_reason": "..."``; alone or in a list it becomes
    ``{"value": null, "reason": "..."}``. NaN and infinity are refused with ``ValueError``.

    >>> jsonable({"spec": Unavailable("no human fail"), "rec": 1.0})
    {'spec': None, 'spec_reason': 'no human fail', 'rec': 1.0}
    """
    if isinstance(result, Unavailable):
        return {"value": None, "reason": result.reason}
    if is_dataclass(result) and not isinstance(result, type):
        return _jsonable_items({field.name: getattr(result, field.name) for field in fields(result)})
    if isinstance(result, Mapping):
        return _jsonable_items(result)
    if hasattr(result, "_asdict"):
        return _jsonable_items(result._asdict())
    if isinstance(result, (list, tuple, set, frozenset)):
        return [jsonable(value) for value in result]
    return _scalar(result)


def _jsonable_items(items: Mapping[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in items.items():
        if isinstance(value, Unavailable):
            out[str(key)] = None
            out[f"{key}_reason"] = value.reason
        else:
            out[str(key)] = jsonable(value)
    return out


def _scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} cannot be written: an undefined number is Unavailable(reason)")
    return value
