"""How probable the label's own tokens were, out of a reply's log probabilities. Absent with a reason, never 0."""

from __future__ import annotations

import math
import re
from itertools import accumulate
from typing import Any, NamedTuple

_LABEL = re.compile(rb'"label"\s*:\s*(?:"((?:[^"\\]|\\.)+)"|(-?\d+))')


class LabelProbability(NamedTuple):
    """Just one of the two is given. ``value`` lies above 0 and at most at 1."""

    value: float | None = None
    absent: str | None = None


def label_probability(tokens: Any, text: str | None) -> LabelProbability:
    """The product over the tokens that the label's value touches.

    ``tokens`` is the ``logprobs.content`` of a chat completion: objects with ``token``, ``logprob`` and, where a token
    is no whole character, ``bytes``. Together they must spell the reply, which must name one label.
    """
    if not isinstance(tokens, list) or not tokens:
        return LabelProbability(absent="the endpoint sent no log probabilities")
    read = [_read(token) for token in tokens]
    known = [token for token in read if token is not None]
    if len(known) < len(read):
        return LabelProbability(absent="a token without text or log probability")
    whole = b"".join(spelled for spelled, _ in known)
    if whole.decode("utf-8", "replace") != text:
        return LabelProbability(absent="the tokens do not spell the reply")
    labels = list(_LABEL.finditer(whole))
    if len(labels) != 1:
        return LabelProbability(absent=f"{len(labels)} labels in the reply")
    start, end = labels[0].span(labels[0].lastindex or 0)  # without quotes: they belong to the form, not to the choice
    ends = list(accumulate(len(spelled) for spelled, _ in known))
    inside = [
        logprob
        for (spelled, logprob), stop in zip(known, ends, strict=True)
        if stop - len(spelled) < end and stop > start
    ]
    return LabelProbability(math.exp(sum(inside)))


def _read(token: Any) -> tuple[bytes, float] | None:
    if not isinstance(token, dict):
        return None
    text, logprob, spelled = token.get("token"), token.get("logprob"), token.get("bytes")
    if not isinstance(text, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return None
    if not -700 < logprob <= 1e-6:  # below, the exponential is 0, which no sampled token's probability is
        return None
    whole = isinstance(spelled, list) and all(isinstance(b, int) and 0 <= b < 256 for b in spelled)
    return bytes(spelled) if whole else text.encode("utf-8", "replace"), min(float(logprob), 0.0)  # type: ignore[arg-type]
