"""The one door for arguments: wrong input is one error that names the argument, the value and the rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class StatsInputError(ValueError):
    """An argument breaks a rule. The caller is wrong, the data may be fine.

    >>> count("x", True)
    Traceback (most recent call last):
    stats.checks.StatsInputError: x must be a whole number of at least 0, not True
    """

    def __init__(self, argument: str, value: object, rule: str) -> None:
        self.argument, self.rule = argument, rule
        super().__init__(f"{argument} {rule}, not {_shown(value)}")


def _shown(value: object, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}..."


def count(argument: str, value: Any, *, at_least: int = 0) -> int:
    """A whole number. A boolean is none, although Python says that it is an int."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < at_least:
        raise StatsInputError(argument, value, f"must be a whole number of at least {at_least}")
    return int(value)


def successes(argument: str, value: Any, total: int) -> int:
    """A count that cannot exceed its total."""
    x = count(argument, value)
    if x > total:
        raise StatsInputError(argument, value, f"must not exceed its total {total}")
    return x


def real(argument: str, value: Any, *, at_least: float = -math.inf, above: float = -math.inf) -> float:
    """A finite number; text such as "nan" is none."""
    rule = "must be a finite number"
    if at_least > -math.inf:
        rule += f" of at least {at_least:g}"
    if above > -math.inf:
        rule += f" above {above:g}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise StatsInputError(argument, value, rule)
    number = float(value)
    if not math.isfinite(number) or number < at_least or number <= above:
        raise StatsInputError(argument, value, rule)
    return number


def share(argument: str, value: Any) -> float:
    """A number between 0 and 1, ends included."""
    number = real(argument, value)
    if not 0.0 <= number <= 1.0:
        raise StatsInputError(argument, value, "must lie between 0 and 1")
    return number


def open_share(argument: str, value: Any) -> float:
    """A number between 0 and 1, ends excluded: a confidence, a level, a power."""
    number = share(argument, value)
    if number in (0.0, 1.0):
        raise StatsInputError(argument, value, "must lie strictly between 0 and 1")
    return number


def choice(argument: str, value: T, allowed: Iterable[T]) -> T:
    """One of a closed menu."""
    menu = tuple(allowed)
    if value not in menu:
        raise StatsInputError(argument, value, f"must be one of {', '.join(map(str, menu))}")
    return value


def same_length(**columns: Sequence[Any]) -> int:
    """The common length of columns that describe the same items."""
    lengths = {name: len(column) for name, column in columns.items()}
    (first, length), *rest = lengths.items()
    for name, other in rest:
        if other != length:
            raise StatsInputError(name, other, f"must have the length of {first}, {length}")
    return length


def labels(argument: str, values: Sequence[Any], allowed: Sequence[str], *, optional: bool = False) -> list[Any]:
    """Labels of a closed menu; ``None`` (absent) only where ``optional``."""
    menu = {*allowed, None} if optional else set(allowed)
    for value in values:
        if not isinstance(value, (str, type(None))) or value not in menu:
            raise StatsInputError(argument, value, f"must hold only {', '.join(allowed)}{' or None' * optional}")
    return list(values)


def open_labels(argument: str, values: Iterable[Any]) -> list[Any]:
    """Labels of an open menu: anything hashable but a NaN in any dress. ``None`` is a missing rating."""
    out = list(values)
    try:
        distinct = set(out)
    except TypeError as error:
        raise StatsInputError(argument, out, "must hold labels that can be told apart (hashable ones)") from error
    for value in distinct:
        if value != value or (isinstance(value, str) and value.strip().lower() == "nan"):
            raise StatsInputError(argument, value, "must mark a missing rating by None")
    return out


def reals(argument: str, values: Sequence[Any], *, at_least: float = -math.inf, flags: bool = False) -> Floats:
    """A column of finite numbers; booleans only where ``flags`` (as 0 and 1)."""
    try:
        column = np.asarray(values)
    except ValueError as error:  # lists of uneven lengths
        raise StatsInputError(argument, values, "must be a flat list of numbers") from error
    if column.size == 0:
        return np.zeros(0)
    if column.ndim != 1 or column.dtype.kind not in ("biuf" if flags else "iuf"):
        raise StatsInputError(argument, values, "must be a flat list of numbers")
    floats = column.astype(np.float64)
    if not np.isfinite(floats).all() or (floats < at_least).any():
        limit = f" of at least {at_least:g}" if at_least > -math.inf else ""
        raise StatsInputError(argument, values, f"must hold finite numbers{limit}")
    return floats


def weights(argument: str, values: Sequence[Any] | None, length: int) -> Floats:
    """Inverse inclusion probabilities, one an item; ``None`` means that every item counts the same."""
    if values is None:
        return np.ones(length)
    column = reals(argument, values, at_least=0.0)
    if len(column) != length:
        raise StatsInputError(argument, len(column), f"must have one entry an item, {length}")
    return column


def flags(argument: str, values: Sequence[Any]) -> Floats:
    """A column of 0 and 1 (or False and True)."""
    column = reals(argument, values, flags=True)
    if not np.isin(column, (0.0, 1.0)).all():
        raise StatsInputError(argument, values, "must hold only 0 and 1")
    return column


def square_counts(argument: str, values: Any) -> Ints:
    """A square table of counts; an empty one is square."""
    table = count_table(argument, values) if len(values) else np.zeros((0, 0), dtype=np.int64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise StatsInputError(argument, values, "must be a square table")
    return table


def count_table(argument: str, values: Any) -> Ints:
    """A rectangular table of counts."""
    rows = [[count(argument, cell) for cell in row] for row in values]
    if len({len(row) for row in rows}) > 1:
        raise StatsInputError(argument, values, "must have rows of one length")
    return np.array(rows, dtype=np.int64)
