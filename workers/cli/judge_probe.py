"""``assay judge probe``: does every bound model answer as the BOM needs it to? A few cheap calls, before any spend."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from schemas.bom import Bom, Criterion, ModelBinding
from workers.cli.context import bom_of, clear_errors, settings_of
from workers.cli.output import Exit, console, print_json
from workers.judge.asking import TimedModel
from workers.judge.build import bindings_of, citable, forms_of, renderer
from workers.judge.pricing import Prices
from workers.judge.probing import Probe, Way, probe
from workers.judge.protocols import NoCounters
from workers.judge.providers.build import over_http, reach_of
from workers.judge.providers.endpoints import Endpoints
from workers.judge.remedies import remedy
from workers.reaching import endpoints_of, prices_of
from workers.runtime.printable import escaped
from workers.runtime.settings import Settings


class Probed(NamedTuple):
    """One binding. ``result`` and ``url`` are None for a model that is not asked over HTTP: nothing to probe."""

    name: str
    binding: ModelBinding
    url: str | None
    result: Probe | None
    priced: bool


def register(judge_app: typer.Typer) -> None:
    judge_app.command("probe")(probe_)


def probe_(
    bom: Annotated[Path | None, typer.Option(help="Folder of the BOM; default: ASSAY_BOM, else the example.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Ask every bound model a few short questions: key, model, parameters, structured output, usage, speed."""
    with clear_errors():
        probed = asyncio.run(probe_all(bom_of(bom), settings_of()))
    if as_json:
        print_json([_document(one) for one in probed])
    else:
        _show(probed)
    wrong = any(one.result is not None and one.result.findings for one in probed)
    raise typer.Exit(int(Exit.FOUND if wrong else Exit.OK))


async def probe_all(bom: Bom, settings: Settings) -> list[Probed]:
    prices = prices_of(settings)
    async with AsyncExitStack() as stack:
        endpoints = await endpoints_of(settings, bom, stack, NoCounters())
        asked_by = _first_criterion_of_each(bom)
        return [
            await _probed(name, binding, asked_by[name], bom, prices, endpoints)
            for name, binding in bom.bindings.items()
            if name in asked_by
        ]


def _first_criterion_of_each(bom: Bom) -> dict[str, Criterion]:
    """The criterion whose prompt a binding is probed with; a binding that judges none is left out."""
    found: dict[str, Criterion] = {}
    for criterion in bom.charter.criteria.must_have:
        for name in bindings_of(criterion, bom):
            found.setdefault(name, criterion)
    return found


async def _probed(
    name: str, binding: ModelBinding, criterion: Criterion, bom: Bom, prices: Prices, endpoints: Endpoints | None
) -> Probed:
    if not binding.provider.over_http:
        return Probed(name, binding, None, None, binding.model in prices)
    clock = asyncio.get_running_loop().time
    reach = reach_of(binding, endpoints)
    assert endpoints is not None
    model = over_http(binding, reach.endpoint, endpoints.client)
    result = await probe(
        TimedModel(model, attempt_timeout_s=binding.attempt_timeout_s, clock=clock),
        criterion_id=criterion.id,
        binding=binding,
        ways=[Way(renderer(criterion, bom, swapped=form.swapped), form) for form in forms_of(criterion)],
        clauses=citable(criterion, bom),
        price=prices.get(binding.model),
        clock=clock,
    )
    return Probed(name, binding, reach.endpoint.shown, result, binding.model in prices)


def _document(one: Probed) -> dict[str, Any]:
    result = one.result
    return {
        "binding": one.name,
        "provider": one.binding.provider,
        "model": one.binding.model,
        "endpoint": one.binding.endpoint if one.binding.provider.over_http else None,
        "url": one.url,
        "probed": result is not None,
        "calls": result.calls if result else 0,
        "latency_ms": round(result.latency_ms, 1) if result else None,
        "served_model": result.served_model if result else None,
        "price_known": one.priced,
        "cost_usd": result.cost_usd if result else 0.0,
        "findings": [
            {"finding": finding, "detail": detail, "remedy": remedy(finding, one.binding)}
            for finding, detail in (result.findings.items() if result else ())
        ],
    }


def _show(probed: list[Probed]) -> None:
    table = Table(title="bindings", title_justify="left")
    for column in ("binding", "model", "calls", "slowest", "cost", "found"):
        table.add_column(column, overflow="fold")
    for one in probed:
        table.add_row(one.name, Text(escaped(one.binding.model)), *_cells(one))
    console.print(table)
    for line in _lines(probed):
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)


def _cells(one: Probed) -> tuple[str | Text, ...]:
    if one.result is None:
        return "0", "", "", f"nothing to probe: {one.binding.provider}"
    known = "unknown" if one.result.cost_usd is None else f"{one.result.cost_usd:.6f} USD"
    cost = known if one.priced else "price unknown"
    found = Text("\n".join(one.result.findings), style="red") if one.result.findings else Text("ok", "green")
    return str(one.result.calls), f"{one.result.latency_ms:,.0f} ms", cost, found


def _lines(probed: list[Probed]) -> Iterator[str]:
    """Below the table, whole: a URL that is folded in a cell cannot be copied."""
    for one in probed:
        for finding, detail in one.result.findings.items() if one.result else ():
            said = " ".join(filter(None, (f"{one.name}: {finding} at {one.url}", detail and f"({detail})")))
            yield escaped(f"{said}. {remedy(finding, one.binding)}")
