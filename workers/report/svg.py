"""A figure as an SVG element of the page: themed, named for screen readers, without anything from outside."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from workers.report.charts import ALARM, FAINT, GRID, INK, REFERENCE, SERIES
from workers.runtime.printable import escaped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {
    INK: "ink", FAINT: "faint", GRID: "grid", REFERENCE: "mark", ALARM: "alarm",
    **{colour: f"series-{n}" for n, colour in enumerate(SERIES)},
}  # fmt: skip
_COLOUR = re.compile("|".join(_NAMES))
_HREF = "{http://www.w3.org/1999/xlink}href"
_LEFT_OUT = ("metadata", "style")


def inline(figure: Figure, *, name: str, title: str, description: str) -> Markup:
    """Within ``charts.style()``. ``name`` is ours and unique in the page; title and description are anybody's."""
    root = ElementTree.fromstring(_saved(figure))  # noqa: S314 - what matplotlib has just written
    for element in list(root.iter()):
        _ours(element, name)
    view = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib |= {"class": "chart", "viewBox": view, "role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        named = ElementTree.Element(tag, id=f"{name}-{tag}")
        named.text = escaped(text)
        root.insert(place, named)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - the tree's writer escapes every text


def _saved(figure: Figure) -> str:
    stream: Any = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return str(stream.getvalue())


def _ours(element: ElementTree.Element, name: str) -> None:
    """No namespaces (a page needs none), ids that are unique in the page, colours and fonts of the page."""
    for child in list(element):
        child.tag = child.tag.rpartition("}")[2]
        if child.tag in _LEFT_OUT:
            element.remove(child)
    element.tag = element.tag.rpartition("}")[2]
    of = element.attrib
    if "id" in of:
        of["id"] = f"{name}-{of['id']}"
    if _HREF in of:
        of["href"] = of.pop(_HREF).replace("#", f"#{name}-")
    if "clip-path" in of:
        of["clip-path"] = of["clip-path"].replace("#", f"#{name}-")
    if "style" in of:
        named = _COLOUR.sub(lambda colour: f"var(--{_NAMES[colour[0]]})", of["style"])
        of["style"] = named.replace("'DejaVu Sans'", "var(--sans)")
