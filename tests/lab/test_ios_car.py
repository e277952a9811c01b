"""Committed access rate and the policers: what is printed, and what becomes of packets."""

from __future__ import annotations

import pytest

from qoslab.packets import Packets

from .conftest import BoxMaker, show, type_lines

STARTUP = """\
hostname R1
ip cef
access-list 161 permit udp any host 10.2.0.2 eq 50001
access-list 162 permit udp any host 10.2.0.2 eq 50002
access-list rate-limit 1 mask 22
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface Serial0/0
 no ip address
"""
ONE = "rate-limit input access-group 161 1000000 8000 8000 conform-action set-prec-transmit 1 exceed-action drop"
ALL = "rate-limit input 80000 8000 16000 conform-action set-dscp-continue 10 exceed-action continue"
LAST = "rate-limit input dscp 10 8000 8000 16000 conform-action transmit exceed-action set-prec-transmit 0"
BY_LIST = "rate-limit input access-group rate-limit 1 8000 8000 8000 conform-action drop exceed-action drop"


def test_lines_are_kept_in_order_and_taken_back_whole(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    assert type_lines(box, "interface FastEthernet0/0", ONE, ALL, LAST, BY_LIST)[1] == []
    assert f" {ONE}\n {ALL}\n {LAST}\n {BY_LIST}\n" in box.running_text()
    type_lines(box, "interface FastEthernet0/0", f"no {ALL}")
    assert f" {ONE}\n {LAST}\n" in box.running_text()


@pytest.mark.parametrize(
    "line",
    [
        ONE.replace("1000000", "2000000001"),
        ONE.replace(" 8000 8000", " 999 8000"),
        ONE.replace("161", "2700"),
        ONE.replace("access-group 161", "access-group rate-limit 300"),
        ONE.replace("set-prec-transmit 1", "set-prec-transmit 8"),
        ONE.replace(" exceed-action drop", " exceed-action shout"),
        ONE.replace("access-group 161", "qos-group 100"),
    ],
)
def test_out_of_range(make: BoxMaker, line: str) -> None:
    box = make("12.2", STARTUP)
    assert "% Invalid input" in type_lines(box, "interface FastEthernet0/0", line)[1][0]
    assert "rate-limit input" not in box.running_text()


def test_an_undefined_access_list_is_taken_without_a_word(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    assert type_lines(box, "interface FastEthernet0/0", ONE.replace("161", "105"))[1] == []
    found = box.offer("FastEthernet0/0", "Serial0/0", [Packets(5, 1000, dscp=0, dst_port=50001)], 1.0)
    assert [(one.dscp_out, one.dropped_in) for one in found] == [(0, 0)]


def offered(box: object, *packets: Packets) -> list[tuple[int, int, int]]:
    """(packets, DSCP out, dropped) of each part, over one second."""
    found = box.offer("FastEthernet0/0", "Serial0/0", packets, 1.0)  # type: ignore[attr-defined]
    return [(one.count or one.dropped_in, one.dscp_out, one.dropped_in) for one in found]


def test_what_conforms_is_marked_and_the_rest_dropped(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    type_lines(box, "interface FastEthernet0/0", ONE)
    mine = Packets(200, 1000, dst="10.2.0.2", dst_port=50001)
    other = Packets(200, 1000, dst="10.2.0.2", dst_port=50002)
    # 8000 bytes of burst and 125000 bytes in a second.
    assert offered(box, mine, other) == [(133, 8, 0), (67, 0, 67), (200, 0, 0)]
    type_lines(box, "no ip cef")
    assert offered(box, mine) == [(200, 0, 0)]


def test_continue_asks_the_next_line(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    type_lines(box, "interface FastEthernet0/0", ALL, LAST)
    # 18 of 30 conform to 80 kb/s; of those 9 to 8 kb/s, the others lose their precedence.
    assert offered(box, Packets(30, 1000, dscp=46)) == [(9, 10, 0), (9, 0, 0), (12, 46, 0)]


def test_a_mask_takes_several_precedences(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    type_lines(box, "interface FastEthernet0/0", BY_LIST)
    for precedence in range(8):
        ((_, _, dropped),) = offered(box, Packets(1, 100, dscp=8 * precedence))[:1]
        assert bool(dropped) is (precedence in {1, 5})


@pytest.mark.parametrize(
    ("police", "parts"),
    [
        ("police cir 8000 bc 2000 pir 16000 be 3000", [(3, 10), (2, 12), (5, 14)]),
        ("police 8000 2000 4000", [(3, 10), (4, 12), (3, 14)]),
    ],
)
def test_two_rates_and_two_bursts(make: BoxMaker, police: str, parts: list[tuple[int, int]]) -> None:
    box = make("12.4", STARTUP)
    actions = [f"{kind}-action set-dscp-transmit {dscp}" for kind, dscp in
               (("conform", 10), ("exceed", 12), ("violate", 14))]  # fmt: skip
    lines = ["policy-map P", "class class-default", police, *actions, "interface FastEthernet0/0",
             "service-policy input P"]  # fmt: skip
    assert type_lines(box, *lines)[1] == []
    assert [(count, dscp) for count, dscp, _ in offered(box, Packets(10, 1000))] == parts


def test_a_table_translates_marks(make: BoxMaker) -> None:
    box = make("12.4", STARTUP + "interface FastEthernet0/0.1\n encapsulation dot1Q 5\n")
    lines = ["table-map T", "map from 5 to 46", "default ignore", "policy-map P", "class class-default",
             "set dscp cos table T", "interface FastEthernet0/0.1", "service-policy input P"]  # fmt: skip
    assert type_lines(box, *lines)[1] == []
    packets = [Packets(1, 100, cos=5), Packets(1, 100, cos=3, dscp=8)]
    found = box.offer("FastEthernet0/0.1", "Serial0/0", packets, 1.0)
    assert [one.dscp_out for one in found] == [46, 8]


def test_counters_of_each_line(make: BoxMaker) -> None:
    box = make("12.2", STARTUP)
    type_lines(box, "interface FastEthernet0/0", ONE, ALL)
    offered(box, Packets(200, 1000, dst="10.2.0.2", dst_port=50001), Packets(10, 100))
    text = show(box, "show interfaces fa0/0 rate-limit")
    assert text.splitlines() == [
        "FastEthernet0/0 ",
        "  Input",
        "    matches: access-group 161",
        "      params:  1000000 bps, 8000 limit, 8000 extended limit",
        "      conformed 133 packets, 133000 bytes; action: set-prec-transmit 1",
        "      exceeded 67 packets, 67000 bytes; action: drop",
        "    matches: all traffic",
        "      params:  80000 bps, 8000 limit, 16000 extended limit",
        "      conformed 10 packets, 1000 bytes; action: set-dscp-continue 10",
        "      exceeded 0 packets, 0 bytes; action: continue",
    ]
    box.forwarding.clear()
    assert "conformed 0 packets" in show(box, "show interfaces FastEthernet0/0 rate-limit")
    assert show(box, "show interfaces Serial0/0 rate-limit") == ""
