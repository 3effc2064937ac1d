"""``assay simulate`` prints the tables of S2 6.2 and draws the retry-budget picture."""

from __future__ import annotations

import json
import sys

import pytest
import typer
from typer.testing import CliRunner

from workers.cli import simulate

app = typer.Typer()
simulate.register(app)


@app.callback()
def root() -> None: ...


def run(*words: str):
    return CliRunner().invoke(app, ["simulate", *words])


def table(*words: str) -> dict[str, dict]:
    result = run("--table", "--json", *words)
    assert result.exit_code == 0, result.output
    return {row["setting"]: row for row in json.loads(result.stdout)}


# S2 6.2, the settings table: served rate, defect share of served, defects per 10,000 items
SETTINGS = [
    ("no judge", 1.0, 0.68, 6800),
    ("gate only (K=0)", 0.324, 0.21, 680),
    ("gate + critic (K=3, rho=0.5)", 0.74, 0.159, 1176),
    ("gate + critic (K=3, rho=0)", 0.779, 0.214, 1664),
    ("gate + critic (K=3, rho=1)", 0.701, 0.098, 688),
]


@pytest.mark.parametrize(("setting", "served", "share", "defects"), SETTINGS)
def test_the_settings_table_comes_out_as_printed(setting, served, share, defects):
    row = table()[setting]
    assert row["served_rate"] == pytest.approx(served, abs=0.0005001)
    assert row["defect_share"] == pytest.approx(share, abs=0.0005001)
    assert row["defects_per_10k"] == pytest.approx(defects, abs=0.5)


# S2 6.2, the strata table: defect share after revision by rho; drafts per item and per served item
@pytest.mark.parametrize(("rho", "revised", "drafts"), [("1", 0.002, 2.54), ("0.5", 0.119, 2.48), ("0", 0.216, 2.43)])
def test_the_strata_table_comes_out_as_printed(rho, revised, drafts):
    row = table()[f"gate + critic (K=3, rho={rho})"]
    assert row["first_pass_defect_share"] == pytest.approx(0.21, abs=0.0005001)
    assert row["post_revision_defect_share"] == pytest.approx(revised, abs=0.0005001)
    assert row["drafts_per_item"] == pytest.approx(drafts, abs=0.0050001)


@pytest.mark.parametrize(("rho", "net"), [("0.5", -21_136), ("1", 3_370)])
def test_the_net_value_of_retries_comes_out_as_printed(rho, net):
    # S2 6.2: about -21,000 and about +3,400 (from unrounded volumes)
    assert table()[f"gate + critic (K=3, rho={rho})"]["retries_net_value"] == pytest.approx(net, abs=1)


def test_a_stratum_without_items_is_null_with_a_reason():
    row = table()["gate only (K=0)"]
    assert row["post_revision_defect_share"] is None
    assert "budget of 0" in row["post_revision_defect_share_reason"]


def test_the_parameters_reach_the_table():
    row = table("--unfixable", "0.5", "--rho", "0")["gate + critic (K=3, rho=0)"]
    assert row["post_revision_defect_share"] == pytest.approx(0.407, abs=0.0005001)  # S2 6.2: 33.3 vs 40.7 %


def test_the_text_has_the_leak_table_too():
    text = run("--table").stdout
    assert "34.4%" in text  # S2 6.2: Specificity 0.90, K = 3
    assert "18.5%" in text  # Specificity 0.95, K = 3


def test_the_chooser_says_that_at_fifty_to_one_not_even_the_first_pass_pays():
    document = json.loads(run("--json").stdout)
    assert document["budgets"]["best_budget"] is None
    assert document["budgets"]["steps"][0]["net_value"] == pytest.approx(-31_440)  # 2,560 - 680 x 50
    assert "the first pass loses" in document["budgets"]["best_budget_reason"]


def test_the_chooser_stops_where_the_step_is_dirtier_than_break_even():
    document = json.loads(run("--json", "--serve-defect", "5").stdout)
    budgets = document["budgets"]
    assert budgets["best_budget"] == 3  # steps 10.9, 12.0, 14.4, 18.0 % against 1/6
    assert [step["pays"] for step in budgets["steps"][1:6]] == [True, True, True, False, False]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_plot_is_drawn(tmp_path, suffix):
    path = tmp_path / f"curves.{suffix}"
    result = run("--plot", str(path))
    assert result.exit_code == 0, result.output
    head = path.read_bytes()[:300]
    assert head.startswith(b"\x89PNG") if suffix == "png" else b"<svg" in head or b"<?xml" in head


def test_a_plot_without_matplotlib_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "workers.cli.simulate_plot", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("--plot", str(tmp_path / "curves.svg"))
    assert result.exit_code == 2
    assert "pip install 'assay[plots]'" in result.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--spec", "7"], "--spec must lie between 0 and 1, not 7.0"),
        (["--retries", "-1"], "--retries must be a whole number of at least 0, not -1"),
        (["--retries", "1000000"], "--retries must be at most 200, not 1,000,000"),
        (["--serve-defect", "-5"], "--serve-defect must be a finite number of at least 0, not -5.0"),
        (["--plot", "curves.pdf"], "--plot must name a .svg or .png file, not curves.pdf"),
    ],
)
def test_a_wrong_value_is_one_line(words, line):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stderr.strip() == f"assay: {line}"


# S2 6.2, the strata table read backwards: the post-revision share gives the persistence; printed to 0.1 points
@pytest.mark.parametrize(("observed", "rho"), [("0.119", 0.5), ("0.216", 0.0), ("0.0021", 1.0)])
def test_an_observed_share_says_how_persistent_misses_are(observed, rho):
    told = json.loads(run("--observed", observed, "--json").stdout)
    assert told["persistence_observed"] == pytest.approx(rho, abs=0.01)
    assert f"of {rho:.2f}" in run("--observed", observed).stdout


def test_a_share_that_no_persistence_gives_is_told_with_the_range():
    """Above rho 0 or below rho 1 something else is at work, such as defects that ride along."""
    for observed in ("0.3", "0.0001"):
        told = json.loads(run("--observed", observed, "--json").stdout)
        assert told["persistence_observed"] is None
        assert "0.2% at rho 1 and 21.6% at 0" in told["persistence_observed_reason"]
