"""QoS groups and the experimental bits of MPLS: matched and written by routers, followed or named elsewhere."""

from __future__ import annotations

import pytest

from qosforge.errors import QosforgeError
from qosforge.intent.models import Treatment
from qosforge.plan.model import Plan, Rule, Term
from qosforge.plan.request import ClassRequest, TermRequest
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.tester.scenario.queue_selection import queue_rules
from qosforge.tester.scenario.rules import input_marks
from qosforge.tester.scenario.twin_support import check_twin_support
from qosforge.twin.filters import MatchSpec
from qosforge.validation.packets import Packet, enter, queue_of
from qoslab.packets import Packets

from .ios_support import MODERN, TRAINS, a_class, booted, errors, lan, line, lowered, of, port, pushed, requested

GROUPED = [image for image in TRAINS if image not in {"12.0(5)T", "12.0(7)T"}]
LABELLED = [image for image in GROUPED if image not in {"12.1(5)T", "12.2(8)T"}]
GOLD = a_class("gold", 3, mark={"qos_group": 3}, treatment={"bandwidth": {"percent": 30}})
SIDES = (lan(), line(by_mark=True))


def labelled(*values: int, **more: object) -> ClassRequest:
    return ClassRequest(name="core", terms=(TermRequest(mpls_experimental=values),), **more)


@pytest.mark.parametrize("image", GROUPED)
def test_an_output_tells_a_class_by_the_group_that_an_input_has_set(image: str) -> None:
    result, box = pushed(requested(GOLD, image=image, interfaces=SIDES))

    assert port(result, "FastEthernet0/0").ingress.rules[0].set_qos_group == 3
    assert port(result).egress.rules[0].any_of == (Term(qos_group=(3,)),)
    (gold, other) = box.offer("FastEthernet0/0", "Serial0/0", [Packets(5, 100, dscp=24), Packets(5, 100)], 1.0)
    assert (gold.egress_class, other.egress_class) == ("gold.MARK", "class-default")


def test_a_device_that_sets_no_group_looks_for_what_the_class_matches() -> None:
    result = lowered(requested(GOLD, image=MODERN, interfaces=(line(by_mark=True),)))

    assert port(result).egress.rules[0].any_of == (Term(precedence=(3,)),)


def test_inputs_do_not_look_for_groups() -> None:
    grouped = ClassRequest(name="q", terms=(TermRequest(qos_group=(3, 4)),))

    result, box = pushed(requested(grouped, GOLD, image=MODERN, interfaces=(lan(), line())))

    assert [rule.name for rule in port(result, "FastEthernet0/0").ingress.rules] == ["gold"]
    assert " match qos-group 3\n match qos-group 4\n" in box.running_text()


@pytest.mark.parametrize("image", LABELLED)
def test_labels_are_matched_and_marked(image: str) -> None:
    treatment = Treatment.model_validate({"bandwidth": {"percent": 20}, "mark": {"mpls_topmost": 3}})
    core = labelled(4, 5, treatment=treatment)
    edge = a_class("edge", 5, mark={"mpls_imposition": 5, "mpls_topmost": 4})

    result, box = pushed(requested(edge, core, image=image, interfaces=(lan(), line())))

    rule = port(result, "FastEthernet0/0").ingress.rules[0]
    assert (rule.set_mpls_imposition, rule.set_mpls_topmost) == (5, 4)
    assert {r.name: r.set_mpls_topmost for r in port(result).egress.rules} == {"edge": None, "core": 3}
    assert " match mpls experimental topmost 4  5\n" in box.running_text()
    sent = box.offer("FastEthernet0/0", "Serial0/0", [Packets(5, 100, exp=5), Packets(5, 100, dscp=18)], 1.0)
    assert [outcome.egress_class for outcome in sent] == ["core", "class-default"]


def without_lines(image: str, *classes: ClassRequest) -> LoweredDevice:
    return lowered(requested(*classes, image=image, interfaces=(lan(), line())))


@pytest.mark.parametrize(
    ("image", "marked", "command"),
    [
        ("12.0(7)T", {"qos_group": 3}, "set qos-group"),
        ("12.2(8)T", {"mpls_imposition": 3}, "set mpls experimental imposition"),
        ("12.2(8)T", {"mpls_topmost": 3}, "set mpls experimental topmost"),
    ],
)
def test_images_without_the_line_are_told(image: str, marked: dict[str, int], command: str) -> None:
    result = without_lines(image, a_class("gold", 3, mark=marked))

    (found,) = of(result, "mark-line-unsupported")
    assert f"no '{command}'" in found.message


def test_old_images_look_at_no_labels() -> None:
    assert "match-line-unsupported" in errors(without_lines("12.2(8)T", labelled(5)))


TEXT = """\
class-map match-any voice
 match dscp ef
class-map match-any grouped
 match qos-group 3
class-map match-any core
 match mpls experimental topmost 5
policy-map IN
 class voice
  set qos-group 3
policy-map OUT
 class core
  bandwidth percent 20
 class grouped
  bandwidth percent 20
interface FastEthernet0/0
 service-policy input IN
interface Serial0/0
 service-policy output OUT
"""


def read(text: str = TEXT) -> Plan:
    return PLATFORM.parse(text, "r9", MODERN)


def test_the_path_of_a_packet_has_the_group_of_its_input_and_no_label() -> None:
    plan = read()
    first, serial = plan.interfaces
    assert plan.unknown == ()
    assert serial.egress.scheduler is not None

    queues = [
        queue_of(
            plan.system,
            serial.egress,
            serial.egress.scheduler,
            enter(plan.system, first.ingress, came, tagged=False),
        )
        for came in (Packet("10.0.0.1", "10.0.0.2", dscp=46), Packet("10.0.0.1", "10.0.0.2"))
    ]

    assert queues == [1, 2]


def test_the_twin_carries_groups_and_refuses_labels() -> None:
    plan = read(TEXT.replace(" class core\n  bandwidth percent 20\n", ""))
    first, serial = plan.interfaces
    assert serial.egress.scheduler is not None

    rules, _ = queue_rules(plan, serial.egress, serial.egress.scheduler)

    assert input_marks(plan.system, first.ingress.rules[0]).group == 3
    assert rules[0].match.any == (MatchSpec(group=(3,)),)
    check_twin_support(plan, serial, None)
    with pytest.raises(QosforgeError, match=r"MPLS experimental bits \(class core\)"):
        check_twin_support(read(), read().interfaces[1], None)


def test_what_an_output_alone_cannot_set_is_named() -> None:
    lines = "  set qos-group 3\n  set mpls experimental imposition 5\n"
    plan = read(TEXT.replace(" class grouped\n", f" class grouped\n{lines}"))

    assert [line.text for line in plan.unknown] == [line.strip() for line in lines.splitlines()]
    assert plan.interfaces[1].egress.rules[1] == Rule(name="grouped", any_of=(Term(qos_group=(3,)),), queue=1)


def test_the_emulated_router_puts_labels_on_at_inputs_alone() -> None:
    box = booted(MODERN)
    refused = box.configure(
        ["policy-map P", "class class-default", "set mpls experimental imposition 5", "interface Serial0/0",
         "service-policy output P"]
    )  # fmt: skip
    assert "imposition" in str(refused)
