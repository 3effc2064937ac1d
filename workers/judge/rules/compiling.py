"""From a criterion's rules to a judge: every mistake in them is found here, before a worker starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemas.bom import Criterion, Rule
from schemas.drafts import Draft
from schemas.errors import BomError
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict, Usage
from workers.judge.rules.banned_phrases import BannedPhrases, find_banned_phrases
from workers.judge.rules.finding import PASSED, Params, RuleFinding
from workers.judge.rules.json_schema import JsonSchema, check_json_schema
from workers.judge.rules.length import Length, check_length
from workers.judge.rules.numeric_claims import NumericClaims, check_numeric_claims
from workers.judge.rules.required_mentions import RequiredMentions, find_required_mentions

Check = Callable[[Draft, Any], RuleFinding]

REGISTRY: dict[str, tuple[type[Params], Check]] = {
    "banned_phrases": (BannedPhrases, find_banned_phrases),
    "json_schema": (JsonSchema, check_json_schema),
    "length": (Length, check_length),
    "numeric_claims": (NumericClaims, check_numeric_claims),
    "required_mentions": (RequiredMentions, find_required_mentions),
}
"""Rule name -> its parameters and its check."""


class CompiledRule(NamedTuple):
    name: str
    clause: str
    check: Callable[[Draft], RuleFinding]


@dataclass(frozen=True)
class RuleJudge:
    """Judges one criterion by its rules, in their order. The same draft always gets the same verdict, and costs 0."""

    criterion_id: str
    rules: tuple[CompiledRule, ...]

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        """The ``Judge`` protocol; a rule needs no time worth a deadline."""
        return self.verdict(draft)

    def verdict(self, draft: Draft) -> CriterionVerdict:
        """The first fail, which ends it; else missing evidence; else pass; else not applicable."""
        clause, finding = self._decide(draft)
        return self.passed if finding is PASSED else self._worded(clause, finding)

    def _worded(self, clause: str, finding: RuleFinding) -> CriterionVerdict:
        return CriterionVerdict(
            criterion_id=self.criterion_id,
            label=finding.label,
            cause=finding.cause,
            detail=finding.detail,
            reason=finding.reason,
            evidence_spans=finding.evidence_spans,
            guideline_clause=clause if finding.label is Label.FAIL else None,
            judge=self.name,
            usage=_FREE,
        )

    @cached_property
    def passed(self) -> CriterionVerdict:
        """What is said of most drafts, made once."""
        return self._worded("", PASSED)

    @cached_property
    def name(self) -> str:
        """Who says it, on every verdict."""
        return "rule:" + "+".join(rule.name for rule in self.rules)

    def _decide(self, draft: Draft) -> tuple[str, RuleFinding]:
        found: list[tuple[str, RuleFinding]] = []
        for rule in self.rules:
            finding = rule.check(draft)
            if finding.label is Label.FAIL:
                return rule.clause, finding
            found.append((rule.clause, finding))
        return min(found, key=lambda one: _RANK[one[1].label])


_FREE = Usage(calls=0, cost_usd=0.0)
_RANK = {Label.MISSING_EVIDENCE: 0, Label.PASS: 1, Label.NOT_APPLICABLE: 2}


def compile_rules(criterion: Criterion) -> RuleJudge:
    """The judge of a criterion's rules. Raises BomError: which criterion, rule and parameter, its value, what to do."""
    if not criterion.rules:
        raise BomError(f"criterion {criterion.id!r}: has no rules; give it some, or bind a model")
    return RuleJudge(criterion.id, tuple(_compiled(criterion.id, rule) for rule in criterion.rules))


def _compiled(criterion_id: str, rule: Rule) -> CompiledRule:
    where = f"criterion {criterion_id!r}, rule {rule.rule!r}"
    if rule.rule not in REGISTRY:
        raise BomError(f"{where}: there is no such rule; known are {', '.join(sorted(REGISTRY))}")
    model, check = REGISTRY[rule.rule]
    try:
        params = model.model_validate(rule.params)
    except ValidationError as error:
        raise BomError(f"{where}: {_mistake(error, tuple(model.model_fields))}") from error
    return CompiledRule(rule.rule, rule.clause, partial(_applied, check, params))


def _applied(check: Check, params: Params, draft: Draft) -> RuleFinding:
    return check(draft, params)


def _mistake(error: ValidationError, known: Sequence[str]) -> str:
    """The first mistake as one line."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"param {where!r} is unknown; known are {', '.join(known)}"
    if first["type"] == "missing":
        return f"param {where!r} is missing; known are {', '.join(known)}"
    remedy = str(first["msg"]).removeprefix("Value error, ")
    if not where:
        return remedy
    return f"param {where!r} = {_short(first['input'])}: {remedy}"


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:79] + "…"
