"""The whole suite: every check in order, and what S1 says of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stats.unavailable import jsonable
from workers.conformance import (
    accuracy,
    anchor,
    budget,
    closure,
    coverage,
    determinism,
    envelope,
    fail_closed,
    hidden_state,
    idempotence,
    injection,
    instruction,
    monotonicity,
    permutation,
)
from workers.conformance.biases import Measurement
from workers.conformance.findings import Check, Finding, Result
from workers.conformance.ground import Ground

CHECKS: Final[tuple[Check, ...]] = (
    coverage.CHECK,
    determinism.CHECK,
    closure.CHECK,
    permutation.CHECK,
    idempotence.CHECK,
    monotonicity.CHECK,
    injection.CHECK,
    accuracy.CHECK,
    budget.CHECK,
    hidden_state.CHECK,
    fail_closed.CHECK,
    instruction.CHECK,
    anchor.CHECK,
    envelope.CHECK,
)
CONDITIONS: Final = {"envelope": "the required envelope check", "anchor": "a human anchor and published agreement"}
"""S1's two conditions without which the result is FAIL, whatever else holds."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A check and what it found."""

    check: Check
    finding: Finding

    @property
    def holds(self) -> bool:
        """True when this does not stop a PASS. What could not be shown stops it, unless S1 allows no answer there."""
        match self.finding.result:
            case Result.PASS | Result.NOT_APPLICABLE:
                return True
            case Result.UNAVAILABLE:
                return self.check.may_be_unavailable
            case Result.FAIL:
                return False


@dataclass(frozen=True, slots=True)
class Report:
    """What a judge conforms to. ``measurements`` are told and decide nothing; ``withheld`` are questions that a cap on
    cost kept from being asked."""

    checked: Sequence[Checked]
    measurements: Sequence[Measurement] = ()
    withheld: int = 0

    @property
    def verdict(self) -> Result:
        return Result.PASS if self.checked and all(one.holds for one in self.checked) else Result.FAIL

    @property
    def conditions(self) -> Mapping[str, Result]:
        return {one.check.name: one.finding.result for one in self.checked if one.check.name in CONDITIONS}

    @property
    def sentence(self) -> str:
        """The last line: the verdict, S1's conditions, and what does not hold beside them."""
        held = [f"{told}: {self.conditions[name]}" for name, told in CONDITIONS.items() if name in self.conditions]
        rest = [one.check.name for one in self.checked if not one.holds and one.check.name not in CONDITIONS]
        told = f"not shown to hold: {', '.join(rest)}" if rest else f"all {'other' if held else 'the'} checks hold"
        return f"{self.verdict}: {'; '.join([*held, told])}"

    def document(self) -> dict[str, Any]:
        return {
            "verdict": str(self.verdict),
            "conditions": {name: str(result) for name, result in self.conditions.items()},
            "checks": [_row(one) for one in self.checked],
            "measurements": [jsonable(one) for one in self.measurements],
            "over_budget": self.withheld,
        }


async def run_suite(
    ground: Ground, checks: Sequence[Check] = CHECKS, *, begins: Callable[[str], None] = lambda _: None
) -> list[Checked]:
    """Every check in turn; ``begins`` is told the name of each before it starts."""
    done = []
    for check in checks:
        begins(check.name)
        done.append(Checked(check, await check.run(ground)))
    return done


def _row(one: Checked) -> dict[str, Any]:
    finding = one.finding
    return {
        "name": one.check.name,
        "rule": one.check.rule,
        "result": str(finding.result),
        "detail": finding.detail,
        "evidence": jsonable(dict(finding.evidence)),
    }
