"""What a prediction leaves open, and no measurement would decide."""

from __future__ import annotations

import re

import numpy as np
import pytest

from qosforge.inventory.models import Network
from qosforge.prediction.predict import Prediction, predict
from qosforge.tester.measurement.document import class_sample

from .test_predict import POLICY, compiled, routers

__all__ = ["routers"]


def asking(quantile: str, milliseconds: float) -> str:
    return POLICY.replace("p95: 200 ms}, loss: 1 %", f"{quantile}: {milliseconds:.6f} ms}}")


def observed_ms(prediction: Prediction, quantile: float) -> float:
    delays = class_sample(prediction.measurement, "one-way", {"robin"}).delays_ps
    return float(np.quantile(delays, quantile)) / 1e9


@pytest.fixture(scope="module")
def plain(routers: Network) -> Prediction:
    return predict(compiled(routers))


def test_what_can_be_decided_has_no_finding(plain: Prediction) -> None:
    assert (plain.outcome, plain.findings) == ("met", ())


def open_near(routers: Network, plain: Prediction, part: float) -> tuple[str, Prediction]:
    """An intent that bounds p90 by what so many predicted packets keep, and what is predicted of it."""
    text = asking("p90", observed_ms(plain, part))
    found = predict(compiled(routers, text))
    assert found.outcome == "inconclusive"
    return text, found


def test_a_bound_near_what_is_expected_cannot_be_decided(routers: Network, plain: Prediction) -> None:
    text, found = open_near(routers, plain, 0.903)
    (finding,) = found.findings
    assert (finding.code, finding.traffic_class) == ("objective-not-decidable", "robin")
    assert (finding.file, finding.line) == ("remote-control.yaml", 11)
    assert "delay p90 from infn to vme cannot be decided in 96 s, the longest that is measured" in finding.message
    assert re.search(r"predicted packets are worth [\d,]+ independent ones", finding.message)
    lower = re.search(r"ask for p(\d+) of the same", finding.hint or "")
    assert lower is not None
    assert predict(compiled(routers, text.replace("p90", f"p{lower[1]}"))).outcome == "met"


def test_the_seconds_that_are_named_are_enough(routers: Network, plain: Prediction) -> None:
    text, found = open_near(routers, plain, 0.905)
    (finding,) = found.findings
    named = re.search(r"seconds: (\d+)", finding.hint or "")
    assert named is not None
    longer = text.replace("seconds: 10", f"seconds: {named[1]}")
    assert predict(compiled(routers, longer), at_most_seconds=3600).findings == ()
