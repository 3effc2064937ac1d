"""The reflector: a failed verdict in, a structured revision request out. It knows no Kafka and keeps no state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from schemas.bom import Bom
from schemas.message import Message
from schemas.verdicts import AttemptOutcome, DraftVerdict
from workers.reflector.revision import revision_request
from workers.runtime.origin import Origin


class ReflectorWorker:
    """Turns ``revise`` into a request; every other outcome needs none."""

    def __init__(self, bom: Bom, *, now: Callable[[], datetime]) -> None:
        self._bom, self._now = bom, now

    async def __call__(self, verdict: DraftVerdict, origin: Origin) -> list[Message]:
        if verdict.outcome is not AttemptOutcome.REVISE:
            return []
        return [revision_request(verdict, self._bom, now=self._now())]
