from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.judge.rules.quantities import Bound, quantities
from workers.judge.rules.units import UNITS, unit_named


@pytest.mark.parametrize(
    ("text", "low", "high", "symbol", "written"),
    [
        ("a 5,000 mAh battery", 5000, 5000, "mAh", "5,000 mAh"),
        ("5000mah", 5000, 5000, "mAh", "5000mah"),
        ("1,5 kg", 1.5, 1.5, "kg", "1,5 kg"),
        ("0,750 l", 0.75, 0.75, "l", "0,750 l"),
        ("1.234.567,8 g", 1234567.8, 1234567.8, "g", "1.234.567,8 g"),
        ("5 000 mAh", 5000, 5000, "mAh", "5 000 mAh"),
        ("6.78-inch", 6.78, 6.78, "in", "6.78-inch"),
        ('a 6.7" display', 6.7, 6.7, "in", '6.7"'),
        ("10-12 hours", 10, 12, "h", "10-12 hours"),
        ("10 to 12 hours", 10, 12, "h", "10 to 12 hours"),
        ("2 x 65 W", 65, 65, "W", "2 x 65 W"),
        ("$1,299.99", 1299.99, 1299.99, "USD", "$1,299.99"),
        ("1.299,99 €", 1299.99, 1299.99, "EUR", "1.299,99 €"),
        ("EUR 12", 12, 12, "EUR", "EUR 12"),
        ("-20 °C", -20, -20, "°C", "-20 °C"),
        ("18 percent", 18, 18, "%", "18 percent"),
        ("12 fl oz", 12, 12, "fl oz", "12 fl oz"),
        ("50MP", 50, 50, "MP", "50MP"),
        ("500 milliliters", 500, 500, "ml", "500 milliliters"),
    ],
)
def test_a_number_with_a_unit_is_read(text: str, low: float, high: float, symbol: str, written: str) -> None:
    (found,) = quantities(text)
    assert (found.low.readings[0], found.high.readings[0], found.unit.symbol) == (low, high, symbol)
    assert text[found.start : found.end] == written


@pytest.mark.parametrize(
    "text",
    [
        "launched in 2023 in black",
        "iPhone 5s with 5G and 4K",
        'the "iPhone 15" case',
        "“Model 7” fits",
        "USB-C 3.2",
        "IP68",
        "A4 paper",
    ],
)
def test_a_name_or_a_year_is_no_quantity(text: str) -> None:
    assert list(quantities(text)) == []


def test_an_ambiguous_number_keeps_both_readings() -> None:
    assert next(quantities("5.000 mAh")).low.readings == (5.0, 5000.0)
    assert next(quantities("iPhone 6 128 GB")).low.readings == (6128.0, 128.0)


def test_the_sides_of_a_box_and_alternatives_are_one_quantity_each() -> None:
    assert [q.low.readings[0] for q in quantities("164.6 x 75.4 x 8.6 mm")] == [164.6, 75.4, 8.6]
    assert [q.low.readings[0] for q in quantities("128/256/512 GB")] == [128, 256, 512]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("up to 20 h", Bound.EXACT),
        ("about 5 kg", Bound.ABOUT),
        ("more than 5 kg", Bound.OVER),
        ("under $ 5", Bound.UNDER),
    ],
)
def test_words_before_a_number_say_how_it_is_meant(text: str, bound: Bound) -> None:
    assert next(quantities(text)).bound is bound


@pytest.mark.parametrize(
    ("number", "unit", "other", "expected"),
    [
        (1, "lb", "g", 453.59237),  # international pound, exact by definition
        (1, "in", "cm", 2.54),  # exact by definition
        (100, "°C", "°F", 212),
        (-40, "°F", "°C", -40),
        (1, "gal", "l", 3.785411784),  # US gallon, exact
        (1.5, "h", "min", 90),
    ],
)
def test_units_convert(number: float, unit: str, other: str, expected: float) -> None:
    assert UNITS[unit].convert(number, UNITS[other]) == pytest.approx(expected)


def test_every_symbol_names_its_unit() -> None:
    assert all(unit_named(symbol) is unit for symbol, unit in UNITS.items())


@given(st.text(alphabet='0123456789.,-–x/ to$€"“”inmAhW°C%k\u00a0', max_size=80))
@settings(max_examples=1000, derandomize=True, deadline=None)
def test_any_text_is_read_and_what_is_found_is_a_slice(text: str) -> None:
    for found in quantities(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.low.readings


@pytest.mark.parametrize("unit", ["1", "1,", "1 000", "1-", '1"', "1 to ", "1 mAh ", " about", "1.1x"])
def test_time_is_linear_in_the_text(unit: str) -> None:
    began = time.perf_counter()
    list(quantities(unit * (40_000 // len(unit))))
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize(
    "text", ["999 " * 5_000 + "kg", ("9" * 30 + "-") * 600 + "kg", "9" * 20_000, "5-" * 10_000, "9 x " * 5_000 + "kg"]
)
def test_no_row_of_digits_is_read_more_than_a_few_times(text: str) -> None:
    began = time.process_time()
    list(quantities(text[:20_000]))
    assert time.process_time() - began < 0.2  # about 10 ms; backtracking took from a third of a second to minutes


def test_a_row_too_long_to_be_one_quantity_ends_in_one() -> None:
    assert [q.low.readings[0] for q in quantities("1 x 2 x 3 x 4 x 5 x 6 mm")] == [2, 3, 4, 5, 6]
    assert [q.low.readings[0] for q in quantities("5 123 4567 mAh")] == [4567]
