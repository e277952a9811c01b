"""What Batfish is given to read."""

from __future__ import annotations

import pytest

from qosforge.batfish.analysis_copy import AnalysisCopy, analysis_copy, line_of
from qosforge.batfish.copy_rules import CopyRules, copy_rules
from qosforge.platforms.device_text import DeviceWords

IOS = """\
class-map match-any v
 match ip rtp 16384 16383
 match input-interface Serial0/0
 match ip dscp ef
ip access-list extended QOSFORGE-a
 permit tcp any any precedence 5
 deny ip any any
interface Multilink1
 ip rtp header-compression
 ip rtp header-compression iphc-format
 ip tcp header-compression iphc-format
 encapsulation ppp
 service-policy output OUT
map-class frame-relay slow
 service-policy output OUT
 frame-relay cir 56000
"""

FTOS = """\
qos-policy-input mark
 set ip-dscp 34
qos-policy-output web
 bandwidth-percentage 28
strict-priority unicast 4
interface GigabitEthernet 0/0
 service-policy input QOSFORGE-IN
 no shutdown
interface Vlan 10
 tagged GigabitEthernet 0/0
"""


def _copy(text: str, platform: str, hostname: str = "r1") -> AnalysisCopy:
    rules = copy_rules(platform)
    assert rules is not None
    lines = text.splitlines()
    words = DeviceWords(hostname, platform)
    words.learn(text)
    return analysis_copy(lines, words.covered(lines), rules, hostname)


def _silenced(copy: AnalysisCopy) -> list[str]:
    return [copy.lines[number - 1].strip() for number in sorted(copy.unread)]


def test_ios_lines_batfish_does_not_know_are_silenced() -> None:
    assert _silenced(_copy(IOS, "cisco_ios")) == [
        "match ip rtp 16384 16383",
        "match input-interface Serial0/0",
        "ip rtp header-compression",
        "ip tcp header-compression iphc-format",
        "encapsulation ppp",
        "service-policy output OUT",
    ]


REFERRING = """\
class-map match-all a
 match not access-group name L
 match class-map b
map-class frame-relay slow
 service-policy output OUT
 frame-relay cir 56000
interface Serial0/0
 rate-limit output access-group 101 8000 1500 1500 conform-action transmit exceed-action drop
"""


def test_references_that_batfish_does_not_see_stand_behind_the_text() -> None:
    copy = _copy(REFERRING, "cisco_ios")
    behind = copy.text.splitlines()[len(copy.lines) + 1 :]
    assert behind[:-1] == [
        "class-map match-any QOSFORGE-REFERS-2",
        " match access-group name L",
        "policy-map QOSFORGE-REFERS-3",
        " class b",
        "policy-map QOSFORGE-REFERS-5",
        " class class-default",
        "  service-policy OUT",
        "class-map match-any QOSFORGE-REFERS-8",
        " match access-group 101",
    ]
    origins = [copy.origin(line_of(number)) for number in range(2, len(copy.text.splitlines()))]
    assert origins == [*range(1, 9), 2, 2, 3, 3, 5, 5, 5, 8, 8]


BANNERS = """\
banner exec ^C in one line ^C
banner motd ^C
interface Vlan1
 permit nobody
hostname is of the inventory ^C
interface Vlan2
banner login #
no end
"""


def test_banners_are_left_out_up_to_their_end() -> None:
    """What follows one that never ends is the configuration."""
    for platform in ("cisco_ios", "force10_e300"):
        copy = _copy(BANNERS, platform)
        written = ["!"] * 5 + ["interface Vlan2", "!", "no end"]
        assert [line for line in copy.text.splitlines()[1:9] if "autostate" not in line] == written
        assert list(copy.lines) == written
        assert [stanza.name for stanza in copy.stanzas] == ["Vlan2"]


@pytest.mark.parametrize("platform", ["catalyst_2950", "catalyst_2970", "catalyst_9000"])
def test_switches_have_the_rules_of_ios(platform: str) -> None:
    assert copy_rules(platform) == copy_rules("cisco_ios")


def test_ftos_lines_batfish_does_not_know_are_silenced() -> None:
    assert _silenced(_copy(FTOS, "force10_e300")) == [
        "qos-policy-input mark",
        "set ip-dscp 34",
        "strict-priority unicast 4",
        "service-policy input QOSFORGE-IN",
    ]


@pytest.mark.parametrize(
    ("text", "platform", "name"), [(IOS, "cisco_ios", "cisco_ios"), (FTOS, "force10_e300", "force10")]
)
def test_format_is_forced_and_lines_keep_their_place(text: str, platform: str, name: str) -> None:
    copy = _copy(text, platform)
    lines = copy.text.splitlines()
    assert lines[0] == f"! BATFISH_FORMAT: {name}"
    for number, (original, copied) in enumerate(zip(text.splitlines(), lines[1:], strict=False), 1):
        assert number in copy.inexact or copied == ("!" if number in copy.unread else original)


def test_vlans_are_kept_up_behind_the_text() -> None:
    assert _copy(FTOS, "force10_e300").text.splitlines()[-4:] == [
        "interface Vlan 10",
        " no autostate",
        "!",
        "hostname r1",
    ]
    assert "autostate" not in _copy(FTOS, "cisco_ios").text


def test_host_name_is_that_of_the_inventory() -> None:
    copy = _copy("hostname Switch\ninterface Vlan1\n", "catalyst_2950", "s7")
    assert [line for line in copy.text.splitlines() if line.startswith("hostname")] == ["hostname s7"] * 2


@pytest.mark.parametrize(
    ("platform", "entry", "left", "exact"),
    [
        ("cisco_ios", "permit tcp any any eq 443 precedence 5", "permit tcp any any eq 443", False),
        ("cisco_ios", "permit tcp any any tos min-delay eq 443", "permit tcp any any eq 443", False),
        ("cisco_ios", "10 permit udp any any time-range work", "10 permit udp any any", False),
        ("cisco_ios", "permit udp any any dscp ef", "permit udp any any dscp ef", True),
        ("force10_e300", "seq 5 permit tcp any any eq 80 order 3", "seq 5 permit tcp any any eq 80", False),
        ("force10_e300", "seq 5 permit tcp any any count byte", "seq 5 permit tcp any any", True),
    ],
)
def test_entries_are_widened_and_named(platform: str, entry: str, left: str, exact: bool) -> None:
    copy = _copy(f"ip access-list extended A\n {entry}\n", platform)
    assert copy.text.splitlines()[2] == f" {left}"
    assert copy.inexact == (frozenset() if exact else {2})


def test_layer_2_of_a_class_of_ftos_is_cut() -> None:
    copy = _copy("class-map match-all mac layer2\nmac access-list extended M\n permit any any\n", "force10_e300")
    assert copy.text.splitlines()[1:4] == [
        "class-map match-all mac",
        "mac access-list extended M",
        "!",
    ]


SECRETS = """\
hostname r1
enable secret 5 $1$abcd$Planted1
username admin password 0 Planted2 word
snmp-server community Planted3 RO
crypto isakmp key Planted4 address 192.0.2.1
ip access-list standard Planted3
 remark password is Planted5
 permit 192.0.2.0 0.0.0.255
interface Serial0/0
 description dial in with Planted3
 ip ospf message-digest-key 1 md5 Planted6
 ip access-group Planted3 in
snmp-server host 192.0.2.9 Planted3
"""


def test_secrets_are_blotted_out() -> None:
    """What is called like one has a name all the same, the same everywhere."""
    copy = _copy(SECRETS, "cisco_ios")
    assert "Planted" not in copy.text
    assert not any("Planted" in line for line in copy.lines)
    lines = copy.text.splitlines()
    names = [line.split()[-1] for line in lines if line.startswith("ip access-list")]
    assert f" ip access-group {names[0]} in" in lines
    assert lines[7:9] == [" remark unread", " permit 192.0.2.0 0.0.0.255"]
    assert len(copy.lines) == len(SECRETS.splitlines())


def test_format_without_known_gaps_is_only_forced() -> None:
    lines = IOS.splitlines()
    copy = analysis_copy(lines, lines, CopyRules(format="arista"), "r1")
    assert copy.text == f"! BATFISH_FORMAT: arista\n{IOS}hostname r1\n"


def test_stanzas_that_the_answer_has_to_name() -> None:
    assert [(s.line, s.structure, s.name) for s in _copy(IOS, "cisco_ios").stanzas] == [
        (1, "class-map", "v"),
        (5, "access-list", "QOSFORGE-a"),
        (8, "interface", "Multilink1"),
    ]
    assert [s.name for s in _copy(FTOS, "force10_e300").stanzas] == ["GigabitEthernet 0/0", "Vlan 10"]
