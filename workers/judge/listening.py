"""A model that is listened to: what was asked and what came back, for a person who tries a judge out."""

from __future__ import annotations

from collections.abc import Callable

from schemas.errors import ModelError
from workers.judge.protocols import Model, Question, Reply

Heard = Callable[[Question, Reply | ModelError], None]


class ListeningModel:
    """Passes everything on and tells ``heard``."""

    def __init__(self, model: Model, heard: Heard) -> None:
        self._model, self._heard = model, heard

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        try:
            reply = await self._model.ask(question, deadline=deadline)
        except ModelError as error:
            self._heard(question, error)
            raise
        self._heard(question, reply)
        return reply

    async def close(self) -> None:
        await self._model.close()
