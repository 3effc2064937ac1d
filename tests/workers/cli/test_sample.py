"""``assay sample`` on a broker: what is drawn, what is gone, and that a repeat adds nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner, Result

from schemas.decisions import Decision
from schemas.labels import LabelTask, SampledItem, TaskKind
from schemas.topics import DRAFTS, LABEL_TASKS, SAMPLES, TELEMETRY
from tests.workers.canary.specimens import BOM_FOLDER
from tests.workers.hitl.specimens import decision, draft
from tests.workers.stats_consumer.said import attempt
from workers.cli.main import app
from workers.embedded.services import ChildServices
from workers.hitl.records import messages_of
from workers.hitl.records import publish as publish_all
from workers.publish.records import draft_record
from workers.runtime.connection import Connection
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer

AT = datetime(2026, 11, 25, 12, tzinfo=UTC)


class Scene:
    """Ten decided items; the draft of the last one is not on the topic."""

    def __init__(self, kafka: str, prefix: str) -> None:
        self.kafka, self.names = Connection((kafka,)), Names(prefix)
        self.env = {"ASSAY_KAFKA": kafka, "ASSAY_TOPIC_PREFIX": prefix, "ASSAY_BOM": str(BOM_FOLDER), "COLUMNS": "160"}

    async def fill(self) -> None:
        producer = ConfirmedProducer(self.kafka, max_message_bytes=1_000_000)
        await producer.start()
        await producer.produce([draft_record(draft(k), self.names, source="/test", at=AT) for k in range(9)])
        await producer.stop()
        drafts = self.names.full(DRAFTS)
        strata = (Decision.SERVED_FIRST_PASS, Decision.DROPPED)
        decisions = [decision(k, strata[k % 2], uri=f"kafka://{drafts}/0/{k}") for k in range(10)]
        await publish_all(self.kafka, self.names, decisions, max_bytes=1_000_000, at=AT)

    async def fill_revised(self) -> None:
        """One more item, whose first draft was revised."""
        first = draft(20).model_copy(update={"text": "The first draft of it."})
        producer = ConfirmedProducer(self.kafka, max_message_bytes=1_000_000)
        await producer.start()
        await producer.produce([draft_record(one, self.names, source="/test", at=AT) for one in (first, draft(20))])
        await producer.stop()
        uris = [f"kafka://{self.names.full(DRAFTS)}/0/{offset}" for offset in (9, 10)]
        decided = decision(20, Decision.SERVED_AFTER_REVISION, attempt=1, uri=uris[1])
        records = [
            attempt(decided.item_id, number, at=AT).model_copy(
                update={"round_id": decided.round_id, "draft_uri": uri, "judged_sha256": judged}
            )
            for number, (uri, judged) in enumerate(zip(uris, (first.judged_sha256, decided.judged_sha256), strict=True))
        ]
        await publish_all(self.kafka, self.names, [*records, decided], max_bytes=1_000_000, at=AT)

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, ["sample", *arguments], env=self.env)

    def tasks(self) -> list[LabelTask]:
        return [m for m in asyncio.run(self._all()) if isinstance(m, LabelTask)]

    def sampled(self) -> list[SampledItem]:
        return [m for m in asyncio.run(self._all()) if isinstance(m, SampledItem)]

    async def _all(self) -> list[object]:
        return [message async for message in messages_of(self.kafka, self.names, LABEL_TASKS, SAMPLES)]


@pytest.fixture
def scene(services: ChildServices, unique: Callable[[str], str]) -> Scene:
    prefix = unique("sample") + "."
    for topic in (DRAFTS, TELEMETRY, LABEL_TASKS, SAMPLES):
        services.create_topic(prefix + topic.name, 1)
    made = Scene(services.kafka, prefix)
    asyncio.run(made.fill())
    return made


def test_a_draw_is_published_once_and_says_which_drafts_are_gone(scene: Scene):
    plain = ("--week", "2026-W48", "--gold-items", "0", "--json")
    first = scene.run(*plain)
    assert first.exit_code == 1, first.output  # one draft is gone
    told = json.loads(first.stdout)
    assert (told["published"], len(told["gone"])) == (9, 1)
    assert "nothing has been written there" in told["gone"][0]["why"]
    assert {task.text for task in scene.tasks()} == {draft(k).text for k in range(9)}
    assert {s.task_id for s in scene.sampled()} == {t.task_id for t in scene.tasks()}
    again = json.loads(scene.run(*plain).stdout)
    assert (again["published"], again["before"]) == (0, 9)
    assert len(scene.tasks()) == 9


def test_ten_of_the_boms_gold_items_are_mixed_in_with_their_answers_beside_them(scene: Scene):
    told = json.loads(scene.run("--week", "2026-W48", "--json").stdout)
    assert (told["gold"], told["published"]) == (10, 19)
    gold = [one for one in scene.sampled() if one.kind is TaskKind.GOLD]
    assert len(gold) == 10
    assert all(one.gold_votes for one in gold)


def test_a_pair_is_the_first_draft_and_the_revision_of_a_round(scene: Scene):
    """The sample asks for the revision already, which was decided on: the pair adds the first draft."""
    asyncio.run(scene.fill_revised())
    told = json.loads(scene.run("--week", "2026-W48", "--gold-items", "0", "--json").stdout)
    assert told["pairs"] == {"population": 1, "drawn": 1, "inclusion_probability": 1.0}
    of_round = [one for one in scene.sampled() if one.item_id == "sku-20"]
    assert sorted((str(one.kind), one.attempt) for one in of_round) == [("pair", 0), ("sample", 1)]
    texts = {task.text for task in scene.tasks() if task.item_id == "sku-20"}
    assert texts == {"The first draft of it.", draft(20).text}


def test_another_draw_of_a_drawn_week_is_refused(scene: Scene):
    scene.run("--week", "2026-W48", "--audit", "3")
    other = scene.run("--week", "2026-W48")
    assert other.exit_code == 1
    assert "What was drawn first stands" in other.output


def test_of_a_week_without_decisions_nothing_is_drawn_not_even_gold_items(scene: Scene):
    empty = scene.run("--week", "2026-W20")
    assert empty.exit_code == 1
    assert "no decision of 2026-W20" in empty.output
    assert "2026-W48" in empty.output
    assert scene.tasks() == []


def test_a_dry_run_shows_the_cells_and_publishes_nothing(scene: Scene):
    shown = scene.run("--week", "2026-W48", "--dry-run", "--json")
    assert shown.exit_code == 0, shown.output
    cells = json.loads(shown.stdout)["cells"]
    assert [(c["stratum"], c["population"], c["drawn"]) for c in cells] == [
        ("dropped", 5, 5),
        ("served_first_pass", 5, 5),
    ]
    assert scene.tasks() == []


def test_a_week_that_is_not_over_and_a_week_that_is_none_are_usage_errors(scene: Scene):
    assert scene.run("--week", "2999-W01").exit_code == 2
    assert scene.run("--week", "last").exit_code == 2
