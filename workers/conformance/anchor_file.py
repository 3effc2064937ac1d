"""``anchor.yaml`` of a BOM: what is published of the people that the judge was measured against."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from schemas.strict import Share, Strict

FILE = "anchor.yaml"


class Agreement(Strict):
    """Agreement beyond chance, with raw agreement and prevalence (the share of fails) beside it, never alone."""

    raw: Share
    kappa: Annotated[float, Field(ge=-1, le=1)]
    prevalence: Share


class CriterionAnchor(Strict):
    """``gold_items`` are adjudicated labels of record; raters against each other first, then judge against people."""

    gold_items: Annotated[int, Field(ge=1)]
    raters: Agreement
    judge: Agreement


class Anchor(Strict):
    """``anchor.yaml`` of a BOM. The gold set was labelled under one version of the guidelines."""

    guideline_version: str
    criteria: dict[str, CriterionAnchor]


class AnchorState(NamedTuple):
    """The published anchor, or why there is none; ``needed`` are the criteria that a model decides."""

    anchor: Anchor | None
    needed: frozenset[str]
    guideline_version: str
    problem: str | None = None
