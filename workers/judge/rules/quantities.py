"""Numbers with units, read out of text: ``5,000 mAh``, ``6.7-inch``, ``10-12 hours``, ``16 x 7 x 8 mm``, ``$1,299``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from workers.judge.rules.units import CASED, CURRENCY_SIGNS, NAMES, UNITS, Unit, unit_named

MAX_QUANTITIES: Final = 2_000


class Bound(StrEnum):
    """How a number is meant."""

    EXACT = "exact"  # "up to 20 hours" too: it states the limit
    ABOUT = "about"
    OVER = "over"
    UNDER = "under"


class Number(NamedTuple):
    """One written number. Ambiguous writing (``1.200``, ``6 128``) has several readings."""

    readings: tuple[float, ...]
    decimals: int


class Quantity(NamedTuple):
    """``low`` and ``high`` differ for a range. ``start`` and ``end`` delimit it in the text, unit included."""

    low: Number
    high: Number
    unit: Unit
    bound: Bound
    start: int
    end: int


def quantities(text: str, *, spaced_in: bool = False) -> Iterator[Quantity]:
    """Every number with a unit, in order, at most MAX_QUANTITIES.

    ``spaced_in`` reads ``6.1 in`` as inches: right in a spec sheet, wrong in prose ("launched in 2023 in black").
    """
    count = 0
    for found in _QUANTITY.finditer(text):
        if (unit := _unit(found, text, spaced_in=spaced_in)) is None:
            continue
        bound = _bound(text, found.start())
        for low, high in _numbers(found, unit):
            if (count := count + 1) > MAX_QUANTITIES:
                return
            yield Quantity(low, high, unit, bound, found.start(), found.end())


def read_number(written: str) -> Number:
    """The readings of a written number, the likeliest first."""
    plain = written.replace("−", "-").replace("–", "-")
    sign, digits = (-1.0, plain[1:]) if plain.startswith("-") else (1.0, plain)
    if _SPACED.search(digits):
        groups = _SPACED.split(digits)
        joined = read_number("".join(groups))
        last = read_number(groups[-1])
        return Number(tuple(sign * value for value in (*joined.readings, *last.readings)), joined.decimals)
    points = [mark for mark in digits if mark in ".,"]
    if not points:
        return Number((sign * float(digits),), 0)
    if len(points) > 1:
        return _several_marks(sign, digits, points)
    whole, _, fraction = digits.partition(points[0])
    as_decimal = sign * float(f"{whole}.{fraction}")
    if len(fraction) == 3 and 0 < len(whole) <= 3 and not whole.startswith("0"):
        as_thousands = sign * float(whole + fraction)
        first, second = (as_thousands, as_decimal) if points[0] == "," else (as_decimal, as_thousands)
        return Number((first, second), 3)
    return Number((as_decimal,), len(fraction))


def _several_marks(sign: float, digits: str, points: list[str]) -> Number:
    """``1,234,567.8`` and ``1.234.567,8``: the last mark is the decimal one if it differs from the others."""
    if len(set(points)) == 1:
        return Number((sign * float(re.sub("[.,]", "", digits)),), 0)
    head, _, fraction = digits.rpartition(points[-1])
    return Number((sign * float(re.sub("[.,]", "", head) + "." + fraction),), len(fraction))


def _numbers(found: re.Match[str], unit: Unit) -> list[tuple[Number, Number]]:
    """The quantities of one hit: a range, the sides of a box, alternatives, or one number."""
    written = [read_number(one) for one in _NUMBER.findall(found["numbers"])]
    if len(written) == 2 and _RANGE_MARK.search(found["numbers"]) and written[0].readings[0] < written[1].readings[0]:
        return [(written[0], written[1])]
    if _TIMES.search(found["numbers"]) and unit.dimension != "length":
        written = written[-1:]  # "2 x 65 W": a count, and what each has
    return [(one, one) for one in written]


def _unit(found: re.Match[str], text: str, *, spaced_in: bool) -> Unit | None:
    if found["sign"]:
        return UNITS[CURRENCY_SIGNS[found["sign"].upper()]]
    name = re.sub(r"\s+", " ", found["unit"])
    if name in {'"', "″", "”"}:
        return None if _closes_a_quotation(name, text[max(0, found.start() - 200) : found.start()]) else UNITS["in"]
    if name == "in" and found["gap"].isspace() and not spaced_in:
        return None
    if name == "s" and not found["gap"]:  # a model name: "5s"
        return None
    if name in CURRENCY_SIGNS:
        return UNITS[CURRENCY_SIGNS[name]]
    return unit_named(name)


def _closes_a_quotation(mark: str, before: str) -> bool:
    """True when a quotation is open, so that the mark after a number ends it and means no inches."""
    if mark == "”":
        return before.rfind("“") > before.rfind("”")
    return mark == '"' and len(_QUOTE_MARK.findall(before)) % 2 == 1


def _bound(text: str, start: int) -> Bound:
    before = _BEFORE.search(text, max(0, start - 32), start)
    return Bound[before.lastgroup] if before and before.lastgroup else Bound.EXACT


def _longest_first(names: list[str]) -> str:
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in sorted(names, key=len, reverse=True))


_QUOTE_MARK = re.compile(r'(?<!\d)"')
_SPACED = re.compile(r"(?<=\d)[ \u00a0\u202f\u2009'’](?=\d{3})")
_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d{1,9})?|\d+(?:[.,]\d+){0,5}"
_NUMBER = re.compile(rf"(?<!\d)[-−](?:{_DIGITS})|{_DIGITS}")
_JOIN = r"\s{0,2}(?:-|–|—|to|or|x|×|\*|by|/)\s{0,2}"
_WORDY = _longest_first([name for name in NAMES if name not in CASED and name[-1].isalpha()])
_MARKS = _longest_first([name for name in NAMES if name not in CASED and not name[-1].isalpha()])
_QUANTITY = re.compile(
    rf"(?<![\w.,/])(?:(?P<sign>US\$|[$€£¥₹]|USD|EUR|GBP|JPY|INR|CHF)\s?)?"
    rf"(?P<numbers>[-−]?(?:{_DIGITS})(?:{_JOIN}(?P=sign)?(?:{_DIGITS})){{0,4}})"
    rf"(?:(?P<gap>\s{{0,2}}[-‐‑]?\s?)"
    rf"(?P<unit>(?i:{_WORDY})(?![\w])|(?:{'|'.join(sorted(CASED))})(?!\w)|(?i:{_MARKS})|[\"″”](?!\w)|[$€£¥₹])|(?(sign)|(?!)))"
)
_RANGE_MARK = re.compile(r"(?<=\d)\s{0,2}(?:-|–|—|to)\s{0,2}(?=[\d$€£¥₹])")
_TIMES = re.compile(r"x|×|\*|by")
_BEFORE = re.compile(
    r"(?:(?P<OVER>over|more than|at least|above|exceed(?:s|ing)|upwards of|beyond|minimum(?: of)?|>)"
    r"|(?P<UNDER>under|less than|below|at most|fewer than|maximum(?: of)?|<)"
    r"|(?P<ABOUT>about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|close to|some|~|≈))"
    r"\s{0,2}(?:an?\s|the\s)?[$€£¥₹]?\Z",
    re.IGNORECASE,
)
