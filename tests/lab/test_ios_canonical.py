"""What comes back from show running-config: canonical text, defaults left out, and a stable round trip."""

from __future__ import annotations

import pytest

from .conftest import STARTUPS, BoxMaker, show, type_lines

TYPED = [
    "class-m match-any VV",
    "match prot rtp aud",
    "match ip dscp 46 34",
    "class-map HF",
    "match ip prec 2 3",
    "match cos 1 2",
    "match access-g name WEB",
    "policy-map CHILD",
    "class VV",
    "prio perc 20",
    "policy-map P",
    "class VV",
    "set ip dscp 34",
    "priority percent 50",
    "class HF",
    "bandwidth remaining percent 70",
    "random-detect dscp-based",
    "random-detect dscp 26 32 40 10",
    "random-detect dscp 18 10 40",
    "random-detect exponential-weighting-constant 9",
    "class class-default",
    "bandwidth remaining percent 30",
    "random-detect prec-based",
    "policy-map SHAPED",
    "class class-default",
    "shape average 256000",
    "service-policy CHILD",
    "ip access-list ext WEB",
    "permit tcp any 10.1.1.1 0.0.0.0 eq 80",
    "deny ip any any",
    "access-list 101 permit udp 0.0.0.0 255.255.255.255 any range 16384 32767",
    "int s0/0",
    "service-p out P",
    "ip rtp header",
    "max-reserved-bandwidth 75",
    "interface Multilink 1",
    "ip address 10.9.9.1 255.255.255.0",
    "ppp multilink",
    "ppp multilink interleave",
]
EXPECTED = """\
class-map match-any VV
 match protocol rtp audio
 match ip dscp ef  af41{blank}
class-map match-all HF
 match ip precedence 2  3
 match cos  1  2
 match access-group name WEB
!
policy-map CHILD
 class VV
  priority percent 20
policy-map P
 class VV
  priority percent 50
  set ip dscp af41
 class HF
  bandwidth remaining percent 70
  random-detect dscp-based
  random-detect dscp af21 10 40
 class class-default
  bandwidth remaining percent 30
  random-detect
policy-map SHAPED
 class class-default
  shape average 256000
  service-policy CHILD
!
interface Multilink1
 ip address 10.9.9.1 255.255.255.0
 ppp multilink
 ppp multilink interleave
!
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
!
interface Serial0/0
 bandwidth 2000
 ip address 10.0.1.1 255.255.255.252
 encapsulation ppp
 clock rate 2000000
 ip rtp header-compression
 service-policy output P
!
"""


@pytest.mark.parametrize("image", ["12.2", "12.4"])
def test_canonical_print(make: BoxMaker, image: str) -> None:
    box = make(image)
    _, answers = type_lines(box, *TYPED)
    assert answers == []
    text = box.running_text()
    assert EXPECTED.format(blank=" " if image == "12.4" else "") in text
    assert "ip access-list extended WEB\n permit tcp any host 10.1.1.1 eq www\n deny   ip any any\n" in text
    assert "access-list 101 permit udp any any range 16384 32767\n" in text


@pytest.mark.parametrize("image", list(STARTUPS))
def test_startup_is_accepted_and_printed_back(make: BoxMaker, image: str) -> None:
    box = make(image)
    assert box.boot_messages == []
    printed = {line.strip() for line in box.running_text().splitlines()}
    for line in STARTUPS[image].splitlines():
        assert line.strip() in printed


@pytest.mark.parametrize("image", ["12.2", "12.4"])
def test_round_trip_to_a_fresh_box(make: BoxMaker, image: str) -> None:
    box = make(image)
    type_lines(box, *TYPED)
    fresh = make(image, box.running_text())
    assert fresh.boot_messages == []
    assert fresh.running_text() == box.running_text()


def test_police_spellings(make: BoxMaker) -> None:
    lines = ["class-map C", "match any", "policy-map P", "class C"]
    one, cir = "police 64000 8000 conform-action transmit exceed-action drop", "police cir 64000 bc 8000"
    old, new = make("12.2"), make("12.4")
    type_lines(old, *lines, one)
    type_lines(new, *lines, cir, "exceed-action set-dscp-transmit 8")
    assert "  police 64000 8000 conform-action transmit  exceed-action drop\n" in old.running_text()
    assert (
        "  police cir 64000 bc 8000\n    conform-action transmit \n    exceed-action set-dscp-transmit cs1 \n"
    ) in new.running_text()


@pytest.mark.parametrize(
    "line",
    ["description x", "bandwidth 256", "ip mtu 200", "ip rtp header-compression", "tx-ring-limit 2",
     "ppp multilink", "fair-queue 64", "max-reserved-bandwidth 100", "encapsulation ppp", "shutdown"],
)  # fmt: skip
def test_no_undoes_an_interface_line(make: BoxMaker, line: str) -> None:
    box = make("12.4", "interface Serial0/0\n no ip address\n")
    before = box.running_text()
    type_lines(box, "interface Serial0/0", line)
    assert f" {line}\n" in box.running_text()
    undo = "fair-queue" if line == "fair-queue 64" else f"no {line}"  # WFQ is the serial default
    type_lines(box, "interface Serial0/0", undo)
    assert box.running_text() == before


def test_default_bandwidth_is_not_printed(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, "interface Serial0/0", "bandwidth 1544")
    assert "bandwidth" not in box.running_text()
    assert "Queueing strategy: weighted fair" in show(box, "show interfaces Serial0/0")
    assert "Queueing strategy: fifo" in show(box, "show interfaces FastEthernet0/0")


def test_fragments_are_of_the_bandwidth_of_each_line(make: BoxMaker) -> None:
    """OL-7433-09 p. 16-67: a bundle of three lines shows fragments of one line's rate."""
    box = make("12.4")
    type_lines(box, "interface Multilink1", "bandwidth 256", "ppp multilink", "ppp multilink group 1")
    type_lines(box, "interface Multilink1", "ppp multilink interleave", "ppp multilink fragment delay 16")
    type_lines(box, "interface Serial0/0", "no bandwidth", "encapsulation ppp", "ppp multilink")
    type_lines(box, "interface Serial0/0", "ppp multilink group 1")
    assert "Serial0/0, since 00:00:01, 3088 weight, 3088 frag size" in show(box, "show ppp multilink")
    type_lines(box, "interface Serial0/0", "bandwidth 256")
    assert "512 frag size" in show(box, "show ppp multilink")


def test_pipes_and_do(make: BoxMaker) -> None:
    box = make("12.4")
    assert show(box, "show running-config | include scp") == "ip scp server enable"
    assert show(box, "show run | section interface Ser").startswith("interface Serial0/0\n bandwidth 2000")
    shell, answers = type_lines(box, "interface Serial0/0", "do show privilege")
    assert answers == ["Current privilege level is 15"]
    assert shell.prompt == "R1(config-if)#"


def test_lines_of_other_services_are_kept_in_their_place(make: BoxMaker) -> None:
    startup = """\
ip inspect name OUT tcp
no ipv6 source-route
policy-map WAN
interface Dialer1
 bandwidth 800
 dialer pool 1
 ppp authentication chap
 max-reserved-bandwidth 100
interface Serial0/0.1 point-to-point
 frame-relay interface-dlci 100
  class VOICE
map-class frame-relay VOICE
 frame-relay cir 64000
 frame-relay fragment 80
 service-policy output WAN
route-map R permit 10
 match ip address A
"""
    box = make("12.4", startup + "interface Serial0/0\n encapsulation frame-relay\n")
    assert box.boot_messages == []
    lines = box.running_text().splitlines()
    assert [line for line in startup.splitlines() if line not in lines] == []
