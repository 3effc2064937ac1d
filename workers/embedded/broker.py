"""The Kafka broker that is built into librdkafka, driven through its C interface.

It speaks the real protocol on a real loopback port, with consumer groups, and can be told to fail on purpose. What it
does not do: keep anything on disk, transactions, compaction, creating topics over the wire, more than 5 MiB or 100,000
messages a partition (the oldest go first). Producers must stay below EMBEDDED_MESSAGE_BYTES: one larger batch may empty
a partition.
"""

from __future__ import annotations

import ctypes as c
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.errors import DependencyUnavailable

EMBEDDED_MESSAGE_BYTES = 1024 * 1024

API_KEYS: Mapping[str, int] = {
    "Produce": 0,
    "Fetch": 1,
    "ListOffsets": 2,
    "Metadata": 3,
    "OffsetCommit": 8,
    "OffsetFetch": 9,
    "FindCoordinator": 10,
    "JoinGroup": 11,
    "Heartbeat": 12,
    "LeaveGroup": 13,
    "SyncGroup": 14,
    "InitProducerId": 22,
}
"""Kafka's request kinds, for ``push_errors``."""


class EmbeddedUnavailable(DependencyUnavailable):
    """The packages of the ``embedded`` extra are missing or do not carry what is needed."""


class EmbeddedBroker:
    """A running cluster of ``brokers`` brokers in this process; ``close`` ends it. Not for use from several threads."""

    def __init__(self, *, brokers: int = 1) -> None:
        self._lib = _librdkafka()
        error = c.create_string_buffer(512)
        self._handle = self._lib.rd_kafka_new(0, self._quiet(), error, len(error))
        if not self._handle:
            raise EmbeddedUnavailable(f"librdkafka did not start: {error.value.decode(errors='replace')}")
        self._cluster = self._lib.rd_kafka_mock_cluster_new(self._handle, brokers)
        if not self._cluster:
            raise EmbeddedUnavailable("librdkafka could not open a loopback port")
        # Three seconds by default: every worker's start would wait for them.
        self._lib.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, 0)

    @property
    def bootstrap(self) -> str:
        """``host:port,...`` for clients."""
        return bytes(self._lib.rd_kafka_mock_cluster_bootstraps(self._cluster)).decode()

    def create_topic(self, name: str, partitions: int) -> None:
        """Create a topic; one that exists keeps its records and its partitions."""
        if partitions < 1:  # librdkafka would abort the whole process
            raise ValueError(f"topic {name} needs at least 1 partition, not {partitions}")
        code = self._lib.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 1)
        if code not in (0, _TOPIC_ALREADY_EXISTS):
            raise ValueError(f"topic {name} refused (librdkafka error {code})")

    def push_errors(self, api: str, codes: Sequence[int]) -> None:
        """The next requests of kind ``api`` are answered with these error codes, one each; 0 lets one through."""
        errors = (c.c_int * len(codes))(*codes)
        self._lib.rd_kafka_mock_push_request_errors_array(self._cluster, API_KEYS[api], len(codes), errors)

    def clear_errors(self, api: str) -> None:
        self._lib.rd_kafka_mock_clear_request_errors(self._cluster, API_KEYS[api])

    def broker_down(self, broker: int = 1) -> None:
        """Drop the broker's connections and refuse new ones."""
        self._lib.rd_kafka_mock_broker_set_down(self._cluster, broker)

    def broker_up(self, broker: int = 1) -> None:
        self._lib.rd_kafka_mock_broker_set_up(self._cluster, broker)

    def round_trip(self, broker: int, milliseconds: int) -> None:
        """Every answer of this broker takes that much longer."""
        self._lib.rd_kafka_mock_broker_set_rtt(self._cluster, broker, milliseconds)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """The partition's log starts at ``before`` from now on, as retention would have it."""
        self._lib.rd_kafka_mock_partition_delete_records(self._cluster, topic.encode(), partition, before)

    def close(self) -> None:
        if self._cluster:
            self._lib.rd_kafka_mock_cluster_destroy(self._cluster)
            self._lib.rd_kafka_destroy(self._handle)
            self._cluster = self._handle = None

    def _quiet(self) -> int:
        """A configuration that says only errors: the library warns that this handle has no brokers to connect to."""
        configuration = self._lib.rd_kafka_conf_new()
        self._lib.rd_kafka_conf_set(configuration, b"log_level", b"3", None, 0)
        return int(configuration)


_TOPIC_ALREADY_EXISTS = 36

_SIGNATURES: Mapping[str, tuple[Any, Sequence[Any]]] = {
    "rd_kafka_conf_new": (c.c_void_p, []),
    "rd_kafka_conf_set": (c.c_int, [c.c_void_p, c.c_char_p, c.c_char_p, c.c_char_p, c.c_size_t]),
    "rd_kafka_new": (c.c_void_p, [c.c_int, c.c_void_p, c.c_char_p, c.c_size_t]),
    "rd_kafka_destroy": (None, [c.c_void_p]),
    "rd_kafka_mock_cluster_new": (c.c_void_p, [c.c_void_p, c.c_int]),
    "rd_kafka_mock_cluster_destroy": (None, [c.c_void_p]),
    "rd_kafka_mock_cluster_bootstraps": (c.c_char_p, [c.c_void_p]),
    "rd_kafka_mock_group_initial_rebalance_delay_ms": (None, [c.c_void_p, c.c_int32]),
    "rd_kafka_mock_topic_create": (c.c_int, [c.c_void_p, c.c_char_p, c.c_int, c.c_int]),
    "rd_kafka_mock_push_request_errors_array": (None, [c.c_void_p, c.c_int16, c.c_size_t, c.POINTER(c.c_int)]),
    "rd_kafka_mock_clear_request_errors": (None, [c.c_void_p, c.c_int16]),
    "rd_kafka_mock_broker_set_down": (c.c_int, [c.c_void_p, c.c_int32]),
    "rd_kafka_mock_broker_set_up": (c.c_int, [c.c_void_p, c.c_int32]),
    "rd_kafka_mock_broker_set_rtt": (c.c_int, [c.c_void_p, c.c_int32, c.c_int]),
    "rd_kafka_mock_partition_delete_records": (c.c_int, [c.c_void_p, c.c_char_p, c.c_int32, c.c_int64]),
}


def _librdkafka() -> c.CDLL:
    """The C library inside confluent-kafka's wheel, found through the extension module that links it."""
    try:
        spec = importlib.util.find_spec("confluent_kafka.cimpl")
    except ModuleNotFoundError as error:
        raise EmbeddedUnavailable("confluent-kafka is missing: pip install 'assay[embedded]'") from error
    if spec is None or spec.origin is None:
        raise EmbeddedUnavailable("confluent-kafka has no C extension here")
    library = c.CDLL(spec.origin)
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError as error:
            raise EmbeddedUnavailable(f"this confluent-kafka does not export {name}") from error
        function.restype, function.argtypes = result, arguments
    return library
