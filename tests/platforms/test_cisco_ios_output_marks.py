"""Marks that outputs write: held by the emulated device, where the image and the interface have them."""

from __future__ import annotations

import pytest

from qosforge.inventory.models import Framing
from qosforge.plan.request import ClassRequest
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.platforms.mqc.blocks import every_rule
from qosforge.tester.scenario.queue_selection import queue_rules
from qosforge.twin.filters import MarkSpec
from qosforge.validation.packets import Packet, leave
from qoslab.packets import Packets

from .ios_support import (
    OLD,
    STARTUP,
    TRAINS,
    a_class,
    booted,
    errors,
    lan,
    line,
    lowered,
    of,
    port,
    pushed,
    requested,
    rest,
)

MARKING = [image for image in TRAINS if image not in {"12.0(5)T", "12.0(7)T"}]
TAGGED = line("FastEthernet0/1.7", 10**8, usable=10**7, framing=Framing.ETHERNET, tagged=True)


def gold(**mark: object) -> ClassRequest:
    return a_class("gold", 3, treatment={"bandwidth": {"rate": "400 kb/s"}, "mark": mark})


@pytest.mark.parametrize("image", MARKING)
def test_an_output_marks_a_class_and_what_is_left(image: str) -> None:
    result, box = pushed(requested(gold(dscp="af31"), rest(mark={"precedence": 1}), image=image))

    first, last = port(result).egress.rules
    assert (first.set_dscp, last.name, last.set_precedence) == (26, "class-default", 1)
    ip = "ip " if image in {"12.1(5)T", "12.2(8)T"} else ""
    text = box.running_text()
    assert f"  set {ip}dscp af31\n" in text
    assert f" class class-default\n  set {ip}precedence 1\n" in text


def test_a_cos_is_set_where_frames_have_a_tag() -> None:
    wanted = gold(dscp="ef", cos=5)

    result, box = pushed(requested(wanted, image="15.1", interfaces=(TAGGED, line())))

    inside = port(result, "FastEthernet0/1.7").egress.dividing
    assert (inside.rules[0].set_dscp, inside.rules[0].set_cos) == (46, 5)
    assert port(result).egress.rules[0].set_cos is None
    (found,) = of(result, "output-mark-unsupported")
    assert (found.interface, found.traffic_class) == ("Serial0/0", "gold")
    assert box.running_text().count("  set cos 5\n") == 1


@pytest.mark.parametrize("image", ["12.2(15)T", "15.1"])
def test_the_cos_of_a_class_is_written_where_frames_leave_with_a_tag(image: str) -> None:
    voice = a_class("voice", 5, mark={"dscp": "ef", "cos": 5}, treatment={"priority": {"percent": 20}})
    data = a_class("data", 3, mark={"dscp": "af31"}, treatment={"bandwidth": {"percent": 20}})
    request = requested(voice, data, rest(), image=image, interfaces=(lan(), TAGGED, line()))

    result, box = pushed(request)
    sent = [Packets(1, 200, dscp=dscp) for dscp in (40, 24, 0)]
    outcomes = box.offer("FastEthernet0/0", "FastEthernet0/1.7", sent, 1.0)  # type: ignore[attr-defined]

    assert errors(result) == []
    assert [(o.dscp_out, o.cos_out) for o in outcomes] == [(46, 5), (26, 0), (0, 0)]
    assert box.running_text().count("  set cos 5\n") == 1
    (told,) = of(result, "cos-carried-as-dscp")
    assert "written where frames leave with a tag" in told.message


def test_a_child_with_a_cos_of_its_own_keeps_it() -> None:
    inside = a_class("voice", 5, mark={"dscp": "ef", "cos": 5}, treatment={"bandwidth": {"percent": 20}})
    whole = a_class("site", 1, mark={"dscp": "cs1", "cos": 1}, children=(inside, rest()))
    whole = whole.model_copy(update={"treatment": gold(dscp=0).treatment.model_copy(update={"mark": None})})
    result = lowered(requested(whole, image="15.1", interfaces=(TAGGED,)))

    rules = [rule for rule in every_rule(port(result, "FastEthernet0/1.7").egress) if rule.set_cos is not None]
    assert [(rule.name, rule.set_cos) for rule in rules] == [("voice", 5)]


def test_images_without_marking_leave_the_cos_as_it_is() -> None:
    voice = a_class("voice", 5, mark={"dscp": "ef", "cos": 5}, treatment={"bandwidth": {"rate": "400 kb/s"}})
    main = line("FastEthernet0/1", 10**8, framing=Framing.ETHERNET, tagged=True)
    result = lowered(requested(voice, image="12.0(7)T", interfaces=(main,)))

    (told,) = of(result, "cos-not-written")
    assert (told.interface, told.severity.value) == ("FastEthernet0/1", "error")
    assert "12.1(5)T" in told.message
    assert told.hint == "leave the cos out of the marks, or load a newer image"
    assert all(rule.set_cos is None for rule in port(result, "FastEthernet0/1").egress.rules)


def test_images_without_marking_are_told() -> None:
    result = lowered(requested(gold(dscp="ef"), image="12.0(7)T"))

    assert "output-mark-unsupported" in errors(result)
    assert port(result).egress.rules[0].set_dscp is None


def test_the_twin_and_the_path_of_a_packet_have_the_mark_behind_the_output() -> None:
    text = """\
class-map match-any gold
 match ip precedence 3
policy-map OUT
 class gold
  bandwidth percent 20
  set dscp af31
interface Serial0/0
 service-policy output OUT
"""
    plan = PLATFORM.parse(text, "r9", OLD)
    held = plan.interface("Serial0/0")
    assert held is not None
    assert held.egress.scheduler is not None
    assert plan.unknown == ()

    rules, _ = queue_rules(plan, held.egress, held.egress.scheduler)

    assert rules[0].set == MarkSpec(dscp=26)
    assert leave(held.egress, Packet("10.0.0.1", "10.0.0.2", dscp=24)).dscp == 26
    assert leave(held.egress, Packet("10.0.0.1", "10.0.0.2", dscp=0)).dscp == 0


def test_policies_that_mark_need_express_forwarding() -> None:
    without = STARTUP.replace("ip cef\n", "")
    voice = a_class("voice", 5, mark={"dscp": "ef"}, treatment={"bandwidth": {"percent": 20}})
    request = requested(voice, interfaces=(lan(), line()))
    box = booted(request.image, without)
    (finding,) = of(PLATFORM.lower(request, PLATFORM.parse(without, "r9", OLD)), "marking-needs-cef")

    assert ("FastEthernet0/0" in finding.message, "Serial0/0" in finding.message) == (True, False)
    assert of(PLATFORM.lower(request, PLATFORM.parse(STARTUP, "r9", OLD)), "marking-needs-cef") == []
    policy = ["class-map match-any voice", "match precedence 5", "policy-map IN", "class voice", "set dscp ef"]
    attach = ["interface FastEthernet0/0", "service-policy input IN"]
    assert len(box.configure([*policy, *attach])) == 1
    assert box.configure(["ip cef", *attach]) == []
