"""What to do about what a probe found."""

from __future__ import annotations

from schemas.bom import DEFAULT_ENDPOINT, ModelBinding
from workers.judge.probing import Finding


def remedy(finding: Finding, binding: ModelBinding) -> str:
    """One sentence for a person: where to look, by the name that it has there."""
    return _REMEDIES[finding].format(
        address=_named(binding, "ASSAY_MODEL_BASE_URL", "base_url"),
        key=_named(binding, "ASSAY_MODEL_API_KEY", "api_key_file"),
        tokens=binding.max_output_tokens,
        seconds=f"{binding.attempt_timeout_s:g}",
    )


def _named(binding: ModelBinding, setting: str, field: str) -> str:
    return setting if binding.endpoint == DEFAULT_ENDPOINT else f"{field} of {binding.endpoint!r} in ASSAY_ENDPOINTS"


_REMEDIES = {
    Finding.WRONG_KEY: "Is {key} the key of this endpoint, and may it use this model?",
    Finding.BAD_REQUEST: "Does the endpoint serve a model of this name, and take the binding's parameters?",
    Finding.UNREACHABLE: "Is the model server running, and is {address} right?",
    Finding.NO_ANSWER: "Look at the model server's log, {address} and attempt_timeout_s ({seconds}).",
    Finding.TRUNCATED: "Raise max_output_tokens ({tokens}) in the binding.",
    Finding.REFUSED: "The model will not judge such texts: bind another one.",
    Finding.UNREADABLE: "Ask for structured_output, or bind a model that keeps to the form it is asked for.",
    Finding.NO_STRUCTURED_OUTPUT: "Set structured_output to what the endpoint does offer: json_object or none.",
    Finding.USAGE_MISSING: "Caps on cost count the most that a call can take, until the endpoint reports its usage.",
    Finding.MODEL_MISMATCH: "Bind the name of the version that is served, so that a change of it is seen.",
    Finding.NO_LOGPROBS: "Set logprobs to false, or bind a model that offers them.",
    Finding.SLOW: "Raise attempt_timeout_s ({seconds}), or bind a faster model.",
}
