"""Objectives refuse what cannot be asked; quantities survive JSON."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from app.deltaq.objective import Objective, Quantity, combine, quantile_of


@pytest.mark.parametrize(("label", "value"), [("p50", 0.5), ("p95", 0.95), ("p99.9", 0.999), ("p99.999", 0.99999)])
def test_quantile_labels(label: str, value: float) -> None:
    assert quantile_of(label) == value


@pytest.mark.parametrize("label", ["p0", "p100", "95", "p-5", "P95", "p", "p95 ", "p9e1", "p1.5\n"])
def test_what_is_no_quantile_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="quantile"):
        quantile_of(label)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "at least one bound"),
        ({"delay": {"p95": 0.05, "p99": 0.04}}, "cannot be asked to be below"),
        ({"delay": {"p95": 0}}, "greater than 0"),
        ({"delay": {"p95": math.inf}}, "finite"),
        ({"loss": 0}, "greater than 0"),
        ({"loss": 1}, "less than 1"),
        ({"variation": -1}, "greater than 0"),
        ({"variation": 1, "variation_quantile": 1}, "less than 1"),
        ({"loss": 0.1, "median": 3}, "Extra inputs"),
        ({"mean": 0}, "greater than 0"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Objective.model_validate(asked)


def test_quantiles_are_put_in_order() -> None:
    objective = Objective(delay={"p99.9": 0.06, "p50": 0.01, "p99": 0.06})
    assert list(objective.delay) == ["p50", "p99", "p99.9"]


@pytest.mark.parametrize("number", [None, 0.0, 1.5, math.inf])
def test_quantities_survive_json(number: float | None) -> None:
    quantity = Quantity.of(number)
    again = Quantity.model_validate_json(quantity.model_dump_json())
    assert again == quantity
    assert again.number() == number


def test_combined_outcomes() -> None:
    assert combine(["met", "met"]) == "met"
    assert combine(["met", "inconclusive"]) == "inconclusive"
    assert combine(["inconclusive", "broken", "met"]) == "broken"
    assert combine([]) == "inconclusive"
