"""The page as one HTML document that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from markupsafe import Markup

from schemas.alerts import AlertKind, AlertState
from schemas.reports import Health
from workers.report.charts import draw, draw_canary, style
from workers.report.page import Page, Panel, Told
from workers.report.svg import inline
from workers.report.words import called, interval, scope_text, written
from workers.runtime.printable import cut, escaped

_TEXT_CHARS = 400
_HEALTHS = {
    Health.GENERATOR: "Generator health",
    Health.JUDGE: "Judge health",
    Health.SERVED: "What reached readers",
    Health.RATERS: "Raters",
}


def html(page: Page) -> str:
    """The whole document."""
    with style():
        charts, canary = _charts(page), _canary(page)
    said = {state: [a for a in page.alerts if a.state is state] for state in AlertState}
    return str(
        _template().render(
            page=page, healths=_HEALTHS, charts=charts, canary=canary, firing=page.firing,
            by_kind=_by_kind(page.firing), no_data=said[AlertState.NO_DATA], resolved=said[AlertState.RESOLVED],
        )
    )  # fmt: skip


def _by_kind(firing: Iterable[Told]) -> list[tuple[AlertKind, list[Told]]]:
    """Alerts of a kind share their meaning and what to do; the order stays."""
    kinds: dict[AlertKind, list[Told]] = {}
    for alert in firing:
        kinds.setdefault(alert.kind, []).append(alert)
    return list(kinds.items())


def panel_id(series: int, health: Health, panel: Panel) -> str:
    """Unique in the page."""
    return f"s{series}-{health}-{panel.id}"


def _charts(page: Page) -> Mapping[str, Markup]:
    charts = {}
    for number, series in enumerate(page.series):
        for section in series.sections:
            for panel in section.panels:
                if (figure := draw(panel)) is not None:
                    name = panel_id(number, section.health, panel)
                    charts[name] = inline(figure, name=name, title=panel.title, description=described(panel))
    return charts


def described(panel: Panel) -> str:
    """The chart in words, for those who do not see it; the table beside it has every number."""
    known = [line for line in panel.lines if line.value is not None]
    parts = [f"{_place(line.label, line.at)} {written(line.value, line.unit)}" for line in known[:8]]
    more = f"; {len(known) - 8} more in the table" if len(known) > 8 else ""
    return f"{panel.note} {'; '.join(parts)}{more}.".strip()


def _place(label: str, at: int | None) -> str:
    return label if at is None else f"{label}, attempt {at}:"


def _canary(page: Page) -> Markup | None:
    figure = draw_canary(page.canary)
    if figure is None:
        return None
    total = f"{len(page.canary)} runs; at most {max(d.flips for d in page.canary)} verdicts flipped in one."
    return inline(figure, name="canary", title="Canary: flipped verdicts by day and run", description=total)


class _Packaged(BaseLoader):
    """Templates lie in the package: in a source tree, in a wheel, in a zip."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, Any]:
        found = files("workers.report") / "templates" / template
        if not found.is_file():
            raise TemplateNotFound(template)
        return found.read_text(encoding="utf-8"), None, None


def _template() -> Any:
    environment = Environment(
        loader=_Packaged(), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=_printable,
    )  # fmt: skip
    environment.filters |= {"written": written, "interval": interval, "called": called, "scope": scope_text}
    environment.globals |= {"panel_id": panel_id}
    return environment.get_template("page.html")


def _printable(value: object) -> object:
    """Every text that the page shows is bounded and printable; markup is ours."""
    return cut(escaped(value), _TEXT_CHARS) if isinstance(value, str) and not isinstance(value, Markup) else value
