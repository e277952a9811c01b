"""Where a policy can be attached, and the bandwidth rule on all of these places."""

from __future__ import annotations

import pytest

from qoslab.packets import Packets

from .conftest import BoxMaker, show, type_lines

# Eight precedences as the WAN tests of physics networks had them: one class of 800 kb/s, seven of 100.
EIGHT = """\
hostname R1
ip cef
class-map match-all P7
 match ip precedence 7
class-map match-all P1
 match ip precedence 1
{maps}policy-map WFQ
 class P7
  {first}
 class P1
  bandwidth 100
{classes} class class-default
  bandwidth 100
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 no ip address
interface ATM1/0
 no ip address
interface ATM1/0.108 point-to-point
 ip address 10.0.1.1 255.255.255.252
 pvc 4/108
  vbr-nrt 2000 2000 1
  tx-ring-limit 5
  encapsulation aal5snap
access-list 101 permit ip any any precedence critical
"""
MAPS = "".join(f"class-map match-all P{n}\n match ip precedence {n}\n" for n in range(2, 7))
CLASSES = "".join(f" class P{n}\n  bandwidth 100\n  queue-limit 10\n" for n in range(2, 7))
PLACES = {"interface": ["interface Serial0/0"], "circuit": ["interface ATM1/0.108", "pvc 4/108"]}
NAMES = {"interface": "Serial0/0", "circuit": "ATM1/0.108 VC 4/108"}
ONE_TOO_MANY = "I/f {} class class-default requested bandwidth 100 (kbps), available only 99 (kbps)"


def eight(first: str = "bandwidth 800") -> str:
    """Seven classes of 100 kb/s beside the first."""
    return EIGHT.format(maps=MAPS, first=first, classes=CLASSES)


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("first", ["bandwidth 800", "priority 800"])
def test_three_quarters_and_not_a_kilobit_more(make: BoxMaker, place: str, first: str) -> None:
    box = make("12.2", eight(first))
    assert box.boot_messages == []
    where = PLACES[place]
    assert type_lines(box, *where, "service-policy output WFQ")[1] == []
    assert "  bandwidth 100" in box.running_text()
    before = box.running_text()
    answers = type_lines(box, "policy-map WFQ", "class P1", "bandwidth 101")[1]
    assert answers == [
        f"I/f {NAMES[place]} class class-default requested bandwidth 100 (kbps), available only 99 (kbps)"
    ]
    assert box.running_text() == before
    type_lines(box, *where, "no service-policy output WFQ")
    assert type_lines(box, "policy-map WFQ", "class P1", "bandwidth 101", *where, "service-policy output WFQ")[
        1
    ] == [ONE_TOO_MANY.format(NAMES[place])]


def test_hqf_books_the_whole_interface(make: BoxMaker) -> None:
    box = make("15.1", eight("bandwidth 1300"))
    assert type_lines(box, "interface Serial0/0", "service-policy output WFQ")[1] == []
    assert "available only 99" in type_lines(box, "policy-map WFQ", "class P1", "bandwidth 101")[1][0]


HALVES = ["class-map A", "match ip dscp ef", "class-map B", "match ip dscp af11", "policy-map KID", "class A"]
AROUND = ["policy-map TOP", "class class-default", "shape average 600000", "service-policy KID"]


@pytest.mark.parametrize(
    ("image", "second", "own", "left"),
    [("12.4", 400, 0, None), ("15.1", 400, 0, 394), ("15.1", 394, 0, None), ("15.1", 390, 10, None)],
)
def test_hqf_keeps_one_percent_of_a_shaped_rate_for_a_default_class_without_a_bandwidth(
    make: BoxMaker, image: str, second: int, own: int, left: int | None
) -> None:
    box = make(image, "interface Serial0/0\n bandwidth 2000\n")
    default = ["class class-default", f"bandwidth {own}"] if own else []
    lines = [*HALVES, "bandwidth 200", "class B", f"bandwidth {second}", *default, *AROUND]
    assert type_lines(box, *lines)[1] == []
    wrong = f"I/f Serial0/0 class B requested bandwidth {second} (kbps), available only {left} (kbps)"
    answers = type_lines(box, "interface Serial0/0", "service-policy output TOP")[1]
    assert answers == ([wrong] if left else [])


def test_hqf_keeps_one_percent_in_a_policy_of_per_cents(make: BoxMaker) -> None:
    """As a 2811 says it (community.cisco.com, td-p/2093710): 15 % are refused beside 85 %, 14 are taken."""
    box = make("15.1", "")
    assert type_lines(box, *HALVES, "priority percent 85")[1] == []
    wrong = "Sum total of class bandwidths exceeds 99 percent"
    assert type_lines(box, "policy-map KID", "class B", "bandwidth percent 15")[1] == [wrong]
    assert type_lines(box, "policy-map KID", "class B", "bandwidth percent 14")[1] == []
    assert type_lines(box, "policy-map KID", "class class-default", "bandwidth percent 1")[1] == []
    assert type_lines(make("12.4"), *HALVES, "priority percent 85", "class B", "bandwidth percent 15")[1] == []


INHERITED = [
    # Guarantee of the class around 70 Mb/s of 100: its own, or half of the interface beside class-default.
    ("15.1", [], 49_500),
    ("15.1", ["bandwidth 70000"], 69_300),
    ("15.1", ["bandwidth percent 20"], 19_800),
    ("15.1", ["bandwidth percent 90"], 69_300),
    ("15.1", ["bandwidth remaining percent 30"], 29_700),
    ("15.1", ["bandwidth remaining ratio 3"], 69_300),
    ("12.4", [], 70_000),
    ("12.4", ["bandwidth percent 20"], 70_000),
]


@pytest.mark.parametrize(("image", "guarantee", "free"), INHERITED)
def test_hqf_divides_the_lesser_of_the_shaper_and_the_guarantee(
    make: BoxMaker, image: str, guarantee: list[str], free: int
) -> None:
    """networklessons.com, "QoS HQF shaper and bandwidth inheritance": the first two cases, in tenths."""
    top = ["class-map C", "match ip dscp cs1", "policy-map TOP", "class C", "shape average 70000000", *guarantee]
    attach = ["interface FastEthernet0/1", "service-policy output TOP"]
    for booked, wrong in ((free + 1, True), (free, False)):
        kid = [*HALVES[:2], "policy-map KID", "class A", f"bandwidth {booked}", *top, "service-policy KID"]
        answers = type_lines(make(image, "interface FastEthernet0/1\n"), *kid, *attach)[1]
        assert [f"available only {free} (kbps)" in answer for answer in answers] == [True] * wrong


def test_per_cents_in_a_policy_inside_a_class_are_shown_in_kbps_of_what_it_divides(make: BoxMaker) -> None:
    box = make("15.1", "interface FastEthernet0/1\n no ip address\n")
    top = ["policy-map TOP", "class A", "bandwidth percent 20", "shape average 70000000", "service-policy KID"]
    kid = [*HALVES[:2], "policy-map KID", "class A", "bandwidth percent 30"]
    type_lines(box, *kid, *top, "interface FastEthernet0/1", "service-policy output TOP")
    assert "Bandwidth 6000 (kbps)" in show(box, "show policy-map interface FastEthernet0/1")


def test_a_slower_circuit_does_not_take_the_policy_it_has(make: BoxMaker) -> None:
    box = make("12.2", eight())
    assert type_lines(box, *PLACES["circuit"], "service-policy output WFQ")[1] == []
    assert "available only" in type_lines(box, *PLACES["circuit"], "vbr-nrt 2000 1999 1")[1][0]
    assert "  vbr-nrt 2000 2000 1\n" in box.running_text()


def test_the_share_of_a_circuit_is_that_of_its_interface(make: BoxMaker) -> None:
    box = make("12.2", eight("bandwidth 900"))
    attach = [*PLACES["circuit"], "service-policy output WFQ"]
    assert "available only" in type_lines(box, *attach)[1][0]
    assert type_lines(box, "interface ATM1/0", "max-reserved-bandwidth 80", *attach)[1] == []
    fresh = make("12.2", box.running_text())
    assert fresh.boot_messages == []
    assert fresh.running_text() == box.running_text()


def test_a_policy_on_a_circuit_classifies_and_shows(make: BoxMaker) -> None:
    box = make("12.2", eight("priority 800"))
    type_lines(box, *PLACES["circuit"], "service-policy output WFQ")
    packets = [Packets(10, 1000, dscp=56), Packets(10, 1000, dscp=0)]
    found = box.offer("FastEthernet0/0", "ATM1/0.108", packets, 1.0)
    assert [(one.egress_class, one.queue) for one in found] == [
        ("P7", "priority"), ("class-default", "class class-default")
    ]  # fmt: skip
    text = show(box, "show policy-map interface ATM1/0.108")
    assert text.startswith(" ATM1/0.108\n\n  Service-policy output: WFQ\n")
    assert "Class-map: P7 (match-all)\n      10 packets, 10000 bytes" in text
    assert type_lines(box, "no policy-map WFQ")[1] == ["%PolicyMap WFQ is being used"]


FRAME_RELAY = """\
hostname R1
class-map match-all V
 match ip dscp ef
policy-map LLQ
 class V
  priority 24
interface Serial0/0
 no ip address
 encapsulation frame-relay
 frame-relay traffic-shaping
interface Serial0/0.1 point-to-point
 frame-relay interface-dlci 100
  class VOICE
map-class frame-relay VOICE
 frame-relay cir 64000
"""


def test_a_map_class_is_checked_against_mincir_once_a_circuit_uses_it(make: BoxMaker) -> None:
    box = make("12.4", FRAME_RELAY)
    assert box.boot_messages == []
    text = "I/f Serial0/0.1 DLCI 100 class V requested bandwidth 25 (kbps), available only 24 (kbps)"
    assert type_lines(box, "map-class frame-relay VOICE", "service-policy output LLQ")[1] == []
    assert type_lines(box, "policy-map LLQ", "class V", "priority 25")[1] == [text]
    assert type_lines(box, "map-class frame-relay VOICE", "frame-relay mincir 31000")[1] == [
        "I/f Serial0/0.1 DLCI 100 class V requested bandwidth 24 (kbps), available only 23 (kbps)"
    ]
    assert type_lines(box, "map-class frame-relay VOICE", "frame-relay mincir 64000", "policy-map LLQ", "class V",
                      "priority 48")[1] == []  # fmt: skip
    # A map class nobody uses is not checked; a circuit that begins to use it is.
    assert type_lines(box, "map-class frame-relay SLOW", "frame-relay cir 8000", "service-policy LLQ")[1] == []
    assert " service-policy output LLQ\n" in box.running_text()
    answers = type_lines(box, "interface Serial0/0.1", "frame-relay interface-dlci 100", "class SLOW")[1]
    assert answers == ["I/f Serial0/0.1 DLCI 100 class V requested bandwidth 48 (kbps), available only 3 (kbps)"]
    assert "  class VOICE\n" in box.running_text()


BASE = ["class-map V", "match ip dscp ef", "policy-map KID", "class V", "bandwidth 10", "policy-map TOP",
        "class class-default", "shape average 256000", "service-policy KID", "policy-map M", "class V",
        "set ip dscp 10"]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["interface FastEthernet0/0.1", "service-policy output TOP"], ""),
        (["interface FastEthernet0/0.1", "service-policy output KID"], "CBWFQ : Not supported on subinterfaces"),
        (["interface Serial0/0", "service-policy input M"], ""),
        (["interface Serial0/0", "service-policy input TOP"], "output feature only"),
        (["interface Serial0/0", "service-policy output TOP", "policy-map TOP", "class class-default", "no shape"],
         "Hierarchy supported only if shaping"),
        (["interface Serial0/0", "service-policy input M", "policy-map M", "class V", "bandwidth 10"],
         "output feature only"),
        (["interface Serial0/0", "service-policy output TOP", "policy-map KID", "class V", "bandwidth 257"],
         "available only 256 (kbps)"),
        (["interface Serial0/0", "service-policy output TOP", "no policy-map KID"], "%PolicyMap KID is being used"),
        (["interface Serial0/0", "priority-group 1", "service-policy output KID"], "deconfigure priority-group"),
        (["interface Serial0/0", "custom-queue-list 1", "service-policy output KID"], "deconfigure custom-queue"),
        (["interface Serial0/0", "ip rtp priority 16384 16383 50", "service-policy output KID"], ""),
        (["interface Serial0/0", "fair-queue 128", "service-policy output KID"], "Must deconfigure fair-queue"),
        (["interface Serial0/0", "no fair-queue", "service-policy output KID"], ""),
        (["interface Serial0/0", "random-detect", "service-policy output KID"], "Must deconfigure random-detect"),
        (["interface Serial0/0", "service-policy output KID", "random-detect"], "Must remove the output"),
        (["interface Serial0/0", "service-policy output KID", "fair-queue 64"], "Must remove the output"),
        (["policy-map M", "class V", "set cos 5", "interface Serial0/0", "service-policy output M"], "802.1Q"),
        (["policy-map M", "class V", "set cos 5", "interface FastEthernet0/0.1", "service-policy input M"],
         "802.1Q"),
        (["policy-map M", "class V", "set cos 5", "interface FastEthernet0/0.1", "service-policy output M"], ""),
        (["policy-map M", "class V", "set cos 5", "interface FastEthernet0/0", "service-policy output M"], ""),
        (["policy-map M", "class V", "compression header ip", "interface Serial0/0", "service-policy input M"],
         "compression can be enabled as an output feature only"),
        (["control-plane", "service-policy input M"], ""),
        (["control-plane", "service-policy output TOP"], "output feature only"),
        (["interface Serial0/0", "service-policy output KID", "no service-policy output TOP"], "is not attached"),
        (["interface Serial0/0", "service-policy output KID", "no service-policy output"], ""),
    ],
)  # fmt: skip
def test_attaching(make: BoxMaker, lines: list[str], text: str) -> None:
    startup = "ip cef\ninterface FastEthernet0/0.1\n encapsulation dot1Q 5\ninterface Serial0/0\n bandwidth 2000\n"
    box = make("12.4", startup)
    assert type_lines(box, *BASE)[1] == []
    shell, answers = type_lines(box, *lines[:-1])
    assert answers == []
    before = box.running_text()
    answer = shell.feed(lines[-1]).text
    if text:
        assert text in answer
        assert box.running_text() == before
    else:
        assert answer == ""
        fresh = make("12.4", box.running_text())
        assert (fresh.boot_messages, fresh.running_text()) == ([], box.running_text())


def test_three_levels_need_hqf(make: BoxMaker) -> None:
    lines = [*BASE, "policy-map ROOT", "class class-default", "shape average 512000", "service-policy TOP"]
    assert type_lines(make("12.4"), *lines)[1] == ["% Policy maps cannot be nested any deeper"]
    assert type_lines(make("15.1", "interface Serial0/0\n"), *lines)[1] == []


def test_a_policy_that_marks_waits_for_cef(make: BoxMaker) -> None:
    """Cisco tech note 4800: IOS looks for CEF before it attaches a policy with a ``set``."""
    box = make("12.4", "interface FastEthernet0/0\n no ip address\n")
    type_lines(box, "policy-map M", "class class-default", "set ip dscp 8")
    where = ("interface FastEthernet0/0", "service-policy input M")
    assert "CEF switching is required" in type_lines(box, *where)[1][0]
    assert "service-policy" not in box.running_text()
    assert type_lines(box, "ip cef", *where)[1] == []
