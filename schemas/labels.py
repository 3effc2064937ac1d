"""Human labels: what is asked of raters, and what they say. Blind: no verdict, model or vote of anybody is shown."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from schemas.decisions import Decision
from schemas.drafts import Context
from schemas.message import Emitted, EventId, ItemId, ItemMessage, Name, Sha256, UtcTime


class TaskKind(StrEnum):
    """Why an item is labelled. Gold and canary items never enter band or defect figures (S2 7.7 item 2)."""

    SAMPLE = "sample"
    GOLD = "gold"
    AUDIT = "audit"  # a uniform draw from what was served, for PPI
    PAIR = "pair"  # first draft or first revision of a round that went into revision, for the persistence of misses


class LabelTask(Emitted):
    """One text for raters to label on one criterion or on all.

    ``inclusion_probability`` is in (0, 1]: how likely this item was to be drawn within its stratum and slice.
    Stratum and known answer of a gold item are not here: raters must not see them. They are found by ``task_id``.
    """

    ce_type: ClassVar[str] = "assay.label_task.v1"

    type: Literal["label_task"] = "label_task"
    task_id: EventId
    week: Annotated[str, Field(pattern=r"^\d{4}-W\d{2}$")]  # ISO week of the judgment
    criteria: tuple[Name, ...]
    text: str
    context: Context
    guideline_version: str
    raters_wanted: Annotated[int, Field(ge=1)]
    asked_at: UtcTime


class HumanVote(StrEnum):
    """What a rater may say. A rater who cannot tell says so; it is no decision."""

    PASS = "pass"  # noqa: S105 - a label, not a password
    FAIL = "fail"
    CANNOT_TELL = "cannot_tell"


ClauseId = Annotated[str, StringConstraints(strip_whitespace=True, max_length=64)]


class LabelStage(StrEnum):
    """The life of a label (S1, "Calibration"): one rater's vote, or an adjudicator's word on disagreeing votes."""

    VOTE = "vote"
    ADJUDICATED = "adjudicated"


class HumanLabel(ItemMessage):
    """One rater's vote on one text and criterion. A higher ``version`` of the same rater corrects a lower one.

    A fail needs a rationale (S2 7.4 item 3); ``clause`` is the same reason in a form that can be compared with the
    judge's. ``retracted`` takes the vote back.
    """

    ce_type: ClassVar[str] = "assay.human_label.v1"

    type: Literal["human_label"] = "human_label"
    item_id: ItemId
    task_id: EventId
    criterion_id: Name
    rater_id: Name
    judged_sha256: Sha256 | None = None
    vote: HumanVote
    rationale: Annotated[str, Field(max_length=4_000)] | None = None
    failure_mode: Annotated[str, Field(max_length=128)] | None = None
    clause: ClauseId | None = None  # of the guideline, that a fail violates
    guideline_version: str
    stage: LabelStage = LabelStage.VOTE
    edited: bool = False  # raw or edited label (S1)
    version: Annotated[int, Field(ge=0, strict=True)] = 0
    retracted: bool = False
    labelled_at: UtcTime

    @model_validator(mode="after")
    def _a_fail_has_its_reason(self) -> Self:
        if self.vote is HumanVote.FAIL and not self.retracted and not (self.rationale or "").strip():
            raise ValueError("a fail needs a rationale: say which clause is violated and where")
        return self


class Fit(StrEnum):
    """How a label stands to the guidelines that its task was asked under."""

    FITS = "fits"
    UNKNOWN_CLAUSE = "unknown_clause"  # it names a clause that they do not have
    OTHER_GUIDELINES = "other_guidelines"  # it was given under another version of them


def fit_of(given: str, clause: str | None, *, asked: str, clauses: Collection[str]) -> Fit:
    """``given``, ``asked``: guideline versions of label and task; ``clauses``: ids of the latter.

    Where the sample says neither (``asked`` or ``clauses`` empty) nothing can be held against a label.
    """
    if asked and given != asked:
        return Fit.OTHER_GUIDELINES
    return Fit.UNKNOWN_CLAUSE if clause and clauses and clause not in clauses else Fit.FITS


class SampledItem(Emitted):
    """What the sampling knows of a task and raters must not: on a topic of its own, never on label-tasks.

    ``guideline_version`` and ``guideline_clauses`` are those of the guidelines that the task is asked under: labels are
    read against them for as long as the record is kept, whatever BOM is in use then.
    """

    ce_type: ClassVar[str] = "assay.sampled_item.v1"

    type: Literal["sampled_item"] = "sampled_item"
    task_id: EventId
    kind: TaskKind
    week: Annotated[str, Field(pattern=r"^\d{4}-W\d{2}$")]
    round_id: EventId
    attempt: int
    stratum: Decision
    slices: tuple[str, ...] = ()
    inclusion_probability: Annotated[float, Field(gt=0, le=1)]
    gold_votes: dict[str, HumanVote] = Field(default_factory=dict)  # criterion -> known answer, of gold items
    bom_version: str
    judged_sha256: Sha256
    judge_labels: dict[str, str] = Field(default_factory=dict)  # criterion -> the judge's label on this very draft
    judge_clauses: dict[str, str] = Field(default_factory=dict)  # criterion -> the clause the judge failed it for
    judge_confidence: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)  # of its label
    audit_labels: dict[str, str] = Field(default_factory=dict)  # criterion -> the audit judge's label, if it was asked
    guideline_version: str = ""
    guideline_clauses: tuple[Name, ...] = ()
    sampled_at: UtcTime
