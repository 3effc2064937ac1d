"""The plan for a cluster's topics: what is created, altered, refused, and when nothing is done."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.topics import CONTROL, DEAD_LETTERS, DRAFTS, SERVED, TOPICS, Topic
from workers.runtime.topic_plan import Alter, Change, Create, Existing, Refuse, Wanted, plan, wanted


def as_wanted(topic: Wanted, **own: str) -> Existing:
    configs = {**topic.configs, "min.insync.replicas": "1", **own}
    return Existing(topic.partitions, 1, configs, {**topic.configs, **own})


def existing_drafts(**changed: str) -> tuple[Wanted, dict[str, Existing]]:
    topic = wanted(DRAFTS, "assay.")
    configs = {**topic.configs, **{name.replace("_", "."): value for name, value in changed.items()}}
    return topic, {topic.name: Existing(12, 1, configs, configs)}


def test_a_row_becomes_kafkas_own_words() -> None:
    assert wanted(DRAFTS, "assay.") == Wanted(
        "assay.drafts", 12,
        {"cleanup.policy": "delete", "retention.ms": "7776000000", "max.message.bytes": "1048576"},  # 90 x 86,400,000
    )  # fmt: skip
    assert wanted(SERVED, "a.").configs == {"cleanup.policy": "compact", "max.message.bytes": "1048576"}
    assert wanted(Topic("t", (), "", "", "", retention_days=None), "").configs["retention.ms"] == "-1"


def test_other_partitions_are_for_topics_that_have_several() -> None:
    assert wanted(DRAFTS, "", partitions=24).partitions == 24
    assert wanted(CONTROL, "", partitions=24).partitions == 1


def test_missing_topics_are_created_with_the_copies_that_were_asked_for() -> None:
    topic = wanted(DRAFTS, "assay.")
    assert plan([topic], {}, replication=1) == [Create("assay.drafts", 12, 1, topic.configs)]
    (create,) = plan([topic], {}, replication=3)
    assert isinstance(create, Create)
    assert create.configs["min.insync.replicas"] == "2"


def test_nothing_is_done_twice() -> None:
    topics = [wanted(row, "assay.") for row in TOPICS]
    assert plan(topics, {topic.name: as_wanted(topic) for topic in topics}, replication=1) == []


@pytest.mark.parametrize("has", [6, 24])
def test_partitions_of_a_topic_that_exists_are_never_changed(has: int) -> None:
    topic, existing = existing_drafts()
    (refusal,) = plan([topic], {topic.name: existing[topic.name]._replace(partitions=has)}, replication=1, shrink=True)
    assert isinstance(refusal, Refuse)
    assert f"it has {has} partitions, 12 are wanted" in refusal.why


def test_what_grows_is_altered_and_other_configs_stay() -> None:
    topic, existing = existing_drafts(retention_ms="1000", segment_bytes="7")
    assert plan([topic], existing, replication=1) == [
        Alter("assay.drafts", (Change("retention.ms", "1000", "7776000000"),), {**topic.configs, "segment.bytes": "7"})
    ]


@pytest.mark.parametrize(
    ("config", "now"), [("retention_ms", "-1"), ("max_message_bytes", "9999999"), ("cleanup_policy", "compact")]
)
def test_what_takes_records_away_is_refused_unless_told_otherwise(config: str, now: str) -> None:
    topic, existing = existing_drafts(**{config: now})
    (refusal,) = plan([topic], existing, replication=1)
    assert isinstance(refusal, Refuse)
    assert f"{config.replace('_', '.')} {now} -> " in refusal.why
    (alter,) = plan([topic], existing, replication=1, shrink=True)
    assert isinstance(alter, Alter)


def test_three_copies_want_two_brokers_to_have_each_record_and_more_is_left_alone() -> None:
    topic, existing = existing_drafts()
    three = existing[topic.name]._replace(replication=3)

    def insync(now: str) -> list[object]:
        return list(plan([topic], {topic.name: three._replace(configs={**three.configs, "min.insync.replicas": now})},
                         replication=3))  # fmt: skip

    assert [str(action) for action in insync("1")] == ["alter assay.drafts: min.insync.replicas 1 -> 2"]
    assert insync("2") == insync("3") == []


@settings(derandomize=True, max_examples=200)
@given(
    st.integers(-1, 10**11), st.integers(1024, 10**7), st.sampled_from(["delete", "compact", "compact,delete"]),
    st.booleans(),
)  # fmt: skip
def test_a_plan_carried_out_leaves_nothing_but_what_it_refused(
    retention: int, limit: int, policy: str, shrink: bool
) -> None:
    topic, existing = existing_drafts(
        retention_ms=str(retention), max_message_bytes=str(limit), cleanup_policy=policy, flush_ms="5"
    )
    actions = plan([topic], existing, replication=1, shrink=shrink)
    for action in actions:
        if isinstance(action, Alter):
            before = existing[topic.name]
            existing[topic.name] = before._replace(configs={**before.configs, **action.configs}, own=action.configs)
    refused = [action for action in actions if isinstance(action, Refuse)]
    assert plan([topic], existing, replication=1, shrink=shrink) == refused
    assert existing[topic.name].own["flush.ms"] == "5"
    assert not (shrink and refused)


def test_topics_take_what_the_settings_allow_and_never_less_than_the_table() -> None:
    def limit(topic: Topic, settings_bytes: int) -> int:
        return int(wanted(topic, "", max_message_bytes=settings_bytes).configs["max.message.bytes"])

    assert (limit(DRAFTS, 2_000_000), limit(DRAFTS, 2_000)) == (2_000_000, 1_048_576)
    assert (limit(DEAD_LETTERS, 2_000_000), limit(DEAD_LETTERS, 2_000)) == (2_065_536, 1_114_112)
