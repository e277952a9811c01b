"""A class that asks for nothing gets what the device cannot but give it, and that is told."""

from __future__ import annotations

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.findings import Fidelity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.shares import expected_shares

INTENT = """
version: 1
intent: all-given-away
classes:
  - {name: a, match: {any: [{dscp: af11}]}, mark: {dscp: af11}, treatment: {bandwidth: {remaining_percent: 60}}}
  - {name: b, match: {any: [{dscp: af31}]}, mark: {dscp: af31}, treatment: {bandwidth: {remaining_percent: 40}}}
  - {name: default}
apply: [{devices: box, direction: output}]
"""


@pytest.mark.parametrize(
    ("platform", "image", "port"),
    [
        ("force10_e300", "6.5", "GigabitEthernet 0/0"),
        ("catalyst_2950", "12.1EA-EI", "FastEthernet0/1"),
        ("catalyst_2970", "12.2", "GigabitEthernet0/1"),
    ],
)
def test_the_default_class_is_told_what_its_queue_gets(platform: str, image: str, port: str) -> None:
    interface = Interface(name=port, rate=100_000_000, role=DeviceRole.CORE)
    device = Device(
        name="box", platform=platform, image=image, role=DeviceRole.CORE, driver="x", interfaces=(interface,)
    )
    network = Network(name="made", devices=(device,), links=(), stations=())

    (made,) = compile_intent(parse_intent(INTENT, "made.yaml"), network).devices

    (told,) = (f for f in made.fidelity if f.traffic_class == "default")
    scheduler = made.plan.interfaces[0].egress.scheduler or made.plan.system.scheduler
    assert scheduler is not None
    least = min(s for s, q in zip(expected_shares(scheduler, 10**8), scheduler.queues, strict=True) if q.share)
    assert told.requested_percent == 0
    assert told.applied_percent is not None
    assert told.applied_percent >= round(least * 100, 4) > 0
    assert told.fidelity is Fidelity.APPROXIMATE
