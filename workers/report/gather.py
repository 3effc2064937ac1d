"""Reads what a report is made of: three topics, from their beginning to where they end now."""

from __future__ import annotations

from schemas.codec import decode
from schemas.errors import BadMessage
from schemas.headers import CE_TYPE, header
from schemas.topics import ALERTS, CANARY, METRICS
from workers.report.published import Published
from workers.runtime.connection import Connection
from workers.runtime.naming import Names
from workers.runtime.reading import read_to_end
from workers.runtime.records import InRecord

READ = (METRICS, ALERTS, CANARY)


async def gather(kafka: Connection, names: Names) -> Published:
    """Everything published. Disturbs no worker. Raises DependencyUnavailable when a topic cannot be read."""
    published = Published()
    async for record in read_to_end(kafka, [names.full(topic) for topic in READ]):
        _add(published, record, names)
    return published


def _add(published: Published, record: InRecord, names: Names) -> None:
    topic = names.topic(record.topic)
    if topic is None or record.value is None:
        return
    try:
        published.add(decode(topic, record.value, ce_type=header(record.headers, CE_TYPE)).message)
    except BadMessage:
        published.unreadable += 1
