"""What a bench finds, as one line for people or one JSON object."""

from __future__ import annotations

from typing import Any, NamedTuple


class Figure(NamedTuple):
    """One measured number against its baseline and target; ``notes`` say what it is made of."""

    bench: str
    what: str
    value: str
    baseline: str
    ratio: float
    target: str
    met: bool
    notes: tuple[str, ...] = ()

    def line(self) -> str:
        met = "met" if self.met else "NOT MET"
        return (
            f"{self.bench:<9} {self.what:<50} {self.value:>14}   against {self.baseline:<34} "
            f"ratio {self.ratio:6.3f}   target {self.target:<8} {met}"
        )

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "notes": list(self.notes)}


def at_least(
    bench: str, what: str, value: str, baseline: str, *, ratio: float, target: float, notes: tuple[str, ...] = ()
) -> Figure:
    return Figure(bench, what, value, baseline, round(ratio, 4), f">= {target:g}", ratio >= target, notes)


def at_most(
    bench: str, what: str, value: str, baseline: str, *, ratio: float, target: float, notes: tuple[str, ...] = ()
) -> Figure:
    return Figure(bench, what, value, baseline, round(ratio, 4), f"<= {target:g}", ratio <= target, notes)
