"""Numbers with units, read out of text: ``5,000 mAh``, ``6.7-inch``, ``10-12 hours``, ``16 x 7 x 8 mm``, ``$1,299``."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from workers.judge.rules.units import CASED, CURRENCY_SIGNS, NAMES, UNITS, Unit, unit_named

MAX_QUANTITIES: Final = 1_000


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
    """Every number with a unit, in order, at most MAX_QUANTITIES. Linear in the length of any text.

    ``spaced_in`` reads ``6.1 in`` as inches: right in a spec sheet, wrong in prose ("launched in 2023 in black").
    """
    quotes = [mark.start() for mark in _QUOTE_MARK.finditer(text)] if '"' in text else []
    at = count = 0
    while (found := _NUMBERS.search(text, at)) is not None:
        written = _unit_after(text, found.end())
        if written is None and not found["sign"]:
            at = found.end("first")  # the others of the row may be a row with a unit
            continue
        at = end = written.end() if written else found.end()
        if (unit := _unit(found, written, text, quotes, spaced_in=spaced_in)) is None:
            continue
        bound = _bound(text, found.start())
        for low, high in _numbers(found, unit):
            if (count := count + 1) > MAX_QUANTITIES:
                return
            yield Quantity(low, high, unit, bound, found.start(), end)


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


def _unit_after(text: str, at: int) -> re.Match[str] | None:
    """The name of a unit that follows a number ending ``at``. Few names begin alike: only those are tried."""
    gap = _GAP.match(text, at)
    begin = gap.end() if gap else at
    names = _NAMES_BY_FIRST.get(text[begin : begin + 1].casefold())
    return names.match(text, begin) if names else None


def _unit(
    found: re.Match[str], written: re.Match[str] | None, text: str, quotes: Sequence[int], *, spaced_in: bool
) -> Unit | None:
    if found["sign"]:
        return UNITS[CURRENCY_SIGNS[found["sign"].upper()]]
    assert written is not None
    name, gap = re.sub(r"\s+", " ", written[0]), text[found.end() : written.start()]
    if name in {'"', "″", "”"}:
        return None if _closes_a_quotation(name, text, found.start(), quotes) else UNITS["in"]
    if name == "in" and gap.isspace() and not spaced_in:
        return None
    if name == "s" and not gap:  # a model name: "5s"
        return None
    if name in CURRENCY_SIGNS:
        return UNITS[CURRENCY_SIGNS[name]]
    return unit_named(name)


def _closes_a_quotation(mark: str, text: str, at: int, quotes: Sequence[int]) -> bool:
    """True when a quotation is open, so that the mark after a number ends it and means no inches."""
    begin = max(0, at - 200)
    if mark == "”":
        return text.rfind("“", begin, at) > text.rfind("”", begin, at)
    return mark == '"' and (bisect_left(quotes, at) - bisect_left(quotes, begin)) % 2 == 1


def _bound(text: str, start: int) -> Bound:
    before = _BEFORE.match(text[max(0, start - 32) : start][::-1])
    return Bound[before.lastgroup] if before and before.lastgroup else Bound.EXACT


def _names_by_first() -> dict[str, re.Pattern[str]]:
    """First character of a name, case folded -> all names that begin with it, the longest first."""
    names = [(name, r"(?!\w)" if name[-1].isalpha() else "", "i") for name in NAMES if name not in CASED]
    names += [(mark, r"(?!\w)", "i") for mark in '"″”'] + [(sign, "", "i") for sign in "$€£¥₹"]
    names += [(name, r"(?!\w)", "-i") for name in CASED]
    by_first: dict[str, list[str]] = {}
    for name, after, case in sorted(names, key=lambda one: -len(one[0])):
        by_first.setdefault(name[0].casefold(), []).append(f"(?{case}:{_escaped(name)}){after}")
    return {first: re.compile("|".join(patterns), re.IGNORECASE) for first, patterns in by_first.items()}


def _escaped(name: str) -> str:
    return re.escape(name).replace(r"\ ", r"\s")


def _reversed(*phrases: str) -> str:
    return "|".join(_escaped(phrase[::-1]) for phrase in phrases)


# Nothing in these is ever given back (++, (?>)): a hostile row of digits is read once and not in all its parts.
_QUOTE_MARK = re.compile(r'(?<!\d)"')
_SPACED = re.compile(r"(?<=\d)[ \u00a0\u202f\u2009'’](?=\d{3})")
_DIGITS = r"(?>\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3}(?!\d)){1,6}+(?:[.,]\d{1,9}+)?+|\d++(?:[.,]\d++){0,5}+)"
_NUMBER = re.compile(rf"(?<!\d)[-−]{_DIGITS}|{_DIGITS}")
_JOIN = r"\s{0,2}+(?:-|–|—|to|or|x|×|\*|by|/)\s{0,2}+"
_NUMBERS = re.compile(
    rf"(?<![\w.,/])(?:(?P<sign>US\$|[$€£¥₹]|USD|EUR|GBP|JPY|INR|CHF)\s?+)?"
    rf"(?P<numbers>(?P<first>[-−]?{_DIGITS})(?:{_JOIN}(?P=sign)?{_DIGITS}){{0,4}}+)"
)
_GAP = re.compile(r"\s{0,2}+[-‐‑]?+\s?+")
_NAMES_BY_FIRST = _names_by_first()
_RANGE_MARK = re.compile(r"(?<=\d)\s{0,2}(?:-|–|—|to)\s{0,2}(?=[\d$€£¥₹])")
_TIMES = re.compile(r"x|×|\*|by")
_OVER = _reversed(
    "over", "more than", "at least", "above", "exceeds", "exceeding", "upwards of", "beyond", "minimum", "minimum of",
    ">",
)  # fmt: skip
_UNDER = _reversed("under", "less than", "below", "at most", "fewer than", "maximum", "maximum of", "<")
_ABOUT = _reversed(
    "about", "around", "approximately", "approx", "approx.", "roughly", "nearly", "almost", "circa", "ca.", "close to",
    "some", "~", "≈",
)  # fmt: skip
_BEFORE = re.compile(
    rf"[$€£¥₹]?(?:\s(?:na|a|eht))?\s{{0,2}}(?:(?P<OVER>{_OVER})|(?P<UNDER>{_UNDER})|(?P<ABOUT>{_ABOUT}))",
    re.IGNORECASE,
)
"""What stands before a number, read from the number backwards: one try at one place."""
