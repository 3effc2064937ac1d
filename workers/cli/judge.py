"""``assay judge``: try the instrument out, without Kafka."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.panel import Panel
from rich.text import Text

from schemas.bom import Bom
from schemas.codec import decode
from schemas.drafts import Draft
from schemas.errors import BadMessage, ModelError
from schemas.topics import DRAFTS
from schemas.verdict_space import Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict
from workers.cli import judge_parse, judge_probe
from workers.cli.context import bom_of, clear_errors, settings_of
from workers.cli.output import Exit, console, fail, notes, print_json
from workers.cli.showing import excerpt, measure_of, told_vote
from workers.judge.build import Surroundings, build_instrument
from workers.judge.gate import decide, enforced_criteria, gated_labels
from workers.judge.protocols import NoCounters, Question, Reply
from workers.publish.ignored_fields import ignored_in
from workers.reaching import endpoints_of, prices_of
from workers.runtime.printable import escaped

judge_app = typer.Typer(name="judge", help="Try a judge out, without Kafka.", no_args_is_help=True)

_STYLE = {Label.PASS: "green", Label.FAIL: "red"}
_IGNORED_SHOWN = 20
_SYSTEM_LINES, _USER_LINES = 8, 24
"""A system prompt is the same for every draft; what differs is in the user's."""


class Asked(NamedTuple):
    """One question to a model and what came back."""

    question: Question
    answer: Reply | ModelError


def register(app: typer.Typer) -> None:
    judge_parse.register(judge_app)
    judge_probe.register(judge_app)
    app.add_typer(judge_app)


@judge_app.command(name="try")
def try_(
    draft: Annotated[Path, typer.Argument(help="One draft as JSON, as a producer would publish it.")],
    bom: Annotated[Path | None, typer.Option(help="Folder of the BOM; default: ASSAY_BOM, else the example.")] = None,
    whole: Annotated[bool, typer.Option("--prompt", help="Show prompts and replies whole, however long.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output, all of it.")] = False,
) -> None:
    """Judge one draft and show prompt, reply and verdict of each criterion. Nothing is cached or published."""
    asked: list[Asked] = []
    with clear_errors():
        judged = bom_of(bom)
        given = _read(draft)
        verdicts = asyncio.run(_judge(judged, given, asked))
    labels = gated_labels(verdicts, judged.charter.criteria.must_have, enforced=enforced_criteria(judged))
    outcome = decide(labels, given.attempt, retry_budget=judged.charter.retry_budget)
    if as_json:
        print_json(_document(judged, outcome, verdicts, asked))
    else:
        _show_asked(asked, whole=whole)
        _show(judged, outcome, verdicts)
    raise typer.Exit(int(Exit.OK if outcome is AttemptOutcome.SERVE else Exit.FOUND))


def _read(path: Path) -> Draft:
    try:
        raw = path.read_bytes()
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}")
    try:
        message = decode(DRAFTS, raw).message
    except BadMessage as error:
        several = raw.strip().count(b"\n{") > 0
        hint = "; one draft is judged at a time: this file holds several lines" if several else ""
        fail(f"{escaped(str(path))}: {escaped(str(error))}{hint}")
    assert isinstance(message, Draft)
    for one in sorted(ignored_in(raw))[:_IGNORED_SHOWN]:
        notes.print(one.told(), style="yellow", markup=False, highlight=False, soft_wrap=True)
    return message


async def _judge(bom: Bom, draft: Draft, asked: list[Asked]) -> tuple[CriterionVerdict, ...]:
    settings = settings_of()
    async with AsyncExitStack() as stack:
        around = Surroundings(
            clock=asyncio.get_running_loop().time,
            rng=random.Random(),
            counters=NoCounters(),
            prices=prices_of(settings),
            endpoints=await endpoints_of(settings, bom, stack, NoCounters()),
            heard=lambda question, answer: asked.append(Asked(question, answer)),
        )
        return await build_instrument(bom, around).judge(draft)


def _show_asked(asked: list[Asked], *, whole: bool) -> None:
    for one in asked:
        system, user = one.question.prompt
        reply = _answer(one.answer)
        for part, text, lines, style in (
            ("system", system, _SYSTEM_LINES, "dim"),
            ("user", user, _USER_LINES, "dim"),
            ("reply", reply, _USER_LINES, "cyan"),
        ):
            shown = text if whole else excerpt(text, lines=lines, whole="--prompt shows all")
            console.print(_panel(f"{one.question.criterion_id}: {part}", shown, style))


def _show(bom: Bom, outcome: AttemptOutcome, verdicts: tuple[CriterionVerdict, ...]) -> None:
    for verdict in verdicts:
        style = _STYLE.get(verdict.label, "yellow")
        console.print(_panel(f"{verdict.criterion_id}: {verdict.label}", _told(verdict), style))
    console.print(f"outcome: {outcome}  (BOM {bom.version})", style="bold", highlight=False)


def _panel(title: str, text: str, style: str) -> Panel:
    shown = "\n".join(escaped(line) for line in text.split("\n"))
    return Panel(Text(shown), title=title, title_align="left", border_style=style)


def _answer(answer: Reply | ModelError) -> str:
    return str(answer) if isinstance(answer, ModelError) else answer.text or "(no text)"


def _told(verdict: CriterionVerdict) -> str:
    rows = {
        "judge": verdict.judge,
        "cause": verdict.cause,
        "detail": verdict.detail,
        "reason": verdict.reason,
        "clause": verdict.guideline_clause,
        "measure": measure_of(verdict),
        "spans": "; ".join(verdict.evidence_spans),
        "flags": ", ".join(verdict.flags),
        "cost": "unknown" if verdict.usage.cost_usd is None else f"{verdict.usage.cost_usd:.6f} USD",
    }
    told = [f"{name}: {value}" for name, value in rows.items() if value]
    return "\n".join([*told, *(f"  {told_vote(vote)}" for vote in verdict.votes)])


def _document(
    bom: Bom, outcome: AttemptOutcome, verdicts: tuple[CriterionVerdict, ...], asked: list[Asked]
) -> dict[str, Any]:
    return {
        "bom_version": bom.version,
        "outcome": outcome,
        "verdicts": [verdict.model_dump(mode="json") for verdict in verdicts],
        "asked": [
            {
                "criterion_id": one.question.criterion_id,
                "system": one.question.prompt.system,
                "user": one.question.prompt.user,
                "reply": None if isinstance(one.answer, ModelError) else one.answer.text,
                "error": one.answer.cause if isinstance(one.answer, ModelError) else None,
            }
            for one in asked
        ],
    }
