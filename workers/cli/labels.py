"""``assay labels``: open tasks out to raters, labels back in, and how far they are."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.table import Table

from schemas.bom import Bom
from schemas.errors import SettingsError
from schemas.labels import Fit, HumanLabel, LabelStage, LabelTask, SampledItem, TaskKind
from schemas.topics import LABEL_TASKS, LABELS, SAMPLES
from stats.proportions import Proportion
from stats.unavailable import Number, Unavailable, jsonable
from workers.cli.context import bom_of, clear_errors, cluster_settings
from workers.cli.output import Exit, console, notes, print_json
from workers.hitl.editions import editions_of
from workers.hitl.files import FileFormat, criteria_of, read_rows, write_tasks
from workers.hitl.label_studio import labelling_config
from workers.hitl.life import Life, Stage
from workers.hitl.merging import merged, newest
from workers.hitl.rating import Agreement, agreement, fits, gold_accuracy, lives
from workers.hitl.records import messages_of, publish
from workers.hitl.rows import Key, Problem, to_label
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.printable import escaped
from workers.runtime.settings import Settings

labels_app = typer.Typer(name="labels", help="Tasks out to raters, labels back in.", no_args_is_help=True)

_SHOWN = 20
_OTHER_GUIDELINES = "were given under other guidelines than their task's: they wait for an adjudicator"
_OPEN = (Stage.UNLABELLED, Stage.ONE_VOTE, Stage.DOUBLE_ANNOTATED, Stage.NEEDS_ADJUDICATION)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Kind = Annotated[
    FileFormat | None, typer.Option("--format", help="Default: by the file's ending (.json: Label Studio).")
]


class Known(NamedTuple):
    """What the topics hold."""

    tasks: dict[str, LabelTask]
    labels: list[HumanLabel]
    sampled: dict[str, SampledItem]


class Imported(NamedTuple):
    new: int
    corrected: int
    unchanged: int
    other_guidelines: int  # of new and corrected: given under another version than their task was asked under
    problems: list[Problem]


def register(app: typer.Typer) -> None:
    app.add_typer(labels_app)


@labels_app.command()
def export(
    file: Annotated[Path, typer.Argument(help="Where to write the open tasks.")],
    as_format: Kind = None,
    label_config: Annotated[
        Path | None, typer.Option(help="Also write Label Studio's labelling interface here.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace files that are there already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the tasks that still want votes or an adjudicator: JSONL, CSV or Label Studio's JSON."""
    with clear_errors():
        known = asyncio.run(_known(cluster_settings()))
        found = lives(known.tasks.values(), known.labels)
        tasks = [t for t in known.tasks.values() if any(found[t.task_id, c].stage in _OPEN for c in t.criteria)]
        written = {file: write_tasks(tasks, as_format or FileFormat.of(file.name))}
        if label_config is not None:
            written[label_config] = labelling_config(criteria_of(tasks))
        _write(written, force=force)
    if as_json:
        print_json({"exported": len(tasks), "file": str(file)})
    else:
        console.print(f"{len(tasks)} open tasks in {escaped(str(file))}", markup=False, highlight=False)


@labels_app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="Labels: JSONL, CSV, or a Label Studio export.")],
    as_format: Kind = None,
    bom: Annotated[
        Path | None,
        typer.Option("--bom", help="BOM whose guidelines hold the clauses; default: ASSAY_BOM."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a file's labels. The same labels again change nothing; other words are corrections.

    A bad row, such as one that names a clause the guidelines lack, is refused with its place, field, value and remedy;
    the others are imported, and the command ends with 1.
    """
    with clear_errors():
        raw, kind = _read(file), as_format or FileFormat.of(file.name)
        done = asyncio.run(_import(raw, kind, bom_of(bom), cluster_settings(), datetime.now(UTC)))
    if as_json:
        print_json({**done._asdict(), "problems": [problem._asdict() for problem in done.problems]})
    else:
        console.print(f"{done.new} new, {done.corrected} corrected, {done.unchanged} unchanged", highlight=False)
        if done.other_guidelines:
            console.print(f"{done.other_guidelines} {_OTHER_GUIDELINES}", highlight=False)
        for where, field, what in done.problems[:_SHOWN]:
            notes.print(escaped(f"{where}: {field}: {what}"), style="red", markup=False, highlight=False)
        if len(done.problems) > _SHOWN:
            notes.print(f"... and {len(done.problems) - _SHOWN} more rows", style="red")
    raise typer.Exit(int(Exit.FOUND if done.problems else Exit.OK))


@labels_app.command()
def status(as_json: AsJson = False) -> None:
    """Raters against raters first, then gold items, then how many labels stand at each stage."""
    with clear_errors():
        known = asyncio.run(_known(cluster_settings()))
    found = lives(known.tasks.values(), known.labels)
    agreements = {criterion: _agreement(criterion, found, known) for criterion in criteria_of(known.tasks.values())}
    words = newest(known.labels).values()
    votes = [vote for vote in words if vote.stage is LabelStage.VOTE]
    fit = fits(words, known.tasks, known.sampled)
    accuracy = gold_accuracy(votes, known.sampled)
    stages = Counter(life.stage for life in found.values())
    extra = sum(len(life.extra) for life in found.values())
    if as_json:
        numbers = {"agreement": agreements, "gold_accuracy": accuracy, "stages": {s: stages[s] for s in Stage}}
        found_fits = {str(one): fit[one] for one in Fit}
        print_json(jsonable({**numbers, "labels": found_fits, "extra_votes": extra, "tasks": len(known.tasks)}))
    else:
        _show(agreements, accuracy, stages, extra)
        _show_misfits(fit)


async def _known(settings: Settings) -> Known:
    kafka, names = connection(settings), Names(settings.topic_prefix)
    known = Known({}, [], {})
    async for message in messages_of(kafka, names, LABEL_TASKS, LABELS, SAMPLES):
        match message:
            case LabelTask():
                known.tasks.setdefault(message.task_id, message)
            case HumanLabel():
                known.labels.append(message)
            case SampledItem():
                known.sampled.setdefault(message.task_id, message)
            case _:
                pass
    return known


async def _import(raw: bytes, kind: FileFormat, bom: Bom, settings: Settings, now: datetime) -> Imported:
    known = await _known(settings)
    editions = editions_of(bom, known.sampled.values())
    on_record, given = newest(known.labels), dict[Key, HumanLabel]()
    out: list[HumanLabel] = []
    unchanged, problems = 0, list[Problem]()
    for row in read_rows(raw, kind):
        label = row if isinstance(row, Problem) else to_label(row, known.tasks, editions, now=now)
        if isinstance(label, Problem):
            problems.append(label)
            continue
        before = given.setdefault(Key.of(label), label)
        if before is not label:
            if merged(label, before) is not None:
                problems.append(Problem(row.where, "rater_id", "this rater says something else earlier: keep one"))
            continue
        new = merged(label, on_record.get(Key.of(label)))
        if new is None:
            unchanged += 1
        else:
            out.append(new)
    await publish(connection(settings), Names(settings.topic_prefix), out, max_bytes=settings.max_message_bytes, at=now)
    corrected = sum(label.version > 0 for label in out)
    others = sum(label.guideline_version != known.tasks[label.task_id].guideline_version for label in out)
    return Imported(len(out) - corrected, corrected, unchanged, others, problems)


def _agreement(criterion: str, found: dict[tuple[str, str], Life], known: Known) -> Agreement:
    units: list[Sequence[HumanLabel]] = []
    for (task, asked), life in found.items():
        sampled = known.sampled.get(task)
        if asked == criterion and (sampled is None or sampled.kind is not TaskKind.GOLD):
            units.append(life.counted)
    return agreement(units)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error


def _write(files: Mapping[Path, str], *, force: bool) -> None:
    """A file that is there may hold a rater's work: it is not replaced unasked."""
    for file in files:
        if file.exists() and not force:
            raise SettingsError(f"{file} is there already; choose another name, or replace it with --force")
    for file, text in files.items():
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SettingsError(f"{file} cannot be written: {error.strerror}") from error


def _show(
    agreements: dict[str, Agreement],
    accuracy: dict[str, Proportion | Unavailable],
    stages: Counter[Stage],
    extra: int,
) -> None:
    table = Table(title="raters against raters (gold items apart, below)", title_justify="left")
    for column in ("criterion", "items", "raters", "raw", "fails", "kappa / alpha", "95 % interval", "cannot tell"):
        table.add_column(column)
    for criterion, a in agreements.items():
        shown = (_shown(a.raw), _shown(a.fails), f"{a.measure} {_shown(a.value)}", f"{_shown(a.lo)} to {_shown(a.hi)}")
        table.add_row(escaped(criterion), str(a.items), str(a.raters), *shown, str(a.cannot_tell))
    console.print(table)
    for criterion, a in agreements.items():
        if isinstance(a.value, Unavailable):
            console.print(escaped(f"{criterion}: {a.measure} is {a.value}"), markup=False, highlight=False)
    gold = Table(title="gold items, right answers per rater", title_justify="left")
    for column in ("rater", "right", "of", "share", "95 % interval"):
        gold.add_column(column)
    for rater, p in accuracy.items():
        if isinstance(p, Proportion):
            gold.add_row(escaped(rater), str(p.x), str(p.m), f"{p.p:.3f}", f"{p.lo:.3f} to {p.hi:.3f}")
    console.print(gold if accuracy else "no gold item has been answered", highlight=False)
    console.print(", ".join(f"{stage} {stages[stage]}" for stage in Stage), highlight=False)
    if extra:
        console.print(f"{extra} extra votes are kept and not counted: enough raters had voted before", highlight=False)


def _show_misfits(fit: Counter[Fit]) -> None:
    if fit[Fit.OTHER_GUIDELINES]:
        console.print(f"{fit[Fit.OTHER_GUIDELINES]} labels {_OTHER_GUIDELINES}", highlight=False)
    if fit[Fit.UNKNOWN_CLAUSE]:
        console.print(
            f"{fit[Fit.UNKNOWN_CLAUSE]} labels name a clause that their guidelines lack: their votes count, their "
            "clauses do not; correct them",
            highlight=False,
        )


def _shown(value: Number) -> str:
    return "-" if isinstance(value, Unavailable) else f"{value:.3f}"
