"""Which family a model belongs to. A judge favours its relatives (S1, self-preference), so it may not judge them."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache


def family_of(model: str, families: Collection[str]) -> str | None:
    """The longest of the families that the model's name begins with, or None.

    A vendor's path before the name does not count, nor does case: ``org/Gen-writer@2026-10-01`` is of family ``gen``,
    ``genius-1`` is not.
    """
    name = model.rsplit("/", 1)[-1].casefold()
    return max((family for family in families if _begins(name, family.casefold())), key=len, default=None)


@lru_cache(maxsize=1024)  # generators are few, drafts are many
def related(generator: str | None, *, own: str, admitted: tuple[str, ...]) -> bool:
    """True when a draft's generator is of the judge's own family or of none that the charter admits.

    False where the charter admits any (``admitted`` is empty), and where the draft does not say who wrote it.
    """
    if not admitted or generator is None:
        return False
    family = family_of(generator, {*admitted, own})
    return family is None or family == own


def _begins(name: str, family: str) -> bool:
    return bool(family) and name.startswith(family) and re.match(r"[^\W\d_]", name[len(family) :]) is None
