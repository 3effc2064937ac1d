"""The BOM of a replay: one criterion, judged by a recorded judge. Judge, recording and K are all in its version."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from workers.bom.manifest import MANIFEST, manifest_of

CRITERION = "recorded"
CLAUSE = "R-1"
_GUIDELINES = f"""version: recorded

# Recorded judge

## {CLAUSE} What the recorded judge was asked
The judge was recorded elsewhere, against the task that each draft carries as its instruction.
"""
_TEMPLATE = """[system]
This judge is replayed from a recording; the prompt is kept for the record.
<criterion>
{rubric}
</criterion>
[user]
{instruction}
{constraints}
{items}
{text}
"""
RECORDING = "recording.jsonl"
"""What the caller's file is called inside the BOM."""


def replay_bom(judge: str, recording: bytes, *, retry_budget: int) -> Mapping[str, bytes]:
    """Sealed files of a BOM that ``load_bom`` accepts; the same input gives the same version."""
    charter = {
        "name": "replay",
        "owner": "whoever replays",
        "roles": ["gate"],
        "criteria": {"must_have": [{"id": CRITERION, "clauses": [CLAUSE], "judge": "recorded"}]},
        "max_served_defect_rate": 1.0,
        "relative_costs": {"drop_good": 1, "serve_defect": 1},
        "retry_budget": retry_budget,
        "on_drop": "none",
        "change_control": {"rubric_update_approver": "nobody: recorded"},
    }
    binding = {"provider": "recorded", "model": judge, "family": "recorded", "file": RECORDING}
    files = {
        "charter.yaml": _yaml(charter),
        "guidelines.md": _GUIDELINES.encode(),
        "template.md": _TEMPLATE.encode(),
        f"rubrics/{CRITERION}.md": f"{CLAUSE}: as recorded.\n".encode(),
        "bindings.yaml": _yaml({"judges": {"recorded": binding}}),
        "decision.yaml": _yaml({"max_draft_chars": 1_000_000, "max_context_chars": 1_000_000}),
        RECORDING: recording,
    }
    return {**files, MANIFEST: manifest_of(files).to_bytes()}


def _yaml(document: object) -> bytes:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()
