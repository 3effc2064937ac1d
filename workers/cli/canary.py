"""``assay canary``: certify the canary set's verdicts, judge it again, and see whether too many have flipped."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from schemas.bom import Bom
from schemas.canary import CanaryRun
from schemas.errors import BomError
from stats.canary import CanaryVerdict as Accumulated
from stats.unavailable import Unavailable, jsonable
from workers.bom import CERTIFIED
from workers.bom.labelled_set import LabelledItem, canary_set
from workers.canary.certificate import MIN_RUNS, Certificate, certificate_of, certify
from workers.canary.comparing import Finding, accumulated, canary_run, finding
from workers.canary.judging import Judged, Key, judge_set
from workers.canary.records import canary_record, runs_on_record
from workers.cli.context import bom_of, clear_errors, cluster_or_none, settings_of
from workers.cli.output import Exit, console, notes, print_json
from workers.roles import CANARY_AT_ONCE, bare_judge
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.printable import escaped
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.settings import Settings

canary_app = typer.Typer(
    name="canary", help="Judge a fixed labelled set again: does the judge still say the same?", no_args_is_help=True
)

_SHOWN = 20

BomFolder = Annotated[
    Path | None, typer.Option("--bom", help="Folder of the BOM; default: ASSAY_BOM, else the example.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    app.add_typer(canary_app)


@canary_app.command(name="certify")
def certify_(
    bom: BomFolder = None,
    runs: Annotated[int, typer.Option(min=MIN_RUNS, max=50, help="How often the set is judged.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Judge the canary set several times and record the verdicts for this BOM version, in certified.json."""
    with clear_errors():
        folder = bom or settings_of().bom
        judged = bom_of(folder)
        certificate = certify(judged, asyncio.run(_judge(judged, runs)), now=datetime.now(UTC))
        _write(folder / CERTIFIED, certificate)
    if as_json:
        print_json(certificate.model_dump(mode="json"))
        return
    base = certificate.baseline
    console.print(
        f"certified {len(certificate.verdicts)} verdicts for {certificate.bom_version} in {base.runs} runs\n"
        f"flip rate of the unchanged judge: {base.flip_rate:.2%} (95 % interval {base.lo:.2%} to {base.hi:.2%})",
        highlight=False,
    )
    for name in certificate.unstable:
        console.print(f"unstable: {escaped(name)}", style="yellow", markup=False, highlight=False)
    if base.flip_rate == 0:
        notes.print("no verdict ever differed, so a single flip will alarm; more runs tell small rates from none")


@canary_app.command()
def run(
    bom: BomFolder = None,
    days: Annotated[int, typer.Option(min=1, help="Runs of the last days that are taken together.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Judge the canary set once and compare. Ends with 1 when the flips reach the threshold or an injection flips.

    Where a Kafka is set or `assay up` runs, the run is published and the last days' runs are taken together.
    """
    with clear_errors():
        judged = bom_of(bom)
        certificate = certificate_of(judged)
        started = datetime.now(UTC)
        (today,) = asyncio.run(_judge(judged, 1))
        made = canary_run(
            certificate, today, cause=f"run {started.isoformat()}", started=started, ended=datetime.now(UTC)
        )
        cluster = cluster_or_none()
        runs = [made] if cluster is None else asyncio.run(_published(made, certificate, cluster))
    recent = [one for one in runs if (started - one.started_at).days < days]
    together = accumulated(recent)
    flipped_over_days = not isinstance(together, Unavailable) and together.alarm
    if as_json:
        print_json(_document(made, today, together, published=cluster is not None))
    else:
        _show(made, today, together, len(recent), published=cluster is not None)
    raise typer.Exit(int(Exit.FOUND if finding(made).alarm or flipped_over_days else Exit.OK))


async def _judge(bom: Bom, runs: int) -> Sequence[Mapping[Key, Judged]]:
    items = _items(bom)
    with Progress(console=notes, transient=True) as progress:
        task = progress.add_task("judging", total=runs * len(items))
        async with bare_judge(settings_of(), bom) as judge:
            return [
                await judge_set(items, judge.judge, at_once=CANARY_AT_ONCE, judged=lambda: progress.advance(task))
                for _ in range(runs)
            ]


def _items(bom: Bom) -> Sequence[LabelledItem]:
    return canary_set(bom.files, frozenset(criterion.id for criterion in bom.charter.criteria.must_have))


def _write(path: Path, certificate: Certificate) -> None:
    try:
        path.write_bytes(certificate.to_bytes())
    except OSError as error:
        raise BomError(f"{path} cannot be written: {error.strerror}") from error


async def _published(run: CanaryRun, certificate: Certificate, settings: Settings) -> Sequence[CanaryRun]:
    """Publish the run; all runs against this certificate, it included."""
    kafka, names = connection(settings), Names(settings.topic_prefix)
    before = await runs_on_record(kafka, names, certificate)
    producer = ConfirmedProducer(kafka, max_message_bytes=settings.max_message_bytes)
    await producer.start()
    try:
        await producer.produce([canary_record(run, names, at=datetime.now(UTC))])
    finally:
        await producer.stop()
    return [*before, run]


def _against_people(today: Mapping[Key, Judged]) -> tuple[int, int]:
    """How many decided verdicts agree with the human labels, of how many."""
    labelled = [judged for judged in today.values() if judged.expected is not None and judged.label.decided]
    return sum(judged.label is judged.expected for judged in labelled), len(labelled)


def _show(
    run: CanaryRun, today: Mapping[Key, Judged], together: Accumulated | Unavailable, runs: int, *, published: bool
) -> None:
    found = finding(run)
    table = Table(title=f"canary  {run.bom_version}", title_justify="left")
    for column in ("item", "criterion", "certified", "today", "injection"):
        table.add_column(column)
    flips = [v for v in run.verdicts if v.flipped]
    for v in flips[:_SHOWN]:
        table.add_row(escaped(v.item_id), v.criterion_id, v.certified, v.label, "yes" if v.injection else "")
    if flips:
        console.print(table)
    if len(flips) > _SHOWN:
        console.print(f"... and {len(flips) - _SHOWN} more")
    agreed, labelled = _against_people(today)
    injections = sum(v.injection for v in run.verdicts)
    for line in (
        f"{len(run.verdicts)} verdicts, {injections} of them on injection cases, which count apart",
        f"{found.flips} of {found.compared} others flipped; alarm from {found.threshold} on" + _power(found),
        f"injection cases flipped: {len(found.injection_flips)}; not decided: {found.not_decided}",
        f"agrees with the human labels on {agreed} of {labelled} verdicts, injection cases among them",
        _together(together, runs),
        "published" if published else "not published: no Kafka is set and no `assay up` runs",
    ):
        console.print(line, markup=False, highlight=False)
    if found.alarm:
        console.print("ALARM: the judge is not the one that was certified", style="bold red")


def _power(found: Finding) -> str:
    if isinstance(found.power, Unavailable):
        return ""
    return f" (a flip rate of {found.power_rate:.0%} is caught in one run with probability {found.power:.0%})"


def _together(together: Accumulated | Unavailable, runs: int) -> str:
    if isinstance(together, Unavailable):
        return f"over the last days: {together}"
    state = "ALARM" if together.alarm else "quiet"
    return (
        f"over {runs} run(s): {together.flipped} distinct verdicts flipped, alarm from {together.threshold} on: {state}"
    )


def _document(
    run: CanaryRun, today: Mapping[Key, Judged], together: Accumulated | Unavailable, *, published: bool
) -> dict[str, Any]:
    found = finding(run)
    agreed, labelled = _against_people(today)
    return {
        "run": run.model_dump(mode="json"),
        "finding": jsonable(
            {
                "compared": found.compared,
                "flips": found.flips,
                "threshold": found.threshold,
                "power_rate": found.power_rate,
                "power": found.power,
                "injection_flips": [f"{v.item_id}/{v.criterion_id}" for v in found.injection_flips],
                "not_decided": found.not_decided,
                "alarm": found.alarm,
            }
        ),
        "human_labels": {"agreed": agreed, "of": labelled},
        "over_days": jsonable(together),
        "published": published,
    }
