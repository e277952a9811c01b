"""What a policer remarks stays in its class behind the edge, on every platform."""

from __future__ import annotations

import pytest

from app.compiler.compile import CompiledDevice, compile_intent
from app.findings import Severity
from app.intent.loader import parse_intent
from app.inventory.models import Device, Interface, Network, Role
from app.validation.packets import Packet, queue_of

INTENT = """
version: 1
intent: remarked
classes:
  - name: bulk
    match: {any: [{dscp: af21}]}
    mark: {dscp: af21}
    treatment:
      bandwidth: {remaining_percent: 40}
      police: {rate: 8 Mb/s, burst: 8192 B, exceed: {remark: af22}, prefer: true}
  - {name: other, match: {any: [{dscp: cs3}]}, mark: {dscp: cs3}, treatment: {bandwidth: {remaining_percent: 30}}}
  - {name: default, treatment: {bandwidth: {remaining_percent: 30}}}
tolerance: 60 %
apply:
  - {devices: box, direction: output}
  - {devices: box, direction: input}
"""
PORTS = {
    "cisco_ios": ("12.4", ("Serial0/0", "FastEthernet0/0")),
    "catalyst_2950": ("12.1EA-EI", ("FastEthernet0/1", "FastEthernet0/2")),
    "catalyst_2970": ("12.2", ("GigabitEthernet0/1", "GigabitEthernet0/2")),
    "catalyst_9000": ("17.12", ("GigabitEthernet1/0/1", "GigabitEthernet1/0/2")),
    "nortel_5510": ("5.1", ("1", "2")),
    "force10_e300": ("6.5", ("GigabitEthernet 0/0", "GigabitEthernet 0/1")),
}


def compiled(platform: str, text: str = INTENT, role: Role = Role.MIDDLE) -> CompiledDevice:
    image, names = PORTS[platform]
    ports = tuple(Interface(name=n, rate=100_000_000, role=role, tags=frozenset({"wan"})) for n in names)
    device = Device(name="box", platform=platform, image=image, role=role, driver="x", interfaces=ports)
    network = Network(name="made", devices=(device,), links=(), stations=())
    return compile_intent(parse_intent(text, "made.yaml"), network).devices[0]


@pytest.mark.parametrize("platform", PORTS)
def test_a_remarked_packet_stays_in_its_class(platform: str) -> None:
    device = compiled(platform)

    plan = device.plan
    egress = plan.interfaces[0].egress
    scheduler = egress.scheduler or plan.system.scheduler
    assert scheduler is not None
    queues = {}
    for dscp in (18, 20, 24):
        packet = Packet(source="192.0.2.1", destination="192.0.2.2", dscp=dscp)
        if plan.system.queue_on_input:
            to_queue, to_cos = plan.system.dscp_to_queue, plan.system.dscp_to_cos
            queues[dscp] = to_queue[dscp] if to_queue else (plan.system.cos_to_queue or ())[(to_cos or ())[dscp]]
            continue
        if plan.system.dscp_to_cos and not plan.system.dscp_to_queue:
            packet = Packet(
                source="192.0.2.1", destination="192.0.2.2", dscp=dscp, cos=plan.system.dscp_to_cos[dscp]
            )
        queues[dscp] = queue_of(plan.system, egress, scheduler, packet)
    assert queues[18] == queues[20] is not None
    assert queues[18] != queues[24]


HIDDEN = """
version: 1
intent: hidden
classes:
  - name: bulk
    match: {any: [{dscp: af21}]}
    mark: {dscp: MARK}
    treatment: {bandwidth: {remaining_percent: 40}}
apply:
  - {ports: Serial0/0, direction: output, recognise_by: BY}
  - {ports: FastEthernet0/0, direction: input}
"""


@pytest.mark.parametrize(
    ("mark", "by", "told"), [("af31", "match", True), ("af21", "match", False), ("af31", "mark", False)]
)
def test_an_output_that_looks_for_what_inputs_write_over_is_told(mark: str, by: str, told: bool) -> None:
    text = HIDDEN.replace("MARK", mark).replace("BY", by)
    image, names = PORTS["cisco_ios"]
    ports = tuple(
        Interface(name=n, rate=2_000_000, role=Role.EDGE, tags=frozenset({tag}))
        for n, tag in zip(names, ("wan", "lan"), strict=True)
    )
    device = Device(name="box", platform="cisco_ios", image=image, role=Role.EDGE, driver="x", interfaces=ports)
    network = Network(name="made", devices=(device,), links=(), stations=())

    found = compile_intent(parse_intent(text, "made.yaml"), network).findings

    assert [f.severity for f in found if f.code == "output-misses-mark"] == ([Severity.WARNING] if told else [])
