"""Marks that inputs take from other marks, by table-maps: plans have a class for each, and intents say them so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from qosforge.platforms.base import platform
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.validation.packets import Packet, enter
from qoslab.packets import Packets
from tests.platforms.ios_support import booted

from .support import compiled_again, imported, told, unlike

TABLES = """\
version 15.1
hostname R1
ip cef
table-map T
 map from 5 to 46
 map from 3 to 26
 default {rest}
class-map match-any web
 match access-group name WEB
ip access-list extended WEB
 permit tcp any any eq www
policy-map IN
 class web
  set qos-group 4
  set {line}
 class class-default
  set {line}
interface FastEthernet0/1.7
 encapsulation dot1Q 7
 ip address 10.0.7.1 255.255.255.0
 service-policy input IN
interface Serial0/0
 ip address 10.0.1.1 255.255.255.252
"""
LINES = ("dscp cos table T", "dscp cos", "precedence cos")


def configuration(line: str, rest: str = "copy") -> str:
    return TABLES.format(line=line, rest=rest)


@pytest.mark.parametrize("rest", ["copy", "ignore", "8"])
@pytest.mark.parametrize("line", LINES)
def test_a_plan_marks_each_packet_as_the_emulated_router_does(line: str, rest: str) -> None:
    text = configuration(line, rest)
    box = booted("15.1", text)
    plan = PLATFORM.parse(text, "r9", "15.1")
    assert plan.unknown == ()
    ingress = plan.interfaces[0].ingress
    for cos in range(8):
        for port in (80, 23):
            sent = Packets(1, 100, dscp=10, cos=cos, protocol=6, dst_port=port)
            (out,) = box.offer("FastEthernet0/1.7", "Serial0/0", [sent], 1.0)
            came = Packet("10.0.7.9", "10.0.1.2", dscp=10, cos=cos, protocol=6, port=port)
            held = enter(plan.system, ingress, came, tagged=True)
            assert (held.dscp >> 3 if "precedence" in line else held.dscp) == (
                out.dscp_out >> 3 if "precedence" in line else out.dscp_out
            ), (cos, port)
            assert held.qos_group == (4 if port == 80 else 0)


def test_an_import_has_a_class_for_each_mark(tmp_path: Path) -> None:
    text = configuration("dscp cos table T", "ignore")
    found = imported(text, platform_id="cisco_ios")

    assert told(found) == []
    (intent,) = found.intents
    classes = {entry["name"]: entry for entry in yaml.safe_load(intent.text)["classes"]}
    assert {name: entry["mark"] for name, entry in classes.items() if "mark" in entry} == {
        "web-cos-5": {"dscp": "ef", "qos_group": 4},
        "web-cos-3": {"dscp": "af31", "qos_group": 4},
        "web": {"qos_group": 4},
        "T-cos-5": {"dscp": "ef"},
        "T-cos-3": {"dscp": "af31"},
    }
    assert classes["T-cos-5"]["match"] == {"any": [{"cos": 5}]}
    (device,) = compiled_again(found, tmp_path)
    held = platform("cisco_ios").parse(text, device.name, device.request.image)
    kept = held.model_copy(update={"interfaces": held.interfaces[:1]})
    assert unlike(device.plan, kept) == ()
    assert "table-map" not in device.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  set qos-group 4\n  set dscp cos table T\n", "  set dscp af11\n  set dscp cos table T\n"),
        ("  set qos-group 4\n", "  police 64000 8000 conform-action transmit exceed-action drop\n"),
        ("  set qos-group 4\n", "  set qos-group dscp table T\n"),
    ],
)
def test_what_no_classes_say_is_named(old: str, new: str) -> None:
    plan = PLATFORM.parse(configuration("dscp cos table T").replace(old, new), "r9", "15.1")
    assert "set dscp cos table T" in [line.text for line in plan.unknown]


def test_a_table_at_an_output_is_named() -> None:
    text = configuration("dscp cos table T").replace("input IN", "output IN").replace("  set qos-group 4\n", "")
    assert [line.text for line in PLATFORM.parse(text, "r9", "15.1").unknown] == ["set dscp cos table T"] * 2


SWITCH = """\
version 17.9
hostname S
table-map T
 map from  46 to 34
 default copy
class-map match-any marked
 match dscp ef
 match dscp af41
policy-map IN
 class marked
  set dscp dscp table T
interface GigabitEthernet1/0/1
 switchport mode access
 service-policy input IN
"""


def test_a_table_of_a_switch(tmp_path: Path) -> None:
    found = imported(SWITCH, platform_id="catalyst_9000")
    assert [text for text in told(found) if "assumed" not in text] == []
    (device,) = compiled_again(found, tmp_path)
    names = [(rule.name, rule.set_dscp) for rule in device.plan.interfaces[0].ingress.rules]
    assert names[:2] == [("marked-dscp-46", 34), ("marked", None)]
