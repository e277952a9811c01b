"""What the audit's table says of policers, trees of classes, thresholds and shaped ports."""

from __future__ import annotations

from qosforge.audit import audit
from qosforge.audit.table import rows
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.model import Plan
from qosforge.platforms.base import platform

TEXT = """\
version 12.4
class-map match-any a
 match ip dscp ef
class-map match-any b
 match ip dscp af21
policy-map INNER
 class b
  bandwidth percent 60
policy-map OUT
 class a
  bandwidth percent 30
  shape average 300000
  service-policy INNER
 class class-default
  random-detect
  random-detect ecn
policy-map IN
 class b
  set dscp af21
  police cir 64000 bc 8000
   conform-action transmit
   exceed-action set-dscp-transmit af22
interface FastEthernet0/0
 service-policy input IN
 rate-limit input access-group 101 96000 8000 8000 conform-action set-prec-transmit 5 exceed-action drop
interface Serial0/0
 bandwidth 1000
 tx-ring-limit 5
 service-policy output OUT
access-list 101 permit udp any any eq 5000
"""


def cells(text: str, name: str, *ports: str) -> dict[str, tuple[str, ...]]:
    interfaces = tuple(Interface(name=port, rate=10**6, role=DeviceRole.EDGE) for port in ports)
    box = Device(name="r1", platform=name, image="12.4", role=DeviceRole.EDGE, driver="ios", interfaces=interfaces)
    network = Network(name="one", devices=(box,), links=(), stations=())
    return {row[1]: row[2:] for row in rows(audit(network, {"r1": text}))}


def test_policers_of_classes_and_of_interfaces() -> None:
    (_, entered, *_) = cells(TEXT, "cisco_ios", "FastEthernet0/0")["FastEthernet0/0"]
    assert entered == (
        "IN (b → af21); b at 64 kb/s (exceeds → af22); list 101 at 96 kb/s (conforms → precedence 5)"
    )


def test_classes_below_a_class_and_the_ring() -> None:
    (_, _, leaves, queues, _) = cells(TEXT, "cisco_ios", "Serial0/0")["Serial0/0"]
    assert leaves == "OUT; ring of 5"
    assert queues == "a 30 % at most 300 kb/s (b 60 %, class-default), class-default WRED with ECN"


def test_thresholds_of_a_switch() -> None:
    text = (
        "mls qos\nmls qos srr-queue output dscp-map queue 2 threshold 1 18\n"
        "mls qos queue-set output 2 threshold 2 40 100 100 400\n"
        "interface GigabitEthernet0/1\n queue-set 2\n mls qos trust dscp\n"
    )
    held: Plan = platform("catalyst_2970").parse(text, "s", "12.2")
    interface = held.interface("GigabitEthernet0/1")
    assert interface is not None
    assert interface.egress.scheduler is not None
    (second,) = [q for q in interface.egress.scheduler.queues if q.number == 2]
    assert 40 in {t.percent for t in second.thresholds}
    assert "tail drop at 40" in cells(text, "catalyst_2970", "GigabitEthernet0/1")["GigabitEthernet0/1"][3]
