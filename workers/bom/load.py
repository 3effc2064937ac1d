"""From files to a verified Bom: parse each file, check what they say of each other, or refuse with one clear line."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.bom import Bindings, Bom, Charter, DecisionSettings
from schemas.errors import BomError
from workers.bom.checks import check
from workers.bom.guidelines import parse_guidelines
from workers.bom.manifest import verify
from workers.bom.yaml_files import read_yaml

RUBRICS = "rubrics/"


def load_bom(files: Mapping[str, bytes]) -> Bom:
    """A Bom whose seal holds and whose parts agree. Raises BomError; see ``checks`` for what is refused."""
    manifest = verify(files)
    guidelines = parse_guidelines(_text(files, "guidelines.md"))
    bom = Bom(
        version=manifest.version,
        digests=manifest.files,
        charter=read_yaml(files, "charter.yaml", Charter),
        clauses=guidelines.clauses,
        guideline_version=guidelines.version,
        template=_text(files, "template.md"),
        rubrics={
            name.removeprefix(RUBRICS).removesuffix(".md"): _text(files, name)
            for name in files
            if name.startswith(RUBRICS) and name.endswith(".md")
        },
        bindings=read_yaml(files, "bindings.yaml", Bindings).judges,
        decision=read_yaml(files, "decision.yaml", DecisionSettings),
        fallback=_text(files, "fallback.md") if "fallback.md" in files else None,
        files=files,
    )
    check(bom)
    return bom


def _text(files: Mapping[str, bytes], name: str) -> str:
    if name not in files:
        raise BomError(f"{name} is missing from the BOM")
    try:
        return files[name].decode("utf-8")
    except UnicodeDecodeError as error:
        raise BomError(f"{name}: byte {error.start} is not UTF-8") from error
