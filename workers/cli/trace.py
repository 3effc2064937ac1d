"""``assay trace``: one item's story from the topics alone, attempt by attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.panel import Panel
from rich.text import Text
from rich.tree import Tree

from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict, DraftVerdict
from workers.cli.context import clear_errors, cluster_settings
from workers.cli.output import Exit, console, fail, print_json
from workers.cli.showing import measure_of, told_vote
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.printable import cut, escaped
from workers.runtime.settings import Settings
from workers.trace.collect import records_of
from workers.trace.story import Attempt, Round, Story, tell

_STYLE = {Label.PASS: "green", Label.FAIL: "red"}
_TEXT_CHARS = 400


def register(app: typer.Typer) -> None:
    app.command()(trace)


def trace(
    item: Annotated[str, typer.Argument(help="The item's id.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Show every round of an item: drafts, verdicts and why, what was asked for, what was served."""
    with clear_errors():
        story = asyncio.run(_read(item, cluster_settings()))
    if not story.rounds and not story.withdrawals:
        fail(f"no record of item {escaped(item)!r} on the topics", Exit.FOUND)
    if as_json:
        print_json(document(story))
    else:
        console.print(render(story))


async def _read(item: str, settings: Settings) -> Story:
    seen = [one async for one in records_of(connection(settings), Names(settings.topic_prefix), item)]
    return tell(item, seen)


def render(story: Story) -> Group:
    """The story for people; every text of a record is escaped."""
    parts: list[Any] = [_round(number, one) for number, one in enumerate(story.rounds.values(), 1)]
    for withdrawal in story.withdrawals.values():
        parts.append(
            _line(f"withdrawn by {withdrawal.operator} at {withdrawal.withdrawn_at:%F %T}: {withdrawal.reason}")
        )
    return Group(_line(f"item {story.item_id}", "bold"), *parts)


def _round(number: int, one: Round) -> Tree:
    tree = Tree(_line(f"round {number}  {one.round_id}"))
    for attempt in sorted(one.attempts.values(), key=lambda a: a.number):
        _attempt(tree, attempt)
    for served in one.served.values():
        shown = "served" if served.enforced else "served untouched (shadow mode)"
        tree.add(_line(f"{shown}: {served.status}, attempt {served.attempt}, BOM {served.bom_version}", "green"))
    for decision in one.decisions.values():
        causes = "".join(f", {criterion}: {cause}" for criterion, cause in decision.causes.items())
        tree.add(_line(f"decision: {decision.decision} at attempt {decision.attempt}{causes}", "bold"))
    for abandoned in one.abandoned.values():
        since = f"{abandoned.abandoned_at:%Y-%m-%d %H:%M} UTC"
        tree.add(_line(f"nobody answered the request after attempt {abandoned.attempt}: abandoned {since}", "yellow"))
    if not one.decisions:
        tree.add(_line("no decision yet: the round is open", "yellow"))
    if len(one.decisions) > 1:
        tree.add(_line("more than one decision: rejudged under another BOM, or a conflict", "yellow"))
    return tree


def _attempt(tree: Tree, attempt: Attempt) -> None:
    branch = tree.add(_line(f"attempt {attempt.number}  {attempt.draft_uri or ''}"))
    if attempt.draft is None:
        branch.add(_line("the draft's record is gone from the drafts topic; its hash is in the verdict", "yellow"))
    else:
        branch.add(Panel(_line(cut(attempt.draft.text, _TEXT_CHARS)), border_style="dim"))
    for verdict in attempt.verdicts.values():
        for line in _verdict(verdict):
            branch.add(line)
    for audited in attempt.record.audit if attempt.record else ():
        branch.add(_line(f"audit of {audited.criterion_id}: {_said(audited)}", _STYLE.get(audited.label, "yellow")))
    if attempt.request is not None:
        notes = ", ".join(f"{n.criterion_id} {n.guideline_clause or ''}".strip() for n in attempt.request.notes)
        branch.add(_line(f"asked for attempt {attempt.request.next_attempt}: {notes}", "cyan"))


def _verdict(verdict: DraftVerdict) -> Iterator[Text]:
    yield _line(f"outcome: {verdict.outcome}  (BOM {verdict.bom_version}{', cached' if _all_cached(verdict) else ''})")
    for one in verdict.verdicts:
        yield _line(f"  {one.criterion_id}: {_said(one)}", _STYLE.get(one.label, "yellow"))
        for vote in one.votes:
            yield _line(f"    {told_vote(vote)}", "dim")


def _all_cached(verdict: DraftVerdict) -> bool:
    return any(one.cached for one in verdict.verdicts)


def _said(one: CriterionVerdict) -> str:
    why = f" ({one.cause})" if one.cause else ""
    measure = f" {measured}" if (measured := measure_of(one)) else ""
    clause = f" {one.guideline_clause}" if one.guideline_clause else ""
    spans = f" {list(one.evidence_spans)}" if one.evidence_spans else ""
    reason = f": {cut(one.reason, 200)}" if one.reason else ""
    return f"{one.label}{measure}{why}{clause}{spans}{reason}  [{one.judge}]"


def _line(text: str, style: str = "") -> Text:
    return Text(escaped(text), style=style)


def document(story: Story) -> dict[str, Any]:
    """The story as JSON."""
    return {
        "item_id": story.item_id,
        "rounds": [
            {
                "round_id": one.round_id,
                "attempts": [_attempt_document(a) for a in sorted(one.attempts.values(), key=lambda a: a.number)],
                "served": [served.model_dump(mode="json") for served in one.served.values()],
                "decisions": [decision.model_dump(mode="json") for decision in one.decisions.values()],
                "abandoned": [abandoned.model_dump(mode="json") for abandoned in one.abandoned.values()],
                "human_queue": one.queued.model_dump(mode="json") if one.queued else None,
            }
            for one in story.rounds.values()
        ],
        "withdrawals": [withdrawal.model_dump(mode="json") for withdrawal in story.withdrawals.values()],
    }


def _attempt_document(attempt: Attempt) -> dict[str, Any]:
    parts = {"draft": attempt.draft, "record": attempt.record, "revision_request": attempt.request}
    return {
        "attempt": attempt.number,
        "draft_uri": attempt.draft_uri,
        "verdicts": [verdict.model_dump(mode="json") for verdict in attempt.verdicts.values()],
        **{name: part.model_dump(mode="json") if part else None for name, part in parts.items()},
    }
