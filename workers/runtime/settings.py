"""What cannot change a verdict: read once from ``ASSAY_*`` in the environment. What can is in the BOM."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from schemas.errors import SettingsError
from schemas.topics import MAX_MESSAGE_BYTES
from workers.runtime.nearest import nearest
from workers.runtime.printable import cut
from workers.runtime.setting_checks import file_there, http_url, redis_url, secret_http_url, servers_of

PREFIX = "ASSAY_"
RESERVED = ("ASSAY_TEST_", "ASSAY_DATA", "ASSAY_VECTORS")
"""Names (or beginnings of names) that belong to tests and benchmarks: not settings, not an error."""

DRAIN_MARGIN_S = 2.0
"""What is left of a rebalance after the drain: for the last commit and for joining again, in seconds."""

LogLevel = Literal["debug", "info", "warning", "error"]
WebhookShape = Literal["slack", "pagerduty"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


class Settings(BaseSettings):
    """Every setting of every worker. Frozen; secrets are masked wherever it is shown."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True, allow_inf_nan=False
    )

    kafka: str | None = Field(None, description="Kafka bootstrap servers, `host:port,...`; unset: the embedded broker")
    kafka_tls: bool = Field(False, description="encrypt connections to Kafka (TLS)")
    kafka_ca: Path | None = Field(None, description="PEM file of the authority to trust; unset: the system's")
    kafka_sasl: SaslMechanism | None = Field(None, description="SASL mechanism; unset: no authentication")
    kafka_username: str | None = Field(None, description="SASL user name")
    kafka_password: SecretStr | None = Field(None, description="SASL password")
    redis: SecretStr | None = Field(None, description="Redis URL, `redis://` or `rediss://`; unset: the embedded cache")
    bom: Path = Field(Path("boms/product-descriptions"), description="directory of the bill of materials to work with")
    topic_prefix: str = Field("assay.", description="put before every topic name", pattern=r"^[A-Za-z0-9._-]{0,100}$")
    group_prefix: str = Field(
        "assay.", description="put before every consumer group", pattern=r"^[A-Za-z0-9._-]{0,100}$"
    )

    concurrency: int = Field(
        400, ge=1, le=20_000,
        description="records a worker handles at the same time; a quarter more than `ASSAY_MODEL_MAX_IN_FLIGHT`, "
        "where that is set, keeps its calls running while others are read and produced",
    )  # fmt: skip
    window: int = Field(
        2_000, ge=1, le=200_000, description="records a worker holds (waiting and running) before it stops reading"
    )
    commit_interval_s: float = Field(0.1, gt=0, le=60, description="time between offset commits, in seconds")
    drain_timeout_s: float = Field(
        20.0, gt=0, le=600, description="how long running records may finish when partitions go or the worker stops"
    )
    session_timeout_s: float = Field(30.0, gt=1, le=1800, description="silence after which Kafka gives a worker up")
    rebalance_timeout_s: float = Field(60.0, gt=1, le=1800, description="time Kafka gives all workers to rebalance")
    produce_timeout_s: float = Field(
        60.0, gt=0, le=3600, description="without any confirmation for that long while producing, the worker stops"
    )
    stall_timeout_s: float = Field(
        300.0, gt=1, le=86_400, description="a partition without progress for that long stops the worker"
    )
    linger_ms: int = Field(0, ge=0, le=1000, description="how long the producer waits for more records, per partition")
    max_message_bytes: int = Field(
        MAX_MESSAGE_BYTES, ge=1024, le=64 * 1024 * 1024, description="largest record; at most what the topics allow"
    )
    redelivery_horizon_s: float = Field(
        3_600.0, gt=0, le=604_800,
        description="how long a draft that comes again, after a crash say, gets the same non-decision, in seconds",
    )  # fmt: skip
    dead_letter_ratio: float = Field(
        0.2, gt=0, le=1, description="share of dead letters among the last records at which the worker stops"
    )
    dead_letter_window: int = Field(
        200, ge=10, le=100_000, description="how many last records that share is taken over"
    )
    dead_letters_in_a_row: int = Field(50, ge=1, le=100_000, description="dead letters in a row that stop the worker")

    canary_interval_h: float = Field(24.0, gt=0, le=720, description="time between two canary runs, in hours")

    health_host: str = Field("127.0.0.1", description="address of /livez, /readyz and /metrics")
    health_port: int = Field(
        0, ge=0, le=65_535,
        description="port of /livez, /readyz and /metrics; 0: any free one; under `assay up` worker n takes port + n",
    )  # fmt: skip
    otel_endpoint: str | None = Field(
        None, description="OTLP/HTTP collector for traces and evaluation events, `http://host:4318`; unset: none"
    )
    log_level: LogLevel = Field("info", description="least severity that is logged")

    model_base_url: str | None = Field(None, description="where the judge's model is served, `https://host/v1`")
    model_api_key: SecretStr | None = Field(None, description="key for that endpoint")
    model_requests_per_minute: float | None = Field(
        None, gt=0, description="calls a minute to that endpoint, of this worker; unset: no limit"
    )
    model_tokens_per_minute: float | None = Field(
        None, gt=0, description="tokens a minute to that endpoint, read and written, of this worker; unset: no limit"
    )
    model_max_in_flight: int | None = Field(
        None, ge=1, description="calls to that endpoint at the same time; unset: `ASSAY_CONCURRENCY` a model criterion"
    )
    endpoints: Path | None = Field(
        None, description="YAML file of further endpoints, by the names that bindings use; see docs/models.md"
    )
    hedging_words: str = Field(
        "", description="words counted in served texts, `english` or `perhaps,maybe,...`; empty: not counted"
    )
    prices: Path | None = Field(None, description="YAML file of prices per million tokens; unset: cost unknown")

    revision_ttl_s: float = Field(
        86_400.0,
        gt=0,
        le=31_622_400,
        description="a revision request unanswered for that long leaves its round abandoned, in seconds",
    )
    label_wait_days: float = Field(
        14.0, ge=0, le=365, description="how long after its end a week takes labels; then its figures are final"
    )
    weeks_kept: int = Field(57, ge=8, le=520, description="weeks whose counts are kept; reports stay on their topic")
    assess_every_s: float = Field(
        60.0, gt=0, le=86_400, description="time between two looks at the figures and the checks, in seconds"
    )
    alert_again_s: float = Field(
        86_400.0, gt=0, le=31_622_400, description="a firing alert is told again after that long, in seconds"
    )
    webhook: SecretStr | None = Field(None, description="URL that alerts are posted to; unset: the topic alone")
    webhook_shape: WebhookShape = Field("slack", description="`slack` or `pagerduty`: the JSON that is posted")
    webhook_key: SecretStr | None = Field(None, description="PagerDuty's routing key")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # The environment is handed in by ``load``; nothing else in the process reads it.
        return (init_settings,)

    @field_validator("kafka")
    @classmethod
    def _servers(cls, value: str | None) -> str | None:
        return ",".join(servers_of(value)) or None

    _http_urls = field_validator("model_base_url", "otel_endpoint")(http_url)
    _webhook_url = field_validator("webhook")(secret_http_url)
    _redis_url = field_validator("redis")(redis_url)
    _files = field_validator("kafka_ca", "endpoints", "prices")(file_there)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        bound = min(self.session_timeout_s, self.rebalance_timeout_s) - DRAIN_MARGIN_S
        if self.drain_timeout_s > bound:
            raise ValueError(
                f"{PREFIX}DRAIN_TIMEOUT_S is {self.drain_timeout_s:g}: at most {bound:g}, {DRAIN_MARGIN_S:g} s "
                "less than the session and the rebalance time-out, or Kafka takes the partitions during the drain"
            )
        if self.kafka_sasl is not None and (self.kafka_username is None or self.kafka_password is None):
            raise ValueError(f"{PREFIX}KAFKA_SASL needs {PREFIX}KAFKA_USERNAME and {PREFIX}KAFKA_PASSWORD")
        if self.webhook is not None and self.webhook_shape == "pagerduty" and self.webhook_key is None:
            raise ValueError(f"{PREFIX}WEBHOOK_SHAPE=pagerduty needs {PREFIX}WEBHOOK_KEY")
        if self.window < self.concurrency:
            raise ValueError(f"{PREFIX}WINDOW is {self.window}: at least {PREFIX}CONCURRENCY, {self.concurrency}")
        return self

    @property
    def kafka_servers(self) -> list[str]:
        return servers_of(self.kafka)

    @property
    def secrets(self) -> list[str]:
        """What must never be shown, for the logs' mask."""
        hidden = (self.kafka_password, self.model_api_key, self.redis, self.webhook, self.webhook_key)
        urls = (self.model_base_url, self.otel_endpoint)
        return [secret.get_secret_value() for secret in hidden if secret is not None] + [
            user.group() for url in urls if url and (user := _USER_INFO.search(url))
        ]


_USER_INFO = re.compile(r"(?<=//)[^/@\s]+(?=@)")
"""Name and password before a URL's host."""


def environ_of(settings: Settings) -> dict[str, str]:
    """The environment that ``load`` makes these settings of, secrets included: for a child process."""
    given: dict[str, str] = {}
    for name in settings.model_fields_set | {"kafka", "redis", "bom"}:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        if value is not None:
            given[_env(name)] = str(value).lower() if isinstance(value, bool) else str(value)
    return given


class SettingRow(NamedTuple):
    """One line of the table in the README."""

    env: str
    default: str
    meaning: str


def rows() -> list[SettingRow]:
    """Every setting: the README's table is made from this, and a test compares the two."""
    return [
        SettingRow(_env(name), _shown_default(field.default), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def load(environ: Mapping[str, str]) -> Settings:
    """Settings from an environment. Raises SettingsError with one line that says what to change; never shows a value
    of a secret."""
    known = {_env(name): name for name in Settings.model_fields}
    given: dict[str, str] = {}
    for name, value in environ.items():
        if not name.startswith(PREFIX) or name.startswith(RESERVED) or not value:
            continue
        if name not in known:
            raise SettingsError(f"unknown setting {name}{_meant(name)}")
        given[known[name]] = value
    try:
        return Settings(**given)  # type: ignore[arg-type]  # strings, as an environment has them
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise SettingsError(_of_which(first["loc"], given) + _said(first["type"], first["msg"])) from None


def _meant(name: str) -> str:
    """The prefix, which all have, would make any two of them alike."""
    meant = nearest(name.removeprefix(PREFIX), Settings.model_fields)
    return "; `assay settings --markdown` lists all" if meant is None else f"; did you mean {_env(meant)}?"


def _said(kind: str, message: str) -> str:
    """pydantic's words in ours."""
    if kind == "string_pattern_mismatch":
        return "must be at most 100 letters, digits, dots, hyphens and underscores"
    return message.removeprefix("Value error, ").replace("Input should be", "must be").partition(", unable")[0]


def _of_which(place: tuple[int | str, ...], given: Mapping[str, str]) -> str:
    """The setting and the value that was given for it, unless it may be a secret."""
    if not place:
        return ""
    name = str(place[0])
    secret = "SecretStr" in str(Settings.model_fields[name].annotation)
    value = given.get(name, "")
    shown = "" if secret or _USER_INFO.search(value) or not value else f" = {cut(value, 200)!r}"
    return f"{_env(name)}{shown}: "


def _env(field: str) -> str:
    return PREFIX + field.upper()


def _shown_default(default: object) -> str:
    if default is None or default is PydanticUndefined:
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)
