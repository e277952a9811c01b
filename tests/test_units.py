"""Quantities with units: what is taken, what is refused, and that nothing is lost on the way."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from qosforge.units import (
    WRITTEN,
    Rate,
    Ratio,
    Seconds,
    format_rate,
    format_ratio,
    format_seconds,
    parse_rate,
    parse_ratio,
    parse_seconds,
    shortened,
)

SETTINGS = settings(max_examples=200, deadline=None, derandomize=True, database=None)


class Quantities(BaseModel):
    rate: Rate = 1
    seconds: Seconds = 1.0
    ratio: Ratio = 0.5


@pytest.mark.parametrize(
    ("text", "rate"),
    [("56 kb/s", 56_000), ("2 Mb/s", 2_000_000), ("1Gb/s", 10**9), ("1.5 Mbps", 1_500_000), (" 9600 b/s ", 9600)],
)
def test_rates(text: str, rate: int) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize(("text", "seconds"), [("16 ms", 0.016), ("2 s", 2.0), ("1 us", 1e-6), ("5 µs", 5e-6)])
def test_times(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(("text", "ratio"), [("0.1 %", 0.001), ("100 %", 1.0), ("0 %", 0.0)])
def test_ratios(text: str, ratio: float) -> None:
    assert parse_ratio(text) == pytest.approx(ratio)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kb/s",
        "56",
        "56 KB/s",
        "56 kb/s x",
        "-1 kb/s",
        "1e3 kb/s",
        "٣ kb/s",
        "0 kb/s",
        "nan b/s",
        "9" * 99 + " b/s",
    ],
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rate|unit"):
        parse_rate(text)


@pytest.mark.parametrize("value", [True, None, [], {}, 1.5])
def test_what_is_no_text_is_no_rate(value: object) -> None:
    with pytest.raises(ValueError, match="768 kb/s"):
        parse_rate(value)


@pytest.mark.parametrize("text", ["16", "16 m", "ms", "-1 ms", "inf s"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="16 ms"):
        parse_seconds(text)


def test_more_than_a_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 100 %"):
        parse_ratio("100.1 %")


@pytest.mark.parametrize(
    "values", [{"rate": 5}, {"seconds": 0.5}, {"ratio": 0.5}, {"ratio": math.inf}, {"rate": True}]
)
def test_what_people_write_needs_its_unit(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="unit"):
        Quantities.model_validate(values, context=WRITTEN)


def test_what_is_parsed_already_is_taken_as_it_is() -> None:
    assert Quantities(rate=5, seconds=0.5, ratio=0.25).model_dump() == {"rate": 5, "seconds": 0.5, "ratio": 0.25}


@SETTINGS
@given(st.integers(1, 10**12), st.floats(1e-6, 1e6), st.just(0.0) | st.floats(1e-6, 1))
def test_documents_read_back_to_the_same_numbers(rate: int, seconds: float, ratio: float) -> None:
    asked = Quantities(rate=rate, seconds=seconds, ratio=ratio)

    again = Quantities.model_validate_json(asked.model_dump_json(), context=WRITTEN)

    assert again.rate == rate
    assert again.seconds == pytest.approx(seconds, rel=1e-14)
    assert again.ratio == pytest.approx(ratio, rel=1e-14)


@pytest.mark.parametrize(
    ("rate", "text"),
    [(56_000, "56 kb/s"), (2_000_000, "2 Mb/s"), (1_544_000, "1.544 Mb/s"), (10**9, "1 Gb/s"), (300, "300 b/s")],
)
def test_rates_are_written_as_people_do(rate: int, text: str) -> None:
    assert format_rate(rate) == text
    assert parse_rate(text) == rate


def test_times_and_ratios_are_written_as_people_do() -> None:
    assert [format_seconds(s) for s in (2.0, 0.016, 5e-6)] == ["2 s", "16 ms", "5 µs"]
    assert format_ratio(0.001) == "0.1 %"


def test_long_values_are_quoted_in_part() -> None:
    assert shortened("a" * 100) == "'" + "a" * 56 + "..."
    assert shortened("a") == "'a'"


@pytest.mark.parametrize(
    "value", [16**5000, -(16**5000), [16**5000], {"a": 16**5000}], ids=["number", "negative", "list", "mapping"]
)
def test_a_number_that_python_does_not_write_is_quoted(value: object) -> None:
    assert "number" in shortened(value)
    assert len(shortened(value)) <= 60
