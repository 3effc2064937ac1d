"""How the planning commands answer: one sentence, the numbers behind it, or the same as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.table import Table

from stats.checks import StatsInputError
from stats.unavailable import Unavailable, jsonable
from workers.cli.output import console, fail, print_json


@contextmanager
def plain_errors(**options: str) -> Iterator[None]:
    """A wrong option value is one line that names the option, the value and the rule; exit code 2.

    options: the option's name where it differs from the statistics' argument.
    """
    names = {"conf": "confidence", "retry_budget": "retries"} | options
    try:
        yield
    except StatsInputError as error:
        option = names.get(error.argument, error.argument).replace("_", "-")
        fail(f"--{option} {str(error).removeprefix(error.argument).lstrip()}")


def at_most(limit: int, **values: int | None) -> None:
    """Refuse what would only keep the machine busy."""
    for name, value in values.items():
        if value is not None and value > limit:
            fail(f"--{name.replace('_', '-')} must be at most {limit:,}, not {value:,}")


def tell(sentence: str, answer: Mapping[str, Any], *, inputs: Mapping[str, Any], as_json: bool) -> None:
    """Print the answer. Numbers that do not exist are null with a reason in JSON, and the reason in the table."""
    if as_json:
        print_json({"text": sentence, "inputs": jsonable(inputs), "answer": jsonable(answer)})
        return
    console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    if all(isinstance(value, Unavailable) for value in answer.values()):
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    for key, value in answer.items():
        table.add_row(key.replace("_", " "), shown(value))
    console.print(table)


def sentence(headline: Any, text: str) -> str:
    """The text with ``{n}`` filled in, or why there is no number."""
    if isinstance(headline, Unavailable):
        return f"There is no such number: {headline.reason}."
    return text.format(n=shown(headline))


def shown(value: Any) -> str:
    """A number for people: thousands grouped, four significant digits."""
    if isinstance(value, Unavailable):
        return f"- ({value.reason})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, str):
        return value or "not known"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1000 else f"{value:.4g}"


def share(value: Any) -> str:
    """A share as per cent."""
    return f"{value:.1%}" if isinstance(value, float) else "-"
