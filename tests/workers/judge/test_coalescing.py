from __future__ import annotations

import asyncio

import pytest

from schemas.errors import DependencyUnavailable
from workers.judge.coalescing import Coalescer

pytestmark = pytest.mark.anyio


async def test_everything_of_one_tick_is_sent_as_one() -> None:
    sent: list[list[int]] = []

    async def send(numbers: list[int]) -> list[int]:
        sent.append(numbers)
        return [number * 2 for number in numbers]

    async def ask(number: int) -> int:
        return await doubled.submit(number)

    doubled = Coalescer(send)
    assert await asyncio.gather(*(ask(n) for n in range(5))) == [0, 2, 4, 6, 8]
    assert await ask(7) == 14
    assert sent == [[0, 1, 2, 3, 4], [7]]


async def test_more_than_a_chunk_is_sent_in_chunks_and_answers_keep_their_places() -> None:
    sizes: list[int] = []

    async def send(numbers: list[int]) -> list[int]:
        sizes.append(len(numbers))
        await asyncio.sleep(0.001 * (3 - len(sizes)))  # later chunks answer first
        return numbers

    same = Coalescer(send, chunk=2)
    assert await asyncio.gather(*(same.submit(n) for n in range(5))) == list(range(5))
    assert sizes == [2, 2, 1]


async def test_a_failure_reaches_everyone_who_asked_and_nobody_later() -> None:
    async def send(numbers: list[int]) -> list[int]:
        if 13 in numbers:
            raise DependencyUnavailable("gone")
        return numbers

    fragile = Coalescer(send)
    answers = await asyncio.gather(fragile.submit(1), fragile.submit(13), return_exceptions=True)
    assert [type(answer) for answer in answers] == [DependencyUnavailable, DependencyUnavailable]
    assert await fragile.submit(2) == 2


async def test_one_who_left_takes_no_answer_away() -> None:
    async def send(numbers: list[int]) -> list[int]:
        await asyncio.sleep(0.001)
        return numbers

    same = Coalescer(send)
    leaving, staying = same.submit(1), same.submit(2)
    leaving.cancel()
    assert await staying == 2
    await same.drained()
