"""The claims, and whether what is on record bears them out. Pure.

Records that retention has removed can prove nothing: they are counted as that, with the reason, and never as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from schemas.decisions import Decision, ServedStatus, Withdrawal
from schemas.topics import DEAD_LETTERS
from schemas.verdicts import AttemptOutcome
from workers.proof.ledger import Attempt, Decided, Ledger, Place, RoundKey, Shown

IN_PROGRESS = "still in progress"
_OLD_DRAFT = "the draft is older than what its topic keeps"
_OLD_LETTER = "older than what the dead letters' topic keeps"
_OLD_TELEMETRY = "older than what telemetry keeps"
_WITHDRAWN = "withdrawn by an operator: nothing is shown"
_TOGETHER = timedelta(hours=1)  # an attempt and its decision are written together; retention may part them


class Kept(NamedTuple):
    """What Kafka knew when reading began. Offsets of the drafts topic, by partition.

    ``done``: below it every draft was finished when reading began. ``first``: the oldest record that is kept.
    ``telemetry_cut``: retention has removed telemetry.
    """

    done: Mapping[int, int]
    first: Mapping[int, int]
    telemetry_cut: bool


@dataclass
class Claim:
    """``broken``: what contradicts it, one line each. ``not_checked``: why, and how often."""

    name: str
    statement: str
    checked: int = 0
    broken: list[str] = field(default_factory=list)
    not_checked: Counter[str] = field(default_factory=Counter)

    def check(self, wrong: str | None) -> None:
        self.checked += 1
        if wrong is not None:
            self.broken.append(wrong)


def claims(ledger: Ledger, kept: Kept, *, now: datetime) -> list[Claim]:
    """Every claim, in the order of a draft's way."""
    reading = _Reading(ledger, kept, now)
    return [
        reading.one_fate(), reading.same_text(), reading.same_word(), reading.one_decision(),
        reading.passed_is_shown(), reading.shown_was_passed(), reading.one_bom(),
    ]  # fmt: skip


class _Reading:
    def __init__(self, ledger: Ledger, kept: Kept, now: datetime) -> None:
        self._ledger, self._kept, self._now = ledger, kept, now
        attempts = ledger.attempts.values()
        self._oldest = min((a.judged_at for a in attempts), default=now) if kept.telemetry_cut else None
        self._unfinished = {t.judged_sha256 for place, t in ledger.drafts.items() if t and not self._done(place)}

    def one_fate(self) -> Claim:
        claim = Claim("one fate", "every draft that is done was judged or set aside: never neither, never both")
        letters_since = self._now - timedelta(days=DEAD_LETTERS.retention_days or 0)
        for place, published_ms in self._ledger.published_ms.items():
            judged, aside = place in self._ledger.judged, place in self._ledger.aside
            if judged != aside:
                claim.check(None)
            elif judged:
                claim.check(f"{_at(place)} was judged, and set aside as a dead letter too")
            elif not self._done(place):
                claim.not_checked[IN_PROGRESS] += 1
            elif published_ms < letters_since.timestamp() * 1000:
                claim.not_checked[_OLD_LETTER] += 1
            else:
                claim.check(f"{_at(place)} is lost: neither judged nor set aside")
        return claim

    def same_text(self) -> Claim:
        claim = Claim("same text", "what was judged is what was published, word for word")
        for attempt in self._ledger.attempts.values():
            place = attempt.place
            if place is None or place[0] not in self._kept.first:
                claim.check(f"{_of(attempt)} names a draft that cannot be: its draft_uri is none of the drafts topic")
            elif (text := self._ledger.drafts.get(place)) is not None:
                same = (text.item_id, text.text_sha256, text.judged_sha256) == (
                    attempt.item_id, attempt.text_sha256, attempt.judged_sha256,
                )  # fmt: skip
                claim.check(None if same else f"{_of(attempt)} was judged on another text than {_at(place)} holds")
            elif place in self._ledger.drafts:
                claim.check(f"{_of(attempt)} was judged, and {_at(place)} cannot be read")
            elif place[1] < self._kept.first[place[0]]:
                claim.not_checked[_OLD_DRAFT] += 1
            elif self._done(place):
                claim.check(f"{_of(attempt)} was judged, and {_at(place)} is not on the topic")
            else:
                claim.not_checked[IN_PROGRESS] += 1  # published after reading began
        return claim

    def same_word(self) -> Claim:
        claim = Claim("same word", "a draft that was judged again was told the same")
        claim.checked = self._ledger.repeated
        claim.broken = [
            f"{_of(again)} was told something else when it came again: "
            f"{self._ledger.attempts[event_id].outcome}, then {again.outcome}"
            for event_id, again in self._ledger.unlike.items()
        ]
        return claim

    def one_decision(self) -> Claim:
        claim = Claim("one decision", "every round judged to its end has one decision, as its last attempt has it")
        for key in self._ledger.rounds.keys() | self._ledger.decisions.keys():
            self._decided(claim, key)
        return claim

    def _decided(self, claim: Claim, key: RoundKey) -> None:
        attempts, decisions = self._ledger.rounds.get(key, []), list(self._ledger.decisions.get(key, {}).values())
        ends = [attempt for attempt in attempts if attempt.outcome is not AttemptOutcome.REVISE]
        if len(decisions) > 1:
            claim.check(f"{_round(key)} was decided {len(decisions)} times: {', '.join(d.decision for d in decisions)}")
        elif decisions:
            self._decision_follows(claim, key, decisions[0], ends)
        elif any(end.place is None or self._done(end.place) for end in ends):
            claim.check(f"{_round(key)} was judged to its end, and nothing was decided")
        elif ends:
            claim.not_checked[IN_PROGRESS] += 1
        elif key in self._ledger.abandoned:
            claim.check(None)
        else:
            claim.not_checked["open: its revision request has no answer yet"] += 1

    def _decision_follows(self, claim: Claim, key: RoundKey, decided: Decided, ends: list[Attempt]) -> None:
        cause = (decided.attempt, decided.judged_sha256, decided.bom_version)
        end = next((e for e in ends if (e.attempt, e.judged_sha256, e.bom_version) == cause), None)
        if end is not None:
            follows = _decision_of(end) is decided.decision
            claim.check(None if follows else f"{_round(key)} is {decided.decision}, and its attempt says {end.outcome}")
        elif self._too_old(decided.decided_at):
            claim.not_checked[_OLD_TELEMETRY] += 1
        elif decided.judged_sha256 in self._unfinished:
            claim.not_checked[IN_PROGRESS] += 1
        else:
            claim.check(f"{_round(key)} is {decided.decision}, and no attempt on record leads to that")

    def passed_is_shown(self) -> Claim:
        claim = Claim(
            "passed is shown", "an item of which a text was released is shown, or was withdrawn by an operator"
        )
        released: defaultdict[str, list[Decided]] = defaultdict(list)
        for (item_id, _), of_round in self._ledger.decisions.items():
            for decided in of_round.values():
                if decided.shows:
                    released[item_id].append(decided)
        for item_id, decisions in released.items():
            if item_id in self._ledger.shown:
                claim.check(None)
            elif any(decided.judged_sha256 in self._unfinished for decided in decisions):
                claim.not_checked[IN_PROGRESS] += 1
            else:
                claim.check(
                    f"item {item_id!r} was {decisions[-1].decision}, and neither a text nor a withdrawal stands"
                )
        return claim

    def shown_was_passed(self) -> Claim:
        claim = Claim("shown was passed", "what is shown passed under the BOM that it names, or is a drop's fallback")
        for shown in self._ledger.shown.values():
            if isinstance(shown, Withdrawal):
                claim.not_checked[_WITHDRAWN] += 1
            elif not shown.whole:
                claim.check(f"item {shown.item_id!r} is shown with a text that has another hash than its record names")
            else:
                self._passed(claim, shown)
        return claim

    def _passed(self, claim: Claim, shown: Shown) -> None:
        attempts = self._ledger.rounds.get((shown.item_id, shown.round_id), [])
        causes = [a for a in attempts if a.attempt == shown.attempt and a.judged_sha256 == shown.judged_sha256]
        if any(_allows(cause, shown) for cause in causes):
            claim.check(None)
        elif causes:
            said = ", ".join(f"{cause.outcome} under {cause.bom_version}" for cause in causes)
            claim.check(f"item {shown.item_id!r} is shown ({shown.status}), and its attempt says {said}")
        elif self._too_old(shown.served_at):
            claim.not_checked[_OLD_TELEMETRY] += 1
        elif shown.judged_sha256 in self._unfinished:
            claim.not_checked[IN_PROGRESS] += 1
        else:
            claim.check(f"item {shown.item_id!r} is shown ({shown.status}), and no attempt on record led to that")

    def one_bom(self) -> Claim:
        claim = Claim("one BOM", "a BOM version names the same guideline, rubrics and models on all its records")
        for version in self._ledger.excerpts:
            twice = version in self._ledger.two_excerpts
            claim.check(f"{version} stands for two different sets of parts" if twice else None)
        return claim

    def _done(self, place: Place) -> bool:
        return place[1] < self._kept.done.get(place[0], 0)

    def _too_old(self, at: datetime) -> bool:
        return self._oldest is not None and at < self._oldest + _TOGETHER


def _allows(cause: Attempt, shown: Shown) -> bool:
    """Does this attempt lead to what is shown? In shadow mode the first draft is shown, whatever was said of it."""
    if cause.bom_version != shown.bom_version or cause.enforced != shown.enforced:
        return False
    if shown.status is ServedStatus.FALLBACK:
        return cause.outcome is AttemptOutcome.DROP
    passed = cause.outcome is AttemptOutcome.SERVE if cause.enforced else cause.attempt == 0
    return passed and cause.text_sha256 == shown.text_sha256


def _decision_of(end: Attempt) -> Decision:
    if end.outcome is AttemptOutcome.SERVE:
        return Decision.SERVED_FIRST_PASS if end.attempt == 0 else Decision.SERVED_AFTER_REVISION
    return Decision.DROPPED if end.outcome is AttemptOutcome.DROP else Decision.UNDECIDED


def withdrawals(ledger: Ledger) -> Iterator[Withdrawal]:
    """What was taken away and stands so, the newest first."""
    gone = [shown for shown in ledger.shown.values() if isinstance(shown, Withdrawal)]
    return iter(sorted(gone, key=lambda one: one.withdrawn_at, reverse=True))


def _at(place: Place) -> str:
    return f"draft {place[0]}/{place[1]}"


def _of(attempt: Attempt) -> str:
    return f"attempt {attempt.attempt} of item {attempt.item_id!r}"


def _round(key: RoundKey) -> str:
    return f"round {key[1]} of item {key[0]!r}"
