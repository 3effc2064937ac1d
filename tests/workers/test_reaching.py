from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import SettingsError
from tests.workers.judge.asked import binding
from tests.workers.judge.specimens import BOM
from workers.judge.protocols import NoCounters
from workers.judge.providers.endpoints import Endpoints
from workers.reaching import endpoints_of, prices_of
from workers.runtime.settings import load

pytestmark = pytest.mark.anyio
KEY = "sk-not-to-be-seen"


async def reached(tmp_path: Path, file: str | None = None, *, over_http: bool = True, **env: str) -> Endpoints | None:
    if file is not None:
        (tmp_path / "endpoints.yaml").write_text(file, encoding="utf-8")
        env["ASSAY_ENDPOINTS"] = str(tmp_path / "endpoints.yaml")
    bom: Any = replace(BOM, bindings={"m": binding()} if over_http else {})
    async with AsyncExitStack() as stack:
        return await endpoints_of(load(env), bom, stack, NoCounters())


async def test_without_a_model_over_http_nothing_is_reached(tmp_path: Path) -> None:
    assert await reached(tmp_path, over_http=False) is None


async def test_the_default_endpoint_is_that_of_the_settings(tmp_path: Path) -> None:
    found = await reached(
        tmp_path, ASSAY_MODEL_BASE_URL="http://x.test/v1", ASSAY_MODEL_API_KEY=KEY, ASSAY_MODEL_MAX_IN_FLIGHT="7"
    )
    assert found is not None
    reach = found.named("default", model="m")
    assert str(reach.endpoint.url("/chat/completions")) == "http://x.test/v1/chat/completions"
    assert (reach.endpoint.bearer(), reach.limits.concurrency.limit) == ({"Authorization": f"Bearer {KEY}"}, 7)
    with pytest.raises(SettingsError, match="'other' in ASSAY_ENDPOINTS"):
        found.named("other", model="m")


async def test_further_endpoints_have_their_own_limits_and_their_keys_in_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n", encoding="utf-8")
    file = f"other: {{base_url: 'https://y.test/v1', api_key_file: {tmp_path / 'key'}, max_in_flight: 3}}"
    found = await reached(tmp_path, file, ASSAY_CONCURRENCY="10")
    assert found is not None
    reach = found.named("other", model="m")
    assert (reach.endpoint.x_api_key(), reach.limits.concurrency.limit) == ({"x-api-key": KEY}, 3)
    assert KEY not in repr(found)
    with pytest.raises(SettingsError, match="ASSAY_MODEL_BASE_URL"):
        found.named("default", model="m")


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("other: {base_url: 'ftp://y.test'}", "endpoints: other: the model's base URL"),
        ("other: {api_key_file: x}", "endpoints: other.base_url"),
        ("other: {base_url: 'http://y.test', api_key: sk-secret}", "endpoints: other.api_key"),
        ("other: {base_url: 'http://y.test', requests_per_minute: 0}", "requests_per_minute"),
        ("other: {base_url: 'http://y.test', api_key_file: /no/such/file}", "api_key_file /no/such/file"),
        ("default: {base_url: 'http://y.test'}", "ASSAY_MODEL_BASE_URL"),
        ("a: [", "not YAML"),
        ("[1]", "endpoints"),
    ],
)
async def test_a_file_that_is_not_understood_is_one_line_and_shows_no_secret(
    tmp_path: Path, file: str, says: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        await reached(tmp_path, file)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_a_file_that_is_not_there_is_named_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="ASSAY_PRICES"):
        prices_of(load({"ASSAY_PRICES": str(tmp_path / "none.yaml")}))
    assert prices_of(load({})) == {}
