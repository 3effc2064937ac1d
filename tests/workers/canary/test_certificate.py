"""What is certified, for which version, and what is refused."""

from __future__ import annotations

import random

import pytest

from schemas.errors import BomError
from schemas.verdict_space import Cause, Label
from tests.workers.canary.specimens import BOM_FOLDER, NOW, FlippingJudge, example_bom, items
from workers.bom import load_bom, read_files
from workers.bom.labelled_set import canary_set
from workers.canary.certificate import certificate_of, certify
from workers.canary.judging import Judged, Key, judge_set

A, B, C = Key("a", "c1"), Key("b", "c1"), Key("c", "c1")
PASS, FAIL = Judged(Label.PASS), Judged(Label.FAIL)


def test_the_majority_is_certified_and_what_wavered_is_named():
    runs = [{A: PASS, B: FAIL}, {A: PASS, B: PASS}, {A: PASS, B: FAIL}]
    certificate = certify(example_bom(), runs, now=NOW)
    assert {v.item_id: v.label for v in certificate.verdicts} == {"a": Label.PASS, "b": Label.FAIL}
    assert certificate.unstable == ("b/c1",)
    # By hand: a has 6 of 6 ordered pairs agreeing, b 2 of 6; retest agreement 8/12.
    assert certificate.baseline.flip_rate == pytest.approx(4 / 12)
    assert certificate.baseline.lo < 4 / 12 < certificate.baseline.hi


def test_a_tie_has_no_certified_verdict():
    certificate = certify(example_bom(), [{A: PASS, B: PASS}, {A: PASS, B: FAIL}], now=NOW)
    assert [v.item_id for v in certificate.verdicts] == ["a"]
    assert [(u.item_id, u.votes) for u in certificate.without_majority] == [("b", {Label.PASS: 1, Label.FAIL: 1})]


def test_injection_cases_have_no_part_in_the_baseline():
    wavering = [{A: PASS, C: Judged(label, injection=True)} for label in (Label.FAIL, Label.PASS, Label.FAIL)]
    assert certify(example_bom(), wavering, now=NOW).baseline.flip_rate == 0


def test_an_outage_is_never_certified():
    out = {A: Judged(Label.ABSTAIN, Cause.TIMEOUT)}
    with pytest.raises(BomError, match="could not be asked \\(1 x timeout\\)"):
        certify(example_bom(), [{A: PASS}, out], now=NOW)
    unreadable = {A: Judged(Label.ABSTAIN, Cause.UNPARSEABLE)}  # the judge's own doing: what it does with this text
    assert certify(example_bom(), [unreadable, unreadable], now=NOW).verdicts[0].label is Label.ABSTAIN


def test_one_run_cannot_be_certified():
    with pytest.raises(BomError, match="at least 2"):
        certify(example_bom(), [{A: PASS}], now=NOW)


def test_a_certificate_changes_no_version_and_is_refused_by_another():
    bom = example_bom()
    certificate = certify(bom, [{A: PASS}, {A: PASS}], now=NOW)
    certified = example_bom(certified_json=certificate.to_bytes())
    assert certified.version == bom.version
    assert certificate_of(certified) == certificate
    other = example_bom(certified_json=certificate.to_bytes(), fallback_md=b"{name}: see the sheet.\n")
    with pytest.raises(BomError, match=f"certified for '{bom.version}', the BOM is {other.version}"):
        certificate_of(other)


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff"])
def test_a_certificate_that_cannot_be_read_says_what_to_do(raw: bytes):
    with pytest.raises(BomError, match="assay canary certify"):
        certificate_of(example_bom(certified_json=raw))


def test_without_a_certificate_nothing_is_compared():
    with pytest.raises(BomError, match=r"certified\.json is missing"):
        certificate_of(example_bom())


@pytest.mark.anyio
async def test_the_interval_covers_the_true_flip_rate():
    """A judge that fails 1 verdict in 100 differs between two runs with probability 2 * 0.01 * 0.99."""
    rng, covered, bom = random.Random(8), 0, example_bom()
    for _ in range(60):
        runs = [await judge_set(items(150), FlippingJudge(0.01, rng), at_once=8) for _ in range(3)]
        baseline = certify(bom, runs, now=NOW).baseline
        covered += baseline.lo <= 2 * 0.01 * 0.99 <= baseline.hi
    assert covered >= 54  # a conservative 95 % interval: 57 expected at the least


def test_the_example_is_certified_for_its_own_version_and_holds_injections():
    bom = load_bom(read_files(BOM_FOLDER))
    certificate = certificate_of(bom)
    items = canary_set(bom.files, frozenset(c.id for c in bom.charter.criteria.must_have))
    assert len(certificate.verdicts) == len(items) * len(bom.charter.criteria.must_have)
    assert sum(item.injection for item in items) == 10
