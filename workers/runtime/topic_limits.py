"""Do the topics take records as large as this worker may write? Asked before work starts, not by the first large one.

A broker that refuses a record stops the worker; started again it would meet the same record again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import IncompatibleBrokerVersion, KafkaError

from schemas.errors import DependencyUnavailable, SettingsError
from schemas.topics import DEAD_LETTERS
from workers.runtime.connection import Connection, connection, no_kafka
from workers.runtime.handling import DEAD_LETTER_ROOM
from workers.runtime.naming import Names
from workers.runtime.settings import Settings

_CONFIG = "max.message.bytes"


async def check_limits(settings: Settings, written: Iterable[str]) -> None:
    """Topics (full names) that are written take what the settings allow. Raises SettingsError with the remedy.

    A broker that cannot tell, or may not, is believed; DependencyUnavailable when it does not answer.
    """
    dead_letters = Names(settings.topic_prefix).full(DEAD_LETTERS)
    needed = {
        name: settings.max_message_bytes + (DEAD_LETTER_ROOM if name == dead_letters else 0) for name in written
    }  # fmt: skip
    small = too_small(needed, await _limits(connection(settings), needed))
    if small:
        raise SettingsError(
            f"ASSAY_MAX_MESSAGE_BYTES is {settings.max_message_bytes}, but {small}: "
            "`assay topics create` mends the topics, or lower the setting"
        )


def too_small(needed: Mapping[str, int], limits: Mapping[str, int]) -> str:
    """The topics that take less than is needed, in words; empty where all take it or it is not known. Pure."""
    return ", ".join(
        f"topic {name} takes at most {limits[name]} of the {bytes_} bytes needed"
        for name, bytes_ in sorted(needed.items())
        if limits.get(name, bytes_) < bytes_
    )


async def _limits(kafka: Connection, names: Iterable[str]) -> Mapping[str, int]:
    """``max.message.bytes`` of the topics whose broker tells it."""
    asked = [ConfigResource(ConfigResourceType.TOPIC, name, configs={_CONFIG: ""}) for name in names]
    client = AIOKafkaAdminClient(**kafka.options())
    try:
        await client.start()
        responses = await client.describe_configs(asked)
    except IncompatibleBrokerVersion:
        return {}  # the embedded broker
    except KafkaError as error:
        raise DependencyUnavailable(no_kafka(kafka, error)) from error
    finally:
        await client.close()
    told = [row for response in responses for row in response.resources if not row[0]]  # an error: may not be told
    return {name: int(entry[1]) for _, _, _, name, entries in told for entry in entries if entry[0] == _CONFIG}
