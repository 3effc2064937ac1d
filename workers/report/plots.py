"""The page's charts as files: PDF for papers, PNG for chats, SVG for the web."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workers.report.charts import draw, draw_canary, style
from workers.report.page import Page
from workers.runtime.printable import cut, escaped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Nothing of the moment: the same numbers are the same bytes.
_METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}


def write_plots(page: Page, folder: Path, kind: str) -> list[Path]:
    """One file a chart, ``kind`` pdf, png or svg; their paths. The folder is made. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with style():
        for name, title, figure in _figures(page):
            figure.suptitle(cut(escaped(title), 80), fontsize=11, x=0.02, y=1.0, ha="left", va="bottom")
            path = folder / f"{page.week}-{name}.{kind}"
            figure.savefig(path, dpi=200, facecolor="white", bbox_inches="tight", metadata=_METADATA[kind])
            written.append(path)
    return written


def _figures(page: Page) -> Iterator[tuple[str, str, Figure]]:
    for number, series in enumerate(page.series):
        # Ours alone names files: a BOM version or a criterion is somebody else's word.
        place = f"bom{number + 1}-" if len(page.series) > 1 else ""
        for section in series.sections:
            for panel in section.panels:
                if (figure := draw(panel)) is not None:
                    yield f"{place}{section.health}-{panel.id}", f"{panel.title}, {page.week}", figure
    if (strip := draw_canary(page.canary)) is not None:
        yield "canary", f"Canary: flipped verdicts, to the end of {page.week}", strip
