"""The reply envelope: a deployment's own shape, checked by the deployment's own validator.

What the envelope looks like is the deployment's to know. Nothing of it stands here, and nothing of it is shown in a
finding. The validator is named as a JSON Schema file or as ``module:function``; it is given each verdict record that
the judge worker publishes. A function returns True, or None and raises for what is wrong; anything else is a failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from workers.conformance.findings import Check, Finding, failed, passed, unavailable
from workers.conformance.ground import Ground

Validator = Callable[[Mapping[str, Any]], object]


class NoValidator(Exception):
    """The named validator cannot be had; the message says why."""


def load_validator(spec: str) -> Validator:
    """The validator that a specification names. Raises NoValidator."""
    if ":" in spec and not Path(spec).exists():
        return _entry_point(spec)
    return _schema(Path(spec))


def evaluate(records: Sequence[Mapping[str, Any]], validator: Validator) -> Finding:
    """Every record must satisfy the validator. Only counts are told: what was asked for is not ours to publish."""
    if not records:
        return failed("no verdict record was there to be checked", records=0)
    refused = sum(not _satisfies(record, validator) for record in records)
    evidence = {"records": len(records), "refused": refused}
    if refused:
        return failed(f"the deployment's validator refused {refused} of {len(records)} verdict records", **evidence)
    return passed(f"the deployment's validator accepted {len(records)} verdict records", **evidence)


def _satisfies(record: Mapping[str, Any], validator: Validator) -> bool:
    try:
        answer = validator(json.loads(json.dumps(record)))  # its own copy: a validator may write into it
    except _WAYS_TO_REFUSE:
        return False
    return answer is None or answer is True


def _entry_point(spec: str) -> Validator:
    module, _, name = spec.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise NoValidator(f"the validator {spec!r} cannot be imported ({type(error).__name__})") from error
    if not callable(found):
        raise NoValidator(f"the validator {spec!r} is no function")
    validator: Validator = found
    return validator


def _schema(path: Path) -> Validator:
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
        kind = validator_for(schema, default=jsonschema.Draft202012Validator)
        kind.check_schema(schema)
    except (OSError, ValueError, RecursionError, TypeError, jsonschema.SchemaError) as error:
        raise NoValidator(f"the validator {path} cannot be used ({type(error).__name__})") from error
    # With a registry of its own nothing is ever fetched: a reference that leads out of the file is a failure.
    validator = kind(schema, registry=Registry())

    def valid(record: Mapping[str, Any]) -> bool:
        return bool(validator.is_valid(record))

    return valid


_WAYS_TO_REFUSE = (
    jsonschema.ValidationError,
    Unresolvable,
    ValueError,
    TypeError,
    AssertionError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
)
"""What a validator may raise for a record it does not accept."""


async def check(ground: Ground) -> Finding:
    """Absent or failing is FAIL: what nobody checks does not conform (S1, "Drift and conformance")."""
    if ground.envelope is None:
        return failed("the deployment names no validator for its reply envelope: give one with --envelope")
    if not ground.baseline:
        return unavailable("there is no draft to judge")
    try:
        validator = load_validator(ground.envelope)
    except NoValidator as error:
        return failed(str(error))
    return evaluate(ground.records, validator)


CHECK = Check("envelope", "the deployment's validator accepts the judge's reply envelope", check)
