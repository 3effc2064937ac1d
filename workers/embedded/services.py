"""Broker and cache together: in this process (``InProcess``) or as one child process (``ChildServices``).

The child obeys JSON lines on its standard input, ``{"op": "create_topic", "name": ..., "partitions": ...}``, and
answers each with one line. When its input ends it ends too: a parent that was killed leaves no orphan behind.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Protocol, Self

from workers.embedded.broker import EmbeddedBroker, EmbeddedUnavailable
from workers.embedded.cache import EmbeddedCache

OPERATIONS = (
    "create_topic",
    "push_errors",
    "clear_errors",
    "broker_down",
    "broker_up",
    "round_trip",
    "delete_records",
)
"""What a parent may ask of the child: the broker's methods of these names."""


class Services(Protocol):
    """What users of embedded services need to know."""

    @property
    def kafka(self) -> str: ...
    @property
    def redis(self) -> str: ...
    def create_topic(self, name: str, partitions: int) -> None: ...
    def close(self) -> None: ...


class InProcess:
    """Both services in this process, for the demo."""

    def __init__(self, *, brokers: int = 1) -> None:
        self.broker = EmbeddedBroker(brokers=brokers)
        self.cache = EmbeddedCache()
        self.kafka = self.broker.bootstrap
        self.redis = self.cache.url

    def create_topic(self, name: str, partitions: int) -> None:
        self.broker.create_topic(name, partitions)

    def close(self) -> None:
        self.cache.close()
        self.broker.close()


class ChildServices:
    """Both services in one child process, so that workers can be killed and the services live on."""

    def __init__(self, *, brokers: int = 1) -> None:
        command = [sys.executable, "-m", "workers.embedded.services", str(brokers)]
        # A session of its own: Ctrl-C must not end it before the workers have drained.
        self._child = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True
        )
        ready = self._answer()
        if "unavailable" in ready:
            self.close()
            raise EmbeddedUnavailable(ready["unavailable"])
        self.kafka: str = ready["kafka"]
        self.redis: str = ready["redis"]

    @property
    def pid(self) -> int:
        return self._child.pid

    def lost(self) -> str | None:
        """Why the services are no more; None while they live."""
        code = self._child.poll()
        return None if code is None else f"the embedded broker and cache ended with code {code}: their records are gone"

    def create_topic(self, name: str, partitions: int) -> None:
        self._ask("create_topic", name=name, partitions=partitions)

    def push_errors(self, api: str, codes: Sequence[int]) -> None:
        self._ask("push_errors", api=api, codes=list(codes))

    def clear_errors(self, api: str) -> None:
        self._ask("clear_errors", api=api)

    def broker_down(self, broker: int = 1) -> None:
        self._ask("broker_down", broker=broker)

    def broker_up(self, broker: int = 1) -> None:
        self._ask("broker_up", broker=broker)

    def round_trip(self, broker: int, milliseconds: int) -> None:
        self._ask("round_trip", broker=broker, milliseconds=milliseconds)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        self._ask("delete_records", topic=topic, partition=partition, before=before)

    def close(self) -> None:
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, op: str, **arguments: Any) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"op": op, **arguments}) + "\n")
        self._child.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise ValueError(answer["error"])

    def _answer(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise EmbeddedUnavailable(f"the embedded services ended (exit code {self._child.wait()})")
        answer: dict[str, Any] = json.loads(line)
        return answer


def serve(brokers: int) -> None:
    """The child: start, say where, obey until the input ends."""
    try:
        services = InProcess(brokers=brokers)
    except EmbeddedUnavailable as error:
        _say({"unavailable": str(error)})
        return
    _say({"kafka": services.kafka, "redis": services.redis})
    for line in sys.stdin:
        _say(_obey(services.broker, json.loads(line)))
    services.close()


def _obey(broker: EmbeddedBroker, command: dict[str, Any]) -> dict[str, Any]:
    op = command.pop("op", None)
    if op not in OPERATIONS:
        return {"error": f"unknown operation {op!r}"}
    try:
        getattr(broker, op)(**command)
    except (TypeError, ValueError, KeyError) as error:
        return {"error": f"{op}: {error!r}"}
    return {"ok": op}


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
