"""Which changes may alter forwarding: for others Batfish need not compute that of the whole network."""

from __future__ import annotations

import pytest

from qosforge.batfish.analysis_copy import AnalysisCopy, analysis_copy
from qosforge.batfish.copy_rules import copy_rules
from qosforge.batfish.text_changes import changed_lines, may_forward_otherwise

ROUTER = """\
hostname r1
class-map match-any voice
 match access-group name VOICE
policy-map OUT
 class voice
  priority percent 30
interface Serial0/0
 ip address 10.0.0.1 255.255.255.252
 ip access-group EDGE in
 service-policy output OUT
ip access-list extended VOICE
 permit udp any any range 16384 32767
ip access-list extended EDGE
 permit ip any any
ip route 0.0.0.0 0.0.0.0 10.0.0.2
"""
SWITCH = """\
hostname e300
class-map match-any voice
 match ip access-group VOICE
interface GigabitEthernet 0/0
 ip address 10.0.0.1 255.255.255.252
 service-policy output OUT
ip access-list extended VOICE
 seq 5 permit udp any any range 16384 32767
"""


def copy_of(text: str, platform: str) -> AnalysisCopy:
    rules = copy_rules(platform)
    assert rules is not None
    return analysis_copy(text.splitlines(), text.splitlines(), rules, "device")


def alters(text: str, old: str, new: str, platform: str = "cisco_ios") -> bool:
    assert old in text
    return may_forward_otherwise(copy_of(text, platform), copy_of(text.replace(old, new, 1), platform))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("priority percent 30", "bandwidth percent 30"),
        ("class-map match-any voice\n", "class-map match-any web\n match ip dscp 18\nclass-map match-any voice\n"),
        (" service-policy output OUT\n", ""),
        ("range 16384 32767", "range 16384 16484"),
        ("ip access-list extended VOICE\n permit udp any any range 16384 32767\n", ""),
        (
            " service-policy output OUT\n",
            " rate-limit input 8000 1500 1500 conform-action transmit exceed-action drop\n",
        ),
        (" service-policy output OUT\n", " ip rtp header-compression iphc-format\n"),
        (" service-policy output OUT\n", " class slow\nmap-class frame-relay slow\n frame-relay cir 56000\n"),
    ],
)
def test_quality_of_service_and_its_access_lists_do_not(old: str, new: str) -> None:
    assert not alters(ROUTER, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("10.0.0.1 255", "10.0.0.5 255"),
        ("permit ip any any", "deny ip any any"),
        (" ip access-group EDGE in\n", " ip access-group VOICE in\n"),
        ("ip route 0.0.0.0 0.0.0.0 10.0.0.2", "ip route 0.0.0.0 0.0.0.0 Null0"),
        ("interface Serial0/0\n", "interface Serial0/1\n"),
        ("hostname r1\n", "hostname r1\nrouter ospf 1\n network 10.0.0.0 0.0.0.255 area 0\n"),
    ],
)
def test_everything_else_does(old: str, new: str) -> None:
    assert alters(ROUTER, old, new)


def test_a_list_of_classes_that_an_interface_applies_too_does() -> None:
    both = ROUTER.replace("access-group EDGE in", "access-group VOICE in")
    assert alters(both, "range 16384 32767", "range 16384 16484")


def test_of_ftos_too() -> None:
    assert not alters(SWITCH, "range 16384 32767", "range 16384 16484", "force10_e300")
    assert not alters(SWITCH, " service-policy output OUT\n", "", "force10_e300")
    assert alters(SWITCH, "10.0.0.1 255", "10.0.0.5 255", "force10_e300")


def test_what_does_not_is_no_cause_of_what_is_forwarded_otherwise() -> None:
    before, after = copy_of(ROUTER, "cisco_ios"), copy_of(ROUTER.replace("percent 30", "percent 20"), "cisco_ios")
    assert changed_lines(before, after) == ()
