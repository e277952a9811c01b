"""Today beside a prediction: the same packets through what the devices hold, where all of them were read."""

from __future__ import annotations

import re

import pytest

from qosforge import errors
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.intent.loader import load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.prediction.predict import Prediction, predict
from qosforge.prediction.projected_state import project_state
from qosforge.prediction.record import TodayScenario
from qosforge.prediction.today import TOO_LONG, simulate_today
from qosforge.resources import root
from qosforge.tester.measurement.pooling import class_figures
from qosforge.tester.network_under_test import devices_under_test
from qosforge.tester.twin import TwinTester

from .test_predict import POLICY

PLAIN = "interface FastEthernet0/0\n!\ninterface FastEthernet0/1\n!\n"
POLICED = """\
ip access-list extended ROBIN
 permit ip any host 192.190.218.1
class-map match-any robin
 match access-group name ROBIN
policy-map OURS
 class robin
  police 100000 {burst} {burst} conform-action transmit exceed-action drop
interface ATM1/0.108
 service-policy output OURS
"""


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(root() / "inventories" / "infn-fnal")


@pytest.fixture(scope="module")
def compiled(network: Network) -> Compilation:
    return compile_intent(parse_intent(POLICY, "remote-control.yaml"), network)


@pytest.fixture(scope="module")
def prediction(compiled: Compilation) -> Prediction:
    return predict(compiled)


def test_what_the_compiled_plans_are_predicted_to_give_is_given_today_by_who_holds_them(
    compiled: Compilation, prediction: Prediction
) -> None:
    """The same plans with the same packets are the same figures, of the classes that nothing judges."""
    running = {device.name: device.text for device in compiled.devices}
    (today,) = simulate_today(compiled, running, prediction.timings)
    expected = class_figures(prediction.measurement.scenario("one-way"))
    assert today.figures == tuple(one for one in expected if one.traffic_class == "default")
    (plain,) = simulate_today(compiled, dict.fromkeys(running, PLAIN), prediction.timings)
    assert plain.figures != today.figures


def test_devices_that_were_never_read_are_named(compiled: Compilation, prediction: Prediction) -> None:
    assert simulate_today(compiled, {"router1": PLAIN}, prediction.timings) == (
        TodayScenario(scenario="one-way", unread=("router3",)),
    )


def test_a_scenario_whose_devices_were_read_is_simulated_beside_one_whose_were_not() -> None:
    campus = load_network(root() / "inventories" / "campus")
    compilation = compile_intent(load_intent(root() / "policies" / "campus-collaboration.yaml"), campus)
    intent = compilation.intent.intent
    timings = predict(compilation, at_most_seconds=2).timings
    alone = intent.model_copy(update={"verify": intent.verify[:1]})
    read = dict.fromkeys(devices_under_test(alone, campus), PLAIN)
    found = simulate_today(compilation, read, timings)
    assert len(found) > 1
    for each in found:
        assert bool(each.figures) != bool(each.unread)
        assert read.keys().isdisjoint(each.unread)
    assert found[0].figures


def test_it_is_not_begun_where_there_is_no_time_for_it(compiled: Compilation, prediction: Prediction) -> None:
    running = {"router1": PLAIN, "router3": PLAIN}
    for time in ({"took": 70.0, "within": 120.0}, {"took": -1.0}):
        assert simulate_today(compiled, running, prediction.timings, **time) == (
            TodayScenario(scenario="one-way", why=TOO_LONG),
        )
    (found,) = simulate_today(compiled, running, prediction.timings, took=50.0, within=120.0)
    assert found.figures


def test_it_simulates_no_longer_than_the_prediction(
    compiled: Compilation, prediction: Prediction, network: Network
) -> None:
    plans = project_state(compiled, {})
    timed = TwinTester(network, plans).measure(
        compiled.intent.intent, "before", looks=1, timings=prediction.timings
    )
    (now,), (then,) = timed.scenarios, prediction.measurement.scenarios
    assert (now.seconds, now.warm_up_seconds, now.replications) == (then.seconds, then.warm_up_seconds, 12)


def test_what_cannot_be_simulated_is_said_in_words(compiled: Compilation, prediction: Prediction) -> None:
    """A bucket that is full for longer than the start which the prediction leaves out hides what it drops."""
    running = {"router1": POLICED.format(burst=1_000_000), "router3": PLAIN}
    (found,) = simulate_today(compiled, running, prediction.timings)
    assert (found.figures, found.unread) == ((), ())
    assert re.fullmatch(r"a policer's bucket lasts for \d+ s, longer than the 15 s that a simulation .*", found.why)
    soon = {"router1": POLICED.format(burst=10_000), "router3": PLAIN}
    (known,) = simulate_today(compiled, soon, prediction.timings)
    assert known.figures


def test_what_the_twin_does_not_model_is_told_without_a_secret_that_has_its_name(
    compiled: Compilation, prediction: Prediction
) -> None:
    held = "snmp-server community PLANTED01 RO\n" + POLICED.format(burst=10_000).replace("robin", "PLANTED01")
    held = held.replace(" match access-group name ROBIN", " match source-address mac 0000.0000.0001")
    (found,) = simulate_today(compiled, {"router1": held, "router3": PLAIN}, prediction.timings)
    assert found.figures == ()
    assert found.why.startswith("router1 ATM1/0.108: the twin does not model a match by MAC address (class ")
    assert "PLANTED01" not in found.why
    alone = compile_intent(
        parse_intent(POLICY.replace("role: edge", "devices: router3"), "one.yaml"), compiled.network
    )
    with pytest.raises(errors.TesterError, match="the twin does not model a match by MAC address") as refused:
        predict(alone, {"router1": held})
    assert "PLANTED01" not in str(refused.value)


def test_nothing_is_simulated_where_every_class_has_an_objective(network: Network, prediction: Prediction) -> None:
    text = POLICY.replace("  - name: default\n", "  - name: default\n    objective: {loss: 90 %}\n")
    judged = compile_intent(parse_intent(text, "remote-control.yaml"), network)
    assert simulate_today(judged, {"router1": PLAIN, "router3": PLAIN}, prediction.timings) == ()
