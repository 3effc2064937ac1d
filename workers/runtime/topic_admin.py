"""Ask a cluster for its topics and carry a plan out. Creating and altering again what is as wanted does nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence, Set
from contextlib import asynccontextmanager

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from schemas.errors import DependencyUnavailable, SettingsError
from workers.runtime.connection import Connection, no_kafka
from workers.runtime.topic_plan import Action, Alter, Create, Existing

_KNOWN_TRIES = 100
_SET_ON_TOPIC = 1  # DescribeConfigs' source DYNAMIC_TOPIC_CONFIG


class TopicAdmin:
    """A session with the cluster's controller; from ``topic_admin``."""

    def __init__(self, client: AIOKafkaAdminClient) -> None:
        self._client = client

    async def brokers(self) -> int:
        return len((await self._client.describe_cluster())["brokers"])

    async def existing(self, names: Iterable[str]) -> Mapping[str, Existing]:
        """Those of the topics (full names) that exist, as they are."""
        wanted = set(names)
        # All topics are asked for: asking for a missing one by name creates it on a permissive cluster.
        found = {row["topic"]: row["partitions"] for row in await self._client.describe_topics()}
        there = sorted(wanted & found.keys())
        if not there:
            return {}
        configs = await self._configs(there)
        return {
            name: Existing(len(found[name]), len(found[name][0]["replicas"]), *configs[name])
            for name in there
        }  # fmt: skip

    async def apply(self, actions: Sequence[Action]) -> None:
        """Create and alter. Raises SettingsError when the cluster refuses one, with its reason."""
        creations = [action for action in actions if isinstance(action, Create)]
        alterations = [action for action in actions if isinstance(action, Alter)]
        if creations:
            await self._create(creations)
            await self._until_known({action.topic for action in creations})
        if alterations:
            await self._alter(alterations)

    async def _create(self, actions: Sequence[Create]) -> None:
        topics = [
            NewTopic(action.topic, action.partitions, action.replication, topic_configs=dict(action.configs))
            for action in actions
        ]
        response = await self._client.create_topics(topics)
        for name, code, message in response.topic_errors:
            # Somebody else was quicker: what it is like shows the next plan.
            if code not in (0, TopicAlreadyExistsError.errno):
                raise SettingsError(f"Kafka refuses to create {name}: {message or for_code(code).__name__}")

    async def _until_known(self, names: Set[str]) -> None:
        """A broker answers for a topic a moment after the controller has created it."""
        for _ in range(_KNOWN_TRIES):
            if names <= {row["topic"] for row in await self._client.describe_topics()}:
                return
            await asyncio.sleep(0.1)
        raise DependencyUnavailable(f"Kafka created {', '.join(sorted(names))} but does not show them")

    async def _alter(self, actions: Sequence[Alter]) -> None:
        resources = [
            ConfigResource(ConfigResourceType.TOPIC, action.topic, configs=dict(action.configs)) for action in actions
        ]
        for response in await self._client.alter_configs(resources):
            for code, message, _, name in response.resources:
                if code:
                    raise SettingsError(f"Kafka refuses to alter {name}: {message or for_code(code).__name__}")

    async def _configs(self, names: Sequence[str]) -> Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]]:
        """By topic: all configs that hold, and those set on the topic itself."""
        asked = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
        configs: dict[str, tuple[Mapping[str, str], Mapping[str, str]]] = {}
        for response in await self._client.describe_configs(asked):
            for code, message, _, name, entries in response.resources:
                if code:
                    raise SettingsError(f"Kafka does not show the configs of {name}: {message}")
                rows = [(entry[0], entry[1] or "", entry[3]) for entry in entries]
                configs[name] = (
                    {key: value for key, value, _ in rows},
                    {key: value for key, value, source in rows if source == _SET_ON_TOPIC},
                )
        return configs


@asynccontextmanager
async def topic_admin(kafka: Connection) -> AsyncIterator[TopicAdmin]:
    """A session. Raises DependencyUnavailable when Kafka does not answer or cannot create topics on request."""
    client = AIOKafkaAdminClient(**kafka.options())
    try:
        await client.start()
        cluster = await client.describe_cluster()
        if cluster["controller_id"] not in {broker["node_id"] for broker in cluster["brokers"]}:
            raise DependencyUnavailable(
                f"the Kafka at {','.join(kafka.servers)} has no controller, so it creates no topics: "
                "the embedded one has its topics from `assay up`"
            )
        yield TopicAdmin(client)
    except KafkaError as error:
        raise DependencyUnavailable(no_kafka(kafka, error)) from error
    finally:
        await client.close()


def copies(asked: int | None, *, brokers: int) -> int:
    """How many brokers keep each record: as asked, else three where there are three. Raises SettingsError."""
    if asked is None:
        return 3 if brokers >= 3 else 1
    if asked > brokers:
        raise SettingsError(f"{asked} copies need {asked} brokers; this cluster has {brokers}")
    return asked
