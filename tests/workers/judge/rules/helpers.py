from __future__ import annotations

from typing import Any

from schemas.bom import Criterion, Rule
from schemas.drafts import Context, ContextItem, Draft
from schemas.verdicts import CriterionVerdict
from workers.judge.rules import RuleJudge, compile_rules


def draft(text: str, metadata: Any = None) -> Draft:
    items = (ContextItem(role="target", metadata=metadata),)
    return Draft(item_id="i", text=text, context=Context(instruction="Describe it.", items=items))


def judged(rule: str, text: str, metadata: Any = None, **params: Any) -> CriterionVerdict:
    """What one rule makes of a text."""
    return compiled(rule, **params).verdict(draft(text, metadata))


def compiled(rule: str, **params: Any) -> RuleJudge:
    return compile_rules(Criterion(id="c", rules=(Rule(rule=rule, clause="C1", params=params),)))
