"""The 2950's commands by group: ranges, refusals, canonical print, removal; what each image knows."""

from __future__ import annotations

import pytest

from .catalyst_support import INVALID, held
from .conftest import BoxMaker, show, type_lines


@pytest.mark.parametrize(
    "line",
    ["mls qos", "wrr-queue bandwidth 1 2 3", "wrr-queue cos-map 1 8", "wrr-queue cos-map 0 1",
     "no wrr-queue cos-map 9", "mls qos map cos-dscp 0 8 16", "mls qos map dscp-cos 8 to 8",
     "mls qos map dscp-cos 0 8 10 16 18 24 26 32 34 40 46 48 56 0 to 1", "mls qos map policed-dscp 0 to 8",
     "class-map match-any X", "mls qos srr-queue output cos-map queue 1 threshold 1 5",
     "mls qos aggregate-policer A 1000000 4096 exceed-action drop"],
)  # fmt: skip
def test_what_the_switch_does_not_know_in_global_mode(make: BoxMaker, line: str) -> None:
    (answer,) = type_lines(make("2950"), line)[1]
    assert INVALID in answer or "% Incomplete command." in answer


@pytest.mark.parametrize(
    "line",
    ["wrr-queue bandwidth 1 2 3 4", "wrr-queue cos-map 1 0", "mls qos trust ip-precedence", "mls qos cos 8",
     "mls qos trust dscp pass-through dscp", "service-policy output P", "mls qos dscp-mutation M",
     "srr-queue bandwidth share 1 2 3 4", "priority-queue out"],
)  # fmt: skip
def test_what_a_port_does_not_know(make: BoxMaker, line: str) -> None:
    shell, answers = type_lines(make("2950"), "interface fa0/1", line)
    if line.startswith("wrr-queue"):  # one scheduler for the whole switch: the line leaves interface mode
        assert answers == []
        assert shell.prompt == "SW(config)#"
    else:
        assert INVALID in answers[0]


@pytest.mark.parametrize(
    "line",
    ["class-map C", "policy-map P", "mls qos map cos-dscp 0 8 16 24 32 40 48 56", "mls qos map dscp-cos 8 to 1",
     "ip access-list extended A", "access-list 1 permit any", "mac access-list extended M"],
)  # fmt: skip
def test_the_standard_image_has_queues_and_trust_alone(make: BoxMaker, line: str) -> None:
    box = make("2950", enhanced=False)
    assert INVALID in type_lines(box, line)[1][0]
    assert INVALID in type_lines(box, "interface fa0/1", "service-policy input P")[1][0]
    assert INVALID in type_lines(box, "interface fa0/1", "auto qos voip trust")[1][0]
    assert INVALID in show(box, "show mls qos maps")
    assert INVALID in show(box, "show policy-map")
    taken = held(box, "wrr-queue bandwidth 1 2 3 0", "wrr-queue cos-map 4 5", "interface fa0/1",
                  "mls qos trust cos", "mls qos cos 3")  # fmt: skip
    assert "mls qos trust cos" in taken
    assert "mls qos cos 3" in taken
    assert "trust state: trust cos" in show(box, "show mls qos interface fa0/1")


@pytest.mark.parametrize(
    ("typed", "printed"),
    [("mls qos trust", "mls qos trust dscp"), ("mls qos trust dscp", "mls qos trust dscp"),
     ("ml q tr co", "mls qos trust cos"),
     ("mls qos trust cos pass-through dscp", "mls qos trust cos pass-through dscp"),
     ("mls qos trust device cisco-phone", "mls qos trust device cisco-phone"),
     ("mls qos cos 7", "mls qos cos 7"), ("mls qos cos override", "mls qos cos override"),
     ("switchport priority extend cos 5", "switchport priority extend cos 5"),
     ("switchport voice vlan 12", "switchport voice vlan 12")],
)  # fmt: skip
def test_port_settings_print_and_go(make: BoxMaker, typed: str, printed: str) -> None:
    box = make("2950")
    before = box.running_text()
    assert held(box, "interface fa0/1", typed) == [printed]
    assert type_lines(box, "interface fa0/1", f"no {printed}")[1] == []
    assert box.running_text() == before


def test_no_cos_takes_value_and_override_back(make: BoxMaker) -> None:
    box = make("2950")
    before = box.running_text()
    assert held(box, "interface fa0/1", "mls qos cos 4", "mls qos cos override") != []
    assert held(box, "interface fa0/1", "mls qos cos 0") == []  # the default is not printed
    type_lines(box, "interface fa0/1", "no mls qos cos")
    assert box.running_text() == before


@pytest.mark.parametrize("logical", ["interface Vlan1", "interface Port-channel1"])
def test_qos_is_for_physical_ports(make: BoxMaker, logical: str) -> None:
    shell, answers = type_lines(make("2950"), logical, "mls qos trust cos")
    assert INVALID in answers[0]
    assert shell.prompt == "SW(config-if)#"
    assert INVALID in type_lines(make("2950"), "interface fa0/1.5")[1][0]


def test_thirteen_dscps_to_one_cos_on_one_line(make: BoxMaker) -> None:
    box = make("2950")
    line = "mls qos map dscp-cos 0 8 10 16 18 24 26 32 34 40 46 48 56 to 6"
    assert held(box, line) == ["mls qos map dscp-cos 0 8 10 16 18 24 26 32 34 40 46 56 to 6"]  # 48 is 6 anyway
    assert "        cos:   6  6  6  6  6  6  6  6  6  6  6  6  6" in show(box, "show mls qos maps dscp-cos")


def test_dscp_names_are_taken_and_numbers_shown(make: BoxMaker) -> None:
    box = make("2950")
    lines = held(box, "class-map VOICE", "match ip dscp ef cs3", "policy-map IN", "class VOICE", "set ip dscp af41",
                 "police 1000000 8192 exceed-action dscp cs1")  # fmt: skip
    assert lines == ["class-map match-all VOICE", "match ip dscp 46 24", "policy-map IN", "class VOICE",
                    "set ip dscp 34", "police 1000000 8192 exceed-action dscp 8"]  # fmt: skip
    _, answers = type_lines(box, "policy-map IN", "class VOICE", "set ip dscp af42", "set ip dscp 33")
    assert len(answers) == 2
    assert all(INVALID in answer for answer in answers)


POLICY = ["class-map C", "match access-group 101", "policy-map P", "class C"]


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [(["class-map C", "match access-group 101", "match ip dscp 0"], "Only one match"),
     (["policy-map P", "class NONE"], "not configured"),
     (["policy-map P", "class class-default"], "not supported"),
     ([*POLICY, "police 1000000 5000"], INVALID),
     ([*POLICY, "police 999999 4096"], INVALID),
     ([*POLICY, "police 1016000001 4096"], INVALID),
     ([*POLICY, "police 1000000 4096 exceed-action policed-dscp-transmit"], INVALID),
     ([*POLICY, "police 1000000 4096 exceed-action dscp 12"], INVALID),
     ([*POLICY, "police 1000000 4096", "no police"], "% Incomplete"),
     ([*POLICY, "trust dscp"], INVALID),
     ([*POLICY, "no class-map C"], "being used"),
     ([*POLICY, "interface fa0/1", "service-policy input P", "no policy-map P"], "being used"),
     ([*POLICY, "policy-map Q", "interface fa0/1", "service-policy input P", "service-policy input Q"], "already"),
     (["interface fa0/1", "service-policy input NONE"], "not configured"),
     (["class-map C", "match access-group 200"], INVALID)],
)  # fmt: skip
def test_policies_refuse(make: BoxMaker, lines: list[str], refusal: str) -> None:
    box = make("2950")
    _, answers = type_lines(box, *lines)
    assert len(answers) == 1
    assert refusal in answers[0]


def test_police_is_taken_back_with_its_numbers(make: BoxMaker) -> None:
    box = make("2950")
    type_lines(box, *POLICY)
    before = box.running_text()
    assert held(box, "policy-map P", "class C", "police 2000000 4096") == ["police 2000000 4096 exceed-action drop"]
    type_lines(box, "policy-map P", "class C", "no police 2000000 4096 exceed-action drop")
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("port", "police", "fits"),
    [("fa0/1", "100000000 65536", True), ("fa0/1", "101000000 65536", False), ("fa0/1", "8500000 4096", False),
     ("gi0/1", "1016000000 524288", True), ("gi0/1", "9000000 4096", False), ("gi0/1", "1000000 4096", False)],
)  # fmt: skip
def test_steps_and_bursts_depend_on_the_port(make: BoxMaker, port: str, police: str, fits: bool) -> None:
    box = make("2950")
    attach = [f"interface {port}", "service-policy input P"]
    _, answers = type_lines(box, *POLICY, f"police {police}", *attach)
    assert (answers == []) == fits
    assert ("service-policy input P" in box.running_text()) == fits
    # The same line is judged when the policy is on the port already.
    late = make("2950")
    _, answers = type_lines(late, *POLICY, *attach, "policy-map P", "class C", f"police {police}")
    assert (answers == []) == fits
    assert ("police" in late.running_text()) == fits


@pytest.mark.parametrize(("port", "limit"), [("fa0/1", 6), ("gi0/1", 60)])
def test_number_of_policers_of_a_port(make: BoxMaker, port: str, limit: int) -> None:
    box = make("2950")
    lines: list[str] = []
    for number in range(limit + 1):
        lines += [
            f"class-map C{number}",
            "match ip dscp 0",
            "policy-map P",
            f"class C{number}",
            "police 8000000 4096",
        ]
    _, answers = type_lines(box, *lines[:-1], f"interface {port}", "service-policy input P")
    assert answers == []
    _, answers = type_lines(box, "policy-map P", f"class C{limit}", "police 8000000 4096")
    assert answers == ["%Error: too many policers in policy map P for this interface"]
    assert box.running_text().count("police ") == limit


def test_deny_is_not_for_lists_of_a_policy(make: BoxMaker) -> None:
    box = make("2950")
    attach = ["interface fa0/1", "service-policy input P"]
    assert type_lines(box, "access-list 101 deny udp any any", *POLICY, *attach)[1] == [
        "%Error: deny entries are not supported in QoS access list 101"
    ]
    type_lines(box, "no access-list 101", *attach)
    before = box.running_text()
    (answer,) = type_lines(box, "access-list 101 deny ip any any")[1]
    assert "deny entries" in answer
    assert box.running_text() == before
    assert type_lines(box, "access-list 102 deny ip any any")[1] == []  # a list of no policy


MASKS = [
    "ip access-list extended WEB", "permit tcp any any eq www", "permit udp any any eq domain",
    "ip access-list extended HOST", "permit tcp host 10.0.0.1 any eq www",
    "class-map WEB", "match access-group name WEB", "class-map HOST", "match access-group name HOST",
    "policy-map P", "class WEB", "set ip dscp 18", "interface fa0/1", "service-policy input P",
]  # fmt: skip


def test_one_mask_for_the_lists_of_a_policy(make: BoxMaker) -> None:
    box = make("2950")
    assert type_lines(box, *MASKS)[1] == []  # protocols and ports are values of one mask
    refused = "%Error: the access lists of policy map P need more than one mask"
    before = box.running_text()
    shell, answers = type_lines(box, "policy-map P", "class HOST")
    assert answers == [refused]
    assert shell.prompt == "SW(config-pmap)#"
    assert type_lines(box, "ip access-list extended WEB", "permit tcp any any")[1] == [refused]
    assert box.running_text() == before


def test_four_masks_for_the_switch(make: BoxMaker) -> None:
    box = make("2950")
    for number, entry in enumerate(
        ["permit tcp any any eq 80", "permit tcp any eq 80 any", "permit ip 10.0.0.0 0.0.0.255 any",
         "permit ip any 10.0.0.0 0.0.0.255", "permit ip any any dscp ef"],
        start=1,
    ):  # fmt: skip
        _, answers = type_lines(
            box, f"ip access-list extended L{number}", entry, f"class-map C{number}",
            f"match access-group name L{number}", f"policy-map P{number}", f"class C{number}", "set ip dscp 8",
            f"interface fa0/{1 + number % 2}", "no service-policy input", f"service-policy input P{number}",
        )  # fmt: skip
        assert answers == []  # two ports, two masks at a time
    box = make("2950", STARTUP_OF_FIVE)
    assert [message.split(": ", 2)[2] for message in box.boot_messages] == [
        "%Error: no mask left on this switch for policy map P5"
    ]


STARTUP_OF_FIVE = "".join(
    f"ip access-list extended L{n}\n {entry}\nclass-map C{n}\n match access-group name L{n}\n"
    f"policy-map P{n}\n class C{n}\ninterface FastEthernet0/{n}\n service-policy input P{n}\n"
    for n, entry in enumerate(
        ["permit tcp any any eq 80", "permit tcp any eq 80 any", "permit ip 10.0.0.0 0.0.0.255 any",
         "permit ip any 10.0.0.0 0.0.0.255", "permit ip any any dscp ef"],
        start=1,
    )
)  # fmt: skip


def test_mac_lists(make: BoxMaker) -> None:
    box = make("2950")
    lines = held(box, "mac access-list extended PRINTERS", "permit host 0000.AAAA.0001 any", "deny any any netbios")
    assert lines == [
        "mac access-list extended PRINTERS",
        "permit host 0000.aaaa.0001 any",
        "deny   any any netbios",
    ]
    shell, answers = type_lines(box, "mac access-list extended PRINTERS", "permit any any cos 5",
                                "permit 0000.0000.0001 0000.0000.ffff any", "permit any any 0x800 0")  # fmt: skip
    assert shell.prompt == "SW(config-ext-macl)#"
    assert len(answers) == 3
    assert all(INVALID in answer for answer in answers)
    type_lines(box, "mac access-list extended PRINTERS", "no deny any any netbios")
    assert "netbios" not in box.running_text()
    type_lines(box, "no mac access-list extended PRINTERS")
    assert "PRINTERS" not in box.running_text()


@pytest.mark.parametrize(
    ("entries", "fits"),
    [(["permit tcp any any eq 80", "permit udp any any eq 5060"], True),
     (["permit tcp any any eq 80", "permit tcp any eq 80 any"], False),
     (["permit ip host 10.0.0.1 any", "permit ip 10.0.0.2 0.0.0.0 any"], True),
     (["permit ip 10.0.0.0 0.0.0.255 any", "permit ip 10.0.0.0 0.0.1.255 any"], False),
     (["permit tcp any any", "permit tcp any any"], True),
     (["permit tcp any any", "permit udp any any"], False),  # two masks of the system
     (["permit ip any any dscp ef", "permit ip any any dscp af11"], True),
     (["permit ip any any dscp ef", "permit ip any any precedence 5"], False)],
)  # fmt: skip
def test_which_entries_share_a_mask(make: BoxMaker, entries: list[str], fits: bool) -> None:
    box = make("2950")
    _, answers = type_lines(
        box, "ip access-list extended A", *entries, "class-map A", "match access-group name A",
        "policy-map P", "class A", "interface fa0/1", "service-policy input P",
    )  # fmt: skip
    assert (answers == []) == fits


@pytest.mark.parametrize("ports", ["range 16384 32767", "gt 1023", "lt 1024", "neq 80"])
def test_a_mask_and_a_value_are_no_range_of_ports(make: BoxMaker, ports: str) -> None:
    box = make("2950")
    entry = ["ip access-list extended A", f"permit udp any any {ports}"]
    assert type_lines(box, *entry)[1] == []  # the list itself may be for a management interface
    _, answers = type_lines(
        box, "class-map A", "match access-group name A", "policy-map P", "class A",
        "interface fa0/1", "service-policy input P",
    )  # fmt: skip
    assert answers == ["%Error: port ranges are not supported in QoS access list A"]


def test_masks_of_filters_are_counted_beside_those_of_qos(make: BoxMaker) -> None:
    box = make("2950", "".join(f"interface FastEthernet0/{n}\n" for n in range(1, 6)))
    lines = [*MASKS]
    filters = ["permit tcp any any eq 80", "permit tcp any eq 80 any", "permit ip 10.0.0.0 0.0.0.255 any"]
    for number, entry in enumerate([*filters, "permit ip any any"], start=1):
        lines += [f"access-list 12{number} {entry}", f"interface fa0/{number}", f"ip access-group 12{number} in"]
    # The filter that compares as the policy does takes a mask of its own; the system's mask takes none.
    assert type_lines(box, *lines)[1] == []
    fourth = ["access-list 129 permit ip host 10.0.0.1 any", "interface fa0/5", "ip access-group 129 in"]
    assert type_lines(box, *fourth)[1] == ["%Error: no mask left on this switch for policy map P"]


def test_layer_2_and_layer_3_share_no_mask(make: BoxMaker) -> None:
    box = make("2950")
    _, answers = type_lines(
        box, "mac access-list extended M", "permit any any netbios", "permit host 0001.0002.0003 any",
        "class-map L2", "match access-group name M", "policy-map P", "class L2",
        "interface fa0/1", "service-policy input P",
    )  # fmt: skip
    assert "more than one mask" in answers[0]  # a type, and an address
    _, answers = type_lines(
        box, "mac access-list extended M", "no permit any any netbios", "interface fa0/1", "service-policy input P",
        "access-list 1 permit 10.0.0.1", "class-map L3", "match access-group 1", "policy-map P", "class L3",
    )  # fmt: skip
    assert len(answers) == 1
    assert "more than one mask" in answers[0]


def test_prompts(make: BoxMaker) -> None:
    box = make("2950")
    for lines, prompt in (
        (["class-map C"], "SW(config-cmap)#"),
        (["policy-map P"], "SW(config-pmap)#"),
        (["class-map C", "policy-map P", "class C"], "SW(config-pmap-c)#"),
        (["interface Vlan1"], "SW(config-if)#"),
        (["class-map C", "mls qos map cos-dscp 0 8 16 24 32 46 48 56"], "SW(config)#"),
    ):
        assert type_lines(box, *lines)[0].prompt == prompt
