from __future__ import annotations

import pytest

from tests.workers.judge.asked import binding
from workers.judge.probing import Finding
from workers.judge.remedies import remedy


@pytest.mark.parametrize("finding", list(Finding))
def test_every_finding_has_a_remedy_of_one_sentence(finding: Finding) -> None:
    said = remedy(finding, binding())
    assert said.endswith((".", "?"))
    assert not {"{", "}"} & set(said)


def test_a_remedy_names_the_place_of_the_endpoint() -> None:
    assert "ASSAY_MODEL_BASE_URL" in remedy(Finding.UNREACHABLE, binding())
    assert "base_url of 'mine' in ASSAY_ENDPOINTS" in remedy(Finding.UNREACHABLE, binding(endpoint="mine"))
    assert "api_key_file of 'mine' in ASSAY_ENDPOINTS" in remedy(Finding.WRONG_KEY, binding(endpoint="mine"))
