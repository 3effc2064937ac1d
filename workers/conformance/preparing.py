"""From a BOM to the ground that the checks stand on: the judge bare, behind a cache, and over a script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from schemas.bom import Bom, Provider
from schemas.drafts import Draft
from schemas.errors import BomError
from schemas.verdicts import AttemptOutcome, CriterionVerdict, DraftVerdict
from workers.bom.yaml_files import read_yaml
from workers.conformance.anchor_file import FILE, Anchor, AnchorState
from workers.conformance.comparing import Dominance, compared, scored
from workers.conformance.ground import AT_ONCE, MIN_COVERAGE, RUNS, GoldRun, Ground
from workers.conformance.judging import Run, Subject, Verdicts, run_all
from workers.conformance.suffixes import Suffix
from workers.judge.build import Surroundings, build_instrument
from workers.judge.cache import VerdictCache
from workers.judge.gate import decide, enforced_criteria, gated_labels
from workers.judge.instrument import CriterionJudge, Instrument
from workers.judge.providers.scripted import Answer
from workers.judge.worker import JudgeWorker
from workers.runtime.origin import Origin

_SCRIPT = "conformance-script.yaml"


@dataclass(frozen=True)
class Options:
    """What a caller may choose. ``gold`` are drafts with their gold labels, criterion -> label."""

    suffixes: Sequence[Suffix] = ()
    gold: Sequence[tuple[Draft, Mapping[str, str]]] = ()
    dominances: Sequence[Dominance] = ()
    envelope: str | None = None
    runs: int = RUNS
    at_once: int = AT_ONCE
    min_coverage: float = MIN_COVERAGE


async def prepare(
    bom: Bom, around: Surroundings, drafts: Sequence[Draft], options: Options, *, cache: VerdictCache | None
) -> Ground:
    """Builds the judge, shows it every draft once, and says what the BOM publishes.

    ``around`` has no cache: the judge is tested bare, for a cache would hide what it does. ``cache`` is one of the
    suite's own.
    """
    subject = build_instrument(bom, around)
    baseline = await run_all(subject, drafts, at_once=options.at_once)
    on_gold = await run_all(subject, [draft for draft, _ in options.gold], at_once=options.at_once)
    return Ground(
        subject=subject,
        baseline=baseline,
        gate=Gate(bom),
        enforced=enforced_criteria(bom),
        cached=None if cache is None else build_instrument(bom, replace(around, cache=cache)),
        replying=Scripting(bom, around),
        max_draft_chars=bom.decision.max_draft_chars,
        suffixes=options.suffixes,
        gold=[GoldRun(run, gold) for run, (_, gold) in zip(on_gold, options.gold, strict=True)],
        pairs=await compared(subject, baseline, bom, at_once=options.at_once),
        ordinal=await scored(subject, options.dominances, bom, at_once=options.at_once),
        anchor=anchor_of(bom),
        envelope=options.envelope,
        records=await records_of(bom, baseline),
        runs=options.runs,
        at_once=options.at_once,
        min_coverage=options.min_coverage,
        notes={"temperatures": {name: binding.temperature for name, binding in sorted(bom.bindings.items())}},
    )


class Gate:
    """What the BOM's gate makes of the verdicts on a first draft."""

    def __init__(self, bom: Bom) -> None:
        self._charter, self._enforced = bom.charter, enforced_criteria(bom)

    def __call__(self, verdicts: Verdicts) -> AttemptOutcome:
        labels = gated_labels(verdicts, self._charter.criteria.must_have, enforced=self._enforced)
        return decide(labels, 0, retry_budget=self._charter.retry_budget)


class Scripting:
    """The BOM's judge with one thing changed: whatever its models are asked, they say what is written here.

    Template, rules, admission, parser and gate stay as they are. A failure is not repeated: waiting
    for it to come again shows nothing.
    """

    def __init__(self, bom: Bom, around: Surroundings) -> None:
        self._bom, self._around = bom, replace(around, cache=None, heard=None)

    def __call__(self, answer: Answer, *, deadline_s: float | None = None) -> Subject:
        changes = {"provider": Provider.SCRIPTED, "file": _SCRIPT, "max_attempts": 1, "re_asks": 0}
        script = json.dumps({"default": answer.model_dump(mode="json")})
        decision = self._bom.decision
        if deadline_s is not None:
            decision = decision.model_copy(update={"draft_deadline_s": deadline_s})
        bom = replace(
            self._bom,
            bindings={name: one.model_copy(update=changes) for name, one in self._bom.bindings.items()},
            files={**self._bom.files, _SCRIPT: script.encode()},
            decision=decision,
        )
        return build_instrument(bom, self._around)


def anchor_of(bom: Bom) -> AnchorState:
    """What the BOM publishes of its human anchor; a file that cannot be read is a problem, not an anchor."""
    needed = frozenset(criterion.id for criterion in bom.charter.criteria.must_have if criterion.judge is not None)
    if FILE not in bom.files:
        return AnchorState(None, needed, bom.guideline_version)
    try:
        return AnchorState(read_yaml(bom.files, FILE, Anchor), needed, bom.guideline_version)
    except BomError as error:
        return AnchorState(None, needed, bom.guideline_version, str(error))


async def records_of(bom: Bom, baseline: Sequence[Run]) -> list[Mapping[str, Any]]:
    """The verdict records that the judge worker publishes for these runs, as they stand on the topic."""
    records: list[Mapping[str, Any]] = []
    for number, run in enumerate(baseline):
        if run.error is not None:
            continue
        draft = Draft.model_validate({**run.draft.model_dump(), "attempt": 0, "revises": None})
        said = [CriterionJudge(verdict.criterion_id, rules=_Said(verdict), model=None) for verdict in run.verdicts]
        instrument = Instrument(said, deadline_s=bom.decision.draft_deadline_s)
        worker = JudgeWorker(bom, instrument, now=lambda: datetime.now(UTC))
        messages = await worker(draft, Origin(f"conformance-{number}", f"kafka://conformance/0/{number}"))
        records += [one.model_dump(mode="json") for one in messages if isinstance(one, DraftVerdict)]
    return records


class _Said:
    """Stands where the rules stand: its verdict is there already."""

    def __init__(self, verdict: CriterionVerdict) -> None:
        self._verdict = verdict

    def verdict(self, draft: Draft) -> CriterionVerdict:
        return self._verdict
