"""Words that take a statement half back: a text that is revised to please a judge collects them (S2 6.6). Pure."""

from __future__ import annotations

import string
from typing import Final

ENGLISH: Final = frozenset(
    {
        "about", "almost", "apparently", "approximately", "arguably", "around", "broadly", "can", "could",
        "essentially", "fairly", "generally", "largely", "likely", "mainly", "may", "maybe", "might",
        "mostly", "nearly", "often", "partly", "perhaps", "possibly", "potentially", "practically",
        "presumably", "probably", "quite", "rather", "relatively", "roughly", "seem", "seemingly", "seems",
        "should", "sometimes", "somewhat", "tend", "tends", "typically", "usually",
    }
)  # fmt: skip

MOST_CHARS: Final = 4_000
_SPACED: Final = str.maketrans(dict.fromkeys(set(string.punctuation) - {"'"}, " "))


def hedges_of(setting: str) -> frozenset[str]:
    """The words that a setting names: ``english``, or words between commas; empty: nothing is counted."""
    if setting.strip().lower() == "english":
        return ENGLISH
    return frozenset(word for part in setting.lower().split(",") if (word := part.strip()))


def hedging_words(text: str, hedges: frozenset[str]) -> tuple[int, int]:
    """(hedging words, words) in the first ``MOST_CHARS`` characters of a text.

    >>> hedging_words("It holds about 1 litre, perhaps.", ENGLISH)
    (2, 6)
    """
    words = text[:MOST_CHARS].lower().translate(_SPACED).split()
    return sum(map(hedges.__contains__, words)), len(words)
