"""Messages of ours without checking them: what we make from values that were checked before needs no second look.

For what comes from outside there is the codec, and for what a model says its contract; neither ever goes this way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar, cast

from pydantic_core import PydanticUndefined

from schemas.message import Part

P = ParamSpec("P")
Made = TypeVar("Made")


def unchecked(model: Callable[P, Made]) -> Callable[P, Made]:
    """The constructor of a frozen model, without its validation: the same arguments, by name, in half the time.

    Values must be what validation would have made of them: tuples, times in UTC, no numbers as text. Types are checked
    by mypy as for the constructor; that what is built reads back equal is checked by tests. An argument that is missing
    cannot be encoded.
    """
    of = cast("type[Any]", model)
    blank = _blank(of)
    set_fields, known = set(blank), len(blank)
    new, put = object.__new__, object.__setattr__

    def build(*_: P.args, **values: P.kwargs) -> Made:
        fields = blank | values  # the model's order, which is the order in the record
        if len(fields) != known:
            raise TypeError(f"{model} has no field {(values.keys() - blank.keys())!r}")
        made: Made = new(of)
        put(made, "__dict__", fields)
        put(made, "__pydantic_fields_set__", set_fields)
        put(made, "__pydantic_extra__", None)
        put(made, "__pydantic_private__", None)
        return made

    return build


def _blank(model: type[Part]) -> dict[str, Any]:
    """Every field in the model's order, with its default; a field without one, or with a factory, must be given."""
    defaults = {name: field.get_default() for name, field in model.model_fields.items()}
    return {name: _MISSING if default is PydanticUndefined else default for name, default in defaults.items()}


_MISSING: Final = object()
