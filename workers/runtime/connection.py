"""How every Kafka client of this process connects, and the questions asked before any work starts."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any, NamedTuple

from aiokafka import AIOKafkaClient
from aiokafka.errors import KafkaConnectionError, KafkaError

from schemas.errors import DependencyUnavailable, SettingsError
from workers.runtime.settings import Settings


class Connection(NamedTuple):
    """Where Kafka is and how to be let in. Never shown: it holds the password."""

    servers: tuple[str, ...]
    tls: ssl.SSLContext | None = None
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        return f"Connection({','.join(self.servers)})"

    def options(self) -> dict[str, Any]:
        """Keyword arguments that every aiokafka client takes."""
        options: dict[str, Any] = {"bootstrap_servers": list(self.servers)}
        protocol = "SSL" if self.tls else "PLAINTEXT"
        if self.tls:
            options["ssl_context"] = self.tls
        if self.sasl_mechanism:
            protocol = f"SASL_{protocol}"
            options |= {
                "sasl_mechanism": self.sasl_mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        return options | {"security_protocol": protocol}


def connection(settings: Settings) -> Connection:
    """The connection the settings describe. Raises SettingsError when there are no servers or the CA is unreadable."""
    if not settings.kafka_servers:
        raise SettingsError("ASSAY_KAFKA is not set")
    password = settings.kafka_password.get_secret_value() if settings.kafka_password else None
    return Connection(
        tuple(settings.kafka_servers),
        _tls(settings) if settings.kafka_tls else None,
        settings.kafka_sasl,
        settings.kafka_username,
        password,
    )


async def check(kafka: Connection, topics: Iterable[str], *, timeout_ms: int = 10_000) -> None:
    """Kafka answers and has these topics. Raises DependencyUnavailable with one line that says what is missing."""
    missing = await missing_topics(kafka, topics, timeout_ms=timeout_ms)
    if missing:
        raise DependencyUnavailable(f"topic {', '.join(missing)} does not exist; `assay topics create` makes it")


async def missing_topics(kafka: Connection, topics: Iterable[str], *, timeout_ms: int = 10_000) -> list[str]:
    """Those of the topics (full names) that do not exist. Raises DependencyUnavailable when Kafka does not answer."""
    client = AIOKafkaClient(**kafka.options(), request_timeout_ms=timeout_ms)
    try:
        await client.bootstrap()
        metadata = await client.fetch_all_metadata()
    except KafkaError as error:
        raise DependencyUnavailable(no_kafka(kafka, error)) from error
    finally:
        await client.close()
    return sorted(set(topics) - metadata.topics())


def no_kafka(kafka: Connection, error: KafkaError) -> str:
    """One line for a person. The client's own words where they say more than that nobody answers."""
    where = f"no Kafka at {','.join(kafka.servers)}"
    if isinstance(error, KafkaConnectionError) and not kafka.tls and not kafka.sasl_mechanism:
        return f"{where}: nobody answers; is it running, and is ASSAY_KAFKA right?"
    return f"{where}: {error}"


def _tls(settings: Settings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(settings.kafka_ca) if settings.kafka_ca else None)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(f"ASSAY_KAFKA_CA: {settings.kafka_ca} cannot be read as PEM: {error}") from error
