"""What differs from the week before, and what is missing before more can be said. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemas.reports import Figure, MetricReport
from workers.report.page import Changes, Missing, Moved
from workers.report.words import label_of, unit_of


def changes(
    now: Mapping[str, MetricReport], before: Mapping[str, MetricReport], bom: str, *, since: str
) -> Changes:  # fmt: skip
    """BOM version -> report, of this week and of the one before; figures are compared under ``bom`` alone."""
    here, there = _generators(now.values()), _generators(before.values())
    earlier = before.get(bom)
    return Changes(
        since=since,
        new_boms=tuple(sorted(now.keys() - before.keys())) if before else (),
        gone_boms=tuple(sorted(before.keys() - now.keys())),
        new_generators=tuple(sorted(here - there)) if before else (),
        gone_generators=tuple(sorted(there - here)),
        moved=tuple(_moved(now[bom].figures, earlier.figures)) if earlier is not None else (),
        not_compared=None if earlier is not None else f"{since} has no figures under this BOM version",
    )


def missing(figures: Sequence[Figure]) -> tuple[Missing, ...]:
    """Reasons, the one that holds back most figures first."""
    by_reason: dict[str, list[str]] = {}
    for figure in figures:
        if figure.reason is not None:
            by_reason.setdefault(figure.reason, []).append(label_of(figure, named=True))
    rows = [Missing(reason=reason, figures=tuple(names)) for reason, names in by_reason.items()]
    return tuple(sorted(rows, key=lambda row: (-len(row.figures), row.reason)))


def _generators(reports: Iterable[MetricReport]) -> set[str]:
    return {f.scope["generator"] for report in reports for f in report.figures if "generator" in f.scope}


def _moved(now: Iterable[Figure], before: Iterable[Figure]) -> Iterator[Moved]:
    """Figures whose two intervals do not touch: more than chance, for any single one of them."""
    earlier = {_key(figure): figure for figure in before}
    for figure in now:
        was = earlier.get(_key(figure))
        if was is not None and figure.value is not None and was.value is not None and _apart(figure, was):
            label = label_of(figure, named=True)
            yield Moved(label=label, unit=unit_of(figure.name), before=was.value, now=figure.value)


def _apart(one: Figure, other: Figure) -> bool:
    if one.lo is None or one.hi is None or other.lo is None or other.hi is None:
        return False
    return one.lo > other.hi or one.hi < other.lo


def _key(figure: Figure) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return figure.health, figure.name, tuple(sorted(figure.scope.items()))
