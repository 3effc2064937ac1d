"""The parser alone: how many replies it reads a second, and that it reads whatever comes."""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter

from hypothesis import Phase, given, settings

from benchmarks.figures import Figure, at_least
from schemas.verdict_space import Label
from tests.workers.judge.any_reply import ANY_REPLY, AnyReply, read_once
from workers.judge.parsing import parse_reply

TARGET_PER_S = 50_000
ROUNDS, TIMES = 5, 500
FUZZED = 50_000
CLAUSES = ("C1", "C2")


def parse() -> list[Figure]:
    return [_speed(), _fuzz()]


def replies() -> list[str]:
    """Twenty: verdict objects alone; two in a fence, one after prose, and one that holds no verdict."""
    whole = [json.dumps(_verdict(number)) for number in range(20)]
    whole[3], whole[8] = (f"```json\n{whole[number]}\n```" for number in (3, 8))
    whole[13] = f"I have compared every figure with the sheet. {whole[13]}"
    whole[18] = "The text keeps to the sheet, so I would let it through."
    return whole


def _verdict(number: int) -> dict[str, object]:
    """Every second one is a fail."""
    if number % 2:
        return {"label": "pass", "reason": "Nothing touches a clause.", "evidence_spans": [], "guideline_clause": None}
    return {
        "label": "fail",
        "reason": f"The text says {20 + number} hours of playback, the sheet says 12.",
        "evidence_spans": [f"{20 + number} hours of playback"],
        "guideline_clause": "C1",
    }


def _speed() -> Figure:
    texts = replies()
    per_s = statistics.median(_rate(texts) for _ in range(ROUNDS))
    return at_least(
        "parse",
        "replies read a second of CPU",
        f"{per_s:,.0f} replies/s",
        f"{TARGET_PER_S:,} replies/s",
        ratio=per_s / TARGET_PER_S,
        target=1.0,
        notes=(
            f"median of {ROUNDS} rounds of {TIMES * len(texts):,}; {statistics.fmean(map(len, texts)):.0f} characters "
            "each; half are fails, a tenth stand in fences",
        ),
    )


def _rate(texts: list[str]) -> float:
    began = time.process_time()
    for _ in range(TIMES):
        for text in texts:
            parse_reply(text, finish_reason="stop", clauses=CLAUSES)
    return TIMES * len(texts) / (time.process_time() - began)


def _fuzz() -> Figure:
    """An exception, or a reply that is neither one verdict nor an abstain with a cause, ends the bench and is shown."""
    read: Counter[Label] = Counter()

    @given(ANY_REPLY)
    @settings(max_examples=FUZZED, derandomize=True, deadline=None, database=None, phases=(Phase.generate,))
    def read_all(reply: AnyReply) -> None:
        read[read_once(reply)] += 1

    read_all()
    return at_least(
        "parse",
        "made-up replies that end in one verdict or abstain",
        f"{read.total():,} replies",
        f"{FUZZED:,} replies",
        ratio=read.total() / FUZZED,
        target=1.0,
        notes=(f"read as {', '.join(f'{label} {count:,}' for label, count in read.most_common())}; 0 exceptions",),
    )
