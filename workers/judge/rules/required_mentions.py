"""Rule ``required_mentions``: the text names what it must, given literally or taken from the item's metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import MAX_REASON_CHARS
from workers.judge.rules.banned_phrases import Phrase
from workers.judge.rules.finding import PASSED, Params, RuleFinding, missing_evidence
from workers.judge.rules.metadata import at_path, readable
from workers.judge.rules.phrases import mentioned

MAX_MENTION_CHARS = 500


class RequiredMentions(Params):
    """``mentions`` are literal; ``paths`` are dotted paths into the metadata of the items in ``roles``."""

    mentions: tuple[Phrase, ...] = ()
    paths: tuple[Phrase, ...] = ()
    roles: Annotated[tuple[str, ...], Field(min_length=1)] = ("target",)

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.mentions and not self.paths:
            raise ValueError("asks for nothing; give mentions or paths")
        return self


def find_required_mentions(draft: Draft, params: RequiredMentions) -> RuleFinding:
    """A fail names what is missing: the literal, or the path of the value (the value itself is data and stays out).

    What is absent has no slice of the draft, so that such a fail has no evidence spans.
    """
    absent = [f'"{mention}"' for mention in params.mentions if not mentioned(mention, draft.text)]
    if params.paths:
        metadata = readable(draft, params.roles)
        if metadata is None:
            return missing_evidence(f"no readable metadata for {', '.join(params.roles)}")
        for path in params.paths:
            values = [word for one in metadata for word in _words(at_path(one, path))]
            if not values:
                return missing_evidence(f"no value at {path}")
            if not all(mentioned(value, draft.text) for value in values):
                absent.append(path)
    if not absent:
        return PASSED
    reason = f"The text does not mention {', '.join(absent)}."
    return RuleFinding(Label.FAIL, reason[:MAX_REASON_CHARS], detail=f"{len(absent)} required mentions are missing")


def _words(value: JsonValue) -> Iterator[str]:
    """A value as the text would say it; every element of a list."""
    if isinstance(value, list):
        yield from (word for inner in value for word in _words(inner))
    elif isinstance(value, str):
        if value.strip():
            yield value[:MAX_MENTION_CHARS]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield f"{value:g}" if isinstance(value, float) else str(value)
