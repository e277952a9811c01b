"""Whether a port tells classes apart, on devices as delivered and as configured."""

from __future__ import annotations

import pytest

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.plan.facts import port_facts
from qosforge.plan.model import Plan
from qosforge.plan.state import PortState, port_state
from qosforge.platforms.base import platform
from qosforge.resources import root


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(root() / "inventories" / "campus")


@pytest.fixture(scope="module")
def compiled(network: Network) -> Compilation:
    return compile_intent(load_intent(root() / "policies" / "campus-collaboration.yaml"), network)


def _states(plan: Plan, network: Network) -> dict[str, PortState]:
    target, image = platform(plan.platform), network.device(plan.device).image
    delivered = [target.parse(text, plan.device, image).system for text in target.family.without_policy]
    return {entry.name: port_state(plan, entry, delivered) for entry in plan.interfaces}


def test_boxes_as_delivered_have_no_policy_though_switches_have_queues(network: Network) -> None:
    folder = root() / "inventories" / "campus"
    for device in network.devices:
        text = (folder / str(device.startup)).read_text()
        plan = platform(device.platform).parse(text, device.name, device.image)
        assert not any(state.by_class or state.marks for state in _states(plan, network).values()), device.name


def test_a_queue_set_is_no_policy_until_somebody_changes_its_maps(network: Network) -> None:
    def by_class(*lines: str) -> set[bool]:
        plan = platform("nortel_5510").parse("\n".join(lines), "ers5510", "5.1")
        return {state.by_class for state in _states(plan, network).values()}

    for queue_set in (1, 4, 8):
        assert by_class(f"qos agent queue-set {queue_set}") == {False}, queue_set
    assert by_class("qos agent queue-set 4", "qos queue-set-assignment queue-set 4 1p 3 queue 1") == {True}
    assert by_class("qos agent queue-set 4", "qos egressmap ds 10 1p 6 dp low-drop") == {True}


def test_a_policy_is_seen_where_it_is_applied(network: Network, compiled: Compilation) -> None:
    states = {device.name: _states(device.plan, network) for device in compiled.devices}
    serial = states["r1"]["Serial0/0"]
    assert (serial.by_class, serial.queues, serial.shared, serial.marks) == (True, 3, False, False)
    lan = states["r1"]["FastEthernet0/0"]
    assert (lan.by_class, lan.queues, lan.marks) == (False, 1, True)
    for switch in ("s2950", "s2970", "ers5510", "e300"):
        assert all(state.by_class for state in states[switch].values()), switch
    assert all(state.shared for state in states["s2950"].values())


def test_a_port_is_told_in_words(compiled: Compilation) -> None:
    plan = next(device.plan for device in compiled.devices if device.name == "b56")
    facts = port_facts(plan.system, plan.interfaces[0])
    assert facts["out, voice-video"].startswith("served first, at most 50 % of the link")
    assert facts["out, web-and-file"] == "at least 70 % of what priority leaves"
    assert "rtp-audio or rtp-video or DSCP ef, af41" in facts["out, packets of voice-video"]
    assert "precedence 0: from 20 packets on average" in facts["out, class-default, early drop"]
    assert "link efficiency: cuts long packets into fragments of 112 bytes, 16 ms each" in facts


def test_queues_of_one_name_are_told_apart(compiled: Compilation) -> None:
    plan = next(device.plan for device in compiled.devices if device.name == "e300")
    facts = port_facts(plan.system, plan.interfaces[0])
    idle = [about for about in facts if about.startswith("out, QOSFORGE-IDLE") and "limits" not in about]
    assert len(idle) == len(set(idle)) == 4


def test_every_difference_between_two_compiled_boxes_is_told(compiled: Compilation) -> None:
    for device in compiled.devices:
        for entry in device.plan.interfaces:
            facts = port_facts(device.plan.system, entry)
            assert all(facts.values()), facts
            bare = port_facts(device.plan.system, type(entry)(name=entry.name))
            assert facts != bare or entry == type(entry)(name=entry.name)
