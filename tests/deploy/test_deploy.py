"""What `docker compose up` starts: valid, pinned, as the tests have it, and dashboards that ask for what exists."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from schemas.topics import DRAFTS
from tests.services.jars import kafka_version
from workers.runtime.metrics import METRICS, Kind, Metric
from workers.runtime.settings import Settings, rows

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
DASHBOARDS = sorted((ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"))
WORKERS = ("judge", "reflector", "stats")


def test_the_compose_file_satisfies_the_compose_specification() -> None:
    rules = json.loads(gzip.decompress((ROOT / "tests" / "data" / "compose-spec.json.gz").read_bytes()))
    validator = jsonschema.Draft7Validator(rules)
    stated = {key: value for key, value in COMPOSE.items() if not key.startswith("x-")}
    assert [error.message for error in validator.iter_errors(stated)] == []
    assert list(validator.iter_errors({"services": {"judge": {"comand": []}}}))  # the rules catch a typing error


def test_tests_and_compose_run_the_same_kafka() -> None:
    assert COMPOSE["services"]["kafka"]["image"] == f"apache/kafka:{kafka_version()}"


@pytest.mark.parametrize("name", sorted(COMPOSE["services"]))
def test_every_image_is_pinned_and_no_port_is_open_to_the_network(name: str) -> None:
    service = COMPOSE["services"][name]
    assert re.fullmatch(r"[\w./-]+:[\w.-]+", service["image"])
    assert not service["image"].endswith(":latest")
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_has_time_to_drain_and_waits_for_its_topics(name: str) -> None:
    service = COMPOSE["services"][name]
    grace_s = int(service["stop_grace_period"].removesuffix("s"))
    assert grace_s >= Settings().drain_timeout_s + 10
    assert service["depends_on"]["topics"] == {"condition": "service_completed_successfully"}
    assert service["command"] == ["run", name]


def test_every_setting_that_compose_names_exists() -> None:
    known = {row.env for row in rows()}
    named = {name for service in COMPOSE["services"].values() for name in service.get("environment", {})}
    assert {name for name in named if name.startswith("ASSAY_")} <= known
    assert set(re.findall(r"ASSAY_\w+", (ROOT / "Dockerfile").read_text(encoding="utf-8"))) <= known


def test_what_compose_says_of_partitions_is_so() -> None:
    assert f"each of the {DRAFTS.partitions} partitions" in (ROOT / "docker-compose.yml").read_text(encoding="utf-8")


def test_every_worker_is_scraped() -> None:
    configuration = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    (job,) = configuration["scrape_configs"]
    assert job["dns_sd_configs"][0]["names"] == list(WORKERS)
    assert str(job["dns_sd_configs"][0]["port"]) == COMPOSE["services"]["judge"]["environment"]["ASSAY_HEALTH_PORT"]


def series(metric: Metric) -> set[str]:
    """Names that Prometheus stores for a metric."""
    return (
        {f"{metric.name}_{end}" for end in ("bucket", "sum", "count")}
        if metric.kind is Kind.HISTOGRAM
        else {metric.name}
    )


def unknown(expression: str) -> set[str]:
    """Metrics and labels of an expression that the table does not have."""
    by_series = {name: metric for metric in METRICS for name in series(metric)}
    names = set(re.findall(r"\bassay_\w+", expression))
    found = {name for name in names if name not in by_series}
    labels = {label for name in names - found for label in by_series[name].labels} | {"le", "worker", "instance"}
    grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(",")}
    return found | (grouped - labels)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_asks_for_metrics_of_the_table_alone(path: Path) -> None:
    panels: list[dict[str, Any]] = json.loads(path.read_bytes())["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(expressions) >= len(panels) >= 10
    assert {expression: missing for expression in expressions if (missing := unknown(expression))} == {}
    assert all(panel["description"] and panel["datasource"]["uid"] == "prometheus" for panel in panels)


def test_the_check_of_dashboards_catches_a_wrong_name_and_a_wrong_label() -> None:
    assert unknown("rate(assay_records_total[5m])") == {"assay_records_total"}
    assert unknown("sum by (colour) (assay_lag_records)") == {"colour"}


def test_every_metric_of_the_table_is_on_a_dashboard_or_is_named_here() -> None:
    shown = "".join(path.read_text(encoding="utf-8") for path in DASHBOARDS)
    left_out = {metric.name for metric in METRICS if not any(name in shown for name in series(metric))}
    assert left_out <= {
        "assay_records_admitted_total", "assay_outputs_oversize_total", "assay_cache_corrupt_entries_total",
    }  # fmt: skip
