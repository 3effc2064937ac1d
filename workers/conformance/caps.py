"""The caps on cost, met in the middle of a run: what they withhold is no word on the judge."""

from __future__ import annotations


class CapCounter:
    """Counts the questions that were not asked because a cap was reached, and nothing else."""

    def __init__(self) -> None:
        self.withheld = 0

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        if name == "over_budget":
            self.withheld += int(amount)


def advice(withheld: int) -> str | None:
    """What to do about it, as one line; None where nothing was withheld."""
    if not withheld:
        return None
    return (
        f"{withheld} questions were not asked, since a cap in decision.yaml (cost_caps) is reached: their "
        "abstain(over_budget) says nothing of the judge. Conformance asks some hundreds of times; test a copy of the "
        "BOM whose caps have room for that"
    )
