"""Independent replications: what is drawn anew, how looks add up, and that verdicts do not follow a seed."""

from __future__ import annotations

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.deltaq.objective import Outcome
from qosforge.intent.loader import parse_intent
from qosforge.intent.models import Intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network, TrafficFlow, TrafficScenario, TrafficSource
from qosforge.prediction.projected_state import project_state
from qosforge.resources import root
from qosforge.tester.measurement.document import class_sample
from qosforge.tester.measurement.judging import open_scenarios, verdicts
from qosforge.tester.replications import REPLICATIONS, Timing, clock_factor, next_look_seconds, replication_seed
from qosforge.tester.scenario.sources import CLOCK_PPM
from qosforge.tester.twin import TwinTester

POLICY = """\
version: 1
intent: overload
classes:
  - name: bulk
    match: {any: [{protocol: udp}]}
    treatment: {bandwidth: {remaining_percent: 50}}
    objective: {loss: 10 %}
  - {name: default, treatment: {bandwidth: {remaining_percent: 50}}}
apply: [{role: edge, interfaces: wan, direction: output}]
verify:
  - {from: infn, to: vme, classes: [bulk], seconds: 16}
  - {from: infn, to: fnal, classes: [bulk], seconds: 16}
"""
LINE = 2_000_000


def overloaded() -> Network:
    """Two equal constant flows that ask for 120 % of a line together."""
    network = load_network(root() / "inventories" / "infn-fnal")
    flows = tuple(
        TrafficFlow(
            name=name,
            from_="infn",
            to=name,
            dst_port=5000,
            source=TrafficSource(kind="cbr", rate=round(0.6 * LINE), ip_bytes=500),
        )
        for name in ("vme", "fnal")
    )
    scenario = TrafficScenario(name="two", title="Two", between=(("infn", "vme"), ("infn", "fnal")), flows=flows)
    return network.model_copy(update={"traffic": (scenario,)})


def made(seed: int) -> tuple[TwinTester, Intent]:
    network = overloaded()
    compilation = compile_intent(parse_intent(POLICY, "overload.yaml"), network)
    return TwinTester(network, project_state(compilation, {}), seed), compilation.intent.intent


def test_two_equal_flows_in_a_full_queue_have_the_same_verdict_whatever_the_seed() -> None:
    """In a single simulation the one whose packets come just after a departure loses nothing, the other a third."""
    pairs = set[tuple[Outcome, ...]]()
    apart = 0
    for seed in range(20):
        twin, intent = made(seed)
        measurement = twin.measure(intent, "predicted")
        found = verdicts(intent, twin.network, measurement)
        pairs.add(tuple(sorted({each.verdict.outcome for each in found} - {"inconclusive"})))
        for first, second in zip(*(sample_losses(measurement, name) for name in ("vme", "fnal")), strict=True):
            apart += abs(first - second) > 0.1
    assert not any(len(pair) > 1 for pair in pairs), pairs
    assert apart > 20, "the case is no case"


def sample_losses(measurement: object, name: str) -> list[float]:
    sample = class_sample(measurement, "two", {"bulk"}, path=f"infn→{name}")  # type: ignore[arg-type]
    return [float(loss) for loss in sample.lost / sample.sent]


def test_a_later_look_adds_to_what_was_measured() -> None:
    twin, intent = made(1)
    first = twin.measure(intent, "after")
    second = twin.measure(intent, "after", look=2, earlier=first)
    assert [m.scenario("two").replications for m in (first, second)] == list(REPLICATIONS[:2])
    kept = [flow for flow in second.scenario("two").flows if flow.replication < REPLICATIONS[0]]
    assert kept == list(first.scenario("two").flows)
    samples = [class_sample(m, "two", {"bulk"}) for m in (first, second)]
    assert [sample.sent.size for sample in samples] == list(REPLICATIONS[:2])
    assert second == twin.measure(intent, "after", look=2, earlier=first)


def test_a_later_look_adds_to_what_is_open_alone() -> None:
    network = overloaded()
    two = network.traffic[0]
    calm = TrafficFlow(
        name="calm",
        from_="fnal",
        to="infn",
        dst_port=5000,
        source=TrafficSource(kind="poisson", rate=LINE // 2, ip_bytes=500),
    )
    back = TrafficScenario(name="back", title="Back", between=(("fnal", "infn"),), flows=(calm,))
    network = network.model_copy(update={"traffic": (two, back)})
    text = POLICY + "  - {from: fnal, to: infn, classes: [bulk], seconds: 16}\n"
    compilation = compile_intent(parse_intent(text, "overload.yaml"), network)
    twin, intent = TwinTester(network, project_state(compilation, {}), 1), compilation.intent.intent
    first = twin.measure(intent, "after")
    found = verdicts(intent, network, first)
    assert open_scenarios(found) == {"two"}, "a loss of a sixth on one and the same line is open"
    second = twin.measure(intent, "after", look=2, earlier=first, extend=open_scenarios(found))
    assert second.scenario("back") == first.scenario("back")
    assert [second.look_of(name) for name in ("two", "back")] == [2, 1]
    later = {each.scenario: each.verdict for each in verdicts(intent, network, second)}
    assert later["back"] == next(each.verdict for each in found if each.scenario == "back")
    assert (later["back"].look, later["two"].look) == (1, 2)
    assert later["two"].bounds[0].replications == REPLICATIONS[1]


def test_clocks_and_seeds_are_drawn_for_each_flow_and_replication() -> None:
    clocks = {clock_factor(1, number, name) for number in range(8) for name in ("a", "b")}
    assert len(clocks) == 16
    assert all(abs(clock - 1) <= CLOCK_PPM * 1e-6 for clock in clocks)
    assert len({replication_seed(seed, number) for seed in (1, 2) for number in range(64)}) == 128
    assert clock_factor(1, 0, "a") == clock_factor(1, 0, "a")


@pytest.mark.parametrize(("wanted", "seconds"), [(120, 10.0), (4, 2.0), (3600, 300.0)])
def test_the_first_look_measures_as_long_as_the_policy_says(wanted: int, seconds: float) -> None:
    assert Timing.of(wanted).seconds == seconds


def test_a_start_that_is_felt_makes_the_warm_up_longer() -> None:
    timing = Timing(10)
    assert timing.longer(0.2) == Timing(10, 5)
    assert timing.longer(10).warm_up == 30
    assert timing.anew() == Timing(20, 2)


def test_the_next_look_takes_as_long_as_its_simulations_do() -> None:
    # 12 simulations took 100 s, 12 more take as long; then 24 more take twice what these 12 took.
    assert [next_look_seconds(look, 100) for look in (1, 2, 3)] == [100, 200, None]
