"""The measurement document: what it refuses, and how flows are pooled."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from qosforge import errors
from qosforge.deltaq.distribution import DeltaQ
from qosforge.tester.measurement.document import (
    FlowResult,
    Measurement,
    ScenarioResult,
    class_flows,
    class_sample,
    quantiles_ps,
)
from qosforge.tester.measurement.pooling import class_summary, pooled_deltaq, summarise

MS = 10**9


def flow(
    name: str,
    delays: list[int],
    *,
    traffic_class: str | None = "voice",
    kind: str = "",
    path: str = "a→b",
    samples: bool = True,
    pace: int | None = None,
) -> FlowResult:
    arrived = [delay for delay in delays if delay >= 0]
    return FlowResult(
        name=name,
        traffic_class=traffic_class,
        kind=kind,
        path=path,
        sent=len(delays),
        delivered=len(arrived),
        lost=len(delays) - len(arrived),
        mean_delay_ps=round(statistics.fmean(arrived)) if arrived else None,
        sd_delay_ps=round(statistics.pstdev(arrived)) if arrived else None,
        min_delay_ps=min(arrived, default=None),
        max_delay_ps=max(arrived, default=None),
        interarrival_sd_ps=pace,
        throughput_bps=1_000,
        quantiles_ps=quantiles_ps(DeltaQ.from_delays(delays)) if delays else {},
        samples=tuple((number * 20 * MS, delay) for number, delay in enumerate(delays)) if samples else (),
        histogram=() if samples else tuple((delay, 1) for delay in sorted(arrived)),
    )


def measurement(*flows: FlowResult) -> Measurement:
    return Measurement(
        when="after",
        evidence="emulated",
        tester="twin",
        seed=1,
        delay_reference="arrival to end of transmission",
        scenarios=(ScenarioResult(name="wan", title="Over the WAN", flows=flows),),
    )


delay_lists = st.lists(st.integers(-1, 10**11).filter(lambda delay: delay != 0), min_size=1, max_size=30)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(delay_lists, delay_lists)
def test_pooling_flows_equals_one_flow_of_all_packets(first: list[int], second: list[int]) -> None:
    pooled = summarise([flow("1", first), flow("2", second)])
    whole = flow("all", first + second)
    assert (pooled.sent, pooled.delivered, pooled.lost) == (whole.sent, whole.delivered, whole.lost)
    assert (pooled.min_delay_ps, pooled.max_delay_ps) == (whole.min_delay_ps, whole.max_delay_ps)
    assert pooled.quantiles_ps == whole.quantiles_ps
    if whole.mean_delay_ps is None:
        assert pooled.mean_delay_ps is None
        assert pooled.sd_delay_ps is None
    else:
        assert pooled.mean_delay_ps == pytest.approx(whole.mean_delay_ps, abs=2)
        assert pooled.sd_delay_ps == pytest.approx(whole.sd_delay_ps, rel=1e-6, abs=2_000)


def test_interarrival_deviation_is_pooled_within_flows() -> None:
    pooled = summarise([flow("1", [MS] * 11, pace=3 * MS), flow("2", [MS] * 31, pace=5 * MS), flow("3", [MS])])
    assert pooled.interarrival_sd_ps == pytest.approx(((10 * 9 + 30 * 25) / 40) ** 0.5 * MS, abs=1)
    assert summarise([flow("3", [MS])]).interarrival_sd_ps is None


def test_quantiles_count_lost_packets() -> None:
    summary = class_summary(measurement(flow("1", [MS] * 96 + [-1] * 4)), "wan", "voice")
    assert summary.quantiles_ps == {"p50": MS, "p95": MS, "p99": None, "p99.9": None}
    assert summary.loss == 0.04
    assert summary.mean_delay_ms == 1.0


def test_samples_and_histograms_can_be_pooled() -> None:
    pooled = summarise([flow("1", [1, 2, -1]), flow("2", [3, 4, 5], samples=False)])
    assert pooled.quantiles_ps["p50"] == 3
    assert pooled.quantiles_ps["p95"] is None


def test_a_thinned_flow_has_the_figures_of_the_packets_that_a_verdict_is_made_of() -> None:
    """What its tester says of all of them is another estimate, and two for one class cannot both be shown."""
    whole = flow("1", [MS, 2 * MS] * 50 + [-1] * 4)
    thinned = FlowResult.model_validate(
        whole.model_dump()
        | {"samples": whole.samples[::3], "sample_every": 3, "mean_delay_ps": 20 * MS, "max_delay_ps": 40 * MS}
    )
    pooled = summarise([thinned])
    sample = class_sample(measurement(thinned), "wan", {"voice"})
    assert pooled.mean_delay_ps == pytest.approx(1.5 * MS, rel=0.02)
    assert pooled.mean_delay_ps == pytest.approx(
        np.average(sample.without_losses().delays_ps, weights=sample.without_losses().weights)
    )
    assert pooled.sd_delay_ps == pytest.approx(0.5 * MS, rel=0.02)
    assert (pooled.quantiles_ps["p95"], pooled.quantiles_ps["p99"], pooled.max_delay_ps) == (2 * MS, None, 40 * MS)
    said = thinned.model_copy(update={"quantiles_ps": {"p95": 2}})
    assert summarise([said]).quantiles_ps == pooled.quantiles_ps


def test_flows_are_chosen_by_class_path_and_kind() -> None:
    document = measurement(
        flow("v1", [1], kind="voice"),
        flow("v2", [2], kind="video"),
        flow("v3", [3], kind="voice", path="a→c"),
        flow("b", [4], traffic_class=None),
    )
    assert [each.name for each in class_flows(document, "wan", "voice")] == ["v1", "v2", "v3"]
    assert [each.name for each in class_flows(document, "wan", "voice", path="a→b")] == ["v1", "v2"]
    assert [each.name for each in class_flows(document, "wan", "voice", kind="voice")] == ["v1", "v3"]
    assert [each.name for each in class_flows(document, "wan", None)] == ["b"]
    summary = class_summary(document, "wan", "voice")
    assert (summary.flows, summary.kind, summary.path) == (("v1", "v2", "v3"), "voice+video", "a→b+a→c")


def test_samples_of_a_class_come_in_the_order_of_sending() -> None:
    document = measurement(flow("1", [5, 6]), flow("2", [7, -1]))
    sample = class_sample(document, "wan", {"voice"})
    assert sample.delays_ps.tolist() == [5, 7, 6, math.inf]
    assert (sample.sent.tolist(), sample.lost.tolist(), sample.loss()) == ([4], [1], 0.25)


def test_replications_stand_apart_and_rates_are_their_mean() -> None:
    flows = [flow("1", [5, 6]), flow("1", [7, -1]).model_copy(update={"replication": 1, "throughput_bps": 300})]
    flows[0] = flows[0].model_copy(update={"throughput_bps": 100})
    document = Measurement(
        **{
            **measurement().model_dump(),
            "evidence": "emulated",
            "scenarios": (ScenarioResult(name="wan", title="", replications=2, flows=tuple(flows)),),
        }
    )
    sample = class_sample(document, "wan", {"voice"})
    assert sample.edges.tolist() == [0, 2, 4]
    assert sample.independent
    summary = class_summary(document, "wan", "voice")
    assert (summary.sent, summary.throughput_bps, summary.flows) == (4, 200, ("1",))
    with pytest.raises(ValueError, match="1 is of a later one"):
        ScenarioResult(name="wan", title="", flows=tuple(flows))


def test_what_is_not_there_is_named() -> None:
    document = measurement(flow("1", [1], samples=False))
    with pytest.raises(KeyError, match="wan"):
        class_summary(document, "lan", "voice")
    with pytest.raises(KeyError, match="video"):
        class_summary(document, "wan", "video")
    with pytest.raises(errors.TesterError, match="flow 1 of scenario wan"):
        class_sample(document, "wan", {"voice"})


def test_a_silent_flow_has_no_figures() -> None:
    summary = summarise([flow("1", [])])
    assert (summary.sent, summary.loss, summary.mean_delay_ms, summary.quantiles_ps) == (0, None, None, {})
    with pytest.raises(ValueError, match="no packet"):
        pooled_deltaq([flow("1", [])])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lost": 1}, "1 lost do not add up"),
        ({"samples": ((0, 5),)}, "1 samples with 0 lost"),
        ({"samples": ((0, 5), (1, -1))}, "2 samples with 1 lost"),
        ({"samples": ((0, 5), (1, -7))}, "-1 for a lost packet, or 0 to"),
        ({"samples": ((0, 5), (1, 2**63))}, "-1 for a lost packet, or 0 to"),
        ({"samples": ((0, 5), (0, 5))}, "the packet sent at 0 ps that took 5 ps is there twice"),
        ({"samples": ((0, -1),), "sample_every": 2}, "0 delivered and 1 lost, but 2 delivered and 0 lost"),
        ({"max_delay_ps": 5}, "max_delay_ps is said to be 5 ps, the samples allow 6 ps"),
        ({"min_delay_ps": 6}, "min_delay_ps is said to be 6 ps, the samples allow 5 ps"),
        ({"quantiles_ps": {"p50": 50}}, "p50 is said to be 50 ps, the samples allow 5 ps to 6 ps"),
        ({"histogram": ((5, 1),)}, "does not hold the 2"),
        ({"sent": -2}, "greater than or equal"),
        ({"surprise": 1}, "Extra inputs"),
    ],
)
def test_contradictions_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        FlowResult.model_validate(flow("1", [5, 6]).model_dump() | change)


def test_the_document_survives_json_and_refuses_another_version() -> None:
    document = measurement(flow("1", [5, -1]), flow("2", [5], samples=False))
    assert Measurement.model_validate_json(document.model_dump_json()) == document
    with pytest.raises(ValidationError, match="schema_version"):
        Measurement.model_validate(document.model_dump() | {"schema_version": 2})
