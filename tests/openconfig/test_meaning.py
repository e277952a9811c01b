"""What a document makes of packets is what the device makes of them, as far as IP headers tell packets apart."""

from __future__ import annotations

import itertools

import pytest

from qosforge.compiler.compile import CompiledDevice
from qosforge.openconfig.restrict import restrict
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.validation.packets import Packet, enter, queue_of

from .plans import APPLICATIONS, compiled

BY_DSCP = {"campus-collaboration", "impossible", "itesm-paper", "infn-fnal-wfq"}
"""Policies that mark every class with a DSCP: a document has no CoS."""
SWITCHES = tuple(
    itertools.product(
        ("campus-collaboration", "impossible", "infn-fnal-wfq"),
        ("s2950", "s2970", "ers5510", "e300"),
    )
)
"""Which of them reach which switches: compiling them all takes a second that only these tests need."""
TOLD = {"openconfig-trust-not-carried", "openconfig-class-not-carried", "openconfig-match-not-carried",
        "openconfig-map-not-carried"}  # fmt: skip
"""Codes of what makes a document take packets for others."""
FLOWS = ((17, 20000), (6, 80), (6, 22))
"""Protocol and port of a conference, of the web, and of neither."""


def switches() -> dict[tuple[str, str], CompiledDevice]:
    """Every such policy on every switch that it reaches."""
    made = [d for d in compiled() if d.request.platform != "cisco_ios" and d.request.intent in BY_DSCP]
    return {(d.request.intent, d.name): d for d in made}


def path(plan: Plan, arrives: InterfacePlan, leaves: InterfacePlan, packet: Packet) -> tuple[int, int | None]:
    """DSCP and queue of a packet that leaves a device."""
    marked = enter(plan.system, arrives.ingress, packet, tagged=False)
    scheduler = leaves.egress.scheduler or plan.system.scheduler
    return marked.dscp, None if scheduler is None else queue_of(plan.system, leaves.egress, scheduler, marked)


def test_every_switch_is_tried() -> None:
    assert set(SWITCHES) == set(switches())


@pytest.mark.parametrize(("intent", "name"), SWITCHES)
def test_packets_get_the_same_marks_and_queues(intent: str, name: str) -> None:
    device = switches()[intent, name]
    restricted = restrict(device.plan, APPLICATIONS)
    if TOLD & {finding.code for finding in restricted.findings}:
        return  # it says itself that packets are told apart otherwise
    carried = restricted.plan
    pairs = list(itertools.permutations(range(len(carried.interfaces)), 2))
    for (first, last), dscp, (protocol, port) in itertools.product(pairs, range(64), FLOWS):
        packet = Packet(source="10.0.0.1", destination="10.0.1.1", dscp=dscp, protocol=protocol, port=port)
        box, document = (
            path(plan, plan.interfaces[first], plan.interfaces[last], packet) for plan in (device.plan, carried)
        )
        assert document == box, (carried.interfaces[first].name, carried.interfaces[last].name, packet)


@pytest.mark.parametrize("name", ["s2950", "s2970", "ers5510", "e300"])
def test_the_packets_do_tell_the_classes_apart(name: str) -> None:
    device = switches()["campus-collaboration", name]
    assert not TOLD & {finding.code for finding in restrict(device.plan, APPLICATIONS).findings}
    first, *_, last = device.plan.interfaces
    queues = {
        path(device.plan, arrives, leaves, Packet(source="10.0.0.1", destination="10.0.1.1", dscp=dscp))[1]
        for arrives, leaves in itertools.permutations((first, last))
        for dscp in range(64)
    }
    assert len(queues) >= 3
