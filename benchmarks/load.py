"""What is judged: drafts that pass, about 300 characters with a spec sheet each, and BOMs made from the example one.

A draft that passes is the dearest one: it leads to four records (verdict, attempt record, served output, decision).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from schemas.drafts import Context, ContextItem, Draft
from workers.bom import read_files, seal
from workers.bom.example import example_bom

MODEL = "bench-judge-2026-11-01"
PASS = {"label": "pass", "reason": "Nothing touches a clause.", "evidence_spans": [], "guideline_clause": None}


def draft(number: int, *, salt: str = "") -> Draft:
    """The ``number``-th draft; every one has its own item and its own text."""
    name = f"Orla Desk {number}{salt}"
    sheet: dict[str, Any] = {
        "name": name,
        "category": "desks",
        "dimensions": {"width": "120 cm", "depth": "60 cm", "height": "74 cm"},
        "materials": {"top": "bamboo", "legs": "steel"},
        "max_load": "50 kg",
        "contents": ["desk", "hex key"],
    }
    text = (
        f"The {name} is 120 cm wide and 60 cm deep: room for a screen, a lamp and a pot of tea. The top is bamboo, the "
        "legs are steel, and it bears up to 50 kg. The key to put it together is in the parcel, and so is a plan that "
        "one can follow without a second pair of hands."
    )
    return Draft(
        item_id=f"sku-{number}{salt}",
        text=text,
        generator_model="gen-writer@2026-10-01",
        context=Context(
            instruction="Write one paragraph for the product page, from the spec sheet alone.",
            constraints=("80 to 600 characters", "call the product by its name", "no claims beyond the spec sheet"),
            items=(ContextItem(role="target", metadata=sheet),),
        ),
        slices=("locale:en",),
    )


def rules_bom(folder: Path) -> Path:
    """One criterion by rules alone: a required mention, a length, banned phrases and patterns."""
    charter = _charter()
    charter["criteria"]["must_have"] = charter["criteria"]["must_have"][2:]
    return _sealed(folder, {"charter.yaml": charter, "bindings.yaml": {"judges": {}}}, keep=("c3",))


def all_rules_bom(folder: Path) -> Path:
    """The example BOM with all three criteria decided by their seven rules alone, numeric claims among them."""
    charter = _charter()
    for criterion in charter["criteria"]["must_have"]:
        criterion.pop("judge", None)
    return _sealed(folder, {"charter.yaml": charter, "bindings.yaml": {"judges": {}}})


def instant_bom(folder: Path) -> Path:
    """The example BOM as it is, with a scripted model that answers at once."""
    script = {"default": {"reply": PASS, "input_tokens": 600, "output_tokens": 24}}
    return _sealed(folder, {"scripted_judge.yaml": script})


def model_bom(folder: Path, criteria: int = 1) -> Path:
    """Criteria of the example BOM that a model judges, one or two, without their rules; the model answers at once."""
    charter = _charter()
    charter["criteria"]["must_have"] = charter["criteria"]["must_have"][:criteria]
    for criterion in charter["criteria"]["must_have"]:
        criterion.pop("rules")
    script = {"default": {"reply": PASS, "input_tokens": 600, "output_tokens": 24}}
    return _sealed(folder, {"charter.yaml": charter, "scripted_judge.yaml": script}, keep=("c1", "c2")[:criteria])


def models_bom(folder: Path) -> Path:
    """Both of them."""
    return model_bom(folder, criteria=2)


def http_bom(folder: Path) -> Path:
    """One criterion, judged by rules and then by a model over HTTP."""
    charter = _charter()
    charter["criteria"]["must_have"] = charter["criteria"]["must_have"][:1]
    binding = {
        "provider": "openai_compatible",
        "model": MODEL,
        "family": "bench",
        "attempt_timeout_s": 20,
        "max_attempts": 2,
    }
    return _sealed(folder, {"charter.yaml": charter, "bindings.yaml": {"judges": {"primary": binding}}}, keep=("c1",))


def _charter() -> dict[str, Any]:
    charter: dict[str, Any] = yaml.safe_load((example_bom() / "charter.yaml").read_text(encoding="utf-8"))
    return charter


def _sealed(folder: Path, changed: dict[str, Any], *, keep: tuple[str, ...] = ("c1", "c2", "c3")) -> Path:
    shutil.copytree(example_bom(), folder)
    for rubric in (folder / "rubrics").glob("c?_*.md"):
        if rubric.name[:2] not in keep:
            rubric.unlink()
    for name, content in changed.items():
        (folder / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    files = {name: raw for name, raw in read_files(folder).items() if name != "manifest.json"}
    seal(folder, files)
    return folder
