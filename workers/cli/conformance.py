"""``assay conformance``: put the configured judge through S1's table and rules."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.table import Table
from rich.text import Text

from schemas.bom import Bom
from schemas.drafts import Draft
from stats.unavailable import Unavailable
from workers.cli.answers import shown
from workers.cli.context import bom_of, clear_errors, settings_of
from workers.cli.output import Exit, console, fail, notes, print_json
from workers.conformance.biases import Measurement, length, pairs_by_judge, position
from workers.conformance.caps import CapCounter, advice
from workers.conformance.findings import Check, Result
from workers.conformance.inputs import read_dominances, read_drafts, read_gold, read_rows, read_scores, sample_drafts
from workers.conformance.junit import junit
from workers.conformance.measuring import measured
from workers.conformance.preparing import Options, prepare
from workers.conformance.suffixes import own_suffixes, read_suffixes
from workers.conformance.suite import CHECKS, Report, run_suite
from workers.judge.build import Surroundings
from workers.judge.cache import VerdictCache, redis_client
from workers.judge.protocols import NoCounters
from workers.reaching import endpoints_of, prices_of
from workers.runtime.printable import escaped

T = TypeVar("T")
Jsonl = Path | None

_STYLE = {Result.PASS: "green", Result.FAIL: "red", Result.UNAVAILABLE: "yellow", Result.NOT_APPLICABLE: "dim"}


def register(app: typer.Typer) -> None:
    app.command("conformance")(conformance)


def conformance(
    bom: Annotated[Path | None, typer.Option(help="Folder of the BOM; default: ASSAY_BOM, else the example.")] = None,
    drafts: Annotated[Jsonl, typer.Option(help="Drafts to test with, JSONL; default: a few that come along.")] = None,
    gold: Annotated[Jsonl, typer.Option(help="Drafts with `gold`: a label, or one for each criterion.")] = None,
    envelope: Annotated[
        str | None, typer.Option(help="Your validator of verdict records: a JSON Schema file, or module:function.")
    ] = None,
    injections: Annotated[Jsonl, typer.Option(help="More suffixes: `text`, `kind`, `asks`; added to our own.")] = None,
    ordinal: Annotated[Jsonl, typer.Option(help="For scores: a `better` and a `worse` draft a line.")] = None,
    pairs: Annotated[Jsonl, typer.Option(help="Recorded comparisons to measure position bias on.")] = None,
    scores: Annotated[Jsonl, typer.Option(help="Recorded `score` and `chars` to measure length bias on.")] = None,
    runs: Annotated[int, typer.Option(min=2, max=10_000, help="Identical inputs for determinism.")] = 100,
    at_once: Annotated[int, typer.Option(min=1, max=1000, help="Drafts judged at a time, but for hidden_state.")] = 8,
    min_coverage: Annotated[float, typer.Option(min=0, max=1, help="Share that must be decided.")] = 0.5,
    only: Annotated[list[str] | None, typer.Option(help="Only this check; may be given several times.")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Test the judge that the BOM configures: determinism, closure, injection, fail-closed and the rest of S1.

    Exit code 0: PASS. 1: FAIL. Calls the model some hundreds of times; nothing is published.
    """
    checks = _chosen(only)
    with clear_errors():
        judged = bom_of(bom)
    options = Options(
        suffixes=(*own_suffixes(), *_read(injections, read_suffixes)),
        gold=_read(gold, lambda lines: read_gold(lines, criteria=_criteria(judged))),
        dominances=_read(ordinal, read_dominances),
        envelope=envelope,
        runs=runs,
        at_once=at_once,
        min_coverage=min_coverage,
    )
    shown_drafts = sample_drafts() if drafts is None else _read(drafts, read_drafts)
    recorded = [*_positions(pairs), *_lengths(scores)]
    with clear_errors():
        report = asyncio.run(_tested(judged, shown_drafts, options, checks, recorded))
    if junit_file is not None:
        _write(junit_file, junit(report))
    if as_json:
        print_json({"bom_version": judged.version, **report.document()})
    else:
        _show(report)
    raise typer.Exit(int(Exit.OK if report.verdict is Result.PASS else Exit.FOUND))


async def _tested(
    bom: Bom, drafts: Sequence[Draft], options: Options, checks: Sequence[Check], recorded: list[Measurement]
) -> Report:
    settings, counters = settings_of(), CapCounter()
    loop, rng = asyncio.get_running_loop(), random.Random()
    async with AsyncExitStack() as stack:
        around = Surroundings(
            clock=loop.time,
            rng=rng,
            counters=counters,
            prices=prices_of(settings),
            endpoints=await endpoints_of(settings, bom, stack, NoCounters()),
        )
        cache = _cache_of_its_own(stack, rng) if any(check.name == "idempotence" for check in checks) else None
        with _progress() as begins:
            begins("drafts")
            ground = await prepare(bom, around, drafts, options, cache=cache)
            checked = await run_suite(ground, checks, begins=begins)
        return Report(checked, [*measured(ground, bom), *recorded], counters.withheld)


def _cache_of_its_own(stack: AsyncExitStack, rng: random.Random) -> VerdictCache | None:
    """A verdict cache that nobody else uses; None where the embedded services are not installed."""
    try:
        from workers.embedded.cache import EmbeddedCache
    except ImportError:
        return None
    server = EmbeddedCache()
    stack.callback(server.close)
    clock = asyncio.get_running_loop().time
    cache = VerdictCache(redis_client(server.url), counters=NoCounters(), clock=clock, rng=rng)
    stack.push_async_callback(cache.close)
    return cache


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Says on standard error which check runs, where a person looks on."""
    if not notes.is_terminal:
        yield lambda _: None
        return
    with notes.status("...") as status:
        yield lambda name: status.update(name)


def _chosen(only: list[str] | None) -> Sequence[Check]:
    names = [check.name for check in CHECKS]
    if unknown := [name for name in only or () if name not in names]:
        fail(f"--only {escaped(unknown[0][:64])!r}: no such check; there are {', '.join(names)}")
    return CHECKS if not only else [check for check in CHECKS if check.name in only]


def _criteria(bom: Bom) -> list[str]:
    return [criterion.id for criterion in bom.charter.criteria.must_have]


def _read(path: Path | None, read: Callable[[list[bytes]], Iterator[T]]) -> list[T]:
    if path is None:
        return []
    try:
        found = list(read(path.read_bytes().splitlines()))
    except OSError as error:
        fail(f"cannot read {escaped(str(path))}: {error.strerror}")
    except ValueError as error:  # BadInput among them: the line, and what it needs
        fail(f"{escaped(str(path))}: {escaped(str(error))}")
    if not found:
        fail(f"{escaped(str(path))} holds no line")
    return found


def _positions(path: Path | None) -> list[Measurement]:
    rows = _read(path, lambda lines: read_rows(lines, needs=("judges",)))
    try:
        found = pairs_by_judge(rows)
    except (KeyError, TypeError, AttributeError):
        fail("--pairs: each line needs judges: [{model, AB, BA}]")
    return [position(runs, of=judge) for judge, runs in sorted(found.items())]


def _lengths(path: Path | None) -> list[Measurement]:
    return [] if path is None else [length(_read(path, read_scores), of="recorded scores")]


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        fail(f"cannot write {escaped(str(path))}: {error.strerror}")


def _show(report: Report) -> None:
    table = Table("check", "result", "what was found")
    for one in report.checked:
        result = one.finding.result
        table.add_row(one.check.name, Text(str(result), _STYLE[result]), Text(escaped(one.finding.detail)))
    console.print(table)
    if report.measurements:
        measures = Table("bias", "of", "measured")
        for one_bias in report.measurements:
            measures.add_row(one_bias.name, Text(escaped(one_bias.of)), Text("\n".join(_lines(one_bias.value))))
        console.print(measures)
    if (told := advice(report.withheld)) is not None:
        console.print(told, style="yellow", markup=False, highlight=False, soft_wrap=True)
    console.print(report.sentence, style="bold", markup=False, highlight=False, soft_wrap=True)


def _lines(value: Any) -> list[str]:
    """A result of ``stats``, one line a field."""
    if isinstance(value, Unavailable) or not is_dataclass(value):
        return [str(value)]
    return [f"{field.name.replace('_', ' ')}: {_cell(getattr(value, field.name))}" for field in fields(value)]


def _cell(value: Any) -> str:
    if isinstance(value, (int, float, str, Unavailable)):
        return shown(value)
    if is_dataclass(value):
        return ", ".join(f"{field.name} {_cell(getattr(value, field.name))}" for field in fields(value))
    return ", ".join(_cell(part) for part in value)
