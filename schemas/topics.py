"""The one topics table: the only topic names in the repository, and what each carries, for whom, for how long."""

from __future__ import annotations

from typing import NamedTuple

from schemas.alerts import Alert
from schemas.canary import CanaryRun
from schemas.control import KillSwitch
from schemas.decisions import HumanQueueItem, ItemDecision, RoundAbandoned, ServedOutput, Withdrawal
from schemas.drafts import Draft
from schemas.labels import HumanLabel, LabelTask, SampledItem
from schemas.message import Message
from schemas.reports import MetricReport
from schemas.revisions import RevisionRequest
from schemas.telemetry import AttemptRecord
from schemas.verdicts import DraftVerdict

MAX_MESSAGE_BYTES = 1_048_576
"""The largest record of a producer or of ours, in bytes (key, value and headers)."""

DEAD_LETTER_BYTES = MAX_MESSAGE_BYTES + 65_536
"""A dead letter keeps the original bytes and adds headers."""


class Topic(NamedTuple):
    """One row. ``retention_days`` None = for ever; a compacted topic keeps the last record of each key for ever."""

    name: str
    messages: tuple[type[Message], ...]
    meaning: str
    written_by: str
    read_by: str
    partitions: int = 12
    retention_days: int | None = 14
    compacted: bool = False
    max_message_bytes: int = MAX_MESSAGE_BYTES


DRAFTS = Topic(
    "drafts", (Draft,), "texts to judge", "producers", "judge; trace, sampling, rejudge by offset", retention_days=90
)
VERDICTS = Topic(
    "verdicts", (DraftVerdict,), "all criteria of one attempt, and its outcome", "judge", "reflector, producers",
    retention_days=28,
)  # fmt: skip
REVISION_REQUESTS = Topic(
    "revision-requests", (RevisionRequest,), "why a draft failed, as data", "reflector", "producers", retention_days=7
)
SERVED = Topic(
    "served", (ServedOutput, Withdrawal), "what may be shown for an item, the newest counts", "judge",
    "downstream consumers", retention_days=None, compacted=True,
)  # fmt: skip
TELEMETRY = Topic(
    "telemetry", (AttemptRecord, ItemDecision, RoundAbandoned), "one record an attempt, one end a round",
    "judge; stats (abandoned rounds)", "stats, sampling", retention_days=400,
)  # fmt: skip
HUMAN_QUEUE = Topic(
    "human-queue", (HumanQueueItem,), "dropped drafts for a person", "judge", "reviewers' tool", retention_days=7
)
LABEL_TASKS = Topic(
    "label-tasks", (LabelTask,), "texts for raters to label, blind", "`assay sample`",
    "raters' tool, `assay labels export`", retention_days=90,
)  # fmt: skip
SAMPLES = Topic(
    "samples", (SampledItem,), "what raters must not see of a task: stratum, judge's labels, known answers",
    "`assay sample`", "stats, `assay labels status`", retention_days=400,
)  # fmt: skip
LABELS = Topic(
    "labels", (HumanLabel,), "what raters said", "raters' tool, `assay labels import`", "stats, `assay labels status`",
    retention_days=400,
)  # fmt: skip
CANARY = Topic(
    "canary",
    (CanaryRun,),
    "the fixed labelled set, judged again",
    "canary",
    "stats, report",
    partitions=1,
    retention_days=400,
)
METRICS = Topic(
    "metrics", (MetricReport,), "one window's figures", "stats", "dashboards, report", partitions=1, retention_days=400
)
ALERTS = Topic(
    "alerts",
    (Alert,),
    "what on-call must know, and what to do",
    "stats",
    "on-call, report",
    partitions=1,
    retention_days=400,
)
CONTROL = Topic(
    "control", (KillSwitch,), "operator's commands, the newest of each kind counts", "operator", "every worker",
    partitions=1, retention_days=None, compacted=True,
)  # fmt: skip
DEAD_LETTERS = Topic(
    "dead-letters", (), "records that no worker can handle: their bytes, and why in the headers", "every worker",
    "on-call, stats", retention_days=28, max_message_bytes=DEAD_LETTER_BYTES,
)  # fmt: skip

TOPICS: tuple[Topic, ...] = (
    DRAFTS, VERDICTS, REVISION_REQUESTS, SERVED, TELEMETRY, HUMAN_QUEUE, LABEL_TASKS, SAMPLES, LABELS, CANARY, METRICS,
    ALERTS, CONTROL, DEAD_LETTERS,
)  # fmt: skip

_BY_MESSAGE = {message: topic for topic in TOPICS for message in topic.messages}
_BY_NAME = {topic.name: topic for topic in TOPICS}


def topic_of(message: Message | type[Message]) -> Topic:
    """The topic that carries a message: decided by its class alone."""
    return _BY_MESSAGE[message if isinstance(message, type) else type(message)]


def topic_named(name: str) -> Topic | None:
    """The row of a bare topic name (without prefix), or None."""
    return _BY_NAME.get(name)
