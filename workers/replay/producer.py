"""The recorded producer: answers a revision request with the item's next recorded draft. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemas.drafts import Draft, Revises
from schemas.revisions import RevisionRequest
from workers.replay.recordings import RecordedDraft, RecordedItem


class RecordedProducer:
    """Holds the items; keeps no other state, so that a repeated request gets the same draft again."""

    def __init__(self, items: Iterable[RecordedItem]) -> None:
        self._items = {item.item_id: item for item in items}

    def first_drafts(self) -> Iterator[Draft]:
        """Attempt 0 of every item."""
        for item in self._items.values():
            yield _as_draft(item.item_id, 0, item.drafts[0], None)

    def answer(self, request: RevisionRequest) -> Draft | None:
        """The next recorded draft of the item; None when its drafts have run out (``exhausted``)."""
        item = self._items.get(request.item_id)
        if item is None or request.next_attempt >= len(item.drafts):
            return None
        quoted = Revises(
            revision_id=request.revision_id, round_id=request.round_id, judged_sha256=request.judged_sha256
        )
        return _as_draft(item.item_id, request.next_attempt, item.drafts[request.next_attempt], quoted)


def _as_draft(item_id: str, attempt: int, recorded: RecordedDraft, revises: Revises | None) -> Draft:
    return Draft(
        item_id=item_id,
        attempt=attempt,
        text=recorded.text,
        generator_model=recorded.generator,
        context=recorded.context,
        revises=revises,
    )
