"""The human anchor: a gold set, and the two published agreements, raters' first (S1, "Calibration")."""

from __future__ import annotations

from workers.conformance.anchor_file import FILE, AnchorState
from workers.conformance.findings import Check, Finding, failed, not_applicable, passed, unavailable
from workers.conformance.ground import Ground


def evaluate(state: AnchorState) -> Finding:
    """Every criterion that a model decides has its anchor, made under the guidelines in force."""
    if not state.needed:
        return not_applicable("rules decide everything: what is structural needs no anchor")
    if state.anchor is None:
        return failed(state.problem or f"the BOM has no {FILE}: no gold set and no agreement is published")
    if missing := sorted(state.needed - state.anchor.criteria.keys()):
        return failed(f"{FILE} says nothing of {', '.join(missing)}", missing=missing)
    stated, in_force = state.anchor.guideline_version, state.guideline_version
    if stated != in_force:
        return failed(f"{FILE} is of guidelines {stated}, in force are {in_force}: label again, or review")
    shown = {name: state.anchor.criteria[name].model_dump() for name in sorted(state.needed)}
    return passed(f"a gold set and both agreements are published for {len(shown)} criteria", criteria=shown)


async def check(ground: Ground) -> Finding:
    if ground.anchor is None:
        return unavailable("nothing is known of the judge's bill of materials")
    return evaluate(ground.anchor)


CHECK = Check("anchor", "the judge has a human anchor and published agreement", check)
