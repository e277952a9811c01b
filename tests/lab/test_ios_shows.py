"""What a router shows of policies in every form, and of the tools outside the modular command line."""

from __future__ import annotations

from qoslab.packets import Packets

from .conftest import BoxMaker, show, type_lines

STARTUP = """\
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 no ip address
interface Serial0/1
 encapsulation frame-relay
 frame-relay traffic-shaping
"""
HQF = """\
class-map match-all A
 match ip dscp ef
class-map match-all B
 match ip dscp af11
class-map match-all C
 match ip dscp cs1
policy-map P
 class A
  priority level 1
 class B
  priority level 2 percent 10 2000
 class C
  bandwidth remaining ratio 3
  queue-limit 20 ms
  police rate 100 pps
 class class-default
  bandwidth remaining ratio 1
  random-detect
  random-detect precedence 3 1 2
"""


def test_every_form_of_hqf_shows(make: BoxMaker) -> None:
    box = make("15.1", HQF + STARTUP)
    assert box.boot_messages == []
    assert type_lines(box, "interface Serial0/0", "service-policy output P")[1] == []
    box.offer("FastEthernet0/0", "Serial0/0", [Packets(5, 100, dscp=8), Packets(5, 100, dscp=46)], 1.0)
    text = show(box, "show policy-map interface Serial0/0")
    shown = [
        "Bandwidth 10 (%)",
        "Bandwidth 200 (kbps) Burst 2000 (Bytes)",
        "Bandwidth remaining ratio 3 Max Threshold 20 (ms)",
        "rate 100 pps, bc 0 bytes",
        "conformed 5 packets, 500 bytes",
        "exponential weight: 9",
    ]
    for line in shown:
        assert line in text
    assert "   3                0/0               0/0              0/0         1        2  1/10" in text
    assert "Available Bandwidth 1300 kilobits/sec" in show(box, "show interfaces Serial0/0")
    assert show(box, "show policy-map P class C").splitlines() == [
        "  Policy Map P",
        "    Class C",
        "      Bandwidth remaining ratio 3 Max Threshold 64 (packets)",
        "      queue-limit 20 ms",
        "      police rate 100 pps",
    ]


def test_queueing_strategies(make: BoxMaker) -> None:
    box = make("12.4", STARTUP)
    lines = ["priority-list 1 protocol ip high tcp 23", "priority-list 1 default low", "queue-list 2 default 3",
             "interface Serial0/0", "fair-queue 128 16", "interface FastEthernet0/0", "random-detect",
             "random-detect precedence 0 1 2 3"]  # fmt: skip
    assert type_lines(box, *lines)[1] == []
    assert "  Serial0/0           128        16       0" in show(box, "show queueing fair").splitlines()
    assert show(box, "show queueing priority").splitlines()[2:] == [
        "List   Queue  Args", "1      high   protocol ip tcp telnet", "1      low    default"
    ]  # fmt: skip
    assert "2      3      default" in show(box, "show queueing custom")
    rows = show(box, "show queueing random-detect").splitlines()
    assert "    Exp-weight-constant: 9 (1/512)" in rows
    assert "    0        1         2         1/3" in rows
    assert "    7        35        40        1/10" in rows
    assert show(box, "show queueing").count("Current ") == 4


def test_shaping(make: BoxMaker) -> None:
    box = make("12.4", STARTUP)
    lines = ["interface Serial0/0", "traffic-shape rate 64000 8000 4000", "map-class frame-relay V",
             "frame-relay cir 64000", "frame-relay bc 640", "interface Serial0/1.1 point-to-point",
             "frame-relay interface-dlci 100", "class V", "interface Serial0/1.2 point-to-point",
             "frame-relay interface-dlci 123"]  # fmt: skip
    assert type_lines(box, *lines)[1] == []
    rows = [line.split() for line in show(box, "show traffic-shape").splitlines()]
    assert ["-", "64000", "1500", "8000", "4000", "125", "1000", "-"] in rows
    assert ["100", "64000", "80", "640", "0", "10", "80", "-"] in rows
    # What a circuit without a class gets: CIR 56000, Bc 7000, an interval of 125 ms.
    assert ["123", "56000", "875", "7000", "0", "125", "875", "-"] in rows
    assert show(box, "show traffic-shape FastEthernet0/0") == ""


def test_class_maps_that_say_no_mode_show_as_match_all(make: BoxMaker) -> None:
    box = make("12.0(7)T", STARTUP)
    lines = ["class-map match-any", "match ip precedence 5", "policy-map P", "class match-any", "bandwidth 100"]
    assert type_lines(box, *lines, "interface Serial0/0", "service-policy output P")[1] == []
    assert " Class Map match-all match-any (id 1)\n" in show(box, "show class-map match-any")
    box.offer("FastEthernet0/0", "Serial0/0", [Packets(5, 100, dscp=40), Packets(3, 100)], 1.0)
    text = show(box, "show policy-map interface Serial0/0")
    assert "Class-map: match-any (match-all)\n      5 packets, 500 bytes" in text
    assert "Class-map: class-default (match-any)\n      3 packets, 300 bytes" in text
