"""What somebody may have meant by a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.7
_LONGEST = 64  # of a name that is compared: whoever wrote it chose its length


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like it, or None where none is: a far-fetched guess misleads.

    Case, and whether words are set apart by ``_``, ``-`` or a space, make no difference.
    """
    by_form = {_form(one): one for one in reversed(list(known))}
    found = get_close_matches(_form(name[:_LONGEST]), by_form, n=1, cutoff=_CLOSE)
    return by_form[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean drafts?``, or nothing."""
    meant = nearest(name, known)
    return "" if meant is None else f"; did you mean {meant}?"


def _form(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
