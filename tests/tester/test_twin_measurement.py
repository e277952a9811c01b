"""Measuring what devices hold with the twin, without a run."""

from __future__ import annotations

import pytest

from qosforge.compiler.running_plans import running_plans
from qosforge.errors import InputError
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.tester.measurable import require_checks
from qosforge.tester.twin_measurement import measure_until_conclusive


def test_plans_are_what_each_box_holds() -> None:
    network = load_network(root() / "inventories" / "campus")
    plans = running_plans(network, {"r1": "interface Serial0/0\n bandwidth 2000\n", "e300": ""})
    assert {name: plan.platform for name, plan in plans.items()} == {"r1": "cisco_ios", "e300": "force10_e300"}


def test_an_intent_without_checks_cannot_be_measured() -> None:
    require_checks(load_intent(root() / "policies" / "campus-collaboration.yaml"))
    with pytest.raises(InputError, match="no check judges"):
        require_checks(load_intent(root() / "policies" / "itesm-paper.yaml"))


def test_a_measurement_goes_on_while_it_is_inconclusive_and_has_time() -> None:
    network = load_network(root() / "inventories" / "infn-fnal")
    intent = load_intent(root() / "examples" / "policies" / "remote-control.yaml").intent
    startup = root() / "inventories" / "infn-fnal" / "startup"
    texts = {
        device.name: path.read_text() if (path := startup / f"{device.name}.cfg").exists() else ""
        for device in network.devices
    }
    whole = measure_until_conclusive(intent, network, texts, seed=16)
    assert whole.measurement.look > 1
    hurried = measure_until_conclusive(intent, network, texts, seed=16, at_most_seconds=0)
    assert (hurried.measurement.look, hurried.outcome) == (1, "inconclusive")
