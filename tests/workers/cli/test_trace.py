"""What a person sees of an item whose criteria have several judges."""

from __future__ import annotations

import io
import json

from rich.console import Console

from schemas.codec import decode
from schemas.topics import TELEMETRY, VERDICTS
from tests.data import ROOT
from workers.cli.trace import render
from workers.trace.story import Seen, tell

EXAMPLES = ROOT / "schemas" / "examples"


def shown(*seen: Seen) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(render(tell("sku-48213", seen)))
    return out.getvalue()


def test_every_vote_and_measure_is_shown() -> None:
    message = decode(VERDICTS, (EXAMPLES / "verdicts" / "several_judges.json").read_bytes()).message
    text = shown(Seen(message, "v", "kafka://assay.verdicts/0/0"))
    for line in (
        "c1_spec_accuracy: fail G-1.1 ['45 l']: The volume is not on the spec sheet.  [three_vendors]",
        "  b: fail  [judge-b@2026-08-01]",
        "c4_clarity: pass score 4",
        "c5_no_worse_than_before: abstain (order_inconsistent)",
        "  draft_first: pass prefers A  [judge-a@2026-09-15]",
        "  rival_first: fail prefers B  [judge-a@2026-09-15]",
    ):
        assert line in text


def test_an_audit_is_shown_apart() -> None:
    record = json.loads((EXAMPLES / "telemetry" / "attempt.json").read_bytes())
    record["audit"] = [{"criterion_id": "c1", "label": "fail", "judge": "stranger"}]
    message = decode(TELEMETRY, json.dumps(record).encode()).message
    assert "audit of c1: fail  [stranger]" in shown(Seen(message, "t", "kafka://assay.telemetry/0/0"))
