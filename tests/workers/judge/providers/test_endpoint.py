from __future__ import annotations

import pytest
from pydantic import SecretStr

from schemas.bom import Provider
from schemas.errors import SettingsError
from tests.services.model_server import PASS, answers, model_server, says, tool_use
from tests.workers.judge.asked import binding, question, within
from workers.judge.providers.build import over_http
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.http import http_client

ALADDIN = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="  # RFC 7617, section 2: Aladdin, "open sesame"
URL = "http://Aladdin:open%20sesame@127.0.0.1:9/v1"
VERDICT = {"label": "pass", "reason": None, "evidence_spans": [], "guideline_clause": None}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("provider", "reply"), [("openai_compatible", answers(PASS)), ("anthropic", says(tool_use(VERDICT)))]
)
async def test_user_and_password_of_a_url_become_a_header(provider: Provider, reply: object) -> None:
    async with model_server() as server, http_client(max_connections=1) as client:
        server.behave(reply)  # type: ignore[arg-type]  # a behaviour
        url = server.url.replace("//", "//Aladdin:open%20sesame@")
        await over_http(binding(provider=provider), Endpoint(url), client).ask(question(), deadline=within(5))
    assert server.headers[0]["Authorization"] == ALADDIN


def test_they_are_not_in_the_address() -> None:
    assert str(Endpoint(URL).url("/messages")) == "http://127.0.0.1:9/v1/messages"


def test_an_address_is_shown_without_what_may_be_secret() -> None:
    assert Endpoint(URL + "?key=hunter2#x").shown == "http://127.0.0.1:9/v1"


def test_a_key_beside_a_user_is_refused_where_one_header_is_for_both() -> None:
    endpoint = Endpoint(URL, SecretStr("k"))
    with pytest.raises(SettingsError, match="give one of them"):
        endpoint.bearer()
    assert endpoint.x_api_key() == {"Authorization": ALADDIN, "x-api-key": "k"}
    assert Endpoint("http://h/v1").bearer() == Endpoint("http://h/v1").x_api_key() == {}
