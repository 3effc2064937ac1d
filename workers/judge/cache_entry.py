"""What a cached verdict is called and how it is written. Pure."""

from __future__ import annotations

from pydantic import ValidationError

from schemas.verdicts import CriterionVerdict, Usage

# Raised whenever entries of the version before can no longer be read as the verdicts they were.
_VERSION = b"1 "
_FREE = Usage(calls=0, input_tokens=0, output_tokens=0, cost_usd=0.0, latency_ms=0.0)


def verdict_key(judged_sha256: str, bom_version: str, entry: str) -> str:
    """Everything that can change a verdict is in its name: what is judged, the BOM, and the criterion.

    ``entry`` is the criterion's id; where several judges serve it, a slash and the judge's place follow.
    """
    return f"assay:v1:verdict:{{{judged_sha256}:{bom_version}:{entry}}}"


def claim_key(key: str) -> str:
    """Who is judging it now; in the same cluster slot as the verdict."""
    return key.replace(":verdict:", ":claim:", 1)


def write_entry(verdict: CriterionVerdict) -> bytes:
    """A decided verdict in the form in which a hit returns it: equal to the first one, but it cost nothing."""
    if not verdict.label.decided:
        raise ValueError(f"{verdict.label} is no decision: caching it would freeze an outage into a verdict")
    return _VERSION + free_of_charge(verdict).model_dump_json().encode()


def free_of_charge(verdict: CriterionVerdict) -> CriterionVerdict:
    """The verdict for whoever did not pay for it. An abstain was never cached, only shared."""
    return verdict.model_copy(update={"cached": verdict.label.decided, "usage": _FREE})


def read_entry(raw: bytes, *, criterion_id: str) -> CriterionVerdict | None:
    """The verdict, or None for bytes that are no entry of this version, or not this criterion's decision."""
    if not raw.startswith(_VERSION):
        return None
    try:
        verdict = CriterionVerdict.model_validate_json(raw[len(_VERSION) :])
    except ValidationError:
        return None
    return verdict if verdict.label.decided and verdict.cached and verdict.criterion_id == criterion_id else None
