"""Drafts with known answers, one a line: the canary set and the gold items that are mixed into the raters' work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError

from schemas.drafts import Draft
from schemas.errors import BomError
from schemas.message import ItemId, Name
from schemas.strict import Strict

CANARY_SET = "canary.jsonl"
GOLD_SET = "gold.jsonl"


class LabelledItem(Strict):
    """One draft and what people say of it, criterion by criterion. ``injection``: its text attacks the judge."""

    item_id: ItemId
    draft: dict[str, Any]
    expected: dict[Name, Literal["pass", "fail"]]
    injection: bool = False

    def as_draft(self) -> Draft:
        """Raises ValidationError for a draft that no producer could publish."""
        return Draft.model_validate({**self.draft, "item_id": self.item_id})


def read_labelled_set(name: str, raw: bytes, *, criteria: frozenset[str] | None = None) -> tuple[LabelledItem, ...]:
    """The items of a file. Raises BomError naming file, line and field; an id or a text given twice is refused.

    ``criteria`` are those that may be labelled; None: any. A charter may lose a criterion before its sets follow.
    """
    items: list[LabelledItem] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{name}: line {number}"
        item, draft = _item(where, line)
        if criteria is not None and (unknown := sorted(item.expected.keys() - criteria)):
            raise BomError(f"{where}: expected: {unknown[0]!r} is no must-have criterion of charter.yaml")
        for key in (item.item_id, draft.judged_sha256):
            if (before := seen.setdefault(key, number)) != number:
                raise BomError(f"{where}: the same item or text as in line {before}; each may be there once")
        items.append(item)
    if not items:
        raise BomError(f"{name} holds no item")
    return tuple(items)


def canary_set(files: Mapping[str, bytes], criteria: frozenset[str]) -> tuple[LabelledItem, ...]:
    """The BOM's canary set. Raises BomError where there is none."""
    if CANARY_SET not in files:
        raise BomError(f"the BOM has no canary set; write {CANARY_SET} (S2 advises 100 to 200 items), then seal again")
    return read_labelled_set(CANARY_SET, files[CANARY_SET], criteria=criteria)


def _item(where: str, line: bytes) -> tuple[LabelledItem, Draft]:
    try:
        item = LabelledItem.model_validate_json(line)
        return item, item.as_draft()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the line"
        raise BomError(f"{where}: {field}: {first['msg']}") from error
