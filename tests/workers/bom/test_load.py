"""A BOM is refused with one clear line, or loaded whole. Every check has the broken BOM it must catch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from schemas.errors import BomError
from workers.bom import MANIFEST, load_bom, manifest_of, read_files, seal
from workers.bom.yaml_files import parse_yaml

CHARTER = b"""
name: test
owner: nobody
roles: [gate]
criteria:
  must_have:
    - id: c1
      clauses: [G-1]
      rules: [{rule: length, clause: G-1, params: {max_words: 50}}]
    - id: c2
      judge: primary
max_served_defect_rate: 0.02
relative_costs: {drop_good: 1, serve_defect: 50}
retry_budget: 3
on_drop: fallback_template
generator_families: [gen-family]
change_control: {rubric_update_approver: owner}
"""
BINDINGS = b"""
judges:
  primary: {provider: scripted, model: judge-model@2026-09-15, family: judge-family, file: script.yaml}
"""
FILES = {
    "charter.yaml": CHARTER,
    "guidelines.md": b"version: 2026.11.1\n\n## G-1 Short\nAt most 50 words.\n## G-2.1 True\nNothing false.\n",
    "template.md": b"[system]\n{rubric}\n[user]\n{instruction}{constraints}{items}{text}\n",
    "rubrics/c2.md": b"Judge G-2.1.\n",
    "bindings.yaml": BINDINGS,
    "script.yaml": b"cases: []\n",
    "decision.yaml": b"enforced_share: 1.0\n",
    "fallback.md": b"<!-- slots: name -->\n{name}: see the specifications.\n",
}


def sealed(**changes: bytes | None) -> Mapping[str, bytes]:
    """The good BOM with some files changed (underscores: ``charter_yaml``), sealed afresh."""
    named = {
        name.replace("__", "/").replace("_yaml", ".yaml").replace("_md", ".md"): raw for name, raw in changes.items()
    }
    files = {name: raw for name, raw in {**FILES, **named}.items() if raw is not None}
    return {**files, MANIFEST: manifest_of(files).to_bytes()}


def test_a_good_bom_is_loaded_whole() -> None:
    bom = load_bom(sealed())
    assert bom.version.startswith("bom-")
    assert bom.charter.relative_costs.break_even_defect_rate == pytest.approx(1 / 51)  # S2 6.2
    assert dict(bom.clauses) == {"G-1": "Short\nAt most 50 words.", "G-2.1": "True\nNothing false."}
    assert bom.guideline_version == "2026.11.1"
    assert dict(bom.rubrics) == {"c2": "Judge G-2.1.\n"}


def test_the_same_files_give_the_same_version_and_any_change_another() -> None:
    first = load_bom(sealed())
    assert load_bom(sealed()).version == first.version
    assert load_bom(sealed(rubrics__c2_md=b"Judge G-2.1 strictly.\n")).version != first.version


def test_a_change_after_the_seal_is_named() -> None:
    files = {**sealed(), "rubrics/c2.md": b"Pass everything.\n"}
    with pytest.raises(BomError, match=r"changed after it was sealed: rubrics/c2\.md"):
        load_bom(files)


def test_a_forged_version_is_caught() -> None:
    files = sealed()
    forged = files[MANIFEST].replace(load_bom(files).version.encode(), b"bom-0000000000000000")
    with pytest.raises(BomError, match="states version"):
        load_bom({**files, MANIFEST: forged})


def _charter(old: bytes, new: bytes) -> bytes:
    assert old in CHARTER
    return CHARTER.replace(old, new)


def _bound_to(model: bytes, provider: bytes) -> bytes:
    return BINDINGS.replace(b"scripted", provider).replace(b"judge-model@2026-09-15", model)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"charter_yaml": None}, r"charter\.yaml is missing"),
        ({"charter_yaml": b"\xff"}, "not UTF-8"),
        ({"charter_yaml": b"name: [a\n"}, r"charter\.yaml: line 2"),
        ({"charter_yaml": CHARTER + b"name: again\n"}, "'name' is given twice"),
        ({"charter_yaml": CHARTER + b"colour: red\n"}, r"charter\.yaml: colour"),
        ({"charter_yaml": b"!!python/object/apply:os.system ['true']"}, r"charter\.yaml"),
        ({"charter_yaml": _charter(b"retry_budget: 3", b"retry_budget: -1")}, "retry_budget"),
        ({"charter_yaml": _charter(b"id: c2", b"id: c1")}, "given twice"),
        ({"charter_yaml": _charter(b"      judge: primary\n", b"")}, "neither rules nor a judge"),
        ({"charter_yaml": _charter(b"judge: primary", b"judge: secondary")}, "no binding 'secondary'"),
        ({"charter_yaml": _charter(b"clause: G-1,", b"clause: G-9,")}, "cites G-9"),
        ({"charter_yaml": _charter(b"gen-family", b"judge-family")}, "must not share a family"),
        ({"rubrics__c2_md": None}, r"rubrics/c2\.md is missing"),
        ({"rubrics__c2_md": b"  \n"}, r"rubrics/c2\.md is missing or empty"),
        ({"rubrics__c7_md": b"x"}, r"rubrics/c7\.md belongs to no"),
        ({"guidelines_md": b"## G-1 a\n"}, "no version"),
        ({"guidelines_md": b"version: 1\n"}, "no clause"),
        ({"guidelines_md": b"version: 1\n## G-1 a\n## G-1 b\n"}, "G-1 is given twice"),
        ({"decision_yaml": b"enforced_criteria: []\n"}, "enforced_criteria is empty"),
        ({"decision_yaml": b"enforced_criteria: [c9]\n"}, "'c9'"),
        ({"decision_yaml": b"enforced_share: 2\n"}, "enforced_share"),
        ({"fallback_md": None}, r"fallback\.md is missing"),
        ({"fallback_md": b"See {the name}.\n"}, "is no slot"),
        ({"fallback_md": b"See {name.\n"}, "brace"),
        ({"script_yaml": None}, r"script\.yaml"),
        ({"bindings_yaml": _bound_to(b"gpt-4o", b"openai_compatible")}, "floating alias"),
        ({"bindings_yaml": _bound_to(b"some-model:latest", b"openai_compatible")}, "floating alias"),
    ],
)  # fmt: skip
def test_a_broken_bom_is_refused_with_what_is_wrong(changes: dict[str, bytes | None], message: str) -> None:
    with pytest.raises(BomError, match=message):
        load_bom(sealed(**changes))


@pytest.mark.parametrize(
    "model", ["gpt-4o-2024-08-06", "gpt-4-1106-preview", "claude-sonnet-4-20250514", "Qwen2.5-7B-Instruct"]
)
def test_a_pinned_or_self_hosted_model_is_accepted(model: str) -> None:
    bindings = _bound_to(model.encode(), b"openai_compatible")
    assert load_bom(sealed(bindings_yaml=bindings)).bindings["primary"].model == model


def test_an_unsealed_folder_says_what_to_do(tmp_path: Path) -> None:
    for name, raw in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(raw)
    with pytest.raises(BomError, match="assay bom seal"):
        load_bom(read_files(tmp_path))
    manifest = seal(tmp_path, read_files(tmp_path))
    assert load_bom(read_files(tmp_path)).version == manifest.version


def test_a_folder_that_is_not_there_and_a_link_that_leads_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BomError, match="no BOM folder"):
        read_files(tmp_path / "none")
    (tmp_path / "bom").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "bom" / "charter.yaml").symlink_to(tmp_path / "secret")
    with pytest.raises(BomError, match="leads out"):
        read_files(tmp_path / "bom")


HTTP = "{provider: openai_compatible, model: a-model-2026-09-15, family: a, fallback: second}"


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (None, "'second' is no binding"),
        ("{provider: openai_compatible, model: b-2026-09-15, family: a, endpoint: other}", "same family 'a'"),
        ("{provider: openai_compatible, model: b-2026-09-15, family: b}", "same endpoint 'default'"),
        ("{provider: anthropic, model: b-2026-09-15, family: b, endpoint: x, fallback: primary}", "of its own"),
        ("{provider: anthropic, model: b-2026-09-15, family: gen-family, endpoint: x}", "generator family"),
        ("{provider: anthropic, model: claude-sonnet, family: b, endpoint: x}", "floating alias"),
        ("{provider: anthropic, model: b-2026-09-15, family: b, endpoint: x, seed: 1}", "anthropic has no seed"),
    ],
)
def test_a_fallback_that_shares_what_breaks_or_biases_its_primary_is_refused(second: str | None, says: str) -> None:
    bindings = f"judges:\n  primary: {HTTP}\n" + (f"  second: {second}\n" if second else "")
    with pytest.raises(BomError, match=says):
        load_bom(sealed(bindings_yaml=bindings.encode()))


def test_another_vendors_model_may_stand_in() -> None:
    second = "{provider: anthropic, model: b-2026-09-15, family: b, endpoint: other}"
    bom = load_bom(sealed(bindings_yaml=f"judges:\n  primary: {HTTP}\n  second: {second}\n".encode()))
    assert bom.bindings["primary"].fallback == "second"


@pytest.mark.parametrize("caps", ["{per_hour_usd: 0}", "{max_calls: 0}", "{per_year_usd: 1}", "{per_day_usd: .inf}"])
def test_a_cap_that_is_no_cap_is_refused(caps: str) -> None:
    with pytest.raises(BomError, match="cost_caps"):
        load_bom(sealed(decision_yaml=f"cost_caps: {caps}\n".encode()))


def test_a_character_that_yaml_refuses_is_named_with_its_line() -> None:
    with pytest.raises(BomError, match=r"charter.yaml: line 2: the character U\+001B is not allowed"):
        parse_yaml("charter.yaml", b"name: a\nowner: \x1b[31m\n")
