"""Settings come from the environment alone, and a wrong one gives one line that says what to change."""

from __future__ import annotations

import pytest

from schemas.errors import SettingsError
from workers.runtime.settings import Settings, load, rows


def test_an_empty_environment_gives_the_defaults():
    settings = load({"PATH": "/bin", "ASSAY_KAFKA": ""})
    assert (settings.kafka, settings.redis, settings.concurrency) == (None, None, 400)


def test_values_are_read_and_secrets_are_masked():
    settings = load(
        {
            "ASSAY_KAFKA": " a:9092, b:9093 ",
            "ASSAY_KAFKA_SASL": "SCRAM-SHA-512",
            "ASSAY_KAFKA_USERNAME": "judge",
            "ASSAY_KAFKA_PASSWORD": "hunter2",
            "ASSAY_REDIS": "rediss://:sesame@cache:6380/1",
            "ASSAY_KAFKA_TLS": "true",
            "ASSAY_CONCURRENCY": "12",
        }
    )
    assert settings.kafka_servers == ["a:9092", "b:9093"]
    assert settings.kafka_tls
    assert settings.concurrency == 12
    assert "hunter2" not in repr(settings)
    assert "sesame" not in repr(settings)
    with pytest.raises(ValueError, match="frozen"):
        settings.window = 5


@pytest.mark.parametrize(
    ("environ", "line"),
    [
        ({"ASSAY_MODEL_URL": "3"}, "unknown setting ASSAY_MODEL_URL; did you mean ASSAY_MODEL_BASE_URL?"),
        ({"ASSAY_BROKER": "3"}, "unknown setting ASSAY_BROKER; `assay settings --markdown` lists all"),
        ({"ASSAY_CONCURENCY": "3"}, "unknown setting ASSAY_CONCURENCY; did you mean ASSAY_CONCURRENCY?"),
        ({"ASSAY_CONCURRENCY": "many"}, "ASSAY_CONCURRENCY = 'many': must be a valid integer"),
        ({"ASSAY_CONCURRENCY": "0"}, "ASSAY_CONCURRENCY = '0': must be greater than or equal to 1"),
        ({"ASSAY_TOPIC_PREFIX": "a b"}, "ASSAY_TOPIC_PREFIX = 'a b': must be at most 100 letters"),
        ({"ASSAY_KAFKA": "kafka"}, "ASSAY_KAFKA = 'kafka': must be host:port"),
        ({"ASSAY_KAFKA": "http://x:1"}, "ASSAY_KAFKA = 'http://x:1': must be host:port"),
        ({"ASSAY_REDIS": "http://secret"}, "ASSAY_REDIS: must begin with redis:// or rediss:// or unix://"),
        ({"ASSAY_REDIS": "redis://u:secret@h:port/0"}, "ASSAY_REDIS: is no URL; is its port a number?"),
        ({"ASSAY_WEBHOOK": "ftp://secret"}, "ASSAY_WEBHOOK: must begin with http:// or https:// and name a host"),
        (
            {"ASSAY_MODEL_BASE_URL": "localhost:8000"},
            "ASSAY_MODEL_BASE_URL = 'localhost:8000': must begin with http://",
        ),
        ({"ASSAY_MODEL_BASE_URL": "ftp://u:secret@h"}, "ASSAY_MODEL_BASE_URL: must begin with http://"),
        ({"ASSAY_OTEL_ENDPOINT": "zzz"}, "ASSAY_OTEL_ENDPOINT = 'zzz': must begin with http://"),
        ({"ASSAY_PRICES": "/nowhere"}, "ASSAY_PRICES = '/nowhere': there is no such file"),
        ({"ASSAY_ENDPOINTS": "/nowhere"}, "ASSAY_ENDPOINTS = '/nowhere': there is no such file"),
        ({"ASSAY_ALERT_AGAIN_S": "inf"}, "ASSAY_ALERT_AGAIN_S = 'inf': must be a finite number"),
        ({"ASSAY_STALL_TIMEOUT_S": "nan"}, "ASSAY_STALL_TIMEOUT_S = 'nan': must be a finite number"),
        ({"ASSAY_REVISION_TTL_S": "1e300"}, "ASSAY_REVISION_TTL_S = '1e300': must be less than or equal to 31622400"),
        ({"ASSAY_KAFKA_SASL": "PLAIN"}, "ASSAY_KAFKA_SASL needs ASSAY_KAFKA_USERNAME and ASSAY_KAFKA_PASSWORD"),
        ({"ASSAY_DRAIN_TIMEOUT_S": "29"}, "ASSAY_DRAIN_TIMEOUT_S is 29: at most 28"),
        ({"ASSAY_WINDOW": "10"}, "ASSAY_WINDOW is 10: at least ASSAY_CONCURRENCY, 400"),
        ({"ASSAY_LOG_LEVEL": "loud"}, "ASSAY_LOG_LEVEL = 'loud': must be 'debug', 'info', 'warning' or 'error'"),
    ],
)
def test_a_wrong_setting_gives_one_line(environ, line):
    with pytest.raises(SettingsError) as caught:
        load(environ)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_names_for_tests_and_benchmarks_are_left_alone():
    assert load({"ASSAY_TEST_KAFKA": "x", "ASSAY_DATA": "y", "ASSAY_VECTORS": "z"}) == Settings()


def test_every_setting_has_its_row_with_a_meaning():
    table = rows()
    assert {row.env for row in table} >= {"ASSAY_KAFKA", "ASSAY_MODEL_API_KEY", "ASSAY_PRICES"}
    assert all(row.meaning for row in table)
    assert next(row for row in table if row.env == "ASSAY_CONCURRENCY").default == "400"


def test_the_password_in_a_url_is_a_secret():
    settings = load({"ASSAY_MODEL_BASE_URL": "http://user:pa55@h/v1", "ASSAY_OTEL_ENDPOINT": "http://h:4318"})
    assert settings.secrets == ["user:pa55"]
