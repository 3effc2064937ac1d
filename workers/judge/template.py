"""The judge's prompt: a fixed template whose rubric alone is tuned, and drafts that enter it as data (S2 7.6, 8.1).

A template file has a ``[system]`` section with the slot ``{rubric}`` and a ``[user]`` section with ``{text}``,
``{instruction}``, ``{constraints}`` and ``{items}``, each just once. Braces around anything but a word are text. An
ordinal template has ``{scale}`` in its system section too; a pairwise one has ``{first}`` and ``{second}`` in place of
``{text}``.

Every data slot is neutralised and fenced: between a line that opens and a line that closes it, both of which carry a
token made from a hash of what is judged. A draft cannot hold its own token, for that would have to be known before the
text that is hashed; and it cannot hold any closing tag, for neutralised text holds no tag at all. The token is the same
for the same draft under the same BOM, so that a prompt can be repeated and a verdict cached.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.drafts import Context, ContextItem, Draft
from schemas.errors import BomError
from schemas.rating import Scale
from schemas.verdict_space import Form
from workers.judge.neutralise import neutralise
from workers.judge.protocols import Prompt

SYSTEM_SLOTS: Final = {
    Form.BINARY: ("rubric",),
    Form.ORDINAL: ("rubric", "scale"),
    Form.PAIRWISE: ("rubric",),
}
USER_SLOTS: Final = {
    Form.BINARY: ("text", "instruction", "constraints", "items"),
    Form.ORDINAL: ("text", "instruction", "constraints", "items"),
    Form.PAIRWISE: ("first", "second", "instruction", "constraints", "items"),
}
NOTHING: Final = "(none)"
"""What an empty slot says: a model must never guess whether a slot was empty or lost."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A parsed template: two lists of literal text and slot names, in turn."""

    system: tuple[str, ...]
    user: tuple[str, ...]

    @classmethod
    def parse(cls, source: str, form: Form = Form.BINARY) -> PromptTemplate:
        """Raises BomError for a missing section and for an unknown, missing or repeated slot."""
        before, *sections = _SECTION.split(source)
        if before.strip() or sections[::2] != ["system", "user"]:
            raise BomError("template: needs a line [system], its text, then a line [user] and its text, once each")
        return cls(
            _pieces(sections[1].strip(), SYSTEM_SLOTS[form], section="system"),
            _pieces(sections[3].strip(), USER_SLOTS[form], section="user"),
        )

    def render(
        self, rubric: str, draft: Draft, fence: str, *, scale: Scale | None = None, swapped: bool = False
    ) -> Prompt:
        """The prompt for one draft. Raises BomError for a rubric that is no rubric (see ``check_rubric``).

        ``swapped`` shows a comparison's rival first. A comparison needs a draft with a rival: admission sees to it.
        """
        return Prompt(
            _instructions(self.system, rubric, f"{scale.min} to {scale.max}" if scale else ""),
            _filled(self.user, lambda slot: fenced(slot, _text_of(slot, draft, swapped=swapped), fence)),
        )


def fence_of(judged_sha256: str, bom_version: str) -> str:
    """The token of a draft's fence lines: 32 hex digits, the same for the same draft under the same BOM."""
    return hashlib.sha256(f"fence\n{judged_sha256}\n{bom_version}".encode()).hexdigest()[:32]


def fenced(slot: str, text: str, fence: str) -> str:
    """Neutralised text between the two lines that only we can write."""
    return f"<{slot}-{fence}>\n{text if text.strip() else NOTHING}\n</{slot}-{fence}>"


def check_rubric(rubric: str) -> None:
    """Raises BomError where a rubric is empty, names a file instead of holding its text, or has an unfilled slot."""
    if not rubric.strip():
        raise BomError("rubric: it is empty; write what the criterion asks for")
    if _REFERENCE.match(rubric):
        raise BomError("rubric: it names a file instead of holding its text; put the text itself there")
    if slot := _SLOT.search(rubric):
        raise BomError(f"rubric: the slot {slot[0]!r} is not filled; a rubric is plain text, write it out")


def _pieces(source: str, slots: tuple[str, ...], *, section: str) -> tuple[str, ...]:
    """Literal, slot, literal, slot, ..., literal."""
    pieces = _SLOT.split(source)
    named = pieces[1::2]
    for name in named:
        if name not in slots:
            raise BomError(f"template [{section}]: unknown slot {{{name}}}; this section has {_listed(slots)}")
    for slot in slots:
        if (count := named.count(slot)) != 1:
            raise BomError(f"template [{section}]: slot {{{slot}}} occurs {count} times; it must occur once")
    return tuple(pieces)


@lru_cache(maxsize=256)  # the same for every draft of a criterion
def _instructions(system: tuple[str, ...], rubric: str, scale: str) -> str:
    check_rubric(rubric)
    ours = {"rubric": rubric.strip(), "scale": scale}
    return _filled(system, lambda slot: ours[slot])


def _filled(pieces: tuple[str, ...], fill: Callable[[str], str]) -> str:
    """One pass: what fills a slot is never searched for slots."""
    return "".join(fill(piece) if at % 2 else piece for at, piece in enumerate(pieces))


def _listed(slots: tuple[str, ...]) -> str:
    return ", ".join(f"{{{slot}}}" for slot in slots)


def _constraints(context: Context) -> str:
    """One line a constraint; further lines of one are indented."""
    return "\n".join("- " + neutralise(constraint).replace("\n", "\n  ") for constraint in context.constraints)


def _items(context: Context) -> str:
    """One line of JSON an item, exact but for what is neutralised inside its strings."""
    return "\n".join(_item(item) for item in context.items)


def _item(item: ContextItem) -> str:
    # Keys are sorted as the judged hash sorts them: drafts that share a hash share a prompt.
    whole = {"role": item.role, "metadata": item.metadata}
    encoded = json.dumps(whole, ensure_ascii=False, sort_keys=True)
    return _JSON_STRING.sub(_neutralised_string, encoded)


def _neutralised_string(found: re.Match[str]) -> str:
    written = found[0]
    if "\\" not in written and neutralise(written[1:-1]) == written[1:-1]:
        return written  # nothing to undo and to write again, as with most
    return json.dumps(neutralise(json.loads(written)), ensure_ascii=False)


def _text_of(slot: str, draft: Draft, *, swapped: bool) -> str:
    """A slot's data, neutralised."""
    if slot in ("first", "second"):
        return neutralise((draft.rival or "") if (slot == "second") != swapped else draft.text)
    return _SLOT_TEXT[slot](draft)


_SLOT_TEXT: Final[dict[str, Callable[[Draft], str]]] = {
    "text": lambda draft: neutralise(draft.text),
    "instruction": lambda draft: neutralise(draft.context.instruction or ""),
    "constraints": lambda draft: _constraints(draft.context),
    "items": lambda draft: _items(draft.context),
}
_SECTION = re.compile(r"^\[(system|user)\][ \t\r]*$", re.MULTILINE)
_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_REFERENCE = re.compile(r"\s*(?:file:|https?://\S+\s*\Z)", re.IGNORECASE)
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
