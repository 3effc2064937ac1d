"""A topic that takes less than a worker may write is found before work starts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.errors import DependencyUnavailable, SettingsError
from schemas.topics import DEAD_LETTERS, MAX_MESSAGE_BYTES, VERDICTS
from workers.embedded.services import ChildServices
from workers.runtime.connection import Connection
from workers.runtime.settings import Settings
from workers.runtime.topic_admin import topic_admin
from workers.runtime.topic_limits import check_limits, too_small
from workers.runtime.topic_plan import plan, wanted


def test_only_known_and_smaller_limits_are_too_small() -> None:
    assert too_small({"a": 10, "b": 10, "c": 10}, {"a": 10, "b": 11}) == ""
    assert too_small({"b": 10, "a": 10}, {"a": 9, "b": 1}) == (
        "topic a takes at most 9 of the 10 bytes needed, topic b takes at most 1 of the 10 bytes needed"
    )


@pytest.mark.anyio
@pytest.mark.real
async def test_topics_as_created_take_what_the_settings_allow_and_no_more(
    real_kafka: str, unique: Callable[[str], str]
) -> None:
    prefix, largest = unique("limits") + ".", MAX_MESSAGE_BYTES + 1
    topics = [
        wanted(VERDICTS, prefix, partitions=1, max_message_bytes=largest),
        wanted(DEAD_LETTERS, prefix, partitions=1),  # its 64 KiB more are one byte short
    ]
    async with topic_admin(Connection((real_kafka,))) as admin:
        await admin.apply(plan(topics, {}, replication=1))
    names = [topic.name for topic in topics]
    await check_limits(Settings(kafka=real_kafka, topic_prefix=prefix), names)
    raised = Settings(kafka=real_kafka, topic_prefix=prefix, max_message_bytes=largest)
    await check_limits(raised, names[:1])
    with pytest.raises(SettingsError) as refused:
        await check_limits(raised, names)
    assert str(refused.value) == (
        f"ASSAY_MAX_MESSAGE_BYTES is 1048577, but topic {prefix}dead-letters takes at most 1114112 of the 1114113 "
        "bytes needed: `assay topics create` mends the topics, or lower the setting"
    )


@pytest.mark.anyio
@pytest.mark.real
async def test_create_mends_a_topic_that_is_too_small(real_kafka: str, unique: Callable[[str], str]) -> None:
    prefix, largest = unique("limits") + ".", 2 * MAX_MESSAGE_BYTES
    settings = Settings(kafka=real_kafka, topic_prefix=prefix, max_message_bytes=largest)
    small = wanted(VERDICTS, prefix, partitions=1)
    enough = wanted(VERDICTS, prefix, partitions=1, max_message_bytes=largest)
    async with topic_admin(Connection((real_kafka,))) as admin:
        await admin.apply(plan([small], {}, replication=1))
        with pytest.raises(SettingsError):
            await check_limits(settings, [small.name])
        (alteration,) = plan([enough], await admin.existing([small.name]), replication=1)
        assert str(alteration) == f"alter {small.name}: max.message.bytes 1048576 -> 2097152"
        await admin.apply([alteration])
    await check_limits(settings, [small.name])


@pytest.mark.anyio
async def test_a_broker_that_cannot_tell_is_believed(services: ChildServices, unique: Callable[[str], str]) -> None:
    services.create_topic(topic := unique("t"), 1)
    await check_limits(Settings(kafka=services.kafka, max_message_bytes=2 * MAX_MESSAGE_BYTES), [topic])


@pytest.mark.anyio
async def test_a_kafka_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(DependencyUnavailable, match=r"no Kafka at 127\.0\.0\.1:1"):
        await check_limits(Settings(kafka="127.0.0.1:1"), ["t"])
