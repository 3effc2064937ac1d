from __future__ import annotations

import pytest

from schemas.errors import SettingsError
from workers.judge.pricing import Price, cost_usd, read_prices

PRICE = Price(input_per_mtok=2.5, output_per_mtok=10.0)


def test_a_cost_is_tokens_times_price() -> None:
    # by hand: 1,200 x 2.5 / 1e6 + 300 x 10 / 1e6 = 0.003 + 0.003
    assert cost_usd(PRICE, input_tokens=1_200, output_tokens=300) == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("price", "tokens_in", "tokens_out"), [(None, 1, 1), (PRICE, None, 1), (PRICE, 1, None), (None, None, None)]
)
def test_an_unknown_price_or_count_makes_the_cost_unknown(
    price: Price | None, tokens_in: int | None, tokens_out: int | None
) -> None:
    assert cost_usd(price, input_tokens=tokens_in, output_tokens=tokens_out) is None


def test_a_price_table_is_read() -> None:
    assert read_prices("judge-1: {input_per_mtok: 2.5, output_per_mtok: 10}") == {"judge-1": PRICE}
    assert read_prices("") == {}


@pytest.mark.parametrize(
    "text",
    [
        "judge-1: 3",
        "judge-1: {input_per_mtok: -1, output_per_mtok: 1}",
        "judge-1: {input_per_mtok: .nan, output_per_mtok: 1}",
        "judge-1: {input_per_mtok: 1}",
        "judge-1: {input_per_mtok: 1, output_per_mtok: 1, currency: EUR}",
        "- judge-1",
        "a: [",
        "!!python/object/apply:os.getcwd []",
    ],
)
def test_a_table_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="price table"):
        read_prices(text)
