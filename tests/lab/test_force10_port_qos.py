"""The E300's port-based QoS, layer 2 policies, MAC lists, interface ranges and releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from qoslab.boxes.force10_e300 import Force10E300
from qoslab.packets import Outcome, Packets

from .test_force10_box import boot, said

STARTUP = """\
hostname core
interface GigabitEthernet 0/0
 no shutdown
interface GigabitEthernet 0/1
 no shutdown
interface GigabitEthernet 0/2
 switchport
 no shutdown
interface GigabitEthernet 0/3
 switchport
 no shutdown
interface SONET 1/0
 no shutdown
interface Port-channel 1
 channel-member GigabitEthernet 0/1
 no shutdown
interface Vlan 5
 tagged GigabitEthernet 0/2-3
 no shutdown
interface Vlan 6
 tagged GigabitEthernet 0/2-3
 no shutdown
"""

LAYER2 = """\
mac access-list extended PHONES
permit 00:01:02:00:00:00 00:00:00:ff:ff:ff any count order 3
seq 7 deny host 00:aa:bb:cc:dd:ee any
class-map match-any L2 layer2
match mac access-group PHONES
match mac dot1p 5,6
class-map match-any VLANS layer2
match mac vlan 9
qos-policy-input M layer2
set mac-dot1p 6
rate-police kbps 512 16 peak kbps 1024 32
policy-map-input IN2 layer2
service-queue 5 class-map L2 qos-policy M layer2
service-queue 2 class-map VLANS
interface gi 0/2
service-policy input IN2 layer2
"""


@pytest.fixture
def box(tmp_path: Path) -> Force10E300:
    made = boot(tmp_path / "core", STARTUP)
    assert made.boot_messages == []
    return made


def block(box: Force10E300, head: str) -> list[str]:
    """The lines of one block of the configuration."""
    lines = box.running_text().split(f"!\n{head}\n")[1].split("!\n")[0]
    return [line.strip() for line in lines.splitlines()]


def one(box: Force10E300, into: str, out: str = "gi0/3", **fields: object) -> Outcome:
    packets = Packets(**{"count": 10000, "bytes": 1000, **fields})  # type: ignore[arg-type]
    return box.offer(into, out, [packets], 1.0)[0]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("dot1p-pri 5", "dot1p-priority 5"),
        ("rate pol 100", "rate police 100"),
        ("rate police kbps 512 16 peak 10 200000", "rate police kbps 512 16 peak 10 200000"),
        ("rate police 10 peak kbps 20000 50", "rate police 10 peak kbps 20000 50"),
        ("rate police 100 40 vlan 5", "rate police 100 40 vlan 5"),
        ("rate limit 0", "rate limit 0"),
        ("rate limit 100 60 peak 200 70 vlan 6", "rate limit 100 60 peak 200 70 vlan 6"),
        ("rate shape 20 0", "rate shape 20 0"),
        ("rate shape kbps 30000", "rate shape kbps 30000"),
        ("storm-control broadcast 20 out wred-profile wred_drop",
         "storm-control broadcast 20 out wred-profile wred_drop"),
        ("vlan-st acc", "vlan-stack access"),
    ],
)  # fmt: skip
def test_port_lines_are_kept_in_one_form(box: Force10E300, tmp_path: Path, typed: str, kept: str) -> None:
    bare = box.running_text()
    assert said(box, f"interface gi 0/2\n{typed}") == []
    assert kept in block(box, "interface GigabitEthernet 0/2")
    again = boot(tmp_path / "again", box.running_text())
    assert again.boot_messages == []
    assert again.running_text() == box.running_text()
    assert said(box, f"interface gi 0/2\nno {typed}") == []
    assert box.running_text() == bare


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("interface gi 0/0\nrate police 10 vlan 5", "% Error: Port is not in Layer 2 mode Gi 0/0."),
        ("interface gi 0/2\nrate police 10 vlan 9", "Gi 0/2 is not a tagged member of VLAN 9."),
        ("interface gi 0/2\nrate police 10 peak 9", "Peak rate must not be less"),
        ("interface gi 0/2\nrate police kbps 20000 peak 10", "Peak rate must not be less"),
        ("interface gi 0/2\nno rate police", "Rate police is not configured"),
        ("interface gi 0/2\nno rate limit 10 vlan 5", "Rate limit is not configured"),
        ("interface gi 0/2\nrate shape kbps 15000", "multiple of 10 Mbps"),
        ("interface gi 0/1\ndot1p-priority 3", "Gi 0/1 is a member of Port-channel 1."),
        ("interface vlan 5\nrate police 10", "not supported on Vlan interfaces"),
        ("interface port-channel 1\nrate limit 10", "not supported on Port-channel interfaces"),
        ("interface loopback 1\ndot1p-priority 3", "not supported on Loopback interfaces"),
        ("interface gi 0/2\nchannel-member gi 0/3", "Only a port-channel has member ports"),
        ("interface port-channel 2\nchannel-member gi 0/0-3", "Gi 0/1 is already a member of Port-channel 1"),
        ("interface gi 0/2\nstorm-control broadcast 5 out wred-profile NONE", "WRED profile NONE does not exist"),
        ("no mac access-list extended NONE", "Access-list NONE does not exist"),
    ],
)
def test_port_refusals(box: Force10E300, lines: str, words: str) -> None:
    answers = said(box, lines)
    assert len(answers) == 1
    assert words in answers[0]


def test_a_vlan_is_rated_in_one_direction_only(box: Force10E300) -> None:
    assert said(box, "interface gi 0/2\nrate police 100 vlan 5\nrate limit 100 vlan 6") == []
    overlap = ["%Error: Specified VLANs overlap with existing config."]
    assert said(box, "interface gi 0/3\nrate limit 10 vlan 5") == overlap
    assert said(box, "interface gi 0/3\nrate police 10 vlan 6") == overlap
    assert said(box, "interface gi 0/3\nrate police 10 vlan 5") == []


def test_an_interface_takes_six_rates_of_a_kind(box: Force10E300) -> None:
    vlans = "".join(f"interface vlan {vlan}\ntagged gi 0/2\n" for vlan in range(10, 16))
    rates = "interface gi 0/2\n" + "".join(f"rate police 10 vlan {vlan}\n" for vlan in range(10, 16))
    assert said(box, vlans + rates) == []
    assert said(box, "interface gi 0/2\nrate police 10") == [
        "% Error: Only 6 rate police commands allowed on an interface."
    ]
    assert said(box, "interface gi 0/2\nrate police 20 vlan 10") == []
    assert "rate police 20 vlan 10" in block(box, "interface GigabitEthernet 0/2")


def test_port_based_and_policy_based_qos_exclude_each_other(box: Force10E300) -> None:
    said(box, "policy-map-input IN\npolicy-map-output OUT\ninterface gi 0/2\nservice-policy input IN")
    for line in ("dot1p-priority 1", "rate police 10", "rate limit 10", "rate shape 10"):
        assert said(box, f"interface gi 0/2\n{line}") == [
            "% Error: Policy-based QoS is configured on this interface."
        ]
        assert said(box, f"interface gi 0/3\n{line}\nservice-policy output OUT") == [
            "% Error: Port-based QoS is configured on this interface."
        ]
        assert said(box, f"interface gi 0/3\nno {line}") == []
    assert said(box, "interface sonet 1/0\nrate police 10") == []
    assert "not supported on SONET" in said(box, "interface sonet 1/1\nservice-policy input IN")[0]


def test_rates_drop_what_exceeds_the_peak_per_vlan_or_port(box: Force10E300) -> None:
    said(box, "interface gi 0/2\nrate police 8 100 peak 16 200\nrate police 4 100 vlan 5")
    whole = (16_000_000 // 8 + 200 * 1024) // 1000
    assert one(box, "gi0/2", vlan=6).dropped_in == 10000 - whole
    assert one(box, "gi0/2", vlan=5).dropped_in == 10000 - (4_000_000 // 8 + 100 * 1024) // 1000
    said(box, "interface gi 0/3\nrate limit 24")
    assert one(box, "gi0/0").dropped_out == 10000 - (24_000_000 // 8 + 50 * 1024) // 1000


def test_dot1p_priority_of_a_port_channel_holds_for_its_members(box: Force10E300) -> None:
    assert one(box, "gi0/1", cos=1).queue == "0"
    assert said(box, "interface port-channel 1\ndot1p-priority 0") == []
    assert (one(box, "gi0/1", cos=1).queue, one(box, "gi0/1", cos=1).cos_out) == ("2", 0)
    said(box, "interface gi 0/0\ndot1p-priority 7")
    assert "dot1p-priority is configured on Gi 0/0" in said(box, "interface po 2\nchannel-member gi 0/0")[0]


def test_layer2_policies_are_kept_and_boot_again(box: Force10E300, tmp_path: Path) -> None:
    assert said(box, LAYER2) == []
    assert block(box, "mac access-list extended PHONES") == [
        "seq 5 permit 00:01:02:00:00:00 00:00:00:ff:ff:ff any count order 3",
        "seq 7 deny host 00:aa:bb:cc:dd:ee any",
    ]
    assert block(box, "class-map match-any L2 layer2") == ["match mac access-group PHONES", "match mac dot1p 5,6"]
    assert block(box, "qos-policy-input M layer2") == [
        "rate-police kbps 512 16 peak kbps 1024 32",
        "set mac-dot1p 6",
    ]
    assert block(box, "policy-map-input IN2 layer2")[1] == "service-queue 5 class-map L2 qos-policy M"
    assert "service-policy input IN2 layer2" in block(box, "interface GigabitEthernet 0/2")
    again = boot(tmp_path / "again", box.running_text())
    assert again.boot_messages == []
    assert again.running_text() == box.running_text()
    voice = one(box, "gi0/2", cos=5, count=10)
    assert (voice.queue, voice.ingress_class, voice.cos_out) == ("5", "L2", 6)
    assert one(box, "gi0/2", vlan=9, count=10).queue == "2"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("no mac access-list extended PHONES", "Access-list is in use"),
        ("interface gi 0/2\nno switchport", "Layer2 service-policy on Gi 0/2 needs Layer 2 mode"),
        ("interface gi 0/2\nvlan-stack access", "Layer2 policy-based QoS is configured"),
        ("interface gi 0/0\nservice-policy input IN2 layer2", "Port is not in Layer 2 mode Gi 0/0"),
        ("interface gi 0/3\nservice-policy input IN2", "is of another layer"),
        ("interface gi 0/3\nvlan-stack access\nservice-policy input IN2 layer2", "vlan-stack access is configured"),
        ("class-map match-any L2 layer2\nmatch ip dscp 3", "is a layer2 class-map"),
        ("class-map match-any L3\nmatch mac dot1p 3", "is a layer3 class-map"),
        ("class-map match-any L2 layer2\nmatch mac access-group NONE", "Access-list NONE does not exist"),
        ("qos-policy-input M layer2\nset ip-dscp 3", "ip-dscp can be set in a layer3 QoS policy only"),
        ("qos-policy-input L3\nset mac-dot1p 3", "mac-dot1p can be set in a layer2 QoS policy only"),
        ("policy-map-input L3\nservice-queue 2 qos-policy M layer2", "is a layer3 policy-map"),
        ("policy-map-input L3\nservice-queue 2 class-map L2", "Class-map L2 is of another layer"),
    ],
)
def test_layers_do_not_mix(box: Force10E300, lines: str, words: str) -> None:
    said(box, LAYER2)
    answers = said(box, lines)
    assert len(answers) == 1
    assert words in answers[0]


def test_layer2_configuration_can_be_undone(box: Force10E300) -> None:
    bare = box.running_text()
    undo = """\
interface gi 0/2
no service-policy input IN2 layer2
no policy-map-input IN2 layer2
no qos-policy-input M layer2
no class-map match-any L2 layer2
no class-map match-any VLANS layer2
mac access-list extended PHONES
no permit 00:01:02:00:00:00 00:00:00:ff:ff:ff any count order 3
no seq 7
no mac access-list extended PHONES
"""
    assert said(box, LAYER2 + undo) == []
    assert box.running_text() == bare


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        ("qos-policy-output Q", "bandwidth-weight 4"),
        ("qos-policy-output Q", "scheduler strict"),
        ("qos-policy-output Q", "wred-ecn"),
        ("interface gi 0/2", "service-class dynamic dot1p"),
        ("interface gi 0/2", "rate police kbps 511"),
        ("interface gi 0/2", "rate police 10 15"),
        ("interface gi 0/2", "rate shape 10010"),
        ("", "service-class bandwidth-weight queue0 1 queue1 2 queue2 4 queue3 8"),
        ("", "queue egress multicast linecard all bandwidth-percent 10"),
        ("", "queue backplane multicast bandwidth-percentage 4"),
        ("interface range gi 0/0 - 2", "rate police 10001"),
    ],
)
def test_commands_of_other_series_and_values_out_of_range(box: Force10E300, mode: str, line: str) -> None:
    shell = box.new_shell("admin")
    shell.feed("configure")
    shell.feed(mode)
    assert shell.feed(line).text.endswith('^\n% Invalid input at "^" marker.')


@pytest.mark.parametrize(
    ("image", "mode", "line"),
    [
        ("7.8.1.0", "policy-map-input IN", "trust diffserv fallback"),
        ("8.1.1.0", "qos-policy-input P", "rate-police kbps 20500"),
        ("8.1.1.0", "qos-policy-input P", "rate-police 20 peak kbps 20500"),
        ("8.1.1.0", "qos-policy-output P", "rate-limit kbps 20500"),
        ("8.1.1.0", "qos-policy-output P", "rate-shape kbps 20000"),
        ("8.1.1.0", "interface gi 0/2", "rate police kbps 20500"),
        ("7.8.1.0", "class-map match-any C", "match ip dscp 3 set-ip-dscp 4"),
        ("7.8.1.0", "class-map match-any C", "match ip vlan 3"),
        ("7.6.1.0", "", "queue backplane multicast bandwidth-percentage 30"),
        ("7.2.1.0", "", "do test cam-usage service-policy input IN linecard all"),
    ],
)
def test_older_releases_do_not_know_newer_options(tmp_path: Path, image: str, mode: str, line: str) -> None:
    lines = f"policy-map-input IN\n{mode}\n{line}"
    assert "Invalid input" not in "".join(said(boot(tmp_path / "new"), lines))
    (answer,) = said(boot(tmp_path / "old", image=image), lines)
    assert answer.endswith('^\n% Invalid input at "^" marker.')


def test_box_wide_queues(box: Force10E300) -> None:
    said(box, "queue egress multicast bandwidth-percentage 15\nqueue backplane multicast bandwidth-percentage 30")
    assert "queue egress multicast bandwidth-percentage 15\n" in box.running_text()
    assert "queue backplane multicast bandwidth-percent 30\n" in box.running_text()
    show = "show queue backplane multicast bandwidth-percent"
    shell = box.new_shell("admin")
    assert shell.feed(show).text == "Backplane multicast bandwidth-percent: 30"
    said(box, "no queue backplane multicast bandwidth-percentage\nqos-rate-adjust 24")
    assert shell.feed(show).text == "Backplane multicast bandwidth-percent: 20"
    assert "\nqos-rate-adjust 24\n" in box.running_text()
    assert "backplane" not in box.running_text()


def test_a_range_of_interfaces_is_edited_together(box: Force10E300) -> None:
    shell = box.new_shell("admin")
    for line in ("configure", "interface range gi 0/2 - 3, te 2/0"):
        assert shell.feed(line).text == ""
    assert shell.prompt == "core(conf-if-range-gi0/2-3,te2/0)#"
    assert shell.feed("rate shape 50").text == ""
    for name in ("GigabitEthernet 0/2", "GigabitEthernet 0/3", "TenGigabitEthernet 2/0"):
        assert "rate shape 50" in block(box, f"interface {name}")
    assert shell.feed("no rate shape").text == ""
    assert "rate shape" not in box.running_text()
    assert said(box, "interface range gi 0/46 - 48")[0].endswith('% Invalid input at "^" marker.')
    assert said(box, "interface range vlan 3 - 4")[0].endswith('% Invalid input at "^" marker.')


def test_show_interfaces_and_queues(box: Force10E300) -> None:
    said(box, "interface gi 0/2\nrate police 100 40 peak 200\nrate limit kbps 512 vlan 6\ndescription uplink")
    shell = box.new_shell("admin")
    assert shell.feed("show interfaces rate").text.splitlines() == [
        "Interface Gi 0/2",
        "  Rate police 100 (40) peak 200 (50)",
        "  Rate limit 512 kbps (50) peak 512 kbps (50) vlan 6",
    ]
    assert "limit" not in shell.feed("show interfaces rate police").text
    lines = shell.feed("show interfaces gigabitethernet 0/2").text.splitlines()
    assert lines[:2] == ["GigabitEthernet 0/2 is up, line protocol is up", "Description: uplink"]
    assert "Rate police 100 (40) peak 200 (50)" in lines
    said(box, "interface gi 0/0\ndot1p-priority 5")
    one(box, "gi0/0", count=7, bytes=100)
    assert "     5                7              700" in shell.feed("show queue statistics ingress gi 0/0").text
    assert "     5                7              700" in shell.feed("show queue statistics egress gi 0/3").text


def test_show_policy_map_input_is_filtered(box: Force10E300) -> None:
    said(box, LAYER2 + "policy-map-input EMPTY")
    shell = box.new_shell("admin")
    assert shell.feed("show qos policy-map-input").text.splitlines() == [
        "!",
        "policy-map-input IN2 layer2",
        " service-queue 2 class-map VLANS",
        " service-queue 5 class-map L2 qos-policy M",
        "!",
        "policy-map-input EMPTY",
    ]
    narrow = shell.feed("show qos policy-map-input IN2 class L2 qos-policy-input M").text.splitlines()
    assert narrow[2:] == [" service-queue 5 class-map L2 qos-policy M"]
    assert shell.feed("show qos policy-map-input class NONE").text == ""
