"""Running configurations of the Catalysts: unprinted defaults, what people write, what is not understood."""

from __future__ import annotations

import pytest

from qosforge.plan.model import Action, Discipline, Plan, Policer, PortRange, Scheduler, Term, Trust
from qosforge.plan.shares import expected_shares
from qosforge.platforms.base import Platform
from qosforge.platforms.catalyst_2950 import PLATFORM as C2950
from qosforge.platforms.catalyst_2970 import PLATFORM as C2970

from .catalyst_support import port


def read(platform: Platform, text: str) -> Plan:
    """The plan of a text."""
    return platform.parse(text, "s", "12.1EA-EI")


def scheduler_of(plan: Plan, name: str) -> Scheduler:
    """The scheduler of a port, its own or the switch's."""
    found = port(plan, name).egress.scheduler or plan.system.scheduler
    assert found is not None
    return found


def test_a_2950_as_delivered() -> None:
    plan = read(C2950, "interface FastEthernet0/1\ninterface Vlan1\n ip address 10.0.0.1 255.0.0.0\n")
    assert plan.system.cos_to_dscp == (0, 8, 16, 24, 32, 40, 48, 56)
    known = (0, 8, 10, 16, 18, 24, 26, 32, 34, 40, 46, 48, 56)
    # The CoS of any other DSCP is 0 (command reference OL-10102-01, p. 2-215).
    assert plan.system.dscp_to_cos == tuple(d // 8 if d in known else 0 for d in range(64))
    assert plan.system.untrusted_keeps_dscp is True
    assert plan.system.cos_to_queue == (1, 1, 2, 2, 3, 3, 4, 4)
    assert plan.system.dscp_to_queue is None
    assert plan.system.scheduler is not None
    assert plan.system.scheduler.discipline is Discipline.STRICT
    assert [q.number for q in plan.system.scheduler.queues] == [4, 3, 2, 1]
    assert expected_shares(plan.system.scheduler, 10**8) == (1.0, 0.0, 0.0, 0.0)
    assert [i.name for i in plan.interfaces] == ["FastEthernet0/1"]
    assert port(plan, "FastEthernet0/1").ingress.trust is Trust.NONE
    assert plan.unknown == ()


def test_a_2970_with_qos_off_changes_nothing() -> None:
    plan = read(C2970, "interface GigabitEthernet0/1\n mls qos trust cos\n")
    assert plan.system.model_dump(exclude_none=True) == {}
    assert port(plan, "GigabitEthernet0/1").ingress.trust is Trust.KEEP
    assert scheduler_of(plan, "GigabitEthernet0/1").discipline is Discipline.FIFO


def test_a_2970_with_qos_on_as_delivered() -> None:
    plan = read(C2970, "mls qos\ninterface GigabitEthernet0/1\n")
    assert plan.system.cos_to_queue == (2, 2, 3, 3, 4, 1, 4, 4)
    table = plan.system.dscp_to_queue
    assert table is not None
    assert [table[d] for d in (0, 15, 16, 31, 32, 39, 40, 47, 48, 63)] == [2, 2, 3, 3, 4, 4, 1, 1, 4, 4]
    assert port(plan, "GigabitEthernet0/1").ingress.trust is Trust.NONE
    scheduler = scheduler_of(plan, "GigabitEthernet0/1")
    # Queue 1 is shaped to one twenty-fifth of the port, the others share what it leaves.
    assert scheduler.queues[0].shape_weight == 25
    assert expected_shares(scheduler, 10**9) == pytest.approx((0.04, 0.32, 0.32, 0.32))


def test_weights_and_maps_of_a_2950() -> None:
    plan = read(
        C2950,
        "wrr-queue bandwidth 5 25 70 0\nwrr-queue cos-map 1 0 1 2\nmls qos map cos-dscp 0 8 16 24 34 46 48 56\n"
        "mls qos map dscp-cos 8 10 to 0\n",
    )
    assert plan.system.scheduler is not None
    assert [q.share.value if q.share else None for q in plan.system.scheduler.queues] == [5, 25, 70, None]
    assert [q.priority for q in plan.system.scheduler.queues] == [False, False, False, True]
    assert plan.system.cos_to_queue == (1, 1, 1, 2, 3, 3, 4, 4)
    assert plan.system.cos_to_dscp == (0, 8, 16, 24, 34, 46, 48, 56)
    assert plan.system.dscp_to_cos is not None
    assert (plan.system.dscp_to_cos[8], plan.system.dscp_to_cos[10], plan.system.dscp_to_cos[12]) == (0, 0, 0)


def test_queueing_of_a_2970_port() -> None:
    plan = read(
        C2970,
        "mls qos\ninterface GigabitEthernet0/1\n srr-queue bandwidth share 10 10 60 20\n"
        " srr-queue bandwidth shape 10 0 0 0\n srr-queue bandwidth limit 90\n mls qos trust\n mls qos cos 3\n"
        "interface GigabitEthernet0/2\n priority-queue out\n srr-queue bandwidth shape 10 0 8 0\n",
    )
    first = port(plan, "GigabitEthernet0/1")
    assert (first.ingress.trust, first.ingress.port_cos) == (Trust.DSCP, 3)
    assert expected_shares(scheduler_of(plan, first.name), 10**9) == pytest.approx(
        (0.1, 0.8 * 10 / 90, 0.8 * 60 / 90, 0.8 * 20 / 90)
    )
    second = scheduler_of(plan, "GigabitEthernet0/2")
    assert [(q.priority, q.shape_weight) for q in second.queues[:3]] == [(True, None), (False, None), (False, 8)]


def test_output_maps_with_and_without_a_threshold() -> None:
    plan = read(
        C2970,
        "mls qos srr-queue output dscp-map queue 1 threshold 3 32 40 46\n"
        "mls qos srr-queue output cos-map queue 1 4\nmls qos\n",
    )
    assert plan.system.dscp_to_queue is not None
    assert plan.system.cos_to_queue is not None
    assert plan.system.dscp_to_queue[32] == 1
    assert plan.system.cos_to_queue[4] == 1
    assert plan.unknown == ()


POLICY = """\
access-list 101 permit tcp 10.0.0.0 0.0.255.255 host 10.1.1.1 eq www
access-list 101 permit udp any range 16384 32767 any
ip access-list extended NAMED
 remark what the phones send
 permit ip any any dscp ef
 deny udp any any
class-map match-all LIST
 match access-group 101
class-map match-all OTHER
  match access-group name NAMED
class-map match-all MARKS
  match ip dscp ef  af41
policy-map P
 class LIST
  set ip dscp 18
  police 5000000 8192 exceed-action drop
 class OTHER
  set dscp cs3
 class MARKS
  police 5000000 8192 exceed-action dscp 10
interface FastEthernet0/1
 service-policy input P
 mls qos trust cos
"""


def test_policies_that_people_write() -> None:
    plan = read(C2950, POLICY)
    ingress = port(plan, "FastEthernet0/1").ingress
    assert (ingress.policy, ingress.trust) == ("P", Trust.NONE)
    first, second, third = ingress.rules
    assert first.any_of == (
        Term(
            protocol=6,
            source="10.0.0.0/16",
            destination="10.1.1.1/32",
            destination_ports=(PortRange(first=80, last=80),),
        ),
        Term(protocol=17, source_ports=(PortRange(first=16384, last=32767),)),
    )
    assert (first.set_dscp, first.set_cos, first.police) == (18, 2, Policer(rate=5_000_000, burst=8192))
    assert second.any_of == (Term(dscp=(46,)),)
    assert (second.set_dscp, second.set_cos) == (24, 3)
    assert third.any_of == (Term(dscp=(34, 46)),)
    assert third.police == Policer(rate=5_000_000, burst=8192, exceed=Action(set_dscp=10))
    assert [(u.text, u.context) for u in plan.unknown] == []


@pytest.mark.parametrize(
    ("platform", "line"),
    [
        (C2950, "wrr-queue bandwidth 1 2 3"),
        (C2950, "wrr-queue cos-map 5 1"),
        (C2950, "mls qos map cos-dscp 0 8 16 24 32 40 48 99"),
        (C2970, "mls qos queue-set output 1 buffers 10 10 26 53"),
        (C2970, "mls qos srr-queue output cos-map queue 1 threshold 1 9"),
        (C2970, "mls qos srr-queue input bandwidth 70 130"),
    ],
)
def test_what_is_not_understood_is_kept(platform: Platform, line: str) -> None:
    plan = read(platform, f"hostname S\nmls qos\n{line}\ninterface GigabitEthernet0/1\n")
    assert line in [u.text for u in plan.unknown]
    assert next(u.line for u in plan.unknown if u.text == line) == 3


@pytest.mark.parametrize(
    "line",
    ["mls qos trust ip-precedence", "queue-set 3", "mls qos dscp-mutation M", "service-policy input NONE"],
)
def test_port_lines_that_are_not_understood(line: str) -> None:
    plan = read(C2970, f"mls qos\ninterface GigabitEthernet0/1\n {line}\n description uplink\n")
    assert [(u.text, u.context) for u in plan.unknown] == [(line, "interface GigabitEthernet0/1")]
