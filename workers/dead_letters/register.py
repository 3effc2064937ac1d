"""What the dead letters' topic says, folded from its records: which letters there are, and which went back. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from schemas.dead_letter import DeadLetter, Replayed
from workers.runtime.records import InRecord


class Place(NamedTuple):
    """Where a dead letter stands on its topic: ``3@15`` is offset 15 of partition 3."""

    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.partition}@{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Place:
        """``3@15``, as ``dlq list`` and ``tail`` show it. Raises ValueError."""
        partition, at, offset = text.rpartition("/")[2].partition("@")
        if not at or not partition.isdecimal() or not offset.isdecimal():
            raise ValueError(
                f"{text!r} is no place of a dead letter: PARTITION@OFFSET, as `assay dlq list --each` shows"
            )
        return cls(int(partition), int(offset))


class Entry(NamedTuple):
    """One dead letter without its bytes. ``replays`` are the marks behind it, oldest first.

    ``repeats`` are later letters about the same original record: a worker that ends before its commit writes it again.
    """

    place: Place
    key: bytes | None
    size: int
    letter: DeadLetter
    replays: tuple[Replayed, ...] = ()
    repeats: tuple[Place, ...] = ()

    @property
    def places(self) -> frozenset[Place]:
        return frozenset((self.place, *self.repeats))

    @property
    def original(self) -> tuple[object, ...]:
        """The same of letters about one record. Key and size too: a topic that was made anew has the offsets again."""
        letter = self.letter
        return letter.topic, letter.partition, letter.offset, self.key, self.size


class Chosen(NamedTuple):
    """Which dead letters are meant; None = all. ``since`` compares with when the letter was written."""

    kind: str | None = None
    topic: str | None = None  # full name of the topic that the record came from
    item: str | None = None
    since: datetime | None = None
    places: frozenset[Place] | None = None

    def __contains__(self, entry: object) -> bool:
        return (
            isinstance(entry, Entry)
            and self.kind in (None, entry.letter.error_kind)
            and self.topic in (None, entry.letter.topic)
            and (self.item is None or entry.key == self.item.encode())
            and (self.places is None or not self.places.isdisjoint(entry.places))
            and (self.since is None or _at_or_after(entry.letter.at, self.since))
        )

    @property
    def everything(self) -> bool:
        return self == Chosen()


class Group(NamedTuple):
    """Dead letters of one kind from one topic."""

    kind: str
    topic: str
    letters: int
    replayed: int
    newest: Entry


class Register:
    """All dead letters, by place. ``add`` takes the topic's records, each partition in its order."""

    def __init__(self) -> None:
        self._entries: dict[Place, Entry] = {}
        self.unreadable = 0

    def add(self, record: InRecord) -> None:
        """A dead letter, a mark of a replay, or something that does not belong here (counted)."""
        letter, mark = DeadLetter.from_headers(record.headers), Replayed.from_headers(record.headers)
        if mark is not None:
            self._mark(Place(record.partition, mark.offset), mark)
        elif letter is not None:
            place = Place(record.partition, record.offset)
            self._entries[place] = Entry(place, record.key, len(record.value or b""), letter)
        else:
            self.unreadable += 1

    def chosen(self, which: Chosen) -> Sequence[Entry]:
        """One entry an original record, in the order they were written, as far as their times tell."""
        written = sorted(self._entries.values(), key=lambda entry: (entry.letter.at, entry.place))
        return [entry for entry in _told_once(written) if entry in which]

    def _mark(self, place: Place, mark: Replayed) -> None:
        # Retention may have removed the letter and left the mark.
        if (entry := self._entries.get(place)) is not None:
            self._entries[place] = entry._replace(replays=(*entry.replays, mark))


def _told_once(entries: Iterable[Entry]) -> Iterable[Entry]:
    """The first letter about each record, with the places and the replays of its repetitions."""
    once: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        first = once.setdefault(entry.original, entry)
        if first is not entry:
            replays = tuple(sorted((*first.replays, *entry.replays), key=lambda mark: mark.at))
            once[entry.original] = first._replace(replays=replays, repeats=(*first.repeats, entry.place))
    return once.values()


def groups(entries: Iterable[Entry]) -> Sequence[Group]:
    """By kind and original topic, the most frequent first."""
    rows = list(entries)
    counts = Counter((entry.letter.error_kind, entry.letter.topic) for entry in rows)
    replayed = Counter((entry.letter.error_kind, entry.letter.topic) for entry in rows if entry.replays)
    newest = {(entry.letter.error_kind, entry.letter.topic): entry for entry in sorted(rows, key=lambda e: e.letter.at)}
    return [Group(*key, count, replayed[key], newest[key]) for key, count in counts.most_common()]


def _at_or_after(at: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(at) >= since
    except (ValueError, TypeError):  # not a time, or one without a zone
        return False
