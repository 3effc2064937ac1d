"""Kafka's jars, fetched once by Maven into ``.services/``; the version stands in pom.xml."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services.process import CACHE, ServiceFailed

POM = Path(__file__).with_name("pom.xml")


def kafka_version() -> str:
    found = ElementTree.parse(POM).findtext(".//{*}dependency/{*}version")
    assert found is not None
    return found


def why_no_kafka() -> str | None:
    """What is missing to start Kafka here, or None."""
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    return f"{' and '.join(missing)} not found (Debian: openjdk-17-jre-headless, maven)" if missing else None


def kafka_jars() -> Path:
    """Directory of the jars; fetched when they are not there yet (about 45 MB). Raises ServiceFailed."""
    jars = CACHE / f"kafka-{kafka_version()}"
    with _alone():
        if not jars.exists():
            _fetch(jars)
    return jars


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time: tests run in several, and Maven's own store is no place to meet."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "fetching.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(jars: Path) -> None:
    fetched = CACHE / "fetching"
    shutil.rmtree(fetched, ignore_errors=True)
    command = [
        "mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies",
        f"-DoutputDirectory={fetched}", "-DincludeScope=runtime",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ServiceFailed(f"Maven could not fetch Kafka:\n{(done.stdout + done.stderr)[-1500:]}")
    fetched.rename(jars)
