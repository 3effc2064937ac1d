"""A page as a browser's parser sees it, and what must not be in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_ALLOWED = {
    *("html", "head", "meta", "title", "link", "style", "body", "header", "main", "footer", "nav", "section"),
    *("article", "div", "h1", "h2", "h3", "p", "span", "b", "br", "a", "ul", "li", "dl", "dt", "dd", "code", "table"),
    *("thead", "tbody", "tr", "th", "td", "figure", "details", "summary", "svg", "desc", "defs", "g", "path", "text"),
    *("use", "clippath", "rect"),
}
_VOID = frozenset({"meta", "link", "br"})


@dataclass
class Read:
    """What was found. ``texts`` are in their order."""

    tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    refers: list[str] = field(default_factory=list)  # href, src and url(...)
    handlers: list[str] = field(default_factory=list)  # onclick and its like
    texts: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)  # left unclosed at the end


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.read = Read()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.read.tags.append(tag)
        if tag not in _VOID:
            self.read.open.append(tag)
        self._attributes(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.read.tags.append(tag)
        self._attributes(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.read.open, f"</{tag}> closes nothing"
        assert self.read.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.read.texts.append(data)

    def _attributes(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.read.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "action", "data", "srcset"):
                self.read.refers.append(value or "")
            if "url(" in (value or ""):
                self.read.refers.append((value or "").split("url(")[1].rstrip(")"))
            if name.startswith("on"):
                self.read.handlers.append(name)


def read(page: str) -> Read:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.read


def faults(page: str) -> list[str]:
    """Why a page is not what we write: an element or a handler of somebody else, a reference to elsewhere."""
    found = read(page)
    return [
        *(f"<{tag}>" for tag in sorted(set(found.tags) - _ALLOWED)),
        *(f"{name}=" for name in found.handlers),
        *(f"refers to {r}" for r in found.refers if not r.startswith(("#", "data:,"))),
        *(f"refers to {r}, which is nowhere" for r in found.refers if r.startswith("#") and r[1:] not in found.ids),
        *(f"twice: {i}" for i in sorted({i for i in found.ids if found.ids.count(i) > 1})),
        *(f"<{tag}> is not closed" for tag in found.open),
    ]
