"""Text with its harmless differences folded away, and the way back to the exact slice of the original.

Folded: the shape of quotes, runs of white space, characters that cannot be seen, and what ``neutralise`` puts in their
place. Nothing else: a Greek alpha is not a Latin a, and a paraphrase is not a quotation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from workers.judge.neutralise import ESCAPE, INVISIBLE, LOOKALIKES, TWINS

QUOTES: Final = dict.fromkeys("‘’‚‛ʼ′", "'") | dict.fromkeys("“”„‟″«»", '"')

SAME_SHAPE: Final = str.maketrans(QUOTES | LOOKALIKES | {twin: plain for plain, twin in TWINS.items()})
"""One for one: offsets stay."""

_SOFT = re.compile(f"(?:{ESCAPE}|[\\s{INVISIBLE}])+")
_EXPENSIVE = re.compile(f"{ESCAPE}|[{INVISIBLE}]|\\s\\s|[^\\S ]")
_HIDDEN = re.compile(f"{ESCAPE}|[{INVISIBLE}]")


@dataclass(frozen=True, slots=True)
class Folded:
    """``text`` is the folded text; ``starts`` and ``shifts`` say how far each stretch of it lies from the original."""

    text: str
    starts: tuple[int, ...] = (0,)
    shifts: tuple[int, ...] = (0,)

    def original(self, at: int) -> int:
        """The offset in the original of the folded character at ``at``."""
        return at + self.shifts[bisect_right(self.starts, at) - 1]


def fold(text: str, table: Mapping[int, str | int | None] = SAME_SHAPE) -> Folded:
    """Fold a text; ``table`` maps characters one for one, none of them ASCII. Linear in the length."""
    plain = text if text.isascii() else text.translate(table)
    if (plain.isascii() and plain.isprintable() and "  " not in plain) or not _EXPENSIVE.search(plain):
        return Folded(plain)
    pieces: list[str] = []
    starts, shifts = [0], [0]
    length = last = 0
    for run in _SOFT.finditer(plain):
        space = " " if _HIDDEN.sub("", run[0]) else ""
        pieces += (plain[last : run.start()], space)
        length += run.start() - last + len(space)
        last = run.end()
        if len(space) != last - run.start():
            starts.append(length)
            shifts.append(last - length)
    pieces.append(plain[last:])
    return Folded("".join(pieces), tuple(starts), tuple(shifts))
