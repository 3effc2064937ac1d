from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.model_server import completion
from workers.judge.providers.label_probability import label_probability
from workers.judge.providers.openai_compatible import read_completion

REPLY = '{"label": "pass", "reason": "ok"}'


def tokens(*pairs: tuple[str, float]) -> list[dict[str, Any]]:
    return [
        {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": []} for text, logprob in pairs
    ]


SPELLED = tokens(
    ('{"', -0.1),
    ("label", -0.1),
    ('": "', -0.1),
    ("pa", -0.25),
    ("ss", -0.5),
    ('", "reason', -3.0),
    ('": "ok"}', -0.1),
)


def test_it_is_the_product_over_the_tokens_that_the_label_touches() -> None:
    # by hand: "pa" and "ss": exp(-0.25 - 0.5)
    found = label_probability(SPELLED, REPLY)
    assert (found.value, found.absent) == (pytest.approx(math.exp(-0.75)), None)


def test_a_token_that_holds_quotes_and_label_counts_as_a_whole_and_so_does_a_number() -> None:
    assert label_probability(tokens(('{"label": ', 0.0), ('"pass"', -0.5), ("}", 0.0)), '{"label": "pass"}').value == (
        pytest.approx(math.exp(-0.5))
    )
    assert label_probability(tokens(('{"label": ', 0.0), ("4", -0.1), ("}", 0.0)), '{"label": 4}').value == (
        pytest.approx(math.exp(-0.1))
    )


def test_a_reply_keeps_it_beside_what_was_served() -> None:
    body = completion(REPLY)
    body["choices"][0]["logprobs"] = {"content": SPELLED}
    reply = read_completion(json.dumps(body).encode(), logprobs=True)
    assert reply.label_probability == pytest.approx(math.exp(-0.75))
    assert read_completion(json.dumps(body).encode()).label_probability is None


@pytest.mark.parametrize(
    ("sent", "text", "why"),
    [
        (None, REPLY, "the endpoint sent no log probabilities"),
        ([], REPLY, "the endpoint sent no log probabilities"),
        (SPELLED[:-1], REPLY, "the tokens do not spell the reply"),
        (SPELLED, None, "the tokens do not spell the reply"),
        ([*SPELLED, 7], REPLY, "a token without text or log probability"),
        (tokens((REPLY, -9999.0)), REPLY, "a token without text or log probability"),  # "not sampled" in some servers
        (tokens((REPLY, 0.5)), REPLY, "a token without text or log probability"),
        (tokens(("Hallucinated.", -0.1)), "Hallucinated.", "0 labels in the reply"),
        (tokens((REPLY * 2, -0.1)), REPLY * 2, "2 labels in the reply"),
    ],
)
def test_what_cannot_be_located_is_absent_with_its_reason_and_never_0(sent: Any, text: str | None, why: str) -> None:
    assert label_probability(sent, text) == (None, why)


def test_a_character_split_over_two_tokens_is_put_together_from_bytes() -> None:
    text = '{"label": "pass", "reason": "é"}'
    first, second = "é".encode()
    split = tokens(('{"label": "pass"', -0.5), (', "reason": "', 0.0))
    split += [
        {"token": "\ufffd", "logprob": 0.0, "bytes": [first]},
        {"token": "\ufffd", "logprob": 0.0, "bytes": [second]},
    ]
    assert label_probability([*split, *tokens(('"}', 0.0))], text).value == pytest.approx(math.exp(-0.5))


JSONISH = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=True) | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["token", "logprob", "bytes"]), inner),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(JSONISH, st.text(max_size=30) | st.none())
def test_any_answer_gives_a_probability_or_a_reason(sent: Any, text: str | None) -> None:
    found = label_probability(sent, text)
    assert (found.value is None) != (found.absent is None)
    assert found.value is None or 0 < found.value <= 1
