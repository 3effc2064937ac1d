"""``assay bom``: seal a bill of materials, verify its seal, show what is in it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from schemas.bom import Bom, Criterion
from schemas.verdict_space import Form
from workers.bom import MANIFEST, load_bom, manifest_of, read_files
from workers.bom import seal as write_seal
from workers.cli.context import bom_of, clear_errors
from workers.cli.output import console, print_json
from workers.judge.build import check_instrument
from workers.judge.composed.compose import leaves_of

bom_app = typer.Typer(name="bom", help="Seal, verify and show a bill of materials.", no_args_is_help=True)

Folder = Annotated[Path | None, typer.Argument(help="Folder of the BOM; default: ASSAY_BOM, else the example.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    app.add_typer(bom_app)


@bom_app.command()
def seal(folder: Annotated[Path, typer.Argument(help="Folder of the BOM.")], as_json: AsJson = False) -> None:
    """Check the files and write the manifest. What is sealed is what judges; review before you seal."""
    with clear_errors():
        files = {name: raw for name, raw in read_files(folder).items() if name != MANIFEST}
        check_instrument(load_bom({**files, MANIFEST: manifest_of(files).to_bytes()}))
        manifest = write_seal(folder, files)
    if as_json:
        print_json({"version": manifest.version, "digest": manifest.digest, "files": dict(manifest.files)})
    else:
        console.print(f"sealed {len(manifest.files)} files as {manifest.version}", highlight=False)


@bom_app.command()
def verify(folder: Folder = None, as_json: AsJson = False) -> None:
    """Check seal and contents as a worker does before it starts."""
    with clear_errors():
        bom = bom_of(folder)
        check_instrument(bom)
    if as_json:
        print_json({"version": bom.version, "verified": True})
    else:
        console.print(f"{bom.version} verifies ({bom.name}, {len(bom.digests)} files)", highlight=False)


@bom_app.command()
def show(folder: Folder = None, as_json: AsJson = False) -> None:
    """Criteria, how each is judged, and the gate's settings."""
    with clear_errors():
        bom = bom_of(folder)
    if as_json:
        print_json(_document(bom))
        return
    table = Table(title=f"{bom.name}  {bom.version}", title_justify="left")
    for column in ("criterion", "judged by", "floor"):
        table.add_column(column, overflow="fold")
    for c in bom.charter.criteria.must_have:
        floor = c.constraint.specificity_min
        rules = [f"{name} x{times}" if times > 1 else name for name, times in Counter(r.rule for r in c.rules).items()]
        judges = [*rules, *([_judged_by(c.judge, c, bom)] if c.judge else [])]
        table.add_row(c.id, "\n".join(judges), "-" if floor is None else f"{floor:g}")
    console.print(table)
    charter = bom.charter
    console.print(
        f"retry budget {charter.retry_budget}, on drop: {charter.on_drop}, judge unavailable: "
        f"{charter.on_judge_unavailable}, enforced share {bom.decision.enforced_share:g}",
        highlight=False,
        soft_wrap=True,
    )


def _judged_by(judge: str, criterion: Criterion, bom: Bom) -> str:
    """The model, or a composition's name and the models it asks."""
    models = [bom.bindings[name].model for name in dict.fromkeys(leaves_of(judge, bom.compositions))]
    form = "" if criterion.form is Form.BINARY else f", {criterion.form}"
    return f"{judge} ({', '.join(models)}){form}" if judge in bom.compositions else models[0] + form


def _document(bom: Bom) -> dict[str, object]:
    return {
        "version": bom.version,
        "guideline_version": bom.guideline_version,
        "charter": bom.charter.model_dump(mode="json"),
        "compositions": {name: one.model_dump(mode="json") for name, one in bom.compositions.items()},
        "bindings": {name: binding.model_dump(mode="json") for name, binding in bom.bindings.items()},
        "decision": bom.decision.model_dump(mode="json"),
        "files": dict(bom.digests),
    }
