"""The 2970's commands by group: ranges, refusals, canonical print, removal; VLAN policies of the 3560."""

from __future__ import annotations

import pytest

from qoslab.packets import Packets

from .catalyst_support import INVALID, held
from .conftest import BoxMaker, type_lines


@pytest.mark.parametrize(
    "line",
    ["mls qos map cos-dscp 0 8 16 24 32 40 48", "mls qos map cos-dscp 0 8 16 24 32 40 48 64",
     "mls qos map dscp-cos 0 1 2 3 4 5 6 7 8 to 1", "mls qos map dscp-cos 1 to 8",
     "mls qos map policed-dscp 1 to 64", "mls qos map dscp-cos ef to 5", "mls qos map dscp-mutation 1 to 2",
     "mls qos srr-queue output cos-map 5", "mls qos srr-queue output cos-map threshold 1 5",
     "mls qos srr-queue output dscp-map queue 1 threshold 4 1", "mls qos srr-queue input dscp-map queue 3 1",
     "mls qos srr-queue output cos-map queue 1 threshold 1 8", "mls qos srr-queue input bandwidth 0 1",
     "mls qos srr-queue input priority-queue 1 bandwidth 41", "mls qos srr-queue input threshold 1 101 1",
     "mls qos srr-queue input threshold 3 1 1", "mls qos queue-set output 3 buffers 25 25 25 25",
     "mls qos queue-set output 1 threshold 5 1 1 1 1", "mls qos queue-set output 1 threshold 1 0 1 1 1",
     "mls qos queue-set output 1 threshold 1 1 1 101 1", "mls qos queue-set output 1 threshold 1 3201 1 1 1",
     "mls qos aggregate-policer A 7999 8000 exceed-action drop", "mls qos aggregate-policer A 8000 8000",
     "mls qos aggregate-policer A 8000 1000001 exceed-action drop", "wrr-queue bandwidth 1 2 3 4",
     "mls qos srr-queue output bandwidth 1 1"],
)  # fmt: skip
def test_global_lines_out_of_range(make: BoxMaker, line: str) -> None:
    (answer,) = type_lines(make("2970"), line)[1]
    assert INVALID in answer or "% Incomplete command." in answer


@pytest.mark.parametrize(
    "line",
    ["srr-queue bandwidth share 1 2 3", "srr-queue bandwidth share 256 1 1 1",
     "srr-queue bandwidth shape 65536 0 0 0",
     "srr-queue bandwidth limit 9", "queue-set 3", "priority-queue in", "mls qos trust precedence", "mls qos cos 9",
     "mls qos trust cos pass-through dscp", "mls qos vlan-based", "service-policy output P"],
)  # fmt: skip
def test_port_lines_out_of_range(make: BoxMaker, line: str) -> None:
    (answer,) = type_lines(make("2970"), "interface gi0/1", line)[1]
    assert INVALID in answer or "% Incomplete command." in answer


def test_thresholds_of_older_images_end_at_400(make: BoxMaker) -> None:
    line = "mls qos queue-set output 2 threshold 2 400 400 100 {}"
    assert INVALID in type_lines(make("2970", wide_thresholds=False), line.format(401))[1][0]
    assert type_lines(make("2970", wide_thresholds=False), line.format(399))[1] == []
    assert type_lines(make("2970"), line.format(3200))[1] == []


@pytest.mark.parametrize(
    ("typed", "printed", "back"),
    [("mls qos map dscp-cos 46 40 to 7", "mls qos map dscp-cos 40 46 to 7", "mls qos map dscp-cos"),
     ("mls qos map policed-dscp 46 24 to 0", "mls qos map policed-dscp  24 46 to 0", "mls qos map policed-dscp"),
     ("mls qos map dscp-mutation M 0 to 8", "mls qos map dscp-mutation M 0 to 8", "mls qos map dscp-mutation M"),
     ("mls qos map ip-prec-dscp 0 8 16 24 34 46 48 56", "mls qos map ip-prec-dscp 0 8 16 24 34 46 48 56",
      "mls qos map ip-prec-dscp"),
     ("mls qos srr-queue output cos-map queue 1 4", "mls qos srr-queue output cos-map queue 1 threshold 1 4",
      "mls qos srr-queue output cos-map"),
     ("mls qos srr-queue input dscp-map queue 2 threshold 3 48",
      "mls qos srr-queue input dscp-map queue 2 threshold 3 48",
      "mls qos srr-queue input dscp-map"),
     ("mls qos srr-queue input cos-map queue 2 threshold 2 6",
      "mls qos srr-queue input cos-map queue 2 threshold 2 6",
      "mls qos srr-queue input cos-map queue 2 threshold 2 6"),
     ("mls qos srr-queue input bandwidth 70 30", "mls qos srr-queue input bandwidth 70 30",
      "mls qos srr-queue input bandwidth"),
     ("mls qos srr-queue input buffers 60 40", "mls qos srr-queue input buffers 60 40",
      "mls qos srr-queue input buffers"),
     ("mls qos srr-queue input threshold 1 80 90", "mls qos srr-queue input threshold 1 80 90",
      "mls qos srr-queue input threshold 1"),
     ("mls qos srr-queue input priority-queue 1 bandwidth 30",
      "mls qos srr-queue input priority-queue 1 bandwidth 30",
      "mls qos srr-queue input priority-queue 1"),
     ("mls qos queue-set output 2 buffers 0 50 25 25", "mls qos queue-set output 2 buffers 0 50 25 25",
      "mls qos queue-set output 2 buffers"),
     ("no mls qos rewrite ip dscp", "no mls qos rewrite ip dscp", ""),
     ("mls qos aggregate-policer A 8000 8000 exceed-action drop",
      "mls qos aggregate-policer A 8000 8000 exceed-action drop", "mls qos aggregate-policer A")],
)  # fmt: skip
def test_global_lines_print_and_go(make: BoxMaker, typed: str, printed: str, back: str) -> None:
    box = make("2970")
    before = box.running_text()
    assert [line for line in held(box, typed) if line != "!"] == [printed]
    assert type_lines(box, f"no {back}" if back else typed.removeprefix("no "))[1] == []
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("typed", "printed"),
    [("mls qos trust", "mls qos trust dscp"), ("mls qos trust ip-precedence", "mls qos trust ip-precedence"),
     ("mls qos trust device cisco-phone", "mls qos trust device cisco-phone"),
     ("mls qos cos override", "mls qos cos override"), ("mls qos dscp-mutation M", "mls qos dscp-mutation M"),
     ("srr-queue bandwidth shape 0 0 0 0", "srr-queue bandwidth shape 0 0 0 0"),
     ("srr-queue bandwidth limit 90", "srr-queue bandwidth limit 90"), ("queue-set 2", "queue-set 2"),
     ("priority-queue out", "priority-queue out"), ("srr-queue bandwidth shape 25 0 0 0", ""),
     ("srr-queue bandwidth share 25 25 25 25", ""), ("queue-set 1", ""), ("mls qos cos 0", "")],
)  # fmt: skip
def test_port_settings_print_and_go(make: BoxMaker, typed: str, printed: str) -> None:
    box = make("2970")
    before = box.running_text()
    assert held(box, "interface gi0/1", typed) == ([printed] if printed else [])
    assert type_lines(box, "interface gi0/1", f"no {printed or typed}")[1] == []
    assert box.running_text() == before


def test_a_mutation_goes_with_its_name_alone(make: BoxMaker) -> None:
    """Every reference of the family gives ``no mls qos dscp-mutation NAME`` (3560 78-16405-05, p. 2-244)."""
    box = make("2970")
    lines = ["interface gi0/1", "mls qos trust dscp", "mls qos dscp-mutation M"]
    assert type_lines(box, *lines, "no mls qos dscp-mutation")[1] == ["% Incomplete command.\n"]
    assert "mls qos dscp-mutation M" in box.running_text()
    assert type_lines(box, *lines, "no mls qos dscp-mutation M")[1] == []
    assert "mutation" not in box.running_text()


def test_order_of_the_printout(make: BoxMaker) -> None:
    box = make("2970")
    printed = [
        "mls qos map policed-dscp  0 10 18 24 46 to 8", "mls qos map cos-dscp 0 8 16 24 32 46 48 56",
        "mls qos srr-queue input bandwidth 90 10", "mls qos srr-queue output cos-map queue 1 threshold 3 4 5",
        "mls qos srr-queue output dscp-map queue 1 threshold 3 32 33 40 41 42 43 44 45",
        "mls qos srr-queue output dscp-map queue 1 threshold 3 46 47",
        "mls qos queue-set output 1 threshold 1 138 138 92 138",
        "mls qos queue-set output 2 threshold 4 42 72 100 242", "mls qos queue-set output 1 buffers 10 10 26 54",
        "mls qos", "srr-queue bandwidth share 10 10 60 20", "srr-queue bandwidth shape 10 0 0 0", "queue-set 2",
        "priority-queue out", "mls qos trust device cisco-phone", "mls qos trust cos",
    ]  # fmt: skip
    globals_, port = printed[:10], printed[10:]
    lines = held(box, *reversed(globals_), "interface gi0/1", *reversed(port))
    assert [line for line in lines if line != "!"] == printed


@pytest.mark.parametrize(
    "line", ["mls qos srr-queue input buffers 50 51", "mls qos queue-set output 1 buffers 1 1 1 1"]
)
def test_buffers_must_make_a_whole(make: BoxMaker, line: str) -> None:
    assert type_lines(make("2970"), line)[1] == ["%Error: total buffer allocation must be 100%"]


POLICY = ["class-map C", "match access-group name A", "policy-map P", "class C"]
SHARED = "mls qos aggregate-policer G 1000000 8000 exceed-action policed-dscp-transmit"


def test_classes_and_marks_print_in_one_form(make: BoxMaker) -> None:
    box = make("2970")
    lines = held(box, "class-map match-any V", "match ip precedence critical 6", "policy-map P", "class V",
                 "set ip dscp 46", "police 320000 8000", "class class-default", "trust")  # fmt: skip
    assert [line for line in lines if line != "!"] == [
        "class-map match-any V", "match ip precedence 5 6", "policy-map P", "class V", "set dscp ef",
        "police 320000 8000 exceed-action drop", "class class-default", "trust dscp",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [(["class-map C", "match ip dscp 1", "match ip precedence 1"], "Only one match"),
     (["class-map C", "match ip dscp 1 2 3 4 5 6 7 8 9"], INVALID),
     (["class-map C", "match input-interface gi0/1"], INVALID),
     (["class-map class-default"], "Invalid class-map name"),
     ([*POLICY, "set dscp 1", "trust cos"], "Must deconfigure"),
     ([*POLICY, "trust cos", "set ip precedence 1"], "Must deconfigure"),
     ([*POLICY, "police 7999 8000"], INVALID),
     ([*POLICY, "police 1000000001 8000"], INVALID),
     ([*POLICY, "police 8000 7999"], INVALID),
     ([*POLICY, "police 8000 8000 exceed-action dscp 8"], INVALID),
     ([*POLICY, "police aggregate NONE"], "not configured"),
     ([*POLICY, "service-policy Q"], INVALID),
     ([SHARED, *POLICY, "police aggregate G", "no mls qos aggregate-policer G"], "being used"),
     ([SHARED, *POLICY, "police aggregate G", "policy-map Q", "class C", "police aggregate G"], "policy map P"),
     (["interface Vlan1", "service-policy input P"], INVALID),
     (["interface Port-channel1", "mls qos trust cos"], INVALID)],
)  # fmt: skip
def test_policies_refuse(make: BoxMaker, lines: list[str], refusal: str) -> None:
    _, answers = type_lines(make("2970"), *lines)
    assert len(answers) == 1
    assert refusal in answers[0]


def test_a_shared_policer_is_one_bucket_and_one_line(make: BoxMaker) -> None:
    box = make("2970")
    type_lines(box, "mls qos", "mls qos map policed-dscp 10 18 to 8", SHARED.replace("1000000", "8000000"), SHARED,
               "class-map A", "match ip dscp 10", "class-map B", "match ip dscp 18", "policy-map P",
               "class A", "trust dscp", "police aggregate G", "class B", "trust dscp", "police aggregate G",
               "interface gi0/1", "service-policy input P")  # fmt: skip
    text = box.running_text()
    assert text.count("aggregate-policer") == 1
    assert f"{SHARED}\n" in text
    assert make("2970", text).running_text() == text
    outcomes = box.offer("gi0/1", "gi0/2", [Packets(600, 200, dscp=10), Packets(600, 200, dscp=18)], 1.0)
    # 8000 bytes of burst and 125000 of rate: 665 packets of 200 bytes, whichever class they are in.
    assert [(one.dscp_out, one.count) for one in outcomes] == [(10, 600), (18, 65), (8, 535)]


def test_number_of_policers_of_a_port(make: BoxMaker) -> None:
    box = make("2970")
    lines = [SHARED, "interface gi0/1"]
    for number in range(66):
        lines += [f"class-map C{number}", "match ip dscp 1", "policy-map P", f"class C{number}"]
        lines.append("police 8000 8000" if number < 64 else "police aggregate G")
    assert type_lines(box, *lines)[1] == []
    attach = ["interface gi0/1", "service-policy input P"]
    assert "too many policers" in type_lines(box, *attach)[1][0]  # 64, and one that two classes share
    assert type_lines(box, "policy-map P", "class C0", "no police 8000 8000", *attach)[1] == []
    assert "too many policers" in type_lines(box, "policy-map P", "class C0", "police 8000 8000")[1][0]


def test_a_port_has_a_trust_or_a_policy_whichever_came_last(make: BoxMaker) -> None:
    box = make("2970")
    type_lines(box, *POLICY, "interface gi0/1", "mls qos cos 3", "mls qos trust cos", "mls qos dscp-mutation M")
    lines = held(box, "interface gi0/1", "service-policy input P")
    assert lines == ["service-policy input P"]
    text = box.running_text()
    assert "mls qos cos 3" in text
    assert "trust" not in text
    assert "mutation" not in text
    assert held(box, "interface gi0/1", "mls qos trust device cisco-phone") == ["mls qos trust device cisco-phone"]
    assert "service-policy" not in box.running_text()


def test_mac_lists(make: BoxMaker) -> None:
    box = make("2970")
    lines = held(box, "mac access-list extended M", "permit 0001.0002.0003 0000.0000.0000 any aarp",
                 "permit any 0001.0002.0003 0000.0000.00ff 2048 0x0 cos 5",
                 "deny ffff.ffff.ffff ffff.ffff.ffff any lsap 0xAA 0")  # fmt: skip
    assert [line for line in lines if line != "!"] == [
        "mac access-list extended M", "permit host 0001.0002.0003 any aarp",
        "permit any 0001.0002.0003 0000.0000.00ff 0x800 0x0 cos 5", "deny   any any lsap 0xaa 0x0",
    ]  # fmt: skip
    assert make("2970", box.running_text()).running_text() == box.running_text()
    assert INVALID in type_lines(box, "mac access-list extended M", "permit any any 0x10000 0")[1][0]


VLAN_POLICY = [
    "mls qos", "mls qos map policed-dscp 46 to 8", "class-map PORTS",
    "match input-interface gi0/1 GigabitEthernet 0/2",
    "policy-map CHILD", "class PORTS", "police 8000 8000 exceed-action policed-dscp-transmit",
    "class-map VOICE", "match ip dscp ef", "policy-map PARENT", "class VOICE", "set dscp ef",
    "service-policy CHILD",
    "interface Vlan3", "service-policy input PARENT", "interface gi0/1", "switchport access vlan 3",
    "mls qos vlan-based",
]  # fmt: skip


def test_policies_of_a_vlan_on_a_3560(make: BoxMaker) -> None:
    box = make("2970", vlan_qos=True)
    assert type_lines(box, *VLAN_POLICY)[1] == []
    text = box.running_text()
    assert " match input-interface GigabitEthernet0/1 GigabitEthernet0/2\n" in text
    assert make("2970", text, vlan_qos=True).running_text() == text
    voice = Packets(100, 200, dscp=46)
    outcomes = box.offer("gi0/1", "fa0/2", [voice, Packets(1, 64, dscp=18)], 0.001)
    # The child polices to 8000 bytes of burst: 40 packets; what no class takes is best effort.
    assert [(one.dscp_out, one.count) for one in outcomes] == [(46, 40), (8, 60), (0, 1)]
    assert box.offer("gi0/2", "fa0/2", [voice], 0.001)[0].dscp_out == 0  # a port of its own, without trust
    type_lines(box, "interface gi0/1", "mls qos trust dscp")
    assert "vlan-based" not in box.running_text()
    assert [one.dscp_out for one in box.offer("gi0/1", "fa0/2", [voice], 0.001)] == [46]


def test_two_levels_of_policies_and_no_more(make: BoxMaker) -> None:
    box = make("2970", vlan_qos=True)
    type_lines(box, *VLAN_POLICY)
    for lines in (
        ["policy-map CHILD", "class PORTS", "service-policy PARENT"],
        ["policy-map CHILD", "class PORTS", "service-policy CHILD"],
        ["policy-map OTHER", "policy-map CHILD", "class PORTS", "service-policy OTHER"],
        ["policy-map TOP", "class VOICE", "service-policy PARENT"],
    ):
        assert type_lines(box, *lines)[1] == ["% Only two levels of policy maps are supported"]
    assert "being used" in type_lines(box, "no policy-map CHILD")[1][0]
    assert "not configured" in type_lines(box, "policy-map PARENT", "class VOICE", "service-policy NONE")[1][0]
