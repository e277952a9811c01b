"""Reading and measuring the devices as they are, without a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from qosforge.deploy.fleet import Outcome
from qosforge.errors import DeviceError, DeviceErrors, InputError, Place
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.workflow.live import measure_until_conclusive, read_running, running_plans
from qosforge.tester.measurable import require_checks
from tests.device_texts import opened, said


def fleet(**answers: str | None) -> Any:
    """Devices that answer with a text, or cannot be reached."""
    outcomes = {
        name: Outcome(
            name,
            said(text, name) if text else None,
            None if text else DeviceError("cannot be reached", Place(device=name)),
        )
        for name, text in answers.items()
    }
    network = SimpleNamespace(devices=[SimpleNamespace(name=name) for name in answers])
    return SimpleNamespace(network=network, run=lambda names, _task: {name: outcomes[name] for name in names})


def test_every_box_is_read() -> None:
    assert opened(read_running(fleet(r1="hostname r1\n", r3="hostname r3\n"))) == {
        "r1": "hostname r1\n",
        "r3": "hostname r3\n",
    }


def test_boxes_that_cannot_be_read_are_told_together() -> None:
    with pytest.raises(DeviceErrors) as told:
        read_running(fleet(r1=None, r2="hostname r2\n", r3=None))
    assert [problem.where.device for problem in told.value.problems()] == ["r1", "r3"]
    assert str(told.value) == "r1: cannot be reached\nr3: cannot be reached"
    assert told.value.exit_code == 3


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
