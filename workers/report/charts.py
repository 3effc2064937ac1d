"""Draws a panel, and the canary strip, as a matplotlib figure. Colours tell nothing that position does not.

The palette is Okabe and Ito's, told apart with any colour vision. Inline in the page the colours become names that
follow the reader's light or dark theme (svg.py); in files they stay as they are here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from workers.report.page import CanaryDay, Drawn, Line, Mark, Panel, Unit
from workers.report.words import written
from workers.runtime.printable import escaped

INK, FAINT, GRID = "#1f2430", "#6b7280", "#e5e7eb"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#3d8fd1")
REFERENCE, ALARM = "#b3402a", "#d55e01"
WIDTH_IN, STRIP_IN = 4.6, 10.4
MOST_ROWS, MOST_CURVES, LABEL_CHARS = 24, len(SERIES), 44
_NARROW = 0.04

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "assay", "text.parse_math": False, "font.family": ["DejaVu Sans"],
    "font.size": 9.5, "text.color": INK, "axes.labelcolor": FAINT, "xtick.color": FAINT, "ytick.color": INK,
    "axes.edgecolor": GRID, "axes.facecolor": "none", "figure.facecolor": "none",
    "savefig.facecolor": "none", "axes.unicode_minus": True,
}  # fmt: skip


@contextmanager
def style() -> Iterator[None]:
    """Everything is drawn and saved inside: text stays text, and the same numbers give the same bytes."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # A name in a script that the measuring font lacks: the reader's browser has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def draw(panel: Panel) -> Figure | None:
    """The panel's figure; None where it has no number to draw. Within ``style()``."""
    known = [line for line in panel.lines if line.value is not None]
    if panel.drawn is None or not known:
        return None
    return _DRAWS[panel.drawn](panel, known)


def draw_canary(days: Sequence[CanaryDay]) -> Figure | None:
    """Days across, runs of a day upwards, the count of flips in each cell: bold where it reaches the threshold, framed
    where an injection case flipped."""
    if not days:
        return None
    columns = {day: x for x, day in enumerate(sorted({d.day for d in days}))}
    rows = max(d.run for d in days)
    figure, axes = _axes(rows=0, height=0.8 + 0.36 * rows, width=STRIP_IN, left=0.5)
    most = max(max(d.flips for d in days), 1)
    for d in days:
        at, alarm = (columns[d.day], d.run - 1), d.threshold is not None and d.flips >= d.threshold
        colour = ALARM if alarm else SERIES[0]
        depth = 0.10 + 0.55 * d.flips / most
        axes.add_patch(_cell(at, facecolor=colour, alpha=depth, linewidth=0))
        if d.injection_flips:
            axes.add_patch(_cell(at, facecolor="none", edgecolor=REFERENCE, linewidth=1.6))
        axes.text(*at, str(d.flips), ha="center", va="center", fontweight="bold" if alarm else "normal")
    axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(-0.6, rows - 0.4))
    step = max(1, len(columns) // 7)
    names = list(columns)[::step]
    axes.set_xticks(range(0, len(columns), step), [name[5:] for name in names])
    axes.set_yticks(range(rows), [f"run {n + 1}" for n in range(rows)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def _intervals(panel: Panel, known: Sequence[Line]) -> Figure:
    lines = known[:MOST_ROWS]
    figure, axes = _axes(rows=len(lines))
    for y, line in enumerate(lines):
        if line.lo is not None and line.hi is not None:
            axes.plot([line.lo, line.hi], [y, y], color=SERIES[0], linewidth=3, alpha=0.45, solid_capstyle="round")
        axes.plot([line.value], [y], marker="o", markersize=6.5, color=SERIES[0], linestyle="none", clip_on=False)
    axes.margins(x=0.04)
    _bounded(axes, lines, panel.marks)
    for mark in panel.marks:
        axes.axvline(mark.value, color=REFERENCE, linewidth=1.3, linestyle=(0, (4, 3)), zorder=0.9)
        low, high = axes.get_xlim()
        right = mark.value > (low + high) / 2
        axes.annotate(
            _told(mark, lines), (mark.value, 1), xycoords=("data", "axes fraction"), xytext=(-3 if right else 3, 3),
            textcoords="offset points", fontsize=8.5, color=REFERENCE, ha="right" if right else "left",
        )  # fmt: skip
    _rows(axes, lines)
    _ticks(axes.xaxis, lines[0].unit)
    axes.set_xlabel(panel.axis)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    return figure


def _bars(panel: Panel, known: Sequence[Line]) -> Figure:
    lines = sorted(known, key=lambda line: -(line.value or 0.0))[:MOST_ROWS]
    figure, axes = _axes(rows=len(lines))
    axes.barh(range(len(lines)), [line.value for line in lines], height=0.3, color=SERIES[0], alpha=0.8)
    _rows(axes, lines)
    _ticks(axes.xaxis, lines[0].unit)
    axes.set_xlabel(panel.axis)
    return figure


def _bounded(axes: Any, lines: Sequence[Line], marks: Sequence[Mark]) -> None:
    """Marks are inside; a narrow range is not blown up; a share stays between 0 and 1."""
    low, high = axes.get_xlim()
    room = 0.04 * (high - low)
    low = min([low, *(mark.value - room for mark in marks)])
    high = max([high, *(mark.value + room for mark in marks)])
    if high - low < _NARROW and all(line.unit in (Unit.SHARE, Unit.POINTS) for line in lines):
        low, high = (low + high - _NARROW) / 2, (low + high + _NARROW) / 2
    if all(line.unit is Unit.SHARE for line in lines):
        low, high = max(low, 0.0), min(high, 1.0)
    axes.set_xlim(low, high)


def _curve(panel: Panel, known: Sequence[Line]) -> Figure:
    figure, axes = _axes(rows=0, height=3.0, left=0.5)
    curves: dict[str, list[Line]] = {}
    for line in known:
        if line.at is not None:
            curves.setdefault(line.label, []).append(line)
    for number, (label, lines) in enumerate(list(curves.items())[:MOST_CURVES]):
        lines.sort(key=lambda line: line.at or 0)
        colour, shape = SERIES[number], "os^Dvp"[number]
        at = [line.at for line in lines]
        axes.plot(at, [line.value for line in lines], color=colour, marker=shape, markersize=5, label=_label(label))
        for line in lines:
            if line.lo is not None and line.hi is not None:
                axes.plot([line.at, line.at], [line.lo, line.hi], color=colour, linewidth=2.4, alpha=0.4)
    for mark in panel.marks:
        axes.axhline(mark.value, color=REFERENCE, linewidth=1.3, linestyle=(0, (4, 3)), zorder=0.9)
        axes.annotate(
            _told(mark, known), (1, mark.value), xycoords=("axes fraction", "data"),
            xytext=(0, 4), textcoords="offset points", ha="right", fontsize=8.5, color=REFERENCE,
        )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.06)
    _ticks(axes.yaxis, known[0].unit)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if panel.marks else None)
    axes.set_xlabel(panel.axis)
    if len(curves) > 1:
        axes.legend(frameon=False, fontsize=8.5, loc="best", labelcolor=INK)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    return figure


_DRAWS = {Drawn.INTERVALS: _intervals, Drawn.BARS: _bars, Drawn.CURVE: _curve}


def _axes(*, rows: int, height: float | None = None, width: float = WIDTH_IN, left: float = 0.2) -> tuple[Figure, Any]:
    """Margins are inches: the same whatever is drawn, and nobody's long name moves them."""
    height = height or 0.8 + 0.4 * rows
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(left=left / width, right=1 - 0.2 / width, bottom=0.5 / height, top=1 - 0.24 / height)
    axes = figure.add_subplot()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_axisbelow(True)
    return figure, axes


def _rows(axes: Any, lines: Sequence[Line]) -> None:
    """The first line on top; its label and value stand above it, so that long names leave the width alone."""
    axes.set_yticks([])
    axes.set_ylim(len(lines) - 0.7, -0.75)
    for y, line in enumerate(lines):
        over = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 9}
        axes.text(0, y - 0.4, _label(line.label), ha="left", **over)
        axes.text(1, y - 0.4, written(line.value, line.unit), ha="right", fontweight="bold", **over)


def _told(mark: Mark, lines: Sequence[Line]) -> str:
    return mark.label if mark.value == 0 else f"{mark.label} {written(mark.value, lines[0].unit)}"


def _ticks(axis: Any, unit: Unit) -> None:
    axis.set_major_locator(MaxNLocator(nbins=5))

    def tick(value: float, _: int) -> str:
        if unit is Unit.SHARE:
            return f"{100 * value:.3g}%"
        if unit is Unit.POINTS:
            return f"{100 * value:+.3g} pt" if abs(value) > 1e-9 else "0"
        return f"{value:g}"

    axis.set_major_formatter(FuncFormatter(tick))


def _cell(at: tuple[int, int], **how: Any) -> Any:
    return FancyBboxPatch((at[0] - 0.38, at[1] - 0.36), 0.76, 0.72, boxstyle="round,pad=0,rounding_size=0.1", **how)


def _label(text: str) -> str:
    shown = escaped(text)
    shown = shown if len(shown) <= LABEL_CHARS else f"{shown[: LABEL_CHARS - 1]}…"
    return f"\u200a{shown}" if shown.startswith("_") else shown  # a leading underscore hides a label in a legend
