"""The bill of materials: everything that can change a verdict, under one immutable version (S2 7.3, 7.8).

These are the shapes of the reviewable files in ``boms/<name>/``; reading and sealing them is ``workers.bom``'s.
What cannot change a verdict is a setting of the environment. There is no third place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from schemas.compositions import Composition
from schemas.drafts import MAX_TEXT_CHARS
from schemas.message import Name
from schemas.rating import Comparison, Scale
from schemas.strict import Cost, Share, Strict
from schemas.verdict_space import Form


class Role(StrEnum):
    GATE = "gate"
    CRITIC = "critic"
    MONITOR = "monitor"
    REWARD = "reward"


class OnDrop(StrEnum):
    """What is shown for an item whose drafts ran out."""

    NONE = "none"
    FALLBACK_TEMPLATE = "fallback_template"
    HUMAN_QUEUE = "human_queue"
    LAST_APPROVED = "last_approved"


class OnJudgeUnavailable(StrEnum):
    """What is shown for an item that no judge could decide."""

    FAIL_CLOSED = "fail_closed"
    SERVE_LAST_APPROVED = "serve_last_approved"


class NotApplicable(StrEnum):
    """What the gate makes of a criterion that does not apply to a draft."""

    BLOCKS = "blocks"
    EXCLUDED = "excluded"


class Rule(Strict):
    """One deterministic check, by name. ``clause`` is the guideline clause that a hit violates."""

    rule: Name
    clause: Name
    params: dict[str, JsonValue] = Field(default_factory=dict)


class Constraint(Strict):
    specificity_min: Share | None = None  # per judgment; S2 7.3 item 2
    recall_min: Share | None = None


class Criterion(Strict):
    """One must-have: its own judge. Rules first; a draft that no rule rejects goes to the model, where one is bound."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]{0,63}$")]
    title: str = ""
    clauses: tuple[Name, ...] = ()  # the guideline clauses this criterion may cite
    constraint: Constraint = Constraint()
    not_applicable: NotApplicable = NotApplicable.BLOCKS
    rules: tuple[Rule, ...] = ()
    judge: Name | None = None  # a judge or a composition of bindings.yaml
    audit: Name | None = None  # the same, of another family: judges what was served, never gates
    form: Form = Form.BINARY
    scale: Scale | None = None  # ordinal
    comparison: Comparison | None = None  # pairwise; absent = its defaults

    @model_validator(mode="after")
    def _the_form_is_whole(self) -> Self:
        if (self.form is Form.ORDINAL) != (self.scale is not None):
            raise ValueError(f"{self.id}: a scale belongs to form ordinal, always and only")
        if self.comparison is not None and self.form is not Form.PAIRWISE:
            raise ValueError(f"{self.id}: comparison belongs to form pairwise alone")
        if self.rules and self.form is not Form.BINARY:
            raise ValueError(f"{self.id}: rules pass or fail; give them a criterion of their own, of form binary")
        return self


class Criteria(Strict):
    must_have: Annotated[tuple[Criterion, ...], Field(min_length=1)]
    soft: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [c.id for c in self.must_have]
        if twice := {i for i in ids if ids.count(i) > 1}:
            raise ValueError(f"criterion id {sorted(twice)[0]!r} is given twice; ids must be unique")
        return self


class RelativeCosts(Strict):
    """S2 7.3 item 2: the first two are measured against showing the fallback."""

    drop_good: Cost
    serve_defect: Cost
    regenerate: Cost = 0.0

    @property
    def break_even_defect_rate(self) -> float | None:
        """drop_good / (drop_good + serve_defect); None where both cost nothing."""
        total = self.drop_good + self.serve_defect
        return self.drop_good / total if total else None


class Hitl(Strict):
    weekly_sample: Annotated[int, Field(ge=0)] = 300
    weekly_pairs: Annotated[int, Field(ge=0)] = 20  # revised rounds of which the first two drafts are labelled
    raters_per_item: Annotated[int, Field(ge=1)] = 3
    strata: tuple[str, ...] = ("served_first_pass", "served_after_revision", "dropped")
    oversample: tuple[str, ...] = ()


class ChangeControl(Strict):
    rubric_update_approver: str
    rollback: str = "keep_previous_rubric"


class Incident(Strict):
    first_notice: tuple[str, ...] = ()
    notification_decision: str = ""


class Charter(Strict):
    """The judge's job description: what it decides, whom it affects, what happens when it is wrong."""

    name: Name
    owner: str
    roles: tuple[Role, ...]
    unit_of_generation: Literal["per_item", "per_request"] = "per_item"
    criteria: Criteria
    max_served_defect_rate: Share
    relative_costs: RelativeCosts
    retry_budget: Annotated[int, Field(ge=0, le=100)]
    on_drop: OnDrop
    on_judge_unavailable: OnJudgeUnavailable = OnJudgeUnavailable.FAIL_CLOSED
    generator_families: tuple[str, ...] = ()  # admitted families; empty = a draft's family is not checked
    reasons_to_generator: bool = False  # pass the judge's own words on to the generator
    hitl: Hitl = Hitl()
    change_control: ChangeControl
    incident: Incident = Incident()


class Provider(StrEnum):
    OPENAI_COMPATIBLE = "openai_compatible"
    ANTHROPIC = "anthropic"
    SCRIPTED = "scripted"
    RECORDED = "recorded"

    @property
    def over_http(self) -> bool:
        """True for what needs an endpoint and may cost money."""
        return self in (Provider.OPENAI_COMPATIBLE, Provider.ANTHROPIC)


class StructuredOutput(StrEnum):
    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


DEFAULT_ENDPOINT = "default"


class ModelBinding(Strict):
    """One model for one role: pinned id, family, parameters, and how it is asked.

    ``endpoint`` names where the model is served; addresses and keys behind the names are settings of the environment.
    """

    provider: Provider
    model: Name
    family: Name
    endpoint: Name = DEFAULT_ENDPOINT
    fallback: Name | None = None  # the binding that judges while this one's endpoint is broken or its budget is spent
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0  # null = not sent, for models that refuse it
    max_output_tokens: Annotated[int, Field(ge=1, le=32_768)] = 500
    token_limit_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # noqa: S105 - a name
    logprobs: bool = False  # openai_compatible: ask for the probability of the label's tokens
    seed: int | None = None
    extra_parameters: dict[str, JsonValue] = Field(default_factory=dict)  # sent as they are
    structured_output: StructuredOutput = StructuredOutput.JSON_SCHEMA
    attempt_timeout_s: Annotated[float, Field(gt=0, le=600)] = 20.0
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    re_asks: Annotated[int, Field(ge=0, le=1)] = 0  # ask again after an unparseable or refused reply; counted
    file: str | None = None  # scripted, recorded: the file in the BOM that holds the replies

    @model_validator(mode="after")
    def _the_provider_knows_it(self) -> Self:
        if self.provider is Provider.ANTHROPIC:
            refused = {
                "seed": self.seed is not None,
                "logprobs": self.logprobs,
                "token_limit_parameter": self.token_limit_parameter != "max_tokens",  # noqa: S105 - a name
                "temperature above 1": (self.temperature or 0.0) > 1,
                "structured_output json_object": self.structured_output is StructuredOutput.JSON_OBJECT,
            }
            if wrong := [name for name, given in refused.items() if given]:
                raise ValueError(f"anthropic has no {wrong[0]}; leave it out")
        return self


class Bindings(Strict):
    """``judges`` are single models; ``compositions`` make one judge of several, each by its name."""

    judges: dict[Name, ModelBinding] = Field(default_factory=dict)
    compositions: dict[Name, Composition] = Field(default_factory=dict)


class CostCaps(Strict):
    """What judging may cost, in US dollars and in calls; null = no cap. Spent: abstain(over_budget), or the fallback.

    Hours and days are those of UTC and hold for every version of the BOM; ``per_bom_usd`` and ``max_calls`` are for one
    version, for as long as it is in use.
    """

    per_hour_usd: Annotated[float, Field(gt=0)] | None = None
    per_day_usd: Annotated[float, Field(gt=0)] | None = None
    per_bom_usd: Annotated[float, Field(gt=0)] | None = None
    max_calls: Annotated[int, Field(ge=1)] | None = None

    @property
    def need_prices(self) -> bool:
        return any(cap is not None for cap in (self.per_hour_usd, self.per_day_usd, self.per_bom_usd))


class DecisionSettings(Strict):
    """How the gate decides. ``enforced_share`` 0 is shadow mode; in between, items are drawn by hash."""

    enforced_share: Share = 1.0
    enforced_criteria: tuple[str, ...] | None = None  # None = every must-have
    draft_deadline_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    max_draft_chars: Annotated[int, Field(ge=1, le=MAX_TEXT_CHARS)] = 20_000
    max_context_chars: Annotated[int, Field(ge=1)] = 200_000
    cost_caps: CostCaps = CostCaps()
    stop_at_first_fail: bool = False  # ask criterion by criterion in the charter's order, until an enforced one fails


@dataclass(frozen=True)
class Bom:
    """A loaded and verified BOM. ``version`` names the whole; ``digests`` maps each file to its SHA-256."""

    version: str
    digests: Mapping[str, str]
    charter: Charter
    clauses: Mapping[str, str]  # guideline clause id -> its text
    guideline_version: str
    template: str
    rubrics: Mapping[str, str]  # criterion id -> rubric
    bindings: Mapping[str, ModelBinding]
    decision: DecisionSettings
    fallback: str | None
    files: Mapping[str, bytes] = field(repr=False)
    compositions: Mapping[str, Composition] = field(default_factory=dict)
    form_templates: Mapping[Form, str] = field(default_factory=dict)  # of the forms that the charter uses beside binary

    @property
    def name(self) -> str:
        return self.charter.name
