"""Rule ``numeric_claims``: every number with a unit in the text agrees with the item's metadata.

A claim is supported when some quantity of the metadata has the same dimension and, converted, the same value; which
property a number belongs to is not read (that is a model's to judge). Source: S2 7.14, "up to 20 hours".
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import MAX_REASON_CHARS, MAX_SPANS
from workers.judge.rules.finding import PASSED, Params, RuleFinding, missing_evidence, nothing_to_check
from workers.judge.rules.metadata import Leaf, at_path, leaves, readable
from workers.judge.rules.quantities import MAX_QUANTITIES, Bound, Quantity, quantities, read_number
from workers.judge.rules.units import UNITS, Unit, unit_named

MAX_LEAF_CHARS = 20_000
MAX_PAIRS = 20_000
"""Claims times facts of their dimension: about 20 ms of comparing, during which the worker does nothing else."""

OVER_FACTOR = 1.5
"""How far beyond its bound "over N" or "under N" may be: over 10 hours is said of 12, not of 30."""


class NumericClaims(Params):
    """``paths`` (dotted; none = all metadata) of the items in ``roles`` are what claims are held against.

    ``units`` names the unit of a bare number by its path or last key. ``rounding`` is the relative error that rounding
    to the claim's decimals may bring, ``about`` the one that "about 5 kg" allows. ``dimensions``: check these alone.
    """

    roles: Annotated[tuple[str, ...], Field(min_length=1)] = ("target",)
    paths: tuple[str, ...] = ()
    units: dict[str, str] = Field(default_factory=dict)
    rounding: Annotated[float, Field(ge=0, le=0.2)] = 0.025
    about: Annotated[float, Field(ge=0, le=0.5)] = 0.1
    dimensions: tuple[str, ...] = ()
    no_claims: Annotated[str, Field(pattern="^(pass|not_applicable)$")] = "pass"

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for key, name in self.units.items():
            if unit_named(name) is None:
                raise ValueError(f"units.{key}: unit {name!r} is unknown; known are {', '.join(UNITS)}")
        known = {unit.dimension for unit in UNITS.values()}
        for dimension in self.dimensions:
            if dimension not in known:
                raise ValueError(f"dimensions: {dimension!r} is unknown; known are {', '.join(sorted(known))}")
        return self


class Fact(NamedTuple):
    """A quantity of the metadata; ``low`` and ``high`` differ for a range. Several readings are several facts."""

    low: float
    high: float
    unit: Unit


def check_numeric_claims(draft: Draft, params: NumericClaims) -> RuleFinding:
    """A fail quotes every claim that no metadata supports, and says what the metadata has instead."""
    metadata = readable(draft, params.roles)
    if metadata is None:
        return missing_evidence(f"no readable metadata for {', '.join(params.roles)}")
    claims = [claim for claim in quantities(draft.text) if _checked(claim.unit, params)]
    if not claims:
        return PASSED if params.no_claims == "pass" else nothing_to_check("no number with a unit")
    found = [value for one in metadata for value in _at_paths(one, params.paths)]
    if not found:
        return missing_evidence(f"no value at {', '.join(params.paths)}")
    facts = _by_dimension(
        fact for keys, value in found for leaf in leaves(value, keys) for fact in _facts(leaf, params)
    )
    pairs = sum(len(facts.get(claim.unit.dimension, ())) for claim in claims)
    if len(claims) == MAX_QUANTITIES or pairs > MAX_PAIRS:
        return missing_evidence("more figures than can be compared")
    unsupported = [claim for claim in claims if not _supported(claim, facts.get(claim.unit.dimension, ()), params)]
    if not unsupported:
        return PASSED
    spans = tuple(dict.fromkeys(draft.text[claim.start : claim.end] for claim in unsupported))
    return RuleFinding(Label.FAIL, _reason(unsupported, facts), spans[:MAX_SPANS])


def _checked(unit: Unit, params: NumericClaims) -> bool:
    return not params.dimensions or unit.dimension in params.dimensions


def _at_paths(metadata: JsonValue, paths: Sequence[str]) -> list[tuple[tuple[str, ...], JsonValue]]:
    if not paths:
        return [((), metadata)]
    values = [(tuple(path.split(".")), at_path(metadata, path)) for path in paths]
    return [(keys, value) for keys, value in values if value is not None]


def _by_dimension(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    grouped: dict[str, list[Fact]] = {}
    for fact in dict.fromkeys(facts):
        grouped.setdefault(fact.unit.dimension, []).append(fact)
    return grouped


def _facts(leaf: Leaf, params: NumericClaims) -> Iterator[Fact]:
    """What one value of the metadata says: text with units, or a bare number whose unit its key or ``units`` names."""
    if isinstance(leaf.value, str):
        if _DIGIT.search(leaf.value) is None:
            return
        text = leaf.value[:MAX_LEAF_CHARS]
        if "&" in text:
            text = html.unescape(text)
        for quantity in quantities(text, spaced_in=True):
            for low, high in zip(quantity.low.readings, quantity.high.readings, strict=False):
                yield Fact(low, high, quantity.unit)
        bare = _BARE.fullmatch(text)
        if bare and (unit := _unit_of(leaf.keys, params)):
            yield from (Fact(value, value, unit) for value in read_number(bare[1]).readings)
    elif (
        isinstance(leaf.value, (int, float))
        and not isinstance(leaf.value, bool)
        and (unit := _unit_of(leaf.keys, params))
    ):
        yield Fact(float(leaf.value), float(leaf.value), unit)


def _unit_of(keys: tuple[str, ...], params: NumericClaims) -> Unit | None:
    """``units`` by path, then by last key; else the key's last word: battery_mah, weightKg, "Weight (g)"."""
    named = params.units.get(".".join(keys)) or params.units.get(keys[-1] if keys else "")
    if named:
        return unit_named(named)
    key = keys[-1] if keys else ""
    for words in (_SEPARATED.findall(key), _CAMEL.findall(key)):
        if len(words) > 1 and (unit := unit_named(words[-1]) or unit_named(words[-1].lower())):
            return unit
    return None


def _supported(claim: Quantity, facts: Sequence[Fact], params: NumericClaims) -> bool:
    """Both ends of the claim agree with a fact of its dimension in at least one reading."""
    ends = (claim.low,) if claim.low is claim.high else (claim.low, claim.high)
    return all(
        any(
            _agrees(reading, end.decimals, claim, fact, params, binary=binary)
            for fact in facts
            for reading in end.readings
            for binary in ((False, True) if claim.unit.binary_factor else (False,))
        )
        for end in ends
    )


def _agrees(stated: float, decimals: int, claim: Quantity, fact: Fact, params: NumericClaims, *, binary: bool) -> bool:
    low = fact.unit.convert(fact.low, claim.unit, binary=binary)
    high = fact.unit.convert(fact.high, claim.unit, binary=binary)
    match claim.bound:
        case Bound.OVER:
            return stated <= high and low <= max(stated * OVER_FACTOR, stated / OVER_FACTOR)
        case Bound.UNDER:
            return low <= stated and high >= min(stated * OVER_FACTOR, stated / OVER_FACTOR)
        case Bound.ABOUT:
            slack = params.about * max(abs(low), abs(high))
        case Bound.EXACT:
            half_a_step = 0.5 * 10.0**-decimals
            slack = min(half_a_step, params.rounding * max(abs(low), abs(high)))
    tiny = 1e-9 * max(1.0, abs(stated))
    return low - slack - tiny <= stated <= high + slack + tiny


def _reason(unsupported: Sequence[Quantity], facts: Mapping[str, Sequence[Fact]]) -> str:
    """Numbers as we read them, in our spelling: no text of the draft or the metadata."""
    parts = []
    for claim in unsupported[:4]:
        known = dict.fromkeys(_spelt(f.low, f.high, f.unit) for f in facts.get(claim.unit.dimension, ()))
        has = " or ".join(list(known)[:4]) if known else f"no {claim.unit.dimension}"
        how = "" if claim.bound is Bound.EXACT else f"{claim.bound} "
        says = how + _spelt(claim.low.readings[0], claim.high.readings[0], claim.unit)
        parts.append(f"the text says {says}, the data {has}")
    reason = "; ".join(parts)
    more = f"; and {len(unsupported) - 4} more" if len(unsupported) > 4 else ""
    return (reason[0].upper() + reason[1:] + more + ".")[:MAX_REASON_CHARS]


def _spelt(low: float, high: float, unit: Unit) -> str:
    return f"{low:.10g} {unit.symbol}" if low == high else f"{low:.10g}-{high:.10g} {unit.symbol}"


_DIGIT = re.compile(r"\d")
_BARE = re.compile(r"\s*([-−]?\d+(?:[.,]\d+)*)\s*")
_SEPARATED = re.compile(r"[^\s_()\[\],-]+")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
