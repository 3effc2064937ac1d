"""A canary set of any size and judges that flip as often as they are told to."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from schemas.bom import Bom
from schemas.drafts import Draft
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict
from workers.bom import MANIFEST, load_bom, manifest_of, read_files
from workers.bom.labelled_set import LabelledItem
from workers.canary.certificate import Baseline, Certificate, CertifiedVerdict

NOW = datetime(2026, 12, 1, 6, tzinfo=UTC)
BOM_FOLDER = Path(__file__).parents[3] / "boms" / "product-descriptions"


def example_bom(**extra: bytes) -> Bom:
    """The example BOM, sealed afresh, with some files added or replaced (``canary_jsonl``)."""
    named = {name.replace("_", ".", 1): raw for name, raw in extra.items()}
    files = {name: raw for name, raw in read_files(BOM_FOLDER).items() if name not in (MANIFEST, "certified.json")}
    sealed = {**files, **{n: raw for n, raw in named.items() if n != "certified.json"}}
    return load_bom({**sealed, **named, MANIFEST: manifest_of(sealed).to_bytes()})


def items(n: int, *, injections: int = 0) -> tuple[LabelledItem, ...]:
    return tuple(
        LabelledItem(
            item_id=f"sku-{k}",
            draft={"text": f"Text {k}.", "context": {"instruction": "Describe it."}},
            expected={"c1": "pass"},
            injection=k < injections,
        )
        for k in range(n)
    )


class FlippingJudge:
    """Passes everything, and fails with probability ``rate``: for tests of what flips lead to."""

    def __init__(self, rate: float, rng: random.Random, *, cause: Cause | None = None) -> None:
        self.rate, self.rng, self.cause = rate, rng, cause

    async def __call__(self, draft: Draft) -> Sequence[CriterionVerdict]:
        if self.cause is not None:
            return [CriterionVerdict(criterion_id="c1", label=Label.ABSTAIN, cause=self.cause, judge="flipping")]
        label = Label.FAIL if self.rng.random() < self.rate else Label.PASS
        return [CriterionVerdict(criterion_id="c1", label=label, judge="flipping")]


def certificate(n: int, *, flip_rate: float) -> Certificate:
    """Everything certified as a pass."""
    return Certificate(
        bom_version="bom-0000000000000000",
        canary_sha256="0" * 64,
        baseline=Baseline(flip_rate=flip_rate, lo=0.0, hi=0.1, verdicts=n, runs=5),
        verdicts=tuple(
            CertifiedVerdict(item_id=f"sku-{k}", criterion_id="c1", label=Label.PASS, votes={Label.PASS: 5})
            for k in range(n)
        ),
        certified_at=NOW,
    )
