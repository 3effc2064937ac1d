"""The closed menu of what a judge may say, and why it may say nothing (S1, "Verdict space").

Two decisions and four non-decisions. A non-decision is never coerced into a decision: not in storage, cache, gate,
statistics or display. Its cause is kept beside it.
"""

from __future__ import annotations

from enum import StrEnum


class Menu(StrEnum):
    """A closed list of words, several of which are written into every record.

    Whoever encodes one asks for its ``value``, and every table by label for its hash: Enum itself takes several times
    as long for both.
    """

    @property
    def value(self) -> str:
        return str.__str__(self)

    __hash__ = str.__hash__


class Label(Menu):
    """What one judge says of one draft on one criterion."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    ABSTAIN = "abstain"
    NOT_APPLICABLE = "not_applicable"
    MISSING_EVIDENCE = "missing_evidence"
    NOT_IMPLEMENTED = "not_implemented"

    @property
    def decided(self) -> bool:
        """True for the two decisions alone."""
        return self is _PASS or self is _FAIL


_PASS, _FAIL = Label.PASS, Label.FAIL


class Form(Menu):
    """What a judge is asked for: bound in the charter, criterion by criterion."""

    BINARY = "binary"
    ORDINAL = "ordinal"
    PAIRWISE = "pairwise"


class Choice(Menu):
    """The menu of a pairwise comparison. On a verdict, A is the draft and B its rival, whichever was shown first."""

    A = "A"
    B = "B"
    TIE = "TIE"

    @property
    def mirrored(self) -> Choice:
        """The same preference with the two texts in the other order."""
        return _MIRRORED[self]


_MIRRORED = {Choice.A: Choice.B, Choice.B: Choice.A, Choice.TIE: Choice.TIE}


class Cause(Menu):
    """Why a verdict is no decision. Each is counted apart: a grader's failure is not a failed draft."""

    TIMEOUT = "timeout"  # no reply within the time of one attempt, or of the whole draft
    RATE_LIMITED = "rate_limited"  # still 429 when the deadline came
    UNREACHABLE = "unreachable"  # no connection: DNS, refused, TLS
    CONNECTION_LOST = "connection_lost"  # the connection broke inside the reply
    PROVIDER_ERROR = "provider_error"  # 5xx, or a body that is no completion
    UNAUTHORIZED = "unauthorized"  # 401, 403
    BAD_REQUEST = "bad_request"  # any other 4xx: a parameter, an unknown model
    UNPARSEABLE = "unparseable"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    REPLY_TOO_LARGE = "reply_too_large"
    OVERSIZE = "oversize"  # the draft is larger than the judge may read; no call was made
    NO_INSTRUCTION = "no_instruction"
    UNREADABLE_CONTEXT = "unreadable_context"
    NOTHING_TO_CHECK = "nothing_to_check"
    SAME_FAMILY = "same_family"
    NOT_BOUND = "not_bound"  # a criterion without rules and without a model
    NOT_RECORDED = "not_recorded"  # the recorded judge has no verdict for this draft
    OVER_BUDGET = "over_budget"
    PANEL_DISAGREEMENT = "panel_disagreement"
    ORDER_INCONSISTENT = "order_inconsistent"
    NO_RIVAL = "no_rival"  # a comparison without a text to compare with; no call was made
    STOPPED_EARLY = "stopped_early"  # a criterion before this one had failed the draft; no call was made

    @property
    def transient(self) -> bool:
        """True when asking again, inside the deadline, may bring an answer: a transport failure, never a bad reply."""
        return self in _TRANSIENT


_TRANSIENT = frozenset(
    {Cause.TIMEOUT, Cause.RATE_LIMITED, Cause.UNREACHABLE, Cause.CONNECTION_LOST, Cause.PROVIDER_ERROR}
)


class Flag(Menu):
    """Something worth a person's look that does not change the verdict. Raised by workers, alerted on by stats."""

    SURROGATES_REPLACED = "surrogates_replaced"
    LABEL_REASON_CONFLICT = "label_reason_conflict"
    UNVERIFIED_SPAN = "unverified_span"
    UNKNOWN_CLAUSE = "unknown_clause"
    REASON_CUT = "reason_cut"
    SPAN_INVENTED = "span_invented"  # recorded judges only: a fail without spans got the whole draft
    RE_ASKED = "re_asked"
    MODEL_MISMATCH = "model_mismatch"
    SAME_FAMILY = "same_family"
    WORDING_LEAKED = "wording_leaked"
    TIME_ANOMALY = "time_anomaly"
    FALLBACK_UNAVAILABLE = "fallback_unavailable"
    OUTPUT_TOO_LARGE = "output_too_large"
    CACHE_DOWN = "cache_down"
    OVER_BUDGET = "over_budget"
    FALLBACK_JUDGE = "fallback_judge"  # judged by the binding's fallback
    ORDER_FLIP = "order_flip"  # pairwise: another answer when the two texts changed places
    ORDER_REVERSAL = "order_reversal"  # pairwise: the opposite answer; every reversal is a flip too
