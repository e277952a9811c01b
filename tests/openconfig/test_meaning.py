"""What a document makes of packets is what the box makes of them, as far as IP headers tell packets apart."""

from __future__ import annotations

import itertools

import pytest

from app.compiler.compile import CompiledDevice
from app.openconfig.restrict import restrict
from app.plan.model import InterfacePlan, Plan
from app.validation.packets import Packet, enter, queue_of

from .plans import APPLICATIONS, compiled

SWITCHES = [d for d in compiled() if d.request.platform != "cisco_ios"]
FLOWS = ((17, 20000), (6, 80), (6, 22))
"""Protocol and port of a conference, of the web, and of neither."""


def path(plan: Plan, arrives: InterfacePlan, leaves: InterfacePlan, packet: Packet) -> tuple[int, int | None]:
    """DSCP and queue of a packet that leaves a box."""
    marked = enter(plan.system, arrives.ingress, packet, tagged=False)
    scheduler = leaves.egress.scheduler or plan.system.scheduler
    return marked.dscp, None if scheduler is None else queue_of(plan.system, leaves.egress, scheduler, marked)


@pytest.mark.parametrize("device", SWITCHES, ids=lambda d: f"{d.request.intent}-{d.name}")
def test_packets_get_the_same_marks_and_queues(device: CompiledDevice) -> None:
    carried = restrict(device.plan, APPLICATIONS).plan
    pairs = list(itertools.permutations(range(len(carried.interfaces)), 2))
    queues = set()
    for (first, last), dscp, (protocol, port) in itertools.product(pairs, range(64), FLOWS):
        packet = Packet(source="10.0.0.1", destination="10.0.1.1", dscp=dscp, protocol=protocol, port=port)
        box, document = (
            path(plan, plan.interfaces[first], plan.interfaces[last], packet) for plan in (device.plan, carried)
        )
        assert document == box, (carried.interfaces[first].name, carried.interfaces[last].name, packet)
        queues.add(box[1])
    assert len(queues) >= 3  # the packets do tell the classes apart
