"""Marks that a Catalyst 9000 takes from table-maps: of what exceeds a policer, and of what it trusts."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.findings import Severity, has_errors
from qosforge.importing import import_configurations, read_configuration
from qosforge.platforms.catalyst_9000 import PLATFORM
from qoslab.box import Box
from qoslab.packets import Packets
from tests.platforms.catalyst_9000_support import (
    APPLY,
    CONTRACTED,
    LAN,
    MARKED_DOWN,
    PLAIN,
    REST,
    TRUNK,
    TWO_RATES,
    VOICE,
    WEB,
    booted,
    compilation,
    finding,
    made,
    marked,
    pushed,
)

FIRST = {"priority": {"percent": 5}}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """An emulated switch; every test leaves it as it found it."""
    return booted(tmp_path_factory.mktemp("sw"))


def test_what_exceeds_is_marked_down_by_a_table_of_the_marks_that_classes_set() -> None:
    """As AutoQoS writes it: the rows of ``policed-dscp`` are the DSCPs that the classes of its policies set."""
    device = made(VOICE, MARKED_DOWN, REST)
    text = "".join(block.text for block in device.blocks)
    assert "table-map QOSFORGE-POLICED\n map from 18 to 8\n default copy\n" in text
    assert "   exceed-action set-dscp-transmit dscp table QOSFORGE-POLICED\n" in text
    assert not has_errors(compilation(VOICE, MARKED_DOWN, REST).findings)


def test_packets_that_exceed_leave_with_the_lower_mark_and_stay_in_their_class(box: Box) -> None:
    before = box.running_text()
    inverse = pushed(box, made(VOICE, MARKED_DOWN, REST, running=before))
    web = Packets(protocol=6, dst_port=80, count=2000, bytes=1000)
    marks = {o.dscp_out: (o.count, o.egress_class) for o in box.offer(LAN, TRUNK, [web], 1.0)}
    assert marks == {18: (781, "web.Q"), 8: (1219, "web.Q")}
    assert box.configure(inverse) == []
    assert box.running_text() == before


def test_a_policer_of_two_rates_has_three_outcomes(box: Box) -> None:
    before = box.running_text()
    inverse = pushed(box, made(VOICE, TWO_RATES, REST, running=before))
    web = Packets(protocol=6, dst_port=80, count=3000, bytes=1000)
    outcomes = box.offer(LAN, TRUNK, [web], 1.0)
    sent = {o.dscp_out: o.count for o in outcomes if not o.dropped_in}
    assert sent == {18: 625, 20: 625}
    assert sum(o.dropped_in for o in outcomes) == 1750
    assert box.configure(inverse) == []
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("police", "said"),
    [
        ({"excess_burst": "20 kB"}, "no policer of one rate with two buckets"),
        ({"peak_rate": "8 Mb/s", "violate": {"remark": "cs1"}}, "or is dropped"),
        ({"peak_rate": "3 Gb/s"}, "is outside"),
    ],
)
def test_what_a_policer_of_three_colours_cannot_have_is_told(police: dict[str, Any], said: str) -> None:
    entry = {**WEB, "treatment": {"police": {"rate": "4 Mb/s", "exceed": {"remark": "af22"}, **police}}}
    assert said in finding(compilation(VOICE, entry, REST), "police-unsupported").message


def test_one_table_serves_all_classes_or_says_which_it_cannot() -> None:
    again = {**marked("again", "af21"), "match": {"any": [{"protocol": "udp"}]}}
    again["treatment"] = {"police": {"rate": "1 Mb/s", "exceed": {"remark": "af23"}}}
    found = finding(compilation(VOICE, MARKED_DOWN, again, REST), "police-unsupported")
    assert "has it make cs1 of af21, not af23" in found.message
    unmarked = {**MARKED_DOWN, "mark": {"cos": 2}, "match": {"any": [{"protocol": "tcp"}]}}
    assert not [f for f in compilation(VOICE, unmarked, REST).findings if f.code == "police-unsupported"]
    del unmarked["mark"]
    found = finding(compilation(VOICE, unmarked, REST), "police-unsupported")
    assert found.message.endswith("and the class may have any")


BY_COS = {"name": "bulk", "match": {"any": [{"cos": [2, 3]}]}, "treatment": {"bandwidth": {"remaining_percent": 9}}}


def test_what_inputs_write_for_a_cos_tells_the_class_at_outputs() -> None:
    """Frames that leave an access port have no tag, and so no CoS."""
    apply = [{"interfaces": ["lan", "trunk"], "direction": "input", "trust": "cos"}, *APPLY[1:]]
    result = compilation(BY_COS, REST, apply=apply)
    text = "".join(block.text for block in result.devices[0].blocks)
    assert "class-map match-any bulk\n match dscp cs2\n match dscp cs3\n" in text
    assert not [f for f in result.findings if f.code == "cos-untagged"]


def test_frames_that_are_not_ip_are_told_of_where_outputs_look_at_the_dscp() -> None:
    apply = [{"interfaces": ["lan", "trunk"], "direction": "input", "trust": "cos"}, *APPLY[1:]]
    told = finding(compilation(BY_COS, REST, apply=apply), "told-in-ip")
    assert (told.severity, told.traffic_class, told.direction) == (Severity.WARNING, "bulk", "output")
    assert "those of CoS 2, 3 are served by the default class" in told.message
    assert not [f for f in compilation(BY_COS, REST).findings if f.code == "told-in-ip"]


def test_what_the_intent_has_a_cos_stand_for_tells_the_class_at_outputs(box: Box) -> None:
    apply = [{"interfaces": ["lan", "trunk"], "direction": "input", "trust": "cos"}, *APPLY[1:]]
    device = made(BY_COS, REST, apply=apply, cos_to_dscp=[0, 8, 18, 26, 32, 46, 48, 56])
    pushed(box, device)
    (out,) = box.offer(TRUNK, CONTRACTED, [Packets(dscp=0, cos=3, count=1, bytes=100, protocol=6)], 1.0)
    assert (out.dscp_out, out.egress_class) == (26, "class-default/bulk")


def test_a_class_told_by_its_cos_alone_is_told_of_where_frames_leave_without_a_tag() -> None:
    found = finding(compilation(BY_COS, REST), "cos-untagged")
    assert (found.severity, found.traffic_class) == (Severity.WARNING, "bulk")
    assert CONTRACTED in found.message
    assert TRUNK not in found.message


@pytest.mark.parametrize(
    ("image", "refused"), [("3.3", True), ("03.06.00SE", True), ("3.6.1", False), ("17.12", False)]
)
def test_an_old_release_takes_no_class_in_which_nothing_stands(image: str, refused: bool) -> None:
    found = [f for f in compilation(BY_COS, REST, image=image).findings if f.code == "class-empty"]
    assert [(f.traffic_class, f.severity) for f in found] == ([("bulk", Severity.ERROR)] if refused else [])


def test_an_input_for_phones_alone_has_a_policy_beside_trust_device() -> None:
    apply = [{"interfaces": "lan", "direction": "input", "requires_phone": True}]
    apply += [{"interfaces": "plain", "direction": "input", "trust": "phone"}]
    device = made(VOICE, REST, apply=apply)
    text = "".join(block.text for block in device.blocks)
    assert f"interface {LAN}\n trust device cisco-phone\n service-policy input QOSFORGE-IN\n" in text
    # A phone tags its own packets; what a host behind it marks in the DSCP counts for nothing.
    assert f"interface {PLAIN}\n trust device cisco-phone\n service-policy input QOSFORGE-COS\n" in text


def test_without_a_phone_nothing_has_a_mark(box: Box) -> None:
    before = box.running_text()
    apply = [{"interfaces": "lan", "direction": "input", "requires_phone": True}]
    inverse = pushed(box, made(VOICE, REST, running=before, apply=apply))
    (out,) = box.offer(LAN, TRUNK, [Packets(dscp=46, cos=5, count=1, bytes=100, protocol=6)], 1.0)
    assert (out.dscp_out, out.ingress_class) == (0, "class-default")
    assert box.configure(inverse) == []
    assert box.running_text() == before


def test_ports_of_different_policies_are_not_joined() -> None:
    """One marks what phones send and leaves the rest as it is, the other copies every mark."""
    text = """\
version 16.12
hostname C9
table-map T
 default copy
class-map match-any V
 match cos 5
policy-map PHONE
 class V
  set dscp ef
policy-map UPLINK
 class class-default
  set dscp dscp table T
interface TenGigabitEthernet1/0/13
 service-policy input PHONE
interface TenGigabitEthernet1/0/14
 service-policy input UPLINK
"""
    imported = import_configurations([read_configuration(text, "c9.cfg")], "again")
    (intent,) = imported.intents
    assert [c.name for c in intent.loaded.intent.classes] == ["V", "default"]
    assert [scope.ports for scope in intent.loaded.intent.apply] == [("TenGigabitEthernet1/0/13",)]
    assert intent.loaded.intent.classes[-1].mark is not None
    assert {f.code for f in imported.findings} == {"import-assumed"}


QUEUEING = """\
class-map match-any TC7
 match traffic-class 7
policy-map type queueing Q
 class TC7
  priority level 1
interface GigabitEthernet1/0/1
 service-policy type queueing output Q
 service-policy type control subscriber DOT1X
"""


def test_policies_of_traffic_classes_are_named_line_by_line() -> None:
    unknown = PLATFORM.parse(QUEUEING, "sw", "17.12").unknown
    assert {u.text for u in unknown} == {
        "match traffic-class 7",
        "policy-map type queueing Q",
        "class TC7",
        "priority level 1",
        "service-policy type queueing output Q",
    }


def test_outputs_tell_a_class_by_the_qos_group_that_inputs_give_it(box: Box) -> None:
    before = box.running_text()
    grouped = {**WEB, "mark": {"dscp": "af21", "qos_group": 4}}
    device = made(VOICE, grouped, REST, running=before)
    inverse = pushed(box, device)
    assert "class-map match-any web.Q\n match qos-group 4\n" in box.running_text()
    web = Packets(protocol=6, dst_port=80, count=20, bytes=100)
    marked_alike = Packets(dscp=18, count=20, bytes=100)
    assert [o.egress_class for o in box.offer(LAN, TRUNK, [web, marked_alike], 1.0)] == ["web.Q", "class-default"]
    assert box.configure(inverse) == []
    assert box.running_text() == before


def test_a_group_alone_tells_a_class_and_matching_one_is_for_outputs() -> None:
    grouped = {**WEB, "mark": {"qos_group": 4}}
    found = {"name": "found", "match": {"any": [{"qos_group": 7}]}, "treatment": FIRST}
    device = made(VOICE, grouped, found, REST)
    text = "".join(block.text for block in device.blocks)
    assert "class web\n  set qos-group 4\n" in text
    assert "class-map match-any found.Q\n match qos-group 7\n" in text
    assert not has_errors(compilation(VOICE, grouped, found, REST).findings)
    plan = PLATFORM.parse(text, "sw", "17.12")
    assert plan.unknown == ()


def test_a_group_is_joined_with_nothing_and_stands_beside_other_alternatives() -> None:
    joined = {"name": "found", "match": {"any": [{"qos_group": 7, "protocol": "tcp"}]}, "treatment": FIRST}
    assert finding(compilation(joined, REST), "match-unsupported").traffic_class == "found"
    beside = {"name": "found", "match": {"any": [{"qos_group": 7}, {"dscp": "ef"}]}, "treatment": FIRST}
    text = "".join(block.text for block in made(beside, REST, apply=APPLY[1:]).blocks)
    assert "class-map match-any found\n match qos-group 7\n match dscp ef\n" in text
