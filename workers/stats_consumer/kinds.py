"""Every kind of alert: how urgent, what it most likely means, what to do first. The runbook says more."""

from __future__ import annotations

from typing import NamedTuple

from schemas.alerts import AlertKind, Severity

RUNBOOK = "docs/runbook.md"


class Meaning(NamedTuple):
    severity: Severity
    diagnosis: str
    action: str


_PAGE, _TICKET = Severity.PAGE, Severity.TICKET

MEANINGS: dict[AlertKind, Meaning] = {
    AlertKind.GENERATOR_REGRESSION: Meaning(
        _TICKET, "the generator got worse, or its inputs got harder",
        "check the generator's prompt and model changes; look at the new-items slice",
    ),
    AlertKind.STRICTER_JUDGE: Meaning(
        _TICKET, "the judge became stricter: more good drafts are refused", "tune the judge again (phase II)"
    ),
    AlertKind.LENIENT_JUDGE: Meaning(
        _PAGE, "the judge became lenient: more defects are served",
        "did a model or rubric change coincide? roll back to the last certified BOM; lower K; then tune again",
    ),
    AlertKind.CANCELLING_CHANGES: Meaning(
        _TICKET, "judge and generator changed against each other, or the criteria changed their meaning",
        "read the sampled items; revise the guidelines",
    ),
    AlertKind.UNFIXABLE_INPUTS: Meaning(
        _TICKET, "more items cannot be mended, for example because their data are missing",
        "improve the inputs; add another fallback",
    ),
    AlertKind.VENDOR_CHANGE: Meaning(
        _PAGE, "the model or its inference settings were changed without notice",
        "pin the model again or roll back, and certify again",
    ),
    AlertKind.AMPLIFIED_MISSES: Meaning(
        _TICKET, "retries harvest the judge's misses, or rewrites please the judge on the surface",
        "lower K; let revised drafts pass a second judge too",
    ),
    AlertKind.BELOW_BAND: Meaning(
        _TICKET, "the judge is further from the raters than they are from each other",
        "look at the items where judge and majority differ; tune again if it is the judge",
    ),
    AlertKind.SERVED_DEFECTS_ABOVE_CAP: Meaning(
        _PAGE, "more defects reach readers than the charter allows", "lower K or stop serving (`assay control kill`)"
    ),
    AlertKind.PASS_RATE_JUMP: Meaning(
        _TICKET, "drafts pass that would not have: an injection, easier inputs, or a better generator",
        "read a dozen of the drafts that passed; run the injection cases",
    ),
    AlertKind.COVERAGE_LOW: Meaning(
        _TICKET, "the judge often cannot decide, and what is undecided is not served",
        "the evidence lists the causes: the endpoint's (timeout, unreachable, rate_limited), the model's (unparseable, "
        "truncated) or the producer's (no_instruction, unreadable_context)",
    ),
    AlertKind.RATER_DRIFT: Meaning(
        _TICKET, "a rater reads the guidelines otherwise than before", "talk to the rater before you blame the judge"
    ),
    AlertKind.MODEL_MISMATCH: Meaning(
        _PAGE, "the provider served another model than the BOM pins", "stop or pin again; verdicts are not certified"
    ),
    AlertKind.CONFLICTING_DECISION: Meaning(
        _PAGE, "one round was decided in two ways", "find both decisions with `assay trace`"
    ),
    AlertKind.RESTARTS: Meaning(
        _TICKET, "producers start new rounds instead of answering revision requests", "talk to the producer"
    ),
    AlertKind.OPEN_ROUNDS: Meaning(
        _TICKET, "revision requests are not answered", "is the producer's generator reading revision-requests?"
    ),
    AlertKind.CACHE_DOWN: Meaning(_TICKET, "verdicts are judged again instead of found", "look at the cache's Redis"),
    AlertKind.OVER_BUDGET: Meaning(_TICKET, "the cost cap ends judging early", "raise the cap or lower the traffic"),
    AlertKind.DEAD_LETTERS: Meaning(_TICKET, "records cannot be handled", "read them with `assay dlq list`"),
    AlertKind.WORDING_LEAKED: Meaning(
        _TICKET, "the judge's words show up in served text", "see which reasons reach the generator"
    ),
}  # fmt: skip
