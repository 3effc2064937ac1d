from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from schemas.bom import Bom
from tests.services.model_server import ModelServer, answers, model_server
from tests.workers.bom.sealed import bom_of
from tests.workers.cli.shell import assay, environ
from workers.bom import MANIFEST, read_files, seal
from workers.bom.example import example_bom
from workers.cli.judge_probe import Probed, probe_all
from workers.judge.probing import Finding
from workers.runtime.settings import Settings

pytestmark = pytest.mark.anyio

GROUNDS = {"reason": "Alike.", "evidence_spans": None, "guideline_clause": None}
JUDGE = {"provider": "openai_compatible", "model": "judge-1", "family": "birch"}


async def probed(bom: Bom, server: ModelServer) -> Probed:
    (one,) = await probe_all(bom, Settings(model_base_url=server.url))
    return one


async def test_a_binding_that_compares_is_shown_draft_and_rival_in_either_place() -> None:
    bom = bom_of({"id": "c1", "form": "pairwise", "judge": "j"}, bindings={"judges": {"j": JUDGE}})
    async with model_server() as server:
        server.behave(answers(json.dumps({"preference": "TIE", **GROUNDS})))
        found = (await probed(bom, server)).result
        prompts = [request["messages"][-1]["content"] for request in server.requests]
    assert found is not None
    assert (found.calls, found.findings) == (5, {})
    draft_first = [prompt.index("boils") < prompt.index("holds 1.7 l") for prompt in prompts[:4]]
    assert draft_first == [True, True, False, False]


async def test_a_binding_that_judges_alone_is_asked_three_times() -> None:
    bom = bom_of({"id": "c1", "judge": "j"}, bindings={"judges": {"j": JUDGE}})
    async with model_server() as server:
        server.behave(answers(json.dumps({"label": "pass", **GROUNDS}), model="judge-2"))
        found = (await probed(bom, server)).result
    assert found is not None
    assert (found.calls, list(found.findings)) == (3, [Finding.MODEL_MISMATCH])


def test_a_dead_endpoint_is_said_once_with_its_url_and_what_to_look_at(tmp_path: Path) -> None:
    bom = tmp_path / "bom"
    shutil.copytree(example_bom(), bom)
    (bom / "bindings.yaml").write_text(yaml.safe_dump({"judges": {"primary": JUDGE}}))
    seal(bom, {name: raw for name, raw in read_files(bom).items() if name != MANIFEST})
    env = environ(tmp_path, model_base_url="http://me:hunter2@127.0.0.1:1/v1")
    done = assay("judge", "probe", "--bom", bom, env=env)
    assert (done.code, done.said.splitlines()[-1]) == (
        1,
        "primary: unreachable at http://127.0.0.1:1/v1 (ClientConnectorError). "
        "Is the model server running, and is ASSAY_MODEL_BASE_URL right?",
    )
    (told,) = json.loads(assay("judge", "probe", "--bom", bom, "--json", env=env).said)
    assert (told["url"], told["findings"][0]["detail"]) == ("http://127.0.0.1:1/v1", "ClientConnectorError")
