"""``assay plan`` answers with the seeds' numbers, and refuses in one line."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from workers.cli import plan

app = typer.Typer()
plan.register(app)


@app.callback()
def root() -> None: ...


def ask(*words: str) -> dict:
    result = CliRunner().invoke(app, ["plan", *words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["answer"]


@pytest.mark.parametrize(
    ("words", "key", "expected"),
    [
        ("certify --floor 0.95 --true 0.97", "fails_needed", 631),  # S2 7.5: about 630
        ("certify --floor 0.95 --true 0.97", "fails_for_a_coin_toss", 322),  # S2 7.5: about 320
        ("certify --floor 0.98 --true 0.99", "fails_needed", 987),  # S2 7.5: about 990
        ("precision --rate 0.9 --within 0.05", "items_needed", 139),  # S2 7.4
        ("precision --rate 0.9 --within 0.03", "items_needed", 385),  # S2 7.4
        ("cap --cap 0.02 --true 0.01", "labels_needed", 987),  # S2 7.7: about 990
        ("canary --items 150 --baseline 0.02", "alarm_from_flips", 9),  # S2 7.6
        ("ab --baseline 0.5 --lift 0.003", "users_per_arm", 1_744_188),  # S2 6.5: about 1.74 million
        ("cost --labelled 300 --raters 3", "people_ratings", 900),  # S2 7.10
        ("step --bad 5 --labels 100", "decision", "lower"),  # S2 6.2: 2.2 to 11.2 % against 2 %
        ("step --bad 5 --labels 100 --weekly", "decision", "pool"),  # the same at every look: 1.7 to 12.8 %
    ],
)
def test_a_question_of_the_seeds_gets_the_seeds_answer(words, key, expected):
    assert ask(*words.split())[key] == expected


@pytest.mark.parametrize(
    ("words", "key", "expected"),
    [
        ("precision --rate 0.9 --have 98", "known_within", 0.06),  # S2 7.4: about 6 points
        ("cap --labels 400 --defects 4", "upper_bound", 0.022),  # S2 7.7
        ("canary --rate 0.06", "chance_to_catch_in_a_day", 0.55),  # S2 7.6
        ("canary --rate 0.10", "chance_to_catch_in_a_day", 0.97),  # S2 7.6
        ("band --raters 3", "width_in_rater_sds", 3.37),  # S2 6.4
        ("band --raters 3", "false_alarms_at_width_2", 0.11),  # S2 6.4
        ("band --raters 3 --consecutive 1", "weeks_with_a_false_alarm", 0.60),  # S2 6.4
        ("retries --spec 0.95", "leak_with_3_retries", 0.185),  # S2 6.2
        ("certify --have 322", "chance_to_certify", 0.5),  # S2 7.5: "only about half the time"
    ],
)
def test_a_rate_of_the_seeds_comes_out_as_printed(words, key, expected):
    assert ask(*words.split())[key] == pytest.approx(expected, abs=0.006)


def test_what_cannot_be_certified_has_a_reason_and_no_number():
    answer = ask("certify", "--floor", "0.97", "--true", "0.95")
    assert answer["fails_needed"] is None
    assert "does not exceed the floor" in answer["fails_needed_reason"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("certify --floor 1.2", "--floor must lie between 0 and 1, not 1.2"),
        ("certify --have -3", "--have must be a whole number of at least 0, not -3"),
        ("certify --have 99999999", "--have must be at most 1,000,000, not 99,999,999"),
        ("certify --confidence 1", "--confidence must lie strictly between 0 and 1, not 1.0"),
        ("precision --within 0", "--within must lie strictly between 0 and 1, not 0.0"),
        ("cap --labels 3 --defects 9", "--defects must not exceed its total 3, not 9"),
        ("agreement --fails 7", "--fails must lie between 0 and 1, not 7.0"),
        ("ab --lift 9", "--lift must leave the rate between 0 and 1, not 9.0"),
        ("canary --level 0", "--level must lie strictly between 0 and 1, not 0.0"),
        ("band --simulate --raters 2", "--rater-acc must hold at least 3 raters, not (0.87, 0.87)"),
        ("cost --drafts-per-item 0.5", "--drafts-per-item must be a finite number of at least 1, not 0.5"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_option_value_and_rule(words, line):
    result = CliRunner().invoke(app, ["plan", *words.split()])
    assert result.exit_code == 2
    assert result.stderr.strip().splitlines()[-1] == f"assay: {line}"
    assert result.stdout == ""


def test_the_text_says_it_in_a_sentence():
    result = CliRunner().invoke(app, ["plan", "certify"])
    first = result.stdout.splitlines()[0]
    assert first == "631 human fails certify 0.95 with 80% chance if the judge is really at 0.97."


def test_the_band_can_be_simulated_and_shows_why_two_knobs_beat_one():
    # statistics page, finding 2: 2 sd with half the resamples outside beats 3.37 sd on both sides
    answer = ask("band", "--simulate")
    assert answer["width_2_and_half_the_resamples_outside: caught"] > answer["width_3.37: caught"]
    assert answer["width_2_and_half_the_resamples_outside: false_alarm"] < answer["width_2: false_alarm"]
