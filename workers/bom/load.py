"""From files to a verified Bom: parse each file, check what they say of each other, or refuse with one clear line."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.bom import Bindings, Bom, Charter, DecisionSettings
from schemas.errors import BomError
from schemas.verdict_space import Form
from workers.bom.checks import check
from workers.bom.guidelines import parse_guidelines
from workers.bom.manifest import verify
from workers.bom.yaml_files import read_yaml

RUBRICS = "rubrics/"
FORM_TEMPLATES = {Form.ORDINAL: "template_ordinal.md", Form.PAIRWISE: "template_pairwise.md"}
"""Needed only where a criterion has the form: each form asks for another reply."""


def load_bom(files: Mapping[str, bytes]) -> Bom:
    """A Bom whose seal holds and whose parts agree. Raises BomError; see ``checks`` for what is refused."""
    manifest = verify(files)
    guidelines = parse_guidelines(_text(files, "guidelines.md"))
    charter = read_yaml(files, "charter.yaml", Charter)
    bindings = read_yaml(files, "bindings.yaml", Bindings)
    bom = Bom(
        version=manifest.version,
        digests=manifest.files,
        charter=charter,
        clauses=guidelines.clauses,
        guideline_version=guidelines.version,
        template=_text(files, "template.md"),
        rubrics={
            name.removeprefix(RUBRICS).removesuffix(".md"): _text(files, name)
            for name in files
            if name.startswith(RUBRICS) and name.endswith(".md")
        },
        bindings=bindings.judges,
        compositions=bindings.compositions,
        decision=read_yaml(files, "decision.yaml", DecisionSettings),
        fallback=_text(files, "fallback.md") if "fallback.md" in files else None,
        files=files,
        form_templates={form: _text(files, name) for form, name in FORM_TEMPLATES.items() if form in _forms(charter)},
    )
    check(bom)
    return bom


def _forms(charter: Charter) -> set[Form]:
    return {criterion.form for criterion in charter.criteria.must_have}


def _text(files: Mapping[str, bytes], name: str) -> str:
    if name not in files:
        raise BomError(f"{name} is missing from the BOM")
    try:
        return files[name].decode("utf-8")
    except UnicodeDecodeError as error:
        raise BomError(f"{name}: byte {error.start} is not UTF-8") from error
