"""Bad starts: each is one clear line on standard error, the right exit code, and no traceback."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from schemas.topics import CONTROL, TOPICS
from tests.workers.cli.shell import ROOT, assay, environ, process
from workers.bom import MANIFEST, read_files, seal
from workers.bom.example import example_bom
from workers.embedded.services import ChildServices

NOBODY = "127.0.0.1:1"
DRAFT = '{"item_id": "a", "text": "t", "context": {"instruction": "i"}}'


def last_line(noted: str) -> str:
    """The one line for a person; a worker's log lines stand before it."""
    *logged, last = noted.splitlines()
    assert all(line.startswith("{") for line in logged), noted
    return last.removeprefix("assay: ")


@pytest.mark.parametrize(
    "command",
    [
        ["up"],
        ["publish", ROOT / "examples" / "drafts.jsonl"],
        ["tail", "served", "--to-end"],
        ["trace", "mug-1"],
        ["control", "status"],
        ["control", "kill", "--operator", "a", "--reason", "b"],
        ["topics", "create"],
    ],
    ids=lambda command: " ".join(map(str, command[:2])),
)
def test_no_kafka_at_the_address(tmp_path: Path, command: list[object]) -> None:
    done = assay(*command, env=environ(tmp_path, kafka=NOBODY))
    assert (done.code, done.said) == (3, "")
    assert done.one_line == f"no Kafka at {NOBODY}: nobody answers; is it running, and is ASSAY_KAFKA right?"


def test_no_kafka_as_a_process_says_it_once(tmp_path: Path) -> None:
    done = process("control", "status", env=environ(tmp_path, kafka=NOBODY))
    assert (done.code, done.one_line[:24]) == (3, f"no Kafka at {NOBODY}:"[:24])
    usage = process("publish", "--nonsense", env=environ(tmp_path))
    assert (usage.code, usage.one_line) == (2, "No such option: --nonsense. See `assay publish --help`.")


def test_a_command_that_is_almost_one(tmp_path: Path) -> None:
    done = process("judg", env=environ(tmp_path))
    assert (done.code, done.one_line) == (2, "No such command 'judg'. Did you mean 'judge'? See `assay --help`.")


@pytest.mark.parametrize("role", ["judge", "reflector"])
def test_a_worker_without_kafka(tmp_path: Path, role: str) -> None:
    done = assay("run", role, env=environ(tmp_path, kafka=NOBODY))
    assert (done.code, last_line(done.noted)[:24]) == (3, f"no Kafka at {NOBODY}:"[:24])


def test_no_kafka_named_and_none_running(tmp_path: Path) -> None:
    done = assay("tail", "served", "--to-end", env=environ(tmp_path))
    assert (done.code, done.one_line) == (
        3, "no Kafka: set ASSAY_KAFKA=host:port, or run `assay up` in another terminal",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "value", "line"),
    [
        ("kafkka", "x", "unknown setting ASSAY_KAFKKA; did you mean ASSAY_KAFKA?"),
        ("foo", "x", "unknown setting ASSAY_FOO; `assay settings --markdown` lists all"),
        ("kafka", "nonsense", "ASSAY_KAFKA = 'nonsense': must be host:port, or several with commas between"),
        ("window", "many", "ASSAY_WINDOW = 'many': must be a valid integer"),
        ("redis", "http://x", "ASSAY_REDIS: must begin with redis:// or rediss:// or unix:// and name a host"),
        ("log_level", "loud", "ASSAY_LOG_LEVEL = 'loud': must be 'debug', 'info', 'warning' or 'error'"),
    ],
)
@pytest.mark.parametrize("command", [["run", "judge"], ["up"], ["control", "status"]], ids=lambda c: c[0])
def test_an_unknown_or_wrong_setting(tmp_path: Path, command: list[str], setting: str, value: str, line: str) -> None:
    done = assay(*command, env=environ(tmp_path, **{setting: value}))
    assert (done.code, done.one_line) == (2, line)


@pytest.fixture
def bom(tmp_path: Path) -> Path:
    shutil.copytree(example_bom(), tmp_path / "bom")
    return tmp_path / "bom"


def _unseal(bom: Path) -> None:
    (bom / MANIFEST).unlink()


def _change(bom: Path) -> None:
    (bom / "template.md").write_bytes((bom / "template.md").read_bytes() + b"\n")


def _break(bom: Path) -> None:
    (bom / "charter.yaml").write_text("name: [")
    _seal(bom)


def _lose(bom: Path) -> None:
    shutil.rmtree(bom)


def _seal(bom: Path) -> None:
    seal(bom, {name: raw for name, raw in read_files(bom).items() if name != MANIFEST})


@pytest.mark.parametrize(
    ("harm", "line"),
    [
        (_unseal, "the BOM is not sealed: manifest.json is missing; review it, then run `assay bom seal`"),
        (_change, "the BOM changed after it was sealed: template.md; review, then seal again"),
        (_break, "charter.yaml: line 1: "),
        (_lose, "no BOM folder at "),
    ],
)
@pytest.mark.parametrize("command", [["run", "judge"], ["up"], ["bom", "verify"]], ids=lambda c: c[0])
def test_a_bom_that_does_not_verify(
    tmp_path: Path, bom: Path, command: list[str], harm: Callable[[Path], None], line: str
) -> None:
    harm(bom)
    done = assay(*command, env=environ(tmp_path, kafka=NOBODY, bom=bom))
    assert (done.code, done.said, done.one_line[: len(line)]) == (4, "", line)


@pytest.fixture
def cluster(services: ChildServices, unique: Callable[[str], str]) -> tuple[ChildServices, str]:
    """The session's broker, and a prefix under which all topics exist."""
    prefix = unique("bad") + "."
    for topic in TOPICS:
        services.create_topic(prefix + topic.name, 1)
    return services, prefix


def test_a_topic_that_is_missing(tmp_path: Path, services: ChildServices, unique: Callable[[str], str]) -> None:
    prefix = unique("lacks") + "."
    for topic in TOPICS[:-1]:
        services.create_topic(prefix + topic.name, 1)
    line = f"topic {prefix}dead-letters does not exist; `assay topics create` makes it"
    env = environ(tmp_path, kafka=services.kafka, topic_prefix=prefix)
    done = assay("up", env=env)
    assert (done.code, done.one_line) == (3, line)
    done = assay("run", "judge", env=env)
    assert (done.code, last_line(done.noted)) == (3, line)


def test_a_control_topic_that_cannot_be_read(
    tmp_path: Path, services: ChildServices, unique: Callable[[str], str]
) -> None:
    prefix = unique("uncontrolled") + "."
    for topic in TOPICS:
        if topic is not CONTROL:
            services.create_topic(prefix + topic.name, 1)
    done = assay("run", "reflector", env=environ(tmp_path, kafka=services.kafka, topic_prefix=prefix))
    line = f"topic {prefix}control does not exist; `assay topics create` makes it"
    assert (done.code, last_line(done.noted)) == (3, line)


def test_a_health_port_that_is_taken(tmp_path: Path, cluster: tuple[ChildServices, str]) -> None:
    services, prefix = cluster
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        env = environ(tmp_path, kafka=services.kafka, topic_prefix=prefix, health_port=port)
        done = assay("run", "reflector", env=env)
    assert done.code == 2
    assert last_line(done.noted).startswith(f"cannot listen on 127.0.0.1:{port} (")
    assert last_line(done.noted).endswith("set ASSAY_HEALTH_PORT to a free port")


@pytest.mark.parametrize("text", [None, b"\xff\xfe", b"prices: [", b"nonsense"])
def test_prices_that_cannot_be_read(tmp_path: Path, cluster: tuple[ChildServices, str], text: bytes | None) -> None:
    services, prefix = cluster
    prices = tmp_path / "prices.yaml"
    if text is not None:
        prices.write_bytes(text)
    done = assay("run", "judge", env=environ(tmp_path, kafka=services.kafka, topic_prefix=prefix, prices=prices))
    assert done.code == 2
    between = ": " if text is not None else " = "  # a file that is not there is found out by the settings themselves
    assert last_line(done.noted).replace("'", "").startswith(f"ASSAY_PRICES{between}{prices}")


def test_a_model_over_http_without_an_endpoint(tmp_path: Path, bom: Path, cluster: tuple[ChildServices, str]) -> None:
    services, prefix = cluster
    bound = {"provider": "openai_compatible", "model": "mine-2026-09-15", "family": "mine"}
    (bom / "bindings.yaml").write_text(yaml.safe_dump({"judges": {"primary": bound}}))
    _seal(bom)
    draft = tmp_path / "draft.json"
    draft.write_text(DRAFT)
    env = environ(tmp_path, kafka=services.kafka, topic_prefix=prefix, bom=bom)
    for command in (["run", "judge"], ["judge", "try", draft]):
        done = assay(*command, env=env)
        assert (done.code, "ASSAY_MODEL_BASE_URL" in last_line(done.noted)) == (2, True), done.noted


@pytest.mark.parametrize(
    ("command", "package", "module"),
    [("up", "confluent-kafka", "confluent_kafka"), ("demo", "fakeredis", "fakeredis")],
)
def test_without_the_embedded_packages(tmp_path: Path, command: str, package: str, module: str) -> None:
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('no {module}: hidden by a test')\n")
    env = {**environ(tmp_path), "PYTHONPATH": str(tmp_path)}
    done = process(command, env=env)
    assert (done.code, done.one_line) == (3, f"{package} is missing: pip install 'assay[embedded]'")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "cannot be read: No such file or directory"),
        ("", "empty: the record has no value"),
        ("[]", "bad_schema: drafts.record: "),
        ('{"item_id": "a"}', "bad_schema: drafts.text: "),
    ],
)
def test_a_draft_to_try_that_is_none(tmp_path: Path, content: str | None, line: str) -> None:
    draft = tmp_path / "draft.json"
    if content is not None:
        draft.write_text(content)
    done = assay("judge", "try", draft, env=environ(tmp_path))
    assert done.code == 2
    assert done.one_line.startswith(str(draft))
    assert line in done.one_line


@pytest.mark.parametrize(
    "command",
    [
        ["publish", "\x1b[31m.jsonl"],
        ["judge", "try", "\x1b[31m.json"],
        ["labels", "import", "\x1b[31m.csv"],
        ["replay", "\x1b[31m.jsonl", "--judge", "j"],
        ["bom", "verify", "\x1b[31m"],
        ["canary", "run", "--bom", "\x1b[31m"],
        ["report", "--week", "\x1b[31m"],
        ["\x1b[31m"],
    ],
    ids=lambda command: "-".join(command[:2]).replace("\x1b", ""),
)
def test_a_name_that_would_steer_the_terminal_is_spelled_out(command: list[str], tmp_path: Path) -> None:
    ended = assay(*command, env=environ(tmp_path))
    assert ended.code in (2, 3, 4)
    assert "\\x1b[31m" in ended.noted
    assert "\x1b[31m" not in ended.noted + ended.said


def test_so_is_the_name_of_a_setting(tmp_path: Path) -> None:
    assert "\\x1b[31m" in assay("settings", env={**environ(tmp_path), "ASSAY_FO\x1b[31m": "1"}).one_line
