"""What an external tester may not say: every faulty document is refused by the flow, the entry, what is wrong and
the hint."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from pydantic import ValidationError

from qosforge.tester.measurement.document import Measurement

from .outside_document import MS, SECOND, Change, Json, bare, document, of_class, scenario, video, web

Take = Callable[[Json], Json]
"""The part of a document that a change is done to."""


@dataclass(frozen=True)
class Faulty:
    """A change of the good document, and words of the refusal: the place, and what is wrong."""

    name: str
    change: Change
    words: tuple[str, ...]


def setting(take: Take, **fields: object) -> Change:
    """Give a part of the document other fields."""

    def change(whole: Json) -> None:
        take(whole).update(fields)

    return change


def scaled(field: str, factor: float, take: Take = web) -> Change:
    """Make a figure so many times as large."""

    def change(whole: Json) -> None:
        part = take(whole)
        part[field] = round(part[field] * factor)

    return change


def sample(number: int, *, sent: int | None = None, delay: object = None, take: Take = web) -> Change:
    """Give a packet that was looked at another time or delay, and leave out what would contradict it."""

    def change(whole: Json) -> None:
        part = take(whole)
        bare(part)
        was = part["samples"][number]
        part["samples"][number] = [was[0] if sent is None else sent, was[1] if delay is None else delay]

    return change


def quantile(label: str, value: object, take: Take = web) -> Change:
    """Say another quantile."""

    def change(whole: Json) -> None:
        take(whole)["quantiles_ps"][label] = value

    return change


def all_of_it(document: Json) -> Json:
    """The document itself."""
    return document


def swapped(whole: Json) -> None:
    rows = web(whole)["samples"]
    rows[10], rows[11] = rows[11], rows[10]


def twice_lost(whole: Json) -> None:
    part = web(whole)
    bare(part)
    part["samples"][97] = part["samples"][96]
    part["lost"], part["delivered"] = part["lost"] + 1, part["delivered"] - 1


def twice_otherwise(whole: Json) -> None:
    part = web(whole)
    bare(part)
    part["samples"][5] = [part["samples"][4][0], part["samples"][4][1] + MS]


def two_flows_alike(whole: Json) -> None:
    first, second = scenario(whole)["flows"][:2]
    second.update({key: value for key, value in first.items() if key not in ("name", "traffic_class")})


def the_same_flow_again(whole: Json) -> None:
    scenario(whole)["flows"].append(dict(web(whole)))


def periods_alike(whole: Json) -> None:
    flows = scenario(whole)["flows"]
    flows[3:] = [each | {"replication": 1} for each in flows[:3]]


def one_flow_repeated(whole: Json) -> None:
    flows = scenario(whole)["flows"]
    flows[3] = flows[0] | {"replication": 1}


def no_flow_in_the_second(whole: Json) -> None:
    del scenario(whole)["flows"][4]


def another_class_in_the_second(whole: Json) -> None:
    scenario(whole)["flows"][3]["traffic_class"] = "files"


def scenario_again(whole: Json) -> None:
    whole["scenarios"].append(json.loads(json.dumps(scenario(whole))))


def counted_otherwise(whole: Json) -> None:
    for part in of_class(whole, "web"):
        part["lost"], part["delivered"] = part["lost"] + 10, part["delivered"] - 10


def negative_bin(whole: Json) -> None:
    bins = web(whole)["histogram"]
    bins[0][1] += bins[1][1] + 1
    bins[1][1] = -1


def bins_out_of_order(whole: Json) -> None:
    bins = web(whole)["histogram"]
    bins[0], bins[1] = bins[1], bins[0]


def bins_moved(whole: Json) -> None:
    bins = web(whole)["histogram"]
    bins[0][1], bins[5][1] = bins[5][1], bins[0][1]


def only_a_histogram(whole: Json) -> None:
    part = web(whole)
    part.update(samples=[], quantiles_ps={"p50": 40 * MS}, sample_every=1)


def video_mean(whole: Json) -> None:
    part = video(whole)
    part["mean_delay_ps"] = part["min_delay_ps"] + MS // 100


FLOW = "scenarios.0.flows.0"
FAULTY = (
    # times and delays
    Faulty("two samples change places", swapped, (FLOW, "flow web", "samples.11", "order of sending")),
    Faulty("a negative time", sample(0, sent=-5), (FLOW, "flow web", "samples.0", "-5 ps")),
    Faulty(
        "sent after the end", sample(-1, sent=31 * SECOND), (FLOW, "flow web", "samples.599", "outside the 30 s")
    ),
    Faulty("a delay of an hour in 30 s", sample(-1, delay=31 * SECOND), ("flow web", "longer than the 30 s")),
    Faulty(
        "a delay past the end", sample(-1, delay=5 * SECOND), (FLOW, "flow web", "samples.599", "after the end")
    ),
    Faulty("a negative delay", sample(3, delay=-7), (FLOW, "flow web", "samples.3", "-1 for a lost packet")),
    Faulty("no number for a delay", sample(3, delay=math.nan), (FLOW, "samples.3.1", "integer")),
    # what is there twice
    Faulty("a packet twice", sample(1, sent=0, delay=11 * MS), ("flow web", "samples.1")),
    Faulty("a lost packet twice", twice_lost, (FLOW, "flow web", "samples.97", "twice")),
    Faulty("a packet twice with two delays", twice_otherwise, (FLOW, "flow web", "samples.5", "twice")),
    Faulty("two flows alike", two_flows_alike, ("scenarios.0.flows.1", "flow files", "samples of flow web")),
    Faulty("a flow twice", the_same_flow_again, ("scenarios.0.flows.6", "flow web", "twice")),
    Faulty("periods alike", periods_alike, ("scenarios.0.flows.3", "flow web", "period 0")),
    Faulty("one flow repeated", one_flow_repeated, ("scenarios.0.flows.3", "flow web", "period 0")),
    Faulty("a scenario twice", scenario_again, ("scenarios.1", "scenario calls", "twice")),
    # what periods lack
    Faulty("a period lacks a flow", no_flow_in_the_second, ("scenarios.0.flows", "flow files", "period 1")),
    Faulty("another class", another_class_in_the_second, ("scenarios.0.flows.3", "flow web", "class files")),
    # contradictions
    Faulty("losses counted otherwise", counted_otherwise, (FLOW, "flow web", "samples", "lost")),
    Faulty("another mean", scaled("mean_delay_ps", 1.01), (FLOW, "flow web", "mean_delay_ps")),
    Faulty("a mean of zero", setting(web, mean_delay_ps=0), (FLOW, "flow web", "mean_delay_ps")),
    Faulty("another deviation", scaled("sd_delay_ps", 1.01), (FLOW, "flow web", "sd_delay_ps")),
    Faulty("no deviation", setting(web, sd_delay_ps=0), (FLOW, "flow web", "sd_delay_ps")),
    Faulty("another minimum", scaled("min_delay_ps", 0.5), (FLOW, "flow web", "min_delay_ps is said")),
    Faulty("another maximum", scaled("max_delay_ps", 1.5), (FLOW, "flow web", "max_delay_ps is said")),
    Faulty("another median", quantile("p50", 30 * MS), (FLOW, "flow web", "p50")),
    Faulty("another tail", quantile("p95", 40 * MS), (FLOW, "flow web", "p95")),
    Faulty(
        "quantiles out of order",
        quantile("p20", 30 * MS, video),
        ("flow video", "p20 is said to be 30000000000 ps, above p50"),
    ),
    Faulty("a quantile that losses forbid", quantile("p99.9", 12 * MS, video), ("flow video", "p99.9")),
    Faulty("no such quantile", quantile("median", 12 * MS), ("flow web", "median")),
    Faulty("a mean that thinning cannot hide", video_mean, ("scenarios.0.flows.2", "flow video", "mean_delay_ps")),
    Faulty("a deviation beyond the range", scaled("sd_delay_ps", 9, video), ("flow video", "sd_delay_ps")),
    Faulty("a negative bin", negative_bin, (FLOW, "flow web", "histogram.1")),
    Faulty("bins out of order", bins_out_of_order, (FLOW, "flow web", "histogram.1", "ascend")),
    Faulty("bins that samples contradict", bins_moved, (FLOW, "flow web", "histogram", "samples")),
    Faulty("a median that bins contradict", only_a_histogram, (FLOW, "flow web", "p50", "histogram")),
    Faulty(
        "figures of nothing",
        setting(web, sent=0, delivered=0, lost=0, samples=[], histogram=[], quantiles_ps={}),
        (FLOW, "flow web", "mean_delay_ps", "nothing arrived"),
    ),
    Faulty("throughput above the load", scaled("throughput_bps", 2), (FLOW, "flow web", "throughput_bps")),
    Faulty("throughput of giants", setting(web, throughput_bps=10**10, offered_bps=None), (FLOW, "9,216")),
    Faulty("throughput of nothing", setting(web, throughput_bps=1, offered_bps=None), (FLOW, "throughput_bps")),
    Faulty("another load", scaled("offered_bps", 3), (FLOW, "flow web", "offered_bps")),
    Faulty("a load of nothing", setting(web, offered_bps=0), (FLOW, "flow web", "offered_bps")),
    Faulty("all samples as a tenth", setting(web, sample_every=10), (FLOW, "flow web", "600 samples")),
    # types
    Faulty("a count as text", setting(web, sent="600"), (f"{FLOW}.sent", "integer")),
    Faulty("a count as truth", setting(web, replication=False), (f"{FLOW}.replication", "integer")),
    Faulty("a delay as text", sample(3, delay="11000000000"), (f"{FLOW}.samples.3.1", "integer")),
    Faulty("a delay as truth", sample(3, delay=True), (f"{FLOW}.samples.3.1", "integer")),
    Faulty("seconds as text", setting(scenario, seconds="30"), ("scenarios.0.seconds", "number")),
    Faulty("seconds as truth", setting(scenario, seconds=True), ("scenarios.0.seconds", "number")),
    # the protocol
    Faulty("no time", setting(scenario, seconds=0), ("scenarios.0.seconds", "greater than")),
    Faulty("endless", setting(scenario, seconds=math.inf), ("scenarios.0.seconds", "finite")),
    Faulty("thirty years", setting(scenario, seconds=1e9), ("scenarios.0.seconds", "less than")),
    Faulty("no number of seconds", setting(scenario, seconds=math.nan), ("scenarios.0.seconds",)),
    Faulty("a negative warm-up", setting(scenario, warm_up_seconds=-1), ("scenarios.0.warm_up_seconds",)),
    Faulty("clocks that lie less than nothing apart", setting(all_of_it, clock_error_ps=-1), ("clock_error_ps",)),
    Faulty("a clock error as text", setting(all_of_it, clock_error_ps="1000"), ("clock_error_ps", "integer")),
    Faulty("a clock error as truth", setting(all_of_it, clock_error_ps=True), ("clock_error_ps", "integer")),
    Faulty("no number for a clock error", setting(all_of_it, clock_error_ps=math.nan), ("clock_error_ps",)),
    Faulty("clocks hours apart", setting(all_of_it, clock_error_ps=10**17), ("clock_error_ps", "less than")),
    Faulty("a look beyond the looks", setting(all_of_it, look=2, looks=1), ("look 2 of 1",)),
    Faulty("a seed as truth", setting(all_of_it, seed=True), ("seed", "integer")),
    Faulty("a negative seed", setting(all_of_it, seed=-1), ("seed", "greater than")),
)


@pytest.mark.parametrize("faulty", FAULTY, ids=lambda faulty: faulty.name)
def test_a_faulty_document_is_refused_by_name(faulty: Faulty) -> None:
    given = document()
    faulty.change(given)
    with pytest.raises(ValidationError) as refused:
        Measurement.model_validate_json(json.dumps(given))
    said = str(refused.value)
    assert [words for words in faulty.words if words not in said] == [], said


def test_a_good_document_is_taken() -> None:
    found = Measurement.model_validate_json(json.dumps(document()))
    assert found.missing_facts("calls") == ()


def test_stored_measurements_stay_readable() -> None:
    given = document()
    scaled("mean_delay_ps", 1.5)(given)
    text = json.dumps(given)
    assert Measurement.parse_stored(text).scenarios[0].flows[0].mean_delay_ps == web(given)["mean_delay_ps"]
    with pytest.raises(ValidationError, match="mean_delay_ps"):
        Measurement.model_validate_json(text)


def test_rounding_and_other_quantiles_are_no_contradiction() -> None:
    given = document()
    for part in scenario(given)["flows"]:
        for field in ("mean_delay_ps", "sd_delay_ps"):
            part[field] = round(part[field], -7)
        delays = [math.inf if delay < 0 else delay for _, delay in part["samples"]]
        if part["sample_every"] == 1:
            part["quantiles_ps"]["p95"] = round(float(np.percentile(delays, 95)))
    assert Measurement.model_validate_json(json.dumps(given)).scenarios


def test_a_simulation_may_repeat_itself() -> None:
    given = document() | {"evidence": "emulated"}
    periods_alike(given)
    assert Measurement.model_validate_json(json.dumps(given)).scenarios
