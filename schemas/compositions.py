"""Several judges that answer as one: declared in ``bindings.yaml``, bound by name like a single model (S1, "Binding").

Members are judges or other compositions. Each kind has its own model, so that none carries options of another.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.message import Name
from schemas.strict import Strict
from schemas.verdict_space import Label

MAX_MEMBERS = 15


class VotingRule(StrEnum):
    MAJORITY = "majority"  # more than half of all members
    UNANIMITY = "unanimity"  # every member
    WEIGHTED = "weighted"  # at least ``threshold`` of all weight


class OnDisagreement(StrEnum):
    """What decided votes that do not reach a decision together come to. Missing votes are never a disagreement."""

    ABSTAIN = "abstain"
    FAIL = "fail"


class Panel(Strict):
    """Different judges, asked at once. A member that abstains still counts in the whole: its vote goes to nobody."""

    kind: Literal["panel"]
    members: Annotated[tuple[Name, ...], Field(min_length=2, max_length=MAX_MEMBERS)]
    rule: VotingRule = VotingRule.MAJORITY
    weights: dict[Name, Annotated[float, Field(gt=0, le=1_000_000)]] = Field(default_factory=dict)
    threshold: Annotated[float, Field(gt=0.5, le=1)] | None = None
    on_disagreement: OnDisagreement = OnDisagreement.ABSTAIN

    @model_validator(mode="after")
    def _votes_can_be_counted(self) -> Self:
        if len(set(self.members)) != len(self.members):
            raise ValueError("members: a judge sits on a panel once; for several samples of one judge use consensus")
        weighted = self.rule is VotingRule.WEIGHTED
        if weighted != (self.threshold is not None) or set(self.weights) != (set(self.members) if weighted else set()):
            raise ValueError("rule weighted needs a threshold and a weight for every member; other rules take neither")
        return self

    @property
    def judges(self) -> tuple[str, ...]:
        return self.members


class Consensus(Strict):
    """One model asked ``samples`` times, with seeds that count up from its own. At temperature 0 all would be alike."""

    kind: Literal["consensus"]
    member: Name
    samples: Annotated[int, Field(ge=2, le=MAX_MEMBERS)]
    temperature: Annotated[float, Field(gt=0, le=2)]
    rule: Literal[VotingRule.MAJORITY, VotingRule.UNANIMITY] = VotingRule.MAJORITY
    on_disagreement: OnDisagreement = OnDisagreement.ABSTAIN

    @property
    def judges(self) -> tuple[str, ...]:
        return (self.member,)


class Applies(StrEnum):
    """Which drafts must pass both judges of an AND gate; the others are the first judge's alone."""

    REVISED = "revised"
    ALWAYS = "always"


class AndGate(Strict):
    """A draft must pass ``first`` and ``second``, of another family: a revised one (S2 6.2), or every one.

    With ``applies: always`` and a grounding judge as ``first``, that one owns the grounding step (S1, "Binding").
    """

    kind: Literal["and_gate"]
    first: Name
    second: Name
    applies: Applies = Applies.REVISED

    @property
    def judges(self) -> tuple[str, ...]:
        return (self.first, self.second)


class ClearCases(Strict):
    """The ends of an ordinal scale that the first judge of a cascade may settle."""

    fail_up_to: Annotated[int, Field(strict=True)]
    pass_from: Annotated[int, Field(strict=True)]

    @model_validator(mode="after")
    def _leaves_a_middle(self) -> Self:
        if self.fail_up_to + 1 >= self.pass_from:
            raise ValueError("no score lies between fail_up_to and pass_from: the second judge would never be asked")
        return self


class Cascade(Strict):
    """``first``, a cheap judge, settles the clear cases; all others go to ``second``. Validated as one (S2 7.10).

    ``settles`` are the labels that ``first`` may settle; ``clear`` narrows them by score (ordinal criteria), and
    ``min_probability`` by the probability of the label's tokens. A non-decision of ``first`` always goes on. A
    ``first`` that is a consensus or a panel settles what it agrees on.
    """

    kind: Literal["cascade"]
    first: Name
    second: Name
    settles: Annotated[frozenset[Literal[Label.PASS, Label.FAIL]], Field(min_length=1)] = frozenset(
        {Label.PASS, Label.FAIL}
    )
    clear: ClearCases | None = None
    min_probability: Annotated[float, Field(gt=0.5, lt=1)] | None = None  # needs a first with ``logprobs``

    @property
    def judges(self) -> tuple[str, ...]:
        return (self.first, self.second)


Composition = Annotated[Panel | Consensus | AndGate | Cascade, Field(discriminator="kind")]
