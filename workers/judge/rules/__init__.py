"""Rules: deterministic checks for what is structural, by name in the charter (S1: a rule where truth is structural)."""

from workers.judge.rules.compiling import RuleJudge, compile_rules
from workers.judge.rules.finding import RuleFinding

__all__ = ["RuleFinding", "RuleJudge", "compile_rules"]
