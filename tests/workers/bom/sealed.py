"""A BOM with forms and compositions, sealed: what its tests change is named file by file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from schemas.bom import Bom
from tests.data import ROOT
from workers.bom import MANIFEST, load_bom, manifest_of

CHARTER: dict[str, Any] = {
    "name": "test",
    "owner": "nobody",
    "roles": ["gate"],
    "max_served_defect_rate": 0.02,
    "relative_costs": {"drop_good": 1, "serve_defect": 50},
    "retry_budget": 3,
    "on_drop": "none",
    "change_control": {"rubric_update_approver": "owner"},
}
TEMPLATES = ROOT / "examples" / "templates"
SCRIPT = {"default": {"reply": {"label": "pass", "reason": "fine"}}}


def family_of_three(**more: Any) -> dict[str, Any]:
    """Three judges of three families; ``more`` are compositions."""
    judges = {
        name: {"provider": "scripted", "model": f"{name}@2026-09-15", "family": family, "file": "script.yaml"}
        for name, family in {"small": "birch", "large": "cedar", "third": "larch"}.items()
    }
    return {"judges": judges, "compositions": more}


def bom_of(
    *criteria: dict[str, Any],
    bindings: dict[str, Any] | None = None,
    decision: dict[str, Any] | None = None,
    script: dict[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Bom:
    """Loaded, hence checked. Raises BomError as any BOM does."""
    parts = {
        "charter.yaml": _yaml(CHARTER | {"criteria": {"must_have": list(criteria)}}),
        "guidelines.md": b"version: 2026.11.1\n\n## G-1 True\nNothing false.\n",
        "template.md": b"[system]\n{rubric}\n[user]\n{instruction}{constraints}{items}{text}\n",
        "template_ordinal.md": (TEMPLATES / "template_ordinal.md").read_bytes(),
        "template_pairwise.md": (TEMPLATES / "template_pairwise.md").read_bytes(),
        "bindings.yaml": _yaml(bindings or family_of_three()),
        "decision.yaml": _yaml(decision or {}),
        "script.yaml": _yaml(script or SCRIPT),
        **{f"rubrics/{c['id']}.md": b"Judge G-1.\n" for c in criteria if "judge" in c or "audit" in c},
        **(files or {}),
    }
    return load_bom({**parts, MANIFEST: manifest_of(parts).to_bytes()})


def _yaml(content: object) -> bytes:
    return yaml.safe_dump(content).encode()
