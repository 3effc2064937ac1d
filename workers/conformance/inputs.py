"""What the suite reads: drafts, gold labels, recorded comparisons and scores. Every mistake names its line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from schemas.codec import decode
from schemas.drafts import Draft
from schemas.errors import BadMessage
from schemas.topics import DRAFTS
from schemas.verdict_space import Label
from workers.conformance.comparing import Dominance


class BadInput(ValueError):
    """A line that cannot be read: which one, and what it needs."""


def sample_drafts() -> list[Draft]:
    """Drafts that come with the suite: product descriptions, two of them sound and three not."""
    sample = files("workers.conformance").joinpath("samples", "drafts.jsonl")
    return list(read_drafts(sample.read_bytes().splitlines()))


def read_drafts(lines: Iterable[bytes]) -> Iterator[Draft]:
    """Drafts as producers publish them, one a line."""
    for number, line in _filled(lines):
        yield _draft(number, line)


def read_gold(lines: Iterable[bytes], *, criteria: Iterable[str]) -> Iterator[tuple[Draft, dict[str, str]]]:
    """Drafts with ``gold``: a label for each criterion, or one label for all of ``criteria``."""
    known = tuple(criteria)
    for number, line in _filled(lines):
        yield _draft(number, line), _gold(number, _object(number, line).get("gold"), known)


def read_dominances(lines: Iterable[bytes]) -> Iterator[Dominance]:
    """Two drafts a line, ``better`` and ``worse``: what the rubric itself puts in this order."""
    for number, line in _filled(lines):
        row = _object(number, line)
        better, worse = (json.dumps(row.get(side)).encode() for side in ("better", "worse"))
        yield Dominance(_draft(number, better), _draft(number, worse))


def read_rows(lines: Iterable[bytes], *, needs: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """JSON objects that hold these fields."""
    for number, line in _filled(lines):
        row = _object(number, line)
        if missing := [name for name in needs if name not in row]:
            raise BadInput(f"line {number}: {missing[0]} is missing")
        yield row


def read_scores(lines: Iterable[bytes]) -> Iterator[tuple[float, int]]:
    """``score`` and ``chars`` (or ``text``, whose characters are counted) a line."""
    for number, row in enumerate(read_rows(lines, needs=("score",)), 1):
        text = row.get("text")
        score, chars = _number(row["score"]), float(len(text)) if isinstance(text, str) else _number(row.get("chars"))
        if score is None or chars is None or chars < 1:
            raise BadInput(f"row {number}: score must be a number, and chars (or the length of text) at least 1")
        yield score, int(chars)


def _number(value: object) -> float | None:
    """A finite number; a boolean is none."""
    return float(value) if isinstance(value, (int, float)) and type(value) is not bool and abs(value) < 1e300 else None


def _gold(number: int, gold: object, criteria: tuple[str, ...]) -> dict[str, str]:
    labels = gold if isinstance(gold, Mapping) else dict.fromkeys(criteria, gold)
    for criterion, label in labels.items():
        if criterion not in criteria:
            raise BadInput(f"line {number}: gold names {str(criterion)[:64]!r}, no criterion of the charter")
        if label not in tuple(Label):
            raise BadInput(f"line {number}: gold must be {', '.join(Label)}, or one of them for each criterion")
    if not labels:
        raise BadInput(f"line {number}: gold holds no label")
    return {str(criterion): str(label) for criterion, label in labels.items()}


def _filled(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _draft(number: int, line: bytes) -> Draft:
    try:
        message = decode(DRAFTS, line.strip()).message
    except BadMessage as error:
        raise BadInput(f"line {number}: {error}") from error
    assert isinstance(message, Draft)
    return message


def _object(number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"line {number}: not JSON") from error
    if not isinstance(row, dict):
        raise BadInput(f"line {number}: needs one JSON object")
    return row
