"""``assay judge parse``: what the parser makes of raw replies, without a model and without Kafka."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from workers.cli.output import console, fail, notes, print_json
from workers.judge.contracts import CONTRACTS, contract_named
from workers.judge.parsing import parse_reply
from workers.judge.reading import Contract, ParsedReply, unparseable
from workers.runtime.printable import cut, escaped

_SHOWN_CHARS = 120
_CONTRACTS_HELP = "The shape the judge was asked for: " + "; ".join(
    f"{c.name} = {c.shape}".replace("[", "\\[") for c in CONTRACTS.values()
)


class Row(NamedTuple):
    """One raw reply. ``raw`` of any type: what is no text abstains, and the row stays."""

    id: str
    raw: Any
    finish_reason: str | None = None
    refusal: bool = False


def register(judge_app: typer.Typer) -> None:
    judge_app.command("parse")(parse)


def parse(
    file: Annotated[
        Path | None, typer.Argument(help="JSONL with `raw` (and `finish_reason`) a line; without it, standard input.")
    ] = None,
    contract: Annotated[str, typer.Option(help=_CONTRACTS_HELP, metavar="NAME")] = "verdict",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a reply.")] = False,
) -> None:
    """Read raw replies of a judge and show the verdict of each: one verdict, or abstain with its cause."""
    chosen = _chosen(contract)
    readings = ((row, _reading(row, chosen)) for row in rows(_input(file)))
    if as_json:
        for number, (row, parsed) in enumerate(readings, start=1):
            print_json(_document(number, row, parsed))
    else:
        _print_table(list(readings))


def rows(text: str) -> Iterator[Row]:
    """The replies in an input: a line each where lines are JSON objects with ``raw``, else the whole as one reply."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = [_object(line) for line in lines]
    if not any(one is not None and "raw" in one for one in found):
        several_rows = len(found) > 1 and all(one is not None and "label" not in one for one in found)
        if not several_rows:
            yield Row("1", text)
            return
    for number, one in enumerate(found, start=1):
        yield Row(str(number), None) if one is None else _row(number, one)


def _row(number: int, one: dict[str, Any]) -> Row:
    finish_reason = one.get("finish_reason")
    name = str(one.get("id", number)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Row(
        name[:64], one.get("raw"), finish_reason if isinstance(finish_reason, str) else None, one.get("refusal") is True
    )


def _reading(row: Row, contract: Contract[Any]) -> ParsedReply[Any]:
    if row.raw is not None and not isinstance(row.raw, str):
        return unparseable("raw is no text")
    return parse_reply(row.raw, finish_reason=row.finish_reason, refusal=row.refusal, contract=contract)


def _document(number: int, row: Row, parsed: ParsedReply[Any]) -> dict[str, Any]:
    return {
        "row": number,
        "id": row.id,
        "label": parsed.label,
        "cause": parsed.cause,
        "detail": parsed.detail,
        "reason": parsed.reason,
        "evidence_spans": parsed.spans,
        "guideline_clause": parsed.clause,
        "flags": parsed.flags,
        "scores": dict(parsed.scores),
    }


def _print_table(readings: list[tuple[Row, ParsedReply[Any]]]) -> None:
    table = Table("id", "label", "cause", "reason, or what is wrong")
    for row, parsed in readings:
        said = parsed.reason if parsed.cause is None else parsed.detail
        cells = (row.id, str(parsed.label), str(parsed.cause or ""), cut(said or "", _SHOWN_CHARS))
        table.add_row(*(Text(escaped(cell)) for cell in cells))
    console.print(table)
    counts = Counter(str(parsed.label) for _, parsed in readings)
    told = ", ".join(f"{count} {label}" for label, count in counts.most_common())
    notes.print(f"read {len(readings):,}: {told or 'nothing'}", markup=False, highlight=False)


def _chosen(name: str) -> Contract[Any]:
    try:
        return contract_named(name)
    except KeyError:
        fail(f"no contract {escaped(cut(name, 64))!r}; there are {', '.join(CONTRACTS)}, and criteria-scores:CRITERION")


def _input(file: Path | None) -> str:
    """The whole input as text; bytes that are no UTF-8 become U+FFFD."""
    if file is None:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        fail(f"cannot read {escaped(str(file))}: {error.strerror}")


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # RecursionError: the decoder's answer to absurd nesting
        return None
    return value if isinstance(value, dict) else None
