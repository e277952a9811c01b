"""Objectives refuse what cannot be asked; quantities survive JSON."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from qosforge.deltaq.objective import LEAST_FOR_MEAN, Objective, Quantity, combine, least_packets, quantile_of
from qosforge.deltaq.verdict import judge


@pytest.mark.parametrize(("label", "value"), [("p50", 0.5), ("p95", 0.95), ("p99.9", 0.999), ("p99.999", 0.99999)])
def test_quantile_labels(label: str, value: float) -> None:
    assert quantile_of(label) == value


@pytest.mark.parametrize("label", ["p0", "p100", "95", "p-5", "P95", "p", "p95 ", "p9e1", "p1.5\n"])
def test_what_is_no_quantile_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="quantile"):
        quantile_of(label)


@pytest.mark.parametrize(
    ("requested", "message"),
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
def test_what_cannot_be_asked_is_refused(requested: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Objective.model_validate(requested)


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


@pytest.mark.parametrize(
    ("requested", "least"),
    [
        (Objective(delay={"p50": 0.1, "p99": 0.2}), 299),
        (Objective(delay={"p99": 0.2}, variation=0.1), 2_995),
        (Objective(variation=0.1, variation_quantile=0.95), 59),
        (Objective(loss=0.00001), 299_572),
        (Objective(mean=0.1, loss=0.1), LEAST_FOR_MEAN),
    ],
)
def test_the_least_packets_are_those_that_an_empty_sample_lacks(requested: Objective, least: int) -> None:
    assert least_packets(requested, 0.95) == least
    assert judge(requested, [], evidence="predicted").more_packets == least


@pytest.mark.parametrize("confidence", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("loss", [0.3, 0.05, 0.001, 0.0002])
def test_the_formula_and_the_search_agree(loss: float, confidence: float) -> None:
    requested = Objective(loss=loss)
    found = judge(requested, [], confidence=confidence, evidence="predicted").more_packets
    assert least_packets(requested, confidence) == found
