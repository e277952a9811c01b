"""What people write and capture, read as the device would print it."""

from __future__ import annotations

import time
import timeit
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge import memoise
from qosforge.commands.transcript import tidy
from qosforge.platforms.base import installed, platform
from qosforge.platforms.catalyst_2970.lines import TABLE as CATALYST_TABLE
from qosforge.platforms.cisco_ios.lines import TABLE as ROUTER
from qosforge.platforms.nortel_5510.lines import TABLE
from qosforge.resources import root

PLATFORMS = sorted(installed())
IOS = ROUTER.syntax
DEVICES = {
    "r1": "cisco_ios",
    "r2": "cisco_ios",
    "s2950": "catalyst_2950",
    "s2970": "catalyst_2970",
    "e300": "force10_e300",
    "ers5510": "nortel_5510",
}


def _printed(device: str) -> str:
    """A whole running configuration: what the device boots with and what the campus intent makes of it."""
    parts = (f"inventories/campus/startup/{device}.cfg", f"tests/golden/campus-collaboration/{device}.cfg")
    return "".join((root() / part).read_text() for part in parts)


@pytest.mark.parametrize("dialect", [IOS, CATALYST_TABLE.syntax], ids=["ios", "catalyst"])
def test_abbreviations_are_spelt_out(dialect) -> None:
    written = "int fa0/1\n serv in MARK\npolicy-m MARK\n cl VOICE\n  set ip dsc ef\nclass-m match-an VOICE\n"
    assert tidy(written, dialect).splitlines() == [
        "interface FastEthernet0/1",
        " service-policy input MARK",
        "policy-map MARK",
        " class VOICE",
        "  set ip dscp ef",
        "class-map match-any VOICE",
    ]


@pytest.mark.parametrize(
    ("mode", "written"),
    [
        ("interface", "priority level 1"),
        ("interface", "s output X"),
        ("", "class X"),
        ("", "in fa0/1 x fa0/2 y z w"),
        ("class", "pri"),
    ],
)
def test_a_word_is_no_abbreviation_of_a_longer_one_that_it_could_stand_beside(mode: str, written: str) -> None:
    spelt = IOS.spelt(mode, written)
    assert spelt is None or spelt.split()[0] in ("interface", "priority")
    if mode == "interface" or written == "class X":
        assert spelt is None


def test_ambiguous_words_stay_as_they_are() -> None:
    assert IOS.spelt("class", "b p 30") is None, "one letter may be a name"
    assert IOS.spelt("class", "ba pe 30") == "bandwidth percent 30"
    assert IOS.spelt("class", "band rem per 30") == "bandwidth remaining percent 30"
    assert IOS.spelt("interface", "no serv out X") == "no service-policy output X"


def test_lines_without_indentation_find_their_places() -> None:
    written = (
        "policy-map A\nclass x\nset dscp ef\nclass y\npriority percent 10\ninterface Serial0/0\nbandwidth 2000\n"
    )
    written += "no cdp enable\nservice-policy output A\n!\nbandwidth 7\n"
    assert tidy(written, IOS).splitlines() == [
        "policy-map A",
        " class x",
        "  set dscp ef",
        " class y",
        "  priority percent 10",
        "interface Serial0/0",
        " bandwidth 2000",
        " no cdp enable",
        " service-policy output A",
        "!",
        "bandwidth 7",
    ]


def test_a_session_leaves_its_prompts_and_what_was_shown() -> None:
    session = (
        "sw1>en\nsw1#sh policy-map\n Policy Map MARK\n  Class x\nsw1#conf t\n"
        "sw1(config)#policy-map MARK\nsw1(config-pmap)#class x\nsw1(config-pmap-c)#set ip dscp ef\n"
        "sw1(config-pmap-c)#do sh run\nsw1(config)#int fa0/2\nsw1(config-if)#serv input MARK\n"
    )
    plan = platform("catalyst_2950").parse(session, "sw1", "12.1")
    (port,) = plan.interfaces
    assert (port.name, port.ingress.policy, [r.set_dscp for r in port.ingress.rules]) == (
        "FastEthernet0/2",
        "MARK",
        [46],
    )


def test_a_shown_running_configuration_is_read_between_prompts() -> None:
    session = (
        "R1#sh run\nBuilding configuration...\n!\ninterface Serial0/0\n bandwidth 512\n!\nend\n\nR1#sh ver\nx\n"
    )
    (interface,) = platform("cisco_ios").parse(session, "r1", "12.4").interfaces
    assert (interface.name, interface.bandwidth_kbps) == ("Serial0/0", 512)


def test_an_object_opened_twice_is_one() -> None:
    text = "int gi0/1\n mls qos trust dscp\nint gi0/1\n priority-queue out\nmls qos\n"
    (port,) = platform("catalyst_2970").parse(text, "s", "12.2").interfaces
    assert port.ingress.trust == "dscp"
    assert port.egress.scheduler is not None
    assert port.egress.scheduler.queues[0].priority


def test_a_line_that_the_screen_broke_is_joined() -> None:
    whole = 'qos classifier 1 set-id 1 name "' + "x" * 60 + '" element-type ip element-id 1'
    broken = whole[:79] + "\n" + whole[79:]
    assert tidy(broken + "\nqos agent queue-set 4\n", TABLE.syntax).splitlines() == [
        whole,
        "",
        "qos agent queue-set 4",
    ]
    full = "ip address switch 192.168.4.3 netmask 255.255.255.0 default-gateway 192.168.4.1"
    assert len(full) == 79
    assert tidy(full + "\nqos agent queue-set 4\n", TABLE.syntax).splitlines() == [full, "qos agent queue-set 4"]


@pytest.mark.parametrize(
    ("name", "text", "unknown"),
    [
        ("cisco_ios", "rate-limit input 8000 1500 2000\n", "rate-limit input 8000 1500 2000"),
        ("cisco_ios", "policy-map LEFT\n class x\n  trust me\n", "trust me"),
        ("cisco_ios", "control-plane\n service-policy input COPP\n", "service-policy input COPP"),
        ("catalyst_2950", "policy-map P\n class C\n  police 1 2 exceed-action dscp 99\n",
         "police 1 2 exceed-action dscp 99"),
        ("catalyst_2970", "interface Port-channel1\n mls qos trust dscp\n", "mls qos trust dscp"),
        ("force10_e300", "interface GigabitEthernet 1/0/48\n service-class dynamic dot1p\n",
         "service-class dynamic dot1p"),
        ("force10_e300", "qos-policy-output Q\n rate shape kbps 64000 x\n", "rate shape kbps 64000 x"),
        ("nortel_5510", "qos egressmap ds 99 1p 9 dp low-drop\n", "qos egressmap ds 99 1p 9 dp low-drop"),
        ("nortel_5510", "qos policy 9 port 1 clfr-type c clfr-id 1 in-profile-action 1 precedence 3\n",
         "qos policy 9 port 1 clfr-type c clfr-id 1 in-profile-action 1 precedence 3"),
    ],
)  # fmt: skip
def test_qos_lines_that_nothing_comes_of_are_listed(name: str, text: str, unknown: str) -> None:
    assert unknown in [u.text for u in platform(name).parse(text, "x", "12.4").unknown]


@pytest.mark.parametrize("device", DEVICES)
def test_what_a_box_prints_passes_unchanged(device: str) -> None:
    box = platform(DEVICES[device])
    plan = box.parse(_printed(device), device, "12.4")
    assert plan.unknown == ()
    for variant in (_printed(device).replace("\n", "\r\n"), "! Überwachung – 監視\n" + _printed(device)):
        assert box.parse(variant, device, "12.4") == plan


VOCABULARY = """
interface int fa0/1 Serial0/0 gi 0/1 class-map match-any match-all policy-map class service-policy input
output X Y match ip dscp ef 99 ² 12 99999999999999999999 access-group name set police 8000 mls qos trust cos
map cos-dscp dscp-cos to srr-queue queue threshold 1 0 -1 wrr-queue bandwidth share shape priority percent
random-detect precedence queue-limit service-queue qos-policy qos-policy-input policy-map-input policy-map-
output qos-policy-output wred-profile min max strict-priority unicast rate-police kbps bandwidth-percentage
seq permit tcp any host 10.0.0.1 eq range 1-99999999 if-assign port if-group ip-element classifier action
policy set-id element-type element-id src-ip 300.1.1.1 update-dscp update-1p ingressmap 1p ds egressmap dp
queue-set-assignment queue-set agent clfr-type clfr-id in-profile-action R1(config)# R1(config-if)# R1#show
run ppp multilink fragment delay no ! exit fair-queue average 64000 protocol rtp audio cir conform-action
exceed-action transmit drop set-dscp-transmit 070 1/2 ٣ precedence
"""
WORDS = st.sampled_from([*VOCABULARY.split(), "9" * 5000])
LINE = st.builds(
    lambda indent, words: " " * indent + " ".join(words), st.integers(0, 2), st.lists(WORDS, max_size=12)
)
TEXT = st.one_of(st.text(max_size=400), st.lists(LINE, max_size=25).map("\n".join))


@pytest.mark.parametrize("name", PLATFORMS)
@given(text=TEXT)
@settings(max_examples=150, deadline=None)
def test_no_text_makes_a_parser_raise(name: str, text: str) -> None:
    plan = platform(name).parse(text, "x", "12.4")
    assert all(1 <= unknown.line <= len(text.splitlines()) for unknown in plan.unknown)


def _long(name: str, number: int) -> str:
    """A configuration of that many objects, all of them referred to."""
    if name == "nortel_5510":
        return "".join(
            f"qos ip-element {n} addr-type ipv4 ds-field 10\nqos classifier {n} set-id {n} name c{n} "
            f"element-type ip element-id {n}\nqos action {n} name a{n} update-dscp 10\n"
            f"qos policy {n} name p{n} if-group allQoSPolicyIfcs clfr-type classifier clfr-id {n} "
            f"in-profile-action {n} precedence {n % 16}\n"
            for n in range(10, number)
        )
    if name == "force10_e300":
        return "".join(
            f"class-map match-any c{n}\n match ip dscp 10\npolicy-map-input p{n}\n service-queue 1 class-map c{n}\n"
            f"interface gi {n}/0\n service-policy input p{n}\n"
            for n in range(number)
        )
    return "".join(
        f"class-map c{n}\n match ip dscp 10\npolicy-map p{n}\n class c{n}\n  set ip dscp ef\n"
        f"int fa0/{n}\n serv inp p{n}\n bogus {n}\n"
        for n in range(number)
    )


def _seconds(name: str, text: str) -> float:
    """The time of a parse of what was never seen; without collections of garbage, which all that lives prolongs."""
    parse = partial(platform(name).parse, text, "x", "12.4")
    return min(timeit.repeat(parse, memoise.forget, time.process_time, repeat=3, number=1))


@pytest.mark.parametrize("name", PLATFORMS)
def test_twice_the_text_takes_about_twice_the_time(name: str) -> None:
    _seconds(name, _long(name, 20))
    once, more = _seconds(name, _long(name, 300)), _seconds(name, _long(name, 1200))
    assert more < 4 * once * 2, "four times the text; quadratic work would take sixteen times as long"
