"""Takes the structure out of untrusted text and leaves its words: what goes into a prompt as data gives no orders.

Two things happen. A character that could open structure - a tag, chat markup, a heading, a speaker's name, a verdict
object - is replaced, where it does so, by a twin that looks alike and means nothing to a parser. A character that
cannot be seen is written out as ``⁅U+200B⁆``. Plain text is left as it is. Doing it twice is doing it once.

No twin is turned back by Unicode normalisation (NFKC), which some tokenisers apply. ``fold`` maps twins and escapes
away again, so that what a judge quotes from its prompt is found in the draft.
"""

from __future__ import annotations

import re
from typing import Final

TWINS: Final = {"<": "‹", "[": "⟦", "{": "⦃", "#": "♯", ":": "∶", "`": "‵", "=": "═"}
"""Structural character -> its harmless twin. One for one, so that offsets stay."""

INVISIBLE: Final = (
    "\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e"
    "\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\ud800-\\udfff"
    "\\U000e0000-\\U000e01ef"
)
"""The inside of a character class: controls, zero-width, bidi, tags, lone surrogates."""

ESCAPE: Final = r"⁅U\+[0-9A-F]{4,6}⁆"


def neutralise(text: str) -> str:
    """The text as data. Idempotent; linear in its length."""
    if not (text.isascii() and text.isprintable()) and _UNSEEN.search(text):
        text = _UNSEEN.sub(_shown, text)
    if not _OPENERS.search(text):  # as in most texts: nothing below could match
        return text
    for pattern in _STRUCTURE:
        text = pattern.sub(_twinned, text)
    return text


def _shown(found: re.Match[str]) -> str:
    """A line break of another alphabet is a line break; anything else is written out."""
    return "\n" if found[0].isspace() else f"⁅U+{ord(found[0]):04X}⁆"


def _twinned(found: re.Match[str]) -> str:
    return found[0].translate(_TO_TWIN)


LOOKALIKES: Final = {
    "＜": "<", "﹤": "<", "［": "[", "｛": "{", "﹛": "{", "＃": "#", "﹟": "#", "：": ":", "﹕": ":", "︓": ":",
    "｀": "`", "＝": "=", "﹦": "=",
}  # fmt: skip  # what NFKC would turn into structure
_TO_TWIN = str.maketrans(TWINS | {like: TWINS[plain] for like, plain in LOOKALIKES.items()})

_OPENERS = re.compile("[" + re.escape("".join([*TWINS, *LOOKALIKES])) + "]")

_LT, _BRACKET, _BRACE, _COLON = "[<＜﹤]", "[\\[［]", "[{｛﹛]", "[:：﹕︓]"
_QUOTE = "[\"＂'‘’“”]"
_SPEAKER = (
    "system|assistant|user|human|ai|bot|model|developer|tool|function|admin(?:istrator)?|evaluator|grader|judge|"
    "instructions?|response|winner|"
    "(?:final[ _]|overall[ _])?(?:verdict|answer|result|decision|grade|score|label|rating|preference)"
)
_LINE = r"(?:^|(?<=[\r\n])|(?<=\\n))[ \t>*_~\-]{0,8}"
_KEY = "label|reason(?:ing)?|evidence_spans|guideline_clause|pass|score|verdict|winner|preference|result|decision"

# A joiner between two letters of such a script, or two pictures, holds an emoji or a script together and stays.
_BREAK = "\\r(?!\\n)|[\\x0b\\x0c\\x1c-\\x1f\\x85\\u2028\\u2029]"
_JOINABLE = "[\\u0620-\\u0fff\\u2190-\\u21ff\\u2600-\\u27bf\\ufe0f\\U0001f000-\\U0001faff]"
_JOINED = f"[\\u200c\\u200d](?<={_JOINABLE}.){_JOINABLE}"
_UNSEEN = re.compile(f"(?!{_JOINED})[{INVISIBLE}]|{_BREAK}")
_STRUCTURE = (
    re.compile(f"(?<!{_LT}){_LT}++(?=\\s{{0,3}}[/!?|｜]|[^\\W\\d]|_|⁅|‹)"),  # tags, comments, <|im_start|>, <<SYS>>
    re.compile(f"{_BRACKET}(?=\\s{{0,3}}/?\\s{{0,3}}(?:inst|sys|{_SPEAKER}|end of|the end of)\\b)", re.IGNORECASE),
    re.compile(f"{_LINE}[#＃﹟]+"),  # headings, and ### Instruction:
    re.compile(f"{_LINE}[=＝﹦]{{3,}}"),
    re.compile("[`｀]{3,}"),
    re.compile(f"{_LINE}(?:{_SPEAKER})[ \\t*_]{{0,4}}{_COLON}", re.IGNORECASE),
    re.compile(f"(?<!{_BRACE}){_BRACE}++(?=\\s*\\\\*{_QUOTE})"),  # an object that begins
    re.compile(f"(?<={_QUOTE})(?:{_KEY})\\\\*{_QUOTE}\\s*{_COLON}", re.IGNORECASE),
)
