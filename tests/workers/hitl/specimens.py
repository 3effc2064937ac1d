"""Decisions of one week, the drafts they were made on, and what the judge said of them."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas.decisions import Decision, ItemDecision
from schemas.drafts import Context, Draft
from schemas.ids import event_id
from workers.hitl.population import Population, Week

WEEK = Week.named("2026-W48")
AT = datetime(2026, 11, 25, 12, tzinfo=UTC)
STRATA = frozenset({Decision.SERVED_FIRST_PASS, Decision.SERVED_AFTER_REVISION, Decision.DROPPED})


def draft(k: int) -> Draft:
    return Draft(
        item_id=f"sku-{k}",
        text=f"The lamp number {k} is 30 cm tall and gives warm light to a whole room of an evening.",
        context=Context(instruction="Describe the lamp."),
        generator_model="gen-writer@2026-10-01",
    )


def decision(
    k: int,
    stratum: Decision = Decision.SERVED_FIRST_PASS,
    *slices: str,
    at: datetime = AT,
    attempt: int = 0,
    uri: str = "kafka://assay.drafts/0/0",
) -> ItemDecision:
    one = draft(k)
    return ItemDecision(
        item_id=one.item_id,
        event_id=event_id("item_decision", k),
        round_id=event_id("round", k),
        decision=stratum,
        attempt=attempt,
        text_sha256=one.text_sha256,
        judged_sha256=one.judged_sha256,
        draft_uri=uri,
        bom_version="bom-3f2a9c0b71d4e856",
        enforced=True,
        released="nothing",
        slices=slices,
        decided_at=at,
    )


def population(*decisions: ItemDecision) -> Population:
    found = Population(WEEK, STRATA)
    for one in decisions:
        found.take(one)
    return found
