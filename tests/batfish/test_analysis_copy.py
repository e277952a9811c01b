"""What Batfish is given to read."""

from __future__ import annotations

import pytest

from qosforge.batfish.analysis_copy import analysis_copy

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


def _silenced(copy: str) -> list[str]:
    return [line[1:].strip() for line in copy.splitlines()[1:] if line.startswith("!") and line != "!"]


def test_ios_lines_batfish_does_not_know_are_silenced() -> None:
    assert _silenced(analysis_copy(IOS, "cisco_ios")) == [
        "match ip rtp 16384 16383",
        "match input-interface Serial0/0",
        "ip rtp header-compression",
        "ip tcp header-compression iphc-format",
        "encapsulation ppp",
        "service-policy output OUT",
    ]


def test_ftos_lines_batfish_does_not_know_are_silenced() -> None:
    assert _silenced(analysis_copy(FTOS, "force10")) == [
        "qos-policy-input mark",
        "set ip-dscp 34",
        "strict-priority unicast 4",
        "service-policy input QOSFORGE-IN",
    ]


@pytest.mark.parametrize(("text", "name"), [(IOS, "cisco_ios"), (FTOS, "force10")])
def test_format_is_forced_and_lines_keep_their_place(text: str, name: str) -> None:
    lines = analysis_copy(text, name).splitlines()
    assert lines[0] == f"! BATFISH_FORMAT: {name}"
    for original, copied in zip(text.splitlines(), lines[1:], strict=False):
        assert copied in (original, f"!{original}")


def test_vlans_are_kept_up_behind_the_text() -> None:
    assert analysis_copy(FTOS, "force10").splitlines()[-3:] == ["interface Vlan 10", " no autostate", "!"]
    assert "autostate" not in analysis_copy(FTOS, "cisco_ios")


def test_format_without_known_gaps_is_only_forced() -> None:
    assert analysis_copy(IOS, "arista") == f"! BATFISH_FORMAT: arista\n{IOS}"
