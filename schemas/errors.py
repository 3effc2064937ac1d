"""The error tree. An error's class is its fate.

AssayError
├── BadMessage              dead letter; the next message goes on
├── ModelError              abstain with its cause; the draft is undecided, never failed
├── DependencyUnavailable   nothing is committed; read again; the process stops when it lasts
├── BomError                no start
├── SettingsError           no start
└── FatalError              the process stops loudly and is started again
    └── TooManyDeadLetters  the process stops loudly and is not started again before somebody has looked
"""

from __future__ import annotations

from enum import StrEnum

from schemas.verdict_space import Cause


class AssayError(Exception):
    """Root of every error the project raises on purpose."""


class BadMessageKind(StrEnum):
    """Why a record went to the dead letters."""

    EMPTY = "empty"
    TOO_LARGE = "too_large"
    NOT_JSON = "not_json"
    WRONG_TYPE = "wrong_type"  # another kind of message than this topic carries: the loop guard
    BAD_SCHEMA = "bad_schema"
    BAD_ATTEMPT = "bad_attempt"
    HANDLER_FAILED = "handler_failed"


class BadMessage(AssayError):
    """A record that can never be handled. ``field`` names what to mend; the text of the draft is never in it."""

    def __init__(self, kind: BadMessageKind, detail: str, *, field: str | None = None) -> None:
        super().__init__(f"{kind}: {detail}" if field is None else f"{kind}: {field}: {detail}")
        self.kind, self.detail, self.field = kind, detail, field


class ModelError(AssayError):
    """A judge that could not answer. ``retry_after_s`` is what the provider asked for; 0 = ask again at once.

    ``calls`` counts how often the model was asked before this was raised.
    """

    def __init__(self, cause: Cause, detail: str = "", *, retry_after_s: float | None = None, calls: int = 1) -> None:
        super().__init__(f"{cause}: {detail}" if detail else str(cause))
        self.cause, self.detail, self.retry_after_s, self.calls = cause, detail, retry_after_s, calls


class DependencyUnavailable(AssayError):
    """Kafka or another service that the work cannot go on without does not answer."""


class BomError(AssayError):
    """The bill of materials does not verify or cannot be judged with: no start."""


class SettingsError(AssayError):
    """A setting is unknown, wrong or missing: no start."""


class FatalError(AssayError):
    """The process may not go on: stopping loudly loses nothing, going on might."""


class TooManyDeadLetters(FatalError):
    """So many records in a row, or of the last ones, cannot be handled that the fault is likely not in them.

    A new start would set as many aside again, and so the whole topic, piece by piece.
    """
