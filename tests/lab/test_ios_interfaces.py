"""Link efficiency and legacy tools on interfaces: accepted and printed, ranges held, taken back by no."""

from __future__ import annotations

import pytest

from .conftest import BoxMaker, show, type_lines

BAD = "% Invalid input detected at '^' marker."
STARTUP = """\
hostname R1
ip cef
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface Serial0/0
 no ip address
 encapsulation ppp
interface Serial0/1
 no ip address
 encapsulation frame-relay
interface Serial0/2
 no ip address
interface ATM1/0
 no ip address
"""
PPP, FR, HDLC = "interface Serial0/0", "interface Serial0/1", "interface Serial0/2"

LINES = [
    (PPP, "ip rtp header-compression", "ip rtp header-compression"),
    (PPP, "ip rtp header-compression passive periodic-refresh", None),
    (PPP, "ip rtp header-compression passive", None),
    (PPP, "ip rtp compression-connections 1000", None),
    (PPP, "ip header-compression max-period 256", None),
    (PPP, "ip header-compression recoverable-loss dynamic", None),
    (PPP, "ppp multilink", None),
    (PPP, "ppp multilink interleave", None),
    (PPP, "ppp multilink multiclass", None),
    (PPP, "ppp multilink fragment delay 10", None),
    (PPP, "ppp multilink fragment size 42", None),
    (PPP, "ppp multilink fragment disable", None),
    (PPP, "ppp multilink group 2147483647", None),
    (PPP, "ip mtu 68", None),
    (PPP, "tx-ring-limit 1", None),
    (PPP, "max-reserved-bandwidth 100", None),
    (PPP, "ip rtp priority 16384 16383 65", None),
    (PPP, "priority-group 16", None),
    (PPP, "custom-queue-list 16", None),
    (PPP, "random-detect", None),
    (PPP, "random-detect dscp-based", None),
    (PPP, "random-detect flow", None),
    (PPP, "random-detect flow count 256", None),
    (PPP, "traffic-shape rate 64000 8000 8000 1000", None),
    (PPP, "traffic-shape group 101 64000", None),
    (FR, "frame-relay traffic-shaping", None),
    (FR, "frame-relay class VOICE", None),
    (FR, "frame-relay ip rtp header-compression passive", None),
    (FR, "frame-relay ip rtp compression-connections 256", None),
    (FR, "frame-relay fragment 1600 end-to-end", None),
    (FR, "frame-relay map ip 10.1.1.1 100 broadcast rtp header-compression active connections 16", None),
    (FR, "frame-relay map ip 10.1.1.1 100 nocompress", None),
    (FR, "frame-relay interface-dlci 1007", None),
    ("interface ATM1/0", "pvc VIGO 4/108", None),
    ("interface ATM1/0", "pvc 33", "pvc 0/33"),
    ("access-list", "access-list rate-limit 99 mask a0", "access-list rate-limit 99 mask A0"),
    ("access-list", "access-list rate-limit 1 critical", "access-list rate-limit 1 5"),
    ("access-list", "access-list rate-limit 100 0000.AAAA.1111", "access-list rate-limit 100 0000.aaaa.1111"),
    ("access-list", "access-list rate-limit 299 7", None),
    ("list", "priority-list 1 protocol ip high udp 5060", None),
    ("list", "priority-list 16 interface s0/0 low", "priority-list 16 interface Serial0/0 low"),
    ("list", "priority-list 1 default normal", None),
    ("list", "priority-list 1 queue-limit 20 40 60 80", None),
    ("list", "queue-list 1 protocol ip 1 list 101", None),
    ("list", "queue-list 1 queue 1 byte-count 1500 limit 20", None),
    ("list", "queue-list 1 default 3", None),
    ("list", "map-class frame-relay VOICE", None),
    ("map-class frame-relay VOICE", "frame-relay cir 45000000", None),
    ("map-class frame-relay VOICE", "frame-relay cir in 64000", None),
    ("map-class frame-relay VOICE", "frame-relay bc out 640", None),
    ("map-class frame-relay VOICE", "frame-relay be 100", None),
    ("map-class frame-relay VOICE", "frame-relay mincir 64000", None),
    ("map-class frame-relay VOICE", "frame-relay fragment 16", None),
    ("map-class frame-relay VOICE", "frame-relay fair-queue 64 256 0 600", None),
    ("map-class frame-relay VOICE", "frame-relay ip rtp priority 16384 16383 65", None),
]


def _enter(mode: str) -> list[str]:
    return [] if mode in {"list", "access-list"} else [mode]


@pytest.mark.parametrize(("mode", "line", "printed"), LINES, ids=[line for _, line, _ in LINES])
def test_line(make: BoxMaker, mode: str, line: str, printed: str | None) -> None:
    box = make("12.4", STARTUP)
    type_lines(box, *_enter(mode))
    before = box.running_text()
    assert type_lines(box, *_enter(mode), line)[1] == []
    assert f"{' ' if _enter(mode) else ''}{printed or line}" in box.running_text().splitlines()
    assert type_lines(box, *_enter(mode), f"no {line}")[1] == []
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        (PPP, "ip rtp compression-connections 2"),
        (PPP, "ip rtp header-compression odd-format"),
        (PPP, "ppp multilink fragment delay 0"),
        (PPP, "ppp multilink fragment delay 1001"),
        (PPP, "ppp multilink fragment size 41"),
        (PPP, "ppp multilink group 0"),
        (PPP, "ip mtu 67"),
        (PPP, "ip mtu 1501"),
        (PPP, "max-reserved-bandwidth 0"),
        (PPP, "fair-queue 17"),
        (PPP, "priority-group 17"),
        (PPP, "traffic-shape rate 7999"),
        (PPP, "pvc 4/108"),
        (FR, "frame-relay interface-dlci 15"),
        (FR, "frame-relay fragment 15 end-to-end"),
        (FR, "frame-relay ip rtp compression-connections 257"),
        ("interface ATM1/0", "pvc 256/32"),
        ("interface ATM1/0", "pvc 0/0"),
        ("list", "interface Multilink0"),
        ("list", "priority-list 17 default high"),
        ("list", "priority-list 1 default highest"),
        ("list", "queue-list 1 default 17"),
        ("list", "access-list rate-limit 1 8"),
        ("list", "access-list rate-limit 100 mask A0"),
        ("map-class frame-relay VOICE", "frame-relay fragment 1601"),
        ("map-class frame-relay VOICE", "frame-relay cir 45000001"),
        ("map-class frame-relay VOICE", "frame-relay fair-queue 17"),
    ],
)
def test_out_of_range(make: BoxMaker, mode: str, line: str) -> None:
    box = make("12.4", STARTUP)
    shell, _ = type_lines(box, *_enter(mode))
    before = box.running_text()
    assert shell.feed(line).text.endswith(f"{BAD}\n")
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([PPP, "frame-relay traffic-shaping"], "% Must set encapsulation to FRAME-RELAY"),
        (["interface Serial0/0.1 point-to-point", "frame-relay interface-dlci 100"], "% Must set encapsulation"),
        ([FR, "frame-relay traffic-shaping", "frame-relay fragment 80 end-to-end"], "exclude each other"),
        ([FR, "frame-relay fragment 80 end-to-end", "frame-relay traffic-shaping"], "exclude each other"),
        ([FR, "encapsulation frame-relay ietf", "frame-relay ip rtp header-compression"], "cisco encapsulation"),
        ([PPP, "traffic-shape rate 64000", "traffic-shape group 101 64000"], "exclude each other"),
        ([PPP, "rate-limit input 8001 1000 2000 conform-action transmit exceed-action drop"], "multiple of 8000"),
        ([PPP, "rate-limit input 8000000 3999 4000 conform-action transmit exceed-action drop"], "at least 4000"),
        ([PPP, "rate-limit input 8000 3000 2999 conform-action transmit exceed-action drop"], "Extended burst"),
        ([PPP, "random-detect precedence 1 2 3"], "% random-detect must be configured first"),
    ],
)
def test_refusal(make: BoxMaker, lines: list[str], text: str) -> None:
    box = make("12.4", STARTUP)
    shell, answers = type_lines(box, *lines[:-1])
    assert answers == []
    before = box.running_text()
    assert text in shell.feed(lines[-1]).text
    assert box.running_text() == before


def test_frame_relay_voice_circuit_prints_and_loads_again(make: BoxMaker) -> None:
    lines = """\
class-map match-all V
 match ip dscp ef
policy-map LLQ
 class V
  priority 24
interface Serial0/1
 no ip address
 encapsulation frame-relay
 frame-relay traffic-shaping
interface Serial0/1.1 point-to-point
 ip address 10.9.9.1 255.255.255.252
 frame-relay interface-dlci 100
  class VOICE
 frame-relay ip rtp header-compression
map-class frame-relay VOICE
 frame-relay cir 64000
 frame-relay bc 640
 frame-relay mincir 64000
 no frame-relay adaptive-shaping
 frame-relay fragment 80
 service-policy output LLQ
"""
    box = make("12.4", STARTUP)
    assert type_lines(box, *lines.splitlines())[1] == []
    printed = [line.rstrip() for line in box.running_text().splitlines()]
    assert [line for line in lines.splitlines() if line not in printed] == []
    type_lines(
        box, "map-class frame-relay VOICE", "frame-relay be 0", "frame-relay cir 56000", "frame-relay fragment"
    )
    assert "cir" not in box.running_text().split("map-class")[1].replace("mincir", "")
    assert " frame-relay fragment 53\n" in box.running_text()
    fresh = make("12.4", box.running_text())
    assert (fresh.boot_messages, fresh.running_text()) == ([], box.running_text())


def test_traffic_shaping_is_a_matter_of_the_main_interface(make: BoxMaker) -> None:
    box = make("12.4", STARTUP)
    answers = type_lines(box, "interface Serial0/1.1 point-to-point", "frame-relay traffic-shaping")[1]
    assert answers[0].endswith(f"{BAD}\n")


def test_an_atm_circuit_prints_its_default_category_not_at_all(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    circuit = ["interface ATM1/0.108 point-to-point", "pvc 4/108"]
    shell, answers = type_lines(box, *circuit, "vbr-nrt 2000 1000 5", "tx-ring-limit 5", "encapsulation aal5snap")
    assert (answers, shell.prompt) == ([], "R1(config-if-atm-vc)#")
    text = " pvc 4/108\n  vbr-nrt 2000 1000 5\n  tx-ring-limit 5\n  encapsulation aal5snap\n"
    assert text in box.running_text()
    assert shell.feed("vbr-nrt 1000 2000").text.endswith(f"{BAD}\n")
    shell.feed("ubr 500")
    assert "  ubr 500\n" in box.running_text()
    shell.feed("ubr")
    assert "ubr" not in box.running_text()
    type_lines(box, circuit[0], "no pvc 4/108")
    assert "pvc" not in box.running_text()


def test_a_subinterface_in_the_startup_stands_for_its_port(make: BoxMaker) -> None:
    box = make("12.2", "interface ATM1/0.108 point-to-point\n pvc 4/108\n")
    assert box.boot_messages == []
    assert box.ports == ("ATM1/0",)


def test_an_interface_random_detect_has_rows_like_a_class(make: BoxMaker) -> None:
    box = make("12.4", STARTUP)
    lines = ["random-detect", "random-detect precedence 3 10 40 20", "random-detect precedence 2 24 40",
             "random-detect exponential-weighting-constant 10"]  # fmt: skip
    assert type_lines(box, PPP, *lines)[1] == []
    assert (
        " random-detect\n random-detect exponential-weighting-constant 10\n random-detect precedence 3 10 40 20\n"
    ) in box.running_text()
    assert "early detection" in show(box, "show interfaces Serial0/0")
    type_lines(box, PPP, "no random-detect")
    assert "random-detect" not in box.running_text()


def test_max_reserved_bandwidth_says_on_hqf_that_nothing_comes_of_it(make: BoxMaker) -> None:
    box = make("15.1", STARTUP)
    assert "deprecated" in type_lines(box, PPP, "max-reserved-bandwidth 90")[1][0]
    assert " max-reserved-bandwidth 90\n" in box.running_text()
    assert make("15.1", box.running_text()).boot_messages == []


def test_old_multilink(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    lines = ["ppp multilink", "ppp multilink fragment-delay 10", "ppp multilink interleave", "multilink-group 1",
             "no ppp multilink fragmentation"]  # fmt: skip
    assert type_lines(box, PPP, *lines)[1] == []
    assert (
        " ppp multilink\n ppp multilink fragment-delay 10\n no ppp multilink fragmentation\n"
        " ppp multilink interleave\n multilink-group 1\n"
    ) in box.running_text()
    type_lines(box, PPP, "ppp multilink fragmentation", "no multilink-group", "no ppp multilink fragment-delay")
    assert "fragment" not in box.running_text()
    assert "group" not in box.running_text()


def test_access_lists_name_precedence_and_type_of_service(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    entries = [
        ("permit ip any any precedence 5", "permit ip any any precedence critical"),
        (
            "permit ip any any precedence flash-override tos 8",
            "permit ip any any precedence flash-override tos min-delay",
        ),
        ("permit 17 any eq 5060 any", ""),
        ("permit udp any any dscp 46", "permit udp any any dscp ef"),
        ("permit 6 any any tos 15", "permit tcp any any tos 15"),
        ("permit ip any any tos 16", ""),
        ("permit ip any any precedence 3 dscp 4", ""),
    ]
    for typed, printed in entries:
        answers = type_lines(box, f"access-list 101 {typed}")[1]
        assert (answers == []) is bool(printed), typed
        assert not printed or f"access-list 101 {printed}\n" in box.running_text()
    type_lines(box, "no access-list 101")
    assert "access-list" not in box.running_text()


def test_lines_of_frame_relay_go_with_the_encapsulation(make: BoxMaker) -> None:
    box = make("12.4", STARTUP)
    type_lines(box, FR, "frame-relay traffic-shaping", "frame-relay interface-dlci 100", "exit",
               "interface Serial0/1.1 point-to-point", "frame-relay interface-dlci 101",
               "frame-relay ip rtp header-compression")  # fmt: skip
    assert type_lines(box, FR, "encapsulation frame-relay ietf")[1] == [
        "% RTP header compression needs the cisco encapsulation"
    ]
    assert type_lines(box, FR, "encapsulation ppp")[1] == []
    assert "frame-relay" not in box.running_text()


@pytest.mark.parametrize("place", [PPP, HDLC])
def test_the_format_of_rtp_headers_compresses_tcp_headers_too(make: BoxMaker, place: str) -> None:
    box = make("12.4", STARTUP)
    assert type_lines(box, place, "ip rtp header-compression iphc-format")[1] == []
    both = " ip tcp header-compression iphc-format\n ip rtp header-compression iphc-format\n"
    assert both in box.running_text()
    type_lines(box, place, "no ip rtp header-compression")
    assert " ip tcp header-compression iphc-format\n" in box.running_text()


def test_an_ip_mtu_above_the_link_goes(make: BoxMaker) -> None:
    box = make("12.4", STARTUP)
    type_lines(box, PPP, "mtu 1000", "ip mtu 900", "mtu 800")
    assert " mtu 800\n" in box.running_text()
    assert "ip mtu" not in box.running_text()
    type_lines(box, PPP, "no mtu")
    assert "mtu" not in box.running_text()
