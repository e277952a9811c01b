"""Where the delay of a class arises: hops add up, losses multiply, and what they compose to is what it should."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import qosforge_twin
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from qosforge.compiler.compile import compile_intent
from qosforge.deltaq.distribution import DeltaQ
from qosforge.intent.loader import load_intent, parse_intent
from qosforge.intent.models import Intent
from qosforge.inventory.loader import load_network
from qosforge.prediction.projected_state import project_state
from qosforge.resources import root
from qosforge.tester.hop_delays import JudgedPath, path_delays
from qosforge.tester.measurement.document import FlowResult, Measurement
from qosforge.tester.measurement.path_delay import ATOMS, HopDelay, PathDelay, condense
from qosforge.tester.policer_memory import PolicerMemory
from qosforge.tester.twin import TwinTester
from qosforge.twin.report import read_report
from tests.tester.test_replications import made
from tests.twin.scenarios import MILLISECOND, SECOND, chain, flow

LARGEST = 12_000
"""Characters of what is told of a class on a path of eight hops."""

PLAIN = {"framing": "none"}


def told(scenario: dict[str, Any], seeds: range = range(1)) -> PathDelay:
    """Where the delay of all flows of a scenario of the twin arises."""
    for each in scenario["flows"]:
        each |= {"hops": True, "samples": True}
    answers = [read_report(qosforge_twin.run(json.dumps(scenario), seed)) for seed in seeds]
    flows = [
        FlowResult(
            name=entry.name,
            replication=number,
            traffic_class="c",
            path="a→b",
            sent=entry.sent,
            delivered=entry.delivered,
            lost=entry.lost,
            mean_delay_ps=round(entry.delay_ps.mean or 0),
            samples=entry.samples or (),
        )
        for number, answer in enumerate(answers)
        for entry in answer.flows
    ]
    (found,) = path_delays([JudgedPath("c", frozenset({"c"}), "a→b")], flows, answers, (), PolicerMemory((), {}))
    return found


def adds_up(one: PathDelay) -> None:
    """Means add up to the mean of all, losses multiply to the loss of all."""
    assert one.mean_ps is not None
    assert sum(hop.mean_ps or 0 for hop in one.hops) == pytest.approx(one.mean_ps, abs=2 * len(one.hops))
    kept = math.prod(1 - (loss or 0) for loss in one.loss_at())
    assert kept == pytest.approx(one.delivered / one.sent, abs=1e-12)


def measured(
    policy: str, network_name: str, seconds: int, looks: int = 1
) -> tuple[TwinTester, Intent, Measurement]:
    network = load_network(root() / "inventories" / network_name)
    compilation = compile_intent(load_intent(root() / "policies" / policy), network)
    intent = compilation.intent.intent
    checks = tuple(check.model_copy(update={"seconds": seconds}) for check in intent.verify)
    timed = intent.model_copy(update={"verify": checks})
    tester = TwinTester(network, project_state(compilation, {}))
    return tester, timed, tester.measure(timed, "predicted", looks=looks)


def test_on_the_campus_the_slow_serial_line_dominates() -> None:
    tester, intent, measurement = measured("campus-collaboration.yaml", "campus", 16)
    rates = {link.a: link.rate for link in tester.network.links} | {
        link.b: link.rate for link in tester.network.links
    }
    for scenario in measurement.scenarios:
        judged = {
            (name, f"{check.from_}→{check.to}")
            for check in intent.verify
            for name in check.classes
            if any((check.from_, check.to) in s.between for s in tester.network.traffic if s.name == scenario.name)
        }
        assert scenario.path_delays is not None
        assert {(one.traffic_class, one.path) for one in scenario.path_delays} == judged
        for one in scenario.path_delays:
            adds_up(one)
            assert len(one.model_dump_json()) < LARGEST
            flows = [
                flow
                for flow in scenario.flows
                if flow.path == one.path and flow.traffic_class in intent.within(one.traffic_class)
            ]
            assert one.sent == sum(flow.sent for flow in flows)
            assert one.delivered == sum(flow.delivered for flow in flows)
    (routed,) = next(s for s in measurement.scenarios if s.name == "layer-3").path_delays or ()
    slowest = max(routed.hops, key=lambda hop: hop.mean_ps or 0)
    lines = [rate for hop in routed.hops if (rate := rates.get((hop.node, hop.port)))]
    assert rates[slowest.node, slowest.port] == min(lines)
    assert (slowest.mean_ps or 0) > (routed.mean_ps or 0) / 2


def test_loss_stands_where_the_line_is_full_and_later_looks_add_to_earlier_ones() -> None:
    tester, intent = made(1)
    first = tester.measure(intent, "predicted", looks=3)
    second = tester.measure(intent, "predicted", look=2, looks=3, earlier=first)
    for measurement in (first, second):
        (scenario,) = measurement.scenarios
        assert scenario.path_delays
        for one in scenario.path_delays:
            flows = [flow for flow in scenario.flows if flow.path == one.path]
            assert one.sent == sum(flow.sent for flow in flows)
            assert one.delivered == sum(flow.delivered for flow in flows) < one.sent
            adds_up(one)
            worst = max(one.hops, key=lambda hop: hop.lost)
            assert worst.lost == one.sent - one.delivered
            assert worst.waiting_ps == max(hop.waiting_ps or 0 for hop in one.hops)
            assert one.composed_ps["p99"] is one.measured_ps["p99"] is None
    assert second.scenarios[0].path_delays[0].sent > 1.9 * first.scenarios[0].path_delays[0].sent  # type: ignore[index]


def test_hops_that_are_independent_compose_to_what_is_measured() -> None:
    """A random latency of the node beside a line that is empty: nothing depends on anything."""
    middle = {"latency_ps": MILLISECOND, "latency_jitter_ps": 20 * MILLISECOND}
    random = flow("a", kind="poisson", rate_bps=200_000, ip_bytes=500)
    one = told(chain(middle, [random], [PLAIN | {"rate_bps": 10**6}, PLAIN | {"rate_bps": 10**7}], seconds=200.0))
    adds_up(one)
    for label in ("p50", "p95", "p99"):
        assert one.composed_ps[label] == pytest.approx(one.measured_ps[label], rel=0.03)


def test_a_burst_that_waits_at_every_hop_is_worse_than_composed() -> None:
    """The last of a burst is last everywhere: its waits add up, which independent ones rarely do."""
    count = 40
    times = [n * SECOND // 10 for n in range(50) for _ in range(count)]
    burst = flow("a") | {"source": {"kind": "trace", "times_ps": times, "ip_bytes": [1000] * len(times)}}
    one = told(chain({}, [burst], [PLAIN | {"rate_bps": 16 * 10**6}, PLAIN | {"rate_bps": 8 * 10**6}], seconds=6.0))
    adds_up(one)
    assert one.composed_ps["p99"] is not None
    assert one.measured_ps["p99"] is not None
    assert one.composed_ps["p99"] < 0.95 * one.measured_ps["p99"]
    assert [hop.waiting[-1][0] for hop in one.hops] == [
        pytest.approx((count - 1) * MILLISECOND / 2, rel=1e-3) for _ in one.hops
    ]


def test_the_ends_alone_find_what_is_fixed_where_sizes_differ() -> None:
    sizes = [flow(f"s{size}", rate_bps=20_000, ip_bytes=size, phase_ps=10**11) for size in (100, 700, 1300)]
    lines = [PLAIN | {"rate_bps": 10**6, "delay_ps": 5 * MILLISECOND}, PLAIN | {"rate_bps": 4 * 10**6}]
    one = told(chain({"latency_ps": 2 * MILLISECOND}, sizes, lines, seconds=20.0))
    split = one.end_to_end()
    assert split is not None
    assert split.g_ps == sum(hop.fixed_ps or 0 for hop in one.hops) == 7 * MILLISECOND
    assert split.rate_bps == pytest.approx(1 / (1 / 10**6 + 1 / (4 * 10**6)))
    single = told(chain({}, sizes[:1], lines))
    assert single.end_to_end() is None


def test_the_ends_of_several_replications_give_limits_of_what_is_fixed() -> None:
    """At 90 % of the slow line nearly every packet waits; at 1 % of it the least are exact."""
    lines = [PLAIN | {"rate_bps": 10**6, "delay_ps": 5 * MILLISECOND}, PLAIN | {"rate_bps": 4 * 10**6}]
    for rate in (300_000, 3_000):
        sizes = [flow(f"s{size}", kind="poisson", rate_bps=rate, ip_bytes=size) for size in (200, 700, 1300)]
        one = told(chain({"latency_ps": 2 * MILLISECOND}, sizes, lines, seconds=20.0), range(8))
        limits = one.g_interval_ps()
        assert limits is not None
        assert limits[0] <= 7 * MILLISECOND + 1
        assert limits[1] >= 7 * MILLISECOND - 1
        assert limits[1] - limits[0] < MILLISECOND
        assert (
            told(chain({}, sizes, lines, seconds=20.0)).g_interval_ps() is None
        )  # of one replication nothing can be said


def test_older_documents_did_not_record_it_and_no_later_look_pretends() -> None:
    tester, intent = made(1)
    first = tester.measure(intent, "predicted", looks=3)
    document = json.loads(first.model_dump_json())
    for scenario in document["scenarios"]:
        del scenario["path_delays"]
    old = Measurement.model_validate(document)
    assert all(scenario.path_delays is None for scenario in old.scenarios)
    second = tester.measure(intent, "predicted", look=2, looks=3, earlier=old)
    assert all(scenario.path_delays is None for scenario in second.scenarios)


def test_losses_that_no_hop_accounts_for_are_refused() -> None:
    hop = HopDelay(node="a", port="1", to="b", lost=3)
    assert PathDelay(traffic_class="c", path="a→b", sent=3, delivered=0, hops=(hop,)).loss_at() == (1.0,)
    with pytest.raises(ValidationError, match="do not add up"):
        PathDelay(traffic_class="c", path="a→b", sent=5, delivered=1, hops=(hop,))


def test_nothing_of_a_class_without_packets() -> None:
    policy = parse_intent(
        """\
version: 1
intent: silent
classes:
  - name: silent
    match: {any: [{dscp: [cs1]}]}
    treatment: {bandwidth: {remaining_percent: 10}}
    objective: {loss: 1 %}
  - {name: default, treatment: {bandwidth: {remaining_percent: 90}}}
apply: [{role: edge, interfaces: wan, direction: output}]
verify: [{from: infn, to: vme, classes: [silent], seconds: 16}]
""",
        "silent.yaml",
    )
    network = made(1)[0].network
    compilation = compile_intent(policy, network)
    measurement = TwinTester(network, project_state(compilation, {})).measure(
        compilation.intent.intent, "predicted"
    )
    assert [scenario.path_delays for scenario in measurement.scenarios] == [()]


@given(
    st.lists(
        st.tuples(st.integers(0, 10**12), st.integers(1, 10**6)), min_size=1, max_size=600, unique_by=lambda b: b[0]
    )
)
def test_a_distribution_is_kept_in_few_delays_that_never_flatter(found: list[tuple[int, int]]) -> None:
    bins = sorted(found)
    kept = condense(bins)
    assert len(kept) <= ATOMS
    assert sum(count for _, count in kept) == sum(count for _, count in bins)
    assert kept[-1][0] == bins[-1][0]
    whole, few = DeltaQ.from_histogram(bins, 0), DeltaQ.from_histogram(kept, 0)
    assert whole.at_least_as_good_as(few)
    for probability in (0.5, 0.95, 0.99, 0.999):
        assert few.quantile_ps(probability) == whole.quantile_ps(probability)
