"""AutoQoS on the Catalysts: what it typed is read, and an intent goes over it and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.plan.early_drop import TailThreshold
from qosforge.plan.model import Action, Policer, Trust

from .catalyst_support import BOXES, booted, campus, network, port, startup

HOSTS = {"s2950": "FastEthernet0/1", "s2970": "GigabitEthernet0/5"}

# In the form that Catalyst 3560 and 3750 switches print after `auto qos voip cisco-phone`.
TYPED = """\
mls qos map policed-dscp  24 26 46 to 0
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos srr-queue input bandwidth 90 10
mls qos srr-queue input threshold 1 8 16
mls qos srr-queue input threshold 2 34 66
mls qos srr-queue input buffers 67 33
mls qos srr-queue input cos-map queue 1 threshold 3 0
mls qos srr-queue input cos-map queue 2 threshold 1 2
mls qos srr-queue input cos-map queue 2 threshold 3 3 5
mls qos srr-queue input dscp-map queue 2 threshold 3 40 41 42 43 44 45 46 47
mls qos srr-queue output cos-map queue 1 threshold 3 5
mls qos srr-queue output cos-map queue 2 threshold 3 3 6 7
mls qos srr-queue output cos-map queue 4 threshold 2 1
mls qos srr-queue output dscp-map queue 1 threshold 3 40 41 42 43 44 45 46 47
mls qos srr-queue output dscp-map queue 4 threshold 1 8
mls qos srr-queue output dscp-map queue 4 threshold 2 9 10 11 12 13 14 15
mls qos queue-set output 1 threshold 1 138 138 92 138
mls qos queue-set output 1 threshold 4 20 50 67 400
mls qos queue-set output 2 threshold 1 149 149 100 149
mls qos queue-set output 1 buffers 10 10 26 54
mls qos queue-set output 2 buffers 16 6 17 61
mls qos
class-map match-all AutoQoS-VoIP-RTP-Trust
 match ip dscp ef
class-map match-all AutoQoS-VoIP-Control-Trust
 match ip dscp cs3 af31
policy-map AutoQoS-Police-CiscoPhone
 class AutoQoS-VoIP-RTP-Trust
  set dscp ef
  police 320000 8000 exceed-action policed-dscp-transmit
 class AutoQoS-VoIP-Control-Trust
  set dscp cs3
  police 32000 8000 exceed-action policed-dscp-transmit
interface GigabitEthernet0/1
 srr-queue bandwidth share 10 10 60 20
 srr-queue bandwidth shape 10 0 0 0
 queue-set 2
 mls qos trust device cisco-phone
 mls qos trust cos
 auto qos voip cisco-phone
interface GigabitEthernet0/2
 srr-queue bandwidth share 10 10 60 20
 priority-queue out
 auto qos voip cisco-softphone
 service-policy input AutoQoS-Police-CiscoPhone
"""


def test_what_autoqos_types_on_a_2970() -> None:
    plan = BOXES["s2970"].parse(TYPED, "s", "12.2")
    assert plan.unknown == ()
    phone = port(plan, "GigabitEthernet0/1")
    assert phone.ingress.trust is Trust.PHONE
    assert phone.egress.scheduler is not None
    queues = phone.egress.scheduler.queues
    assert [q.buffer_percent for q in queues] == [16, 6, 17, 61]
    assert (queues[0].shape_weight, queues[0].limit_packets) == (10, 200 * 16 * 149 // 10_000)
    assert queues[0].thresholds == (TailThreshold(cos=(5,), dscp=tuple(range(40, 48)), percent=149),)
    soft = port(plan, "GigabitEthernet0/2")
    assert soft.egress.scheduler is not None
    last = soft.egress.scheduler.queues[3]
    assert last.thresholds[:2] == (
        TailThreshold(cos=(4,), dscp=(8, *range(32, 40), *range(48, 64)), percent=20),
        TailThreshold(cos=(1,), dscp=tuple(range(9, 16)), percent=50),
    )
    assert soft.egress.scheduler.queues[0].priority
    assert [(r.set_dscp, r.police) for r in soft.ingress.rules] == [
        (46, Policer(rate=320_000, burst=8000, exceed=Action(set_dscp=0))),
        (24, Policer(rate=32_000, burst=8000, exceed=Action(set_dscp=0))),
    ]
    ingress = plan.system.input_queues
    assert ingress is not None
    assert (ingress.weights, ingress.buffer_percent) == ((90, 10), (67, 33))
    assert (ingress.priority_queue, ingress.priority_percent) == (2, 10)
    assert ingress.thresholds == ((8, 16), (34, 66))
    assert ingress.cos_drop_percent == (100, 8, 34, 100, 8, 100, 8, 8)
    assert [ingress.cos_to_queue[c] for c in (0, 2, 3, 5, 6)] == [1, 2, 2, 2, 1]


@pytest.mark.parametrize("device", ["s2950", "s2970"])
@pytest.mark.parametrize("kind", ["cisco-phone", "trust"])
def test_autoqos_is_named_and_with_its_line_taken_back_the_intent_goes_on(
    device: str, kind: str, tmp_path: Path
) -> None:
    box = booted(device, tmp_path, startup(device))
    host, trunk = HOSTS[device], "GigabitEthernet0/1"
    for name in (host, trunk):
        assert box.configure([f"interface {name}", f" auto qos voip {kind}"]) == []

    def compiled() -> CompiledDevice:
        running = {device: box.running_text()}
        return next(d for d in compile_intent(campus(), network(), running).devices if d.name == device)

    told = [f for f in compiled().findings if f.code == "auto-qos-present"]
    # Trusted boundary, which this typed, cannot be entered again beside AutoQoS on a 2950.
    exclusive = device == "s2950" and kind == "cisco-phone"
    assert [f.severity for f in told] == ["error"] * 2 * exclusive + ["warning"]
    assert told[-1].message.startswith(f"'auto qos' stands on {', '.join(sorted((host, trunk)))}:")
    assert "no auto qos" in (told[-1].hint or "")
    for name in (host, trunk):
        assert box.configure([f"interface {name}", " no auto qos voip"]) == []
    before = box.running_text()
    result = compiled()
    assert not [f for f in result.findings if f.code == "auto-qos-present"]
    candidate = make_candidate(result, before)
    assert box.configure(candidate.delta) == []
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


def test_a_phone_is_not_looked_for_beside_autoqos_of_a_2950(tmp_path: Path) -> None:
    box = booted("s2950", tmp_path, startup("s2950"))
    boundary = ["interface FastEthernet0/1", " mls qos trust device cisco-phone"]
    assert box.configure(["interface FastEthernet0/1", " auto qos voip trust"]) == []
    assert len(box.configure(boundary)) == 1
    assert box.configure(["interface FastEthernet0/1", " no auto qos voip"]) == []
    assert box.configure(boundary) == []
    assert len(box.configure(["interface FastEthernet0/1", " auto qos voip trust"])) == 1


@pytest.mark.parametrize(("device", "kind"), [("s2950", "trust"), ("s2970", "trust"), ("s2970", "cisco-phone")])
def test_an_intent_goes_over_it_and_back(device: str, kind: str, tmp_path: Path) -> None:
    box = booted(device, tmp_path, startup(device))
    trunk = "GigabitEthernet0/1"
    for name in (HOSTS[device], trunk):
        assert box.configure([f"interface {name}", f" auto qos voip {kind}"]) == []
    before = box.running_text()
    held = BOXES[device].parse(before, device, "12.1EA-EI")
    assert held.unknown == ()
    assert port(held, trunk).ingress.trust is (Trust.PHONE if kind == "cisco-phone" else Trust.COS)

    result = next(d for d in compile_intent(campus(), network(), {device: before}).devices if d.name == device)
    assert not [f for f in result.findings if f.severity == "error"]
    candidate = make_candidate(result, before)
    assert box.configure(candidate.delta) == []
    after = BOXES[device].parse(box.running_text(), device, "12.1EA-EI")
    assert find_plan_differences(result.plan, after) == ()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before
