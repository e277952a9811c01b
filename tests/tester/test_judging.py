"""Verdicts from a measurement made by hand."""

from __future__ import annotations

import pytest

from qosforge.deltaq.objective import Outcome
from qosforge.intent.loader import parse_intent
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult
from qosforge.tester.measurement.judging import verdicts
from qosforge.tester.measurement.pooling import summarise
from tests.validation.support import NETWORK

MS = 10**9
TREE = """\
version: 1
intent: divided
classes:
  - name: data
    match: {any: [{application: [http, ftp]}]}
    objective: {delay: {p50: 20 ms}, episode_packets: 1}
    treatment:
      children:
        - {name: web, match: {any: [{application: http}]}}
        - {name: files, match: {any: [{application: ftp}]}}
apply: [{role: edge, direction: output}]
verify: [{from: phone1, to: phone2, classes: [data]}]
"""


def flow(name: str, delay_ms: int, first_ps: int) -> FlowResult:
    samples = tuple((first_ps + 2 * n, delay_ms * MS) for n in range(1000))
    return FlowResult(
        traffic_class=name, path="phone1→phone2", sent=1000, delivered=1000, lost=0, name=name, samples=samples
    )


def measured(*flows: FlowResult) -> Measurement:
    return Measurement(
        when="after",
        evidence="measured",
        tester="hand",
        seed=1,
        delay_reference="first bit to first bit",
        scenarios=(ScenarioResult(name="calls", title="Calls", flows=flows),),
    )


def test_what_is_missing_of_a_thinned_flow_is_what_must_be_sent() -> None:
    thin = flow("web", 10, 0)
    thin = thin.model_copy(update={"samples": thin.samples[::5], "sample_every": 5})
    intent = parse_intent(TREE.replace("p50: 20 ms", "p99: 20 ms"), "divided.yaml").intent
    (verdict,) = verdicts(intent, NETWORK, measured(thin))
    assert verdict.verdict.outcome == "inconclusive"
    assert verdict.verdict.more_packets == 5 * (299 - 200)


def test_a_class_is_judged_by_the_packets_of_those_that_divide_it() -> None:
    measurement = measured(flow("web", 10, 0), flow("files", 30, 1), flow("voice", 500, 1))

    def judged(bound: str) -> list[tuple[str, Outcome]]:
        intent = parse_intent(TREE.replace("p50: 20 ms", bound), "divided.yaml").intent
        return [(v.traffic_class, v.verdict.outcome) for v in verdicts(intent, NETWORK, measurement)]

    assert judged("p95: 31 ms") == [("data", "met")]
    assert judged("p95: 29 ms") == [("data", "broken")]
    assert judged("p25: 11 ms") == [("data", "met")], "a half is of the faster class"


def timed(measurement: Measurement, seconds: float, *, every_ms: float = 0) -> Measurement:
    """The same where it says how long it measured and all else; its packets were sent so far apart."""
    flows = [flow.model_dump() for flow in measurement.scenarios[0].flows]
    for flow in flows:
        if every_ms:
            flow["samples"] = [(round(n * every_ms * MS), delay) for n, (_, delay) in enumerate(flow["samples"])]
        flow |= {"offered_bps": 16_000, "sample_every": flow["sample_every"] or 1}
    scenario = measurement.scenarios[0].model_dump() | {"seconds": seconds, "flows": flows}
    return Measurement.model_validate(measurement.model_dump() | {"clock_error_ps": 1000, "scenarios": [scenario]})


def test_an_old_measurement_is_read_and_what_it_lacks_is_said() -> None:
    intent = parse_intent(TREE, "divided.yaml").intent
    (found,) = verdicts(intent, NETWORK, measured(flow("web", 10, 0)))
    assert found.verdict.outcome == "met"
    assert found.verdict.lacking == (
        "how long it measured",
        "how far its clocks lie apart",
        "what load it offered",
        "which packets it looked at",
    )


_LACKING = "the last 15 s of 30 s (flow web)"


@pytest.mark.parametrize(
    ("seconds", "every_ms", "undecided", "lacking"),
    [
        (29.9, 29.9, "", ()),
        (12.5, 12.5, "the measurement was cut short: 12.5 s of 30 s", ()),
        (
            30,
            15,
            f"the measurement was cut short, it lacks {_LACKING}, in which some 1,002 packets were due",
            (f"what was sent in {_LACKING}",),
        ),
    ],
)
def test_a_measurement_cut_short_decides_nothing_and_says_so(
    seconds: float, every_ms: float, undecided: str, lacking: tuple[str, ...]
) -> None:
    intent = parse_intent(TREE, "divided.yaml").intent
    (found,) = verdicts(intent, NETWORK, timed(measured(flow("web", 10, 0)), seconds, every_ms=every_ms))
    assert found.verdict.outcome == ("inconclusive" if undecided else "met")
    assert (found.verdict.undecided, found.verdict.lacking) == (undecided, lacking)


def test_a_period_that_is_not_there_is_missing_evidence() -> None:
    intent = parse_intent(TREE, "divided.yaml").intent
    whole = timed(measured(flow("web", 10, 0)), 30, every_ms=30)
    scenario = whole.scenarios[0].model_copy(update={"replications": 3})
    (found,) = verdicts(intent, NETWORK, whole.model_copy(update={"scenarios": (scenario,)}))
    assert found.verdict.outcome == "inconclusive"
    assert found.verdict.lacking == ("what was sent in period 1, 2 of 3",)
    assert "in which some 2,000 packets were due" in found.verdict.undecided


def test_flows_of_a_class_count_by_the_packets_they_stand_for() -> None:
    """Of 600,000 packets 8 % are late, one in 30 looked at; 20,000 beside them are all in time."""
    late = tuple((60 * n, (50 if n % 25 < 2 else 10) * MS) for n in range(20_000))
    files = flow("files", 10, 0).model_copy(
        update={"sent": 600_000, "delivered": 600_000, "samples": late, "sample_every": 30}
    )
    web = tuple((60 * n + 1, 10 * MS) for n in range(20_000))
    other = flow("web", 10, 0).model_copy(update={"sent": 20_000, "delivered": 20_000, "samples": web})
    intent = parse_intent(TREE.replace("p50: 20 ms", "p95: 20 ms"), "divided.yaml").intent
    (found,) = verdicts(intent, NETWORK, measured(files, other))
    assert found.verdict.outcome == "broken"
    summary = summarise([files, other])
    assert summary.quantiles_ps["p95"] == 50 * MS, "the table says the same"
