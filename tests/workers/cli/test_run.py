"""``assay up`` gives each worker a health port of its own."""

from __future__ import annotations

import pytest

from schemas.errors import SettingsError
from workers.cli.run import health_ports


def test_workers_count_up_from_the_port_that_was_set() -> None:
    assert health_ports(9123, ["judge", "reflector", "stats"]) == {"judge": 9123, "reflector": 9124, "stats": 9125}


def test_zero_stays_any_free_port() -> None:
    assert health_ports(0, ["judge", "reflector"]) == {}


def test_a_port_too_high_for_all_of_them_is_refused() -> None:
    assert health_ports(65_534, ["judge", "reflector"])["reflector"] == 65_535
    with pytest.raises(SettingsError, match="ASSAY_HEALTH_PORT: 65535 leaves no port for each of 2 workers"):
        health_ports(65_535, ["judge", "reflector"])
