"""A real Apache Kafka (KRaft): one node, or three that replicate everything; a node can be stopped, killed, started."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.services.jars import kafka_jars
from tests.services.process import Process, ServiceFailed, free_port, listens, own_directory
from tests.services.tls import Certificates, make_certificates

USER, PASSWORD = "assay", "a-password-for-tests"
_CLUSTER_ID = "YXNzYXktdGVzdHMtb25seQ"  # any 16 bytes in base64url

_LOGGING = """
Configuration:
  Appenders: {Console: {name: out, PatternLayout: {pattern: "%d %p %c: %m%n"}}}
  Loggers: {Root: {level: WARN, AppenderRef: [{ref: out}]}}
"""


class RealKafka:
    """A running cluster. ``secure``: a second listener that wants TLS and a password (SCRAM-SHA-512 or PLAIN)."""

    def __init__(self, *, nodes: int = 1, secure: bool = False) -> None:
        self._directory = own_directory()
        self._jars = kafka_jars()
        self._ports = [free_port() for _ in range(nodes)]
        self._controllers = [free_port() for _ in range(nodes)]
        self._secure_port = free_port() if secure else None
        self.certificates: Certificates | None = make_certificates(self._directory) if secure else None
        (self._directory / "log4j2.yaml").write_text(_LOGGING)
        began = time.monotonic()
        self.nodes = [self._node(number) for number in range(1, nodes + 1)]
        try:
            for node in self.nodes:
                node.launch()
            self._wait()
        except ServiceFailed:
            self.close()
            raise
        self.start_s = time.monotonic() - began

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self._ports)

    @property
    def secure_bootstrap(self) -> str:
        assert self._secure_port is not None
        return f"127.0.0.1:{self._secure_port}"

    def stop(self, node: int = 1) -> None:
        """Stop one node in order (it hands its partitions over first)."""
        self.nodes[node - 1].stop()

    def kill(self, node: int = 1) -> None:
        """kill -9 of one node."""
        self.nodes[node - 1].kill()

    def start(self, node: int = 1) -> float:
        """Start a stopped node again with the same data and port; seconds until it answers."""
        began = time.monotonic()
        self.nodes[node - 1].launch()
        self._wait()
        return time.monotonic() - began

    def close(self) -> None:
        for node in self.nodes:
            node.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _node(self, number: int) -> Process:
        home = self._directory / f"node-{number}"
        home.mkdir()
        properties = home / "server.properties"
        properties.write_text("\n".join(self._properties(number, home)) + "\n")
        self._format(properties)
        command = self._java("kafka.Kafka", str(properties), heap="512m", home=home)
        return Process(command, log=home / "log")

    def _properties(self, number: int, home: Path) -> Sequence[str]:
        replicas = min(3, len(self._ports))
        voters = ",".join(f"{i}@127.0.0.1:{port}" for i, port in enumerate(self._controllers, start=1))
        host = f"PLAINTEXT://127.0.0.1:{self._ports[number - 1]}"
        secure = f",SASL_SSL://127.0.0.1:{self._secure_port}" if self._secure_port else ""
        return [
            "process.roles=broker,controller",
            f"node.id={number}",
            f"controller.quorum.voters={voters}",
            f"listeners={host}{secure},CONTROLLER://127.0.0.1:{self._controllers[number - 1]}",
            f"advertised.listeners={host}{secure}",
            "controller.listener.names=CONTROLLER",
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
            f"log.dirs={home / 'data'}",
            "auto.create.topics.enable=false",
            f"default.replication.factor={replicas}",
            f"min.insync.replicas={max(1, replicas - 1)}",
            "offsets.topic.num.partitions=4",
            f"offsets.topic.replication.factor={replicas}",
            "transaction.state.log.num.partitions=4",
            f"transaction.state.log.replication.factor={replicas}",
            f"transaction.state.log.min.isr={max(1, replicas - 1)}",
            # Three seconds by default: every test with a consumer group would wait for them.
            "group.initial.rebalance.delay.ms=0",
            # A killed node is given up after 2 s instead of 9.
            "broker.session.timeout.ms=2000",
            "broker.heartbeat.interval.ms=500",
            # Six seconds by default: a killed worker is missed after three here.
            "group.min.session.timeout.ms=1000",
            # Fifteen seconds by default between two looks at compacted topics.
            "log.cleaner.backoff.ms=200",
            "num.network.threads=2",
            "num.io.threads=4",
            *(self._secure_properties() if self.certificates else ()),
        ]

    def _secure_properties(self) -> Sequence[str]:
        assert self.certificates is not None
        listener = "listener.name.sasl_ssl"
        modules = "org.apache.kafka.common.security"
        return [
            "ssl.keystore.type=PEM",
            f"ssl.keystore.location={self.certificates.keystore}",
            f"{listener}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512",
            f"{listener}.scram-sha-512.sasl.jaas.config={modules}.scram.ScramLoginModule required;",
            f'{listener}.plain.sasl.jaas.config={modules}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
        ]

    def _format(self, properties: Path) -> None:
        scram = ["--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]"] if self.certificates else []
        command = self._java(
            "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(properties), *scram,
            heap="64m", home=properties.parent,
        )  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ServiceFailed(f"Kafka's storage could not be formatted:\n{(done.stdout + done.stderr)[-1500:]}")

    def _java(self, main: str, *arguments: str, heap: str, home: Path) -> list[str]:
        return [
            "java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
            f"-Dlog4j2.configurationFile={self._directory / 'log4j2.yaml'}", f"-Dkafka.logs.dir={home}",
            "-cp", f"{self._jars}/*", main, *arguments,
        ]  # fmt: skip

    def _wait(self) -> None:
        """Until every running node is part of the cluster: an open port comes earlier."""
        running = [(node, port) for node, port in zip(self.nodes, self._ports, strict=True) if node.running]
        for node, port in running:
            node.wait_until(partial(_is_part_of_cluster, port, len(running)))


def _is_part_of_cluster(port: int, brokers: int) -> bool:
    return listens(port) and brokers_at(port) >= brokers


def brokers_at(port: int) -> int:
    """How many brokers the one at this port knows; 0 when it does not answer."""
    client = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
    try:
        return len(client.list_topics(timeout=2.0).brokers)
    except KafkaException:
        return 0
