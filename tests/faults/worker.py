"""A judge worker for fault tests, as a process: ``python -m tests.faults.worker``.

Everything is the product's but the judging: a draft's text says how it is judged and how the handler misbehaves.
FAIL = the first criterion fails; BUG-ONCE = the handler raises at the first try; BUG = it always raises. How long it
takes derives from the text, between the two numbers of ASSAY_TEST_DELAYS_S.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry

from schemas.bom import Bom
from schemas.drafts import Draft
from schemas.message import Message
from schemas.topics import DRAFTS, SERVED, TELEMETRY, VERDICTS
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict
from workers.bom import MANIFEST, load_bom, manifest_of, read_files
from workers.bom.example import example_bom
from workers.judge.worker import JudgeWorker
from workers.runtime.handling import route
from workers.runtime.logs import set_up
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.origin import Origin
from workers.runtime.settings import load
from workers.runtime.worker import Worker


class TextSays:
    """An instrument that does what the text says, after the time that the text's hash says."""

    def __init__(self, bom: Bom, low_s: float, high_s: float) -> None:
        self._criteria = [criterion.id for criterion in bom.charter.criteria.must_have]
        self._low_s, self._high_s = low_s, high_s

    async def judge(self, draft: Draft) -> tuple[CriterionVerdict, ...]:
        share = hashlib.sha256(draft.text.encode()).digest()[0] / 255
        await asyncio.sleep(self._low_s + share * (self._high_s - self._low_s))
        fail = CriterionVerdict(
            criterion_id=self._criteria[0], label=Label.FAIL, judge="text", reason="it says so",
            evidence_spans=("FAIL",), guideline_clause="G-1.1",
        )  # fmt: skip
        verdicts = [CriterionVerdict(criterion_id=name, label=Label.PASS, judge="text") for name in self._criteria]
        return (fail, *verdicts[1:]) if "FAIL" in draft.text else tuple(verdicts)


class Misbehaving:
    """The judge's handler, with the bugs that the texts ask for."""

    def __init__(self, judge: JudgeWorker) -> None:
        self._judge, self._raised = judge, set[str]()

    async def __call__(self, draft: Draft, origin: Origin) -> Sequence[Message]:
        if "BUG-ONCE" in draft.text and draft.text not in self._raised:
            self._raised.add(draft.text)
            raise RuntimeError("once")
        if "BUG-ALWAYS" in draft.text:
            raise RuntimeError("always")
        return await self._judge(draft, origin)


async def main() -> None:
    settings = load(os.environ)
    set_up(settings.log_level, worker="judge")
    low_s, high_s = map(float, os.environ["ASSAY_TEST_DELAYS_S"].split(","))
    files = {name: raw for name, raw in read_files(example_bom()).items() if name != MANIFEST}
    bom = load_bom({**files, MANIFEST: manifest_of(files).to_bytes()})
    instrument: Any = TextSays(bom, low_s, high_s)
    handler = Misbehaving(JudgeWorker(bom, instrument, now=_now))
    metrics = Metrics(CollectorRegistry())
    reads = route(DRAFTS, handler, settings, worker="judge", metrics=metrics, now=_now, bom_version=bom.version)
    names = Names(settings.topic_prefix)
    outputs = [names.full(topic) for topic in (VERDICTS, TELEMETRY, SERVED)]
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await Worker("judge", settings, [reads], metrics=metrics).run(topics=outputs, stop=stop)


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    asyncio.run(main())
