"""What a policer remarks stays in its class behind the edge, on every platform."""

from __future__ import annotations

import pytest

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.validation.packets import Packet, queue_of

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


def compiled(platform: str, text: str = INTENT, role: DeviceRole = DeviceRole.MIDDLE) -> CompiledDevice:
    image, names = PORTS[platform]
    ports = tuple(Interface(name=n, rate=100_000_000, role=role, tags=frozenset({"wan"})) for n in names)
    device = Device(name="box", platform=platform, image=image, role=role, driver="x", interfaces=ports)
    network = Network(name="made", devices=(device,), links=(), stations=())
    return compile_intent(parse_intent(text, "made.yaml"), network).devices[0]


def queues_of(device: CompiledDevice, *dscps: int) -> dict[int, int | None]:
    """The queue that packets with these DSCPs take where marks are trusted."""
    plan = device.plan
    egress = plan.interfaces[0].egress
    scheduler = egress.scheduler or plan.system.scheduler
    assert scheduler is not None
    queues: dict[int, int | None] = {}
    for dscp in dscps:
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
    return queues


@pytest.mark.parametrize("platform", PORTS)
def test_a_remarked_packet_stays_in_its_class(platform: str) -> None:
    device = compiled(platform)
    queues = queues_of(device, 18, 20, 24, 0)

    if platform == "catalyst_2950":  # AF22 is none of the thirteen DSCPs, and has CoS 0 (OL-10102-01, p. 2-215)
        (told,) = [f for f in device.findings if f.code == "dscp-unsupported"]
        assert (told.severity, told.traffic_class, told.requested) == (Severity.WARNING, "bulk", "af22")
        assert queues[20] == queues[0] != queues[18]
        return
    assert queues[18] == queues[20] is not None
    assert queues[18] != queues[24]


LOOP = INTENT.replace("remark: af22", "remark: cs1").replace(
    "match: {any: [{dscp: cs3}]}, mark: {dscp: cs3}", "match: {any: [{dscp: cs1}]}"
)
"""What exceeds gets the mark that the class behind is told by."""


@pytest.mark.parametrize("platform", PORTS)
@pytest.mark.parametrize("text", [LOOP, LOOP.replace("{dscp: cs1}]}", "{dscp: cs3}]}, mark: {dscp: cs1}")])
def test_a_mark_that_another_class_is_told_by_is_of_that_class(platform: str, text: str) -> None:
    queues = queues_of(compiled(platform, text), 18, 8, 0)

    assert len({queues[18], queues[8]}) == 2
    assert queues[8] != queues[0]


@pytest.mark.parametrize("platform", PORTS)
def test_what_is_remarked_to_nothing_does_not_take_the_default_along(platform: str) -> None:
    queues = queues_of(compiled(platform, INTENT.replace("remark: af22", "remark: default")), 18, 0, 24)

    assert queues[0] != queues[18]


def told(text: str) -> list[Finding]:
    network = Network(name="none", devices=(), links=(), stations=())
    return [f for f in compile_intent(parse_intent(text, "made.yaml"), network).findings if f.code == REMARK]


REMARK = "remark-of-other-class"


def test_where_what_exceeds_goes_is_told_with_both_classes_and_the_mark() -> None:
    (found,) = told(LOOP)

    assert (found.severity, found.traffic_class, found.line) == (Severity.INFO, "bulk", 5)
    assert "bulk" in found.message
    assert "other" in found.message
    assert "cs1" in found.message
    assert "no other class is told by" in str(found.hint)
    assert told(INTENT) == []


def test_a_class_told_by_the_mark_and_more_is_warned_of_unless_it_stands_before() -> None:
    both = LOOP.replace("{dscp: cs1}", "{dscp: cs1, protocol: tcp}")
    lines = both.splitlines()
    other = next(line for line in lines if "name: other" in line)
    at = lines.index("classes:") + 1
    before = "\n".join([*lines[:at], other, *(line for line in lines[at:] if line != other)])

    (found,) = told(both)

    assert (found.severity, found.traffic_class) == (Severity.WARNING, "bulk")
    assert "other" in found.message
    assert "cs1" in found.message
    assert told(before) == []


def test_classes_that_one_divides_are_no_others() -> None:
    """What the parent remarks to the mark of its child stays in the parent, and a precedence covers its DSCPs."""
    parent = LOOP.replace(
        "bandwidth: {remaining_percent: 40}",
        "bandwidth: {remaining_percent: 40}\n      children: [{name: low, match: {any: [{dscp: cs1}]}, treatment: "
        "{bandwidth: {percent: 10}}}]",
    ).replace("{name: other, match: {any: [{dscp: cs1}]}", "{name: other, match: {any: [{dscp: cs3}]}")

    assert told(parent) == []
    (found,) = told(
        LOOP.replace("mark: {dscp: af21}", "mark: {precedence: 2}").replace("remark: cs1", "precedence: 1")
    )
    assert "precedence 1" in found.message


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
        Interface(name=n, rate=2_000_000, role=DeviceRole.EDGE, tags=frozenset({tag}))
        for n, tag in zip(names, ("wan", "lan"), strict=True)
    )
    device = Device(
        name="box", platform="cisco_ios", image=image, role=DeviceRole.EDGE, driver="x", interfaces=ports
    )
    network = Network(name="made", devices=(device,), links=(), stations=())

    found = compile_intent(parse_intent(text, "made.yaml"), network).findings

    assert [f.severity for f in found if f.code == "output-misses-mark"] == ([Severity.WARNING] if told else [])
