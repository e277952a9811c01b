"""What ``tc`` shows of filters in a tree, and how a router is asked for all that it holds in one session."""

from __future__ import annotations

import json

import pytest
from napalm_linux_tc import filters, reading, undo
from napalm_linux_tc.answers import AnswerError

SHOWN = """\
filter protocol ip pref 1 u32 chain 0
filter protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1
filter protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:10 not_in_hw
  match 00000035/0000ffff at 20
  match 00b80000/00fc0000 at 0
filter protocol ip pref 1 u32 chain 0 fh 800::801 order 2049 key ht 800 bkt 0 *flowid 1:20 not_in_hw
  match 0a000000/ff000000 at 12
filter protocol ip pref 2 flower chain 0
filter protocol ip pref 2 flower chain 0 handle 0x1
  eth_type ipv4
  src_ip 1.2.3.4
  not_in_hw
\taction order 1: skbedit  priority 1:10 pipe
\t index 1 ref 1 bind 1

filter protocol ip pref 3 fw chain 0
filter protocol ip pref 3 fw chain 0 handle 0x6/0xff classid 1:10
filter protocol ip pref 14 u32 chain 0
filter protocol ip pref 14 u32 chain 0 fh 2: ht divisor 256
filter protocol ip pref 14 u32 chain 0 fh 2:1:800 order 2048 key ht 2 bkt 1 *flowid 1:10 not_in_hw
  match 0a020001/ffffffff at 12
filter protocol ip pref 14 u32 chain 0 fh 801: ht divisor 1
filter protocol ip pref 14 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 link 2: not_in_hw
  match 0a020000/ffff0000 at 12
    hash mask 000000ff at 16
filter protocol ip pref 21 u32 chain 3
filter protocol ip pref 21 u32 chain 3 fh 803: ht divisor 1
filter protocol ip pref 21 u32 chain 3 fh 803::800 order 2048 key ht 803 bkt 0 *flowid 1:10 not_in_hw
  mark 0x0006 0x00ff (success 7)
"""
"""As iproute2 6.1 on the kernel 6.1 of Debian 12 shows them, without spaces at the ends."""
LEAF = "*flowid 1:20 not_in_hw"
KEPT = [
    (
        "pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:10 not_in_hw "
        "match 00000035/0000ffff at 20 match 00b80000/00fc0000 at 0"
    ),
    f"pref 1 u32 chain 0 fh 800::801 order 2049 key ht 800 bkt 0 {LEAF} match 0a000000/ff000000 at 12",
    (
        "pref 2 flower chain 0 handle 0x1 eth_type ipv4 src_ip 1.2.3.4 not_in_hw "
        "action order 1: skbedit priority 1:10 pipe index 1 ref 1 bind 1"
    ),
    "pref 3 fw chain 0 handle 0x6/0xff classid 1:10",
    "pref 14 u32 chain 0 fh 2: ht divisor 256",
    "pref 14 u32 chain 0 fh 2:1:800 order 2048 key ht 2 bkt 1 *flowid 1:10 not_in_hw match 0a020001/ffffffff at 12",
    (
        "pref 14 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 link 2: not_in_hw "
        "match 0a020000/ffff0000 at 12 hash mask 000000ff at 16"
    ),
    "pref 21 u32 chain 3 fh 803::800 order 2048 key ht 803 bkt 0 *flowid 1:10 not_in_hw mark 0x0006 0x00ff",
]
"""Each filter with all of its matches, without tables that the kernel makes itself, and without what is counted."""


def test_every_filter_is_a_line_with_all_that_is_shown_of_it() -> None:
    told = list(filters.shown_filters("wan0", "1:", SHOWN))
    assert told == [f"tc filter add dev wan0 parent 1: protocol ip {words}" for words in KEPT]
    assert {filters.of_others(line) for line in told} == {"wan0"}


@pytest.mark.parametrize(
    ("shown", "kept"),
    [
        ("filter protocol ip pref 12 fw chain 0 \nfilter that tc does not show\n", 2),
        ("filter protocol ip pref 12 fw chain 0 \n", 1),
        ("filter of a form that nobody knows\n  more of it\n", 1),
        ("something else\nfilter protocol ip pref 3 fw chain 0 handle 0x6 \n", 2),
        ("\n", 0),
    ],
)
def test_nothing_that_is_shown_is_left_out(shown: str, kept: int) -> None:
    told = list(filters.shown_filters("wan0", "1:", shown))
    assert len(told) == kept
    assert all(line.startswith("tc filter add dev wan0 parent 1: ") and line.isprintable() for line in told)
    assert {filters.of_others(line) for line in told} <= {"wan0"}


OURS = "tc filter add dev wan0 parent 4: protocol all pref 65003 handle 0x1 matchall classid 4:3"
TREE = "tc qdisc replace dev wan0 root handle 1: htb default 0x20 r2q 10"
THEIRS = f"tc filter add dev wan0 parent 1: protocol ip {KEPT[0]}"
CHAIN = "nft add chain inet qosforge out/wan0"


@pytest.mark.parametrize(
    ("held", "kept"),
    [
        ((TREE, OURS), (TREE, OURS)),
        ((TREE, THEIRS), ()),
        ((TREE, THEIRS, CHAIN), (TREE, CHAIN)),
        ((TREE, THEIRS.replace("wan0", "lan0"), CHAIN), (TREE, CHAIN)),
    ],
)
def test_a_restart_enters_no_tree_that_would_lack_its_filters(held: tuple[str, ...], kept: tuple[str, ...]) -> None:
    assert undo.kept(held) == kept


def test_going_back_names_what_it_would_not_bring_back() -> None:
    assert undo.lost((TREE, OURS, THEIRS), ["wan0"]) == (THEIRS,)
    assert undo.lost((TREE, OURS, THEIRS), ["lan0"]) == ()
    tree, _ = undo.going_back((TREE, OURS, THEIRS), ["wan0"])
    assert "65003" in tree
    assert " u32 " not in tree


QDISCS = [{"kind": "htb", "handle": "1:", "dev": "wan0", "root": True, "options": {"r2q": 10, "default": "0x20"}}]
LINKS = [{"ifname": "wan0", "flags": ["UP"]}]
CLASS = "class htb 1:20 root prio 0 quantum 1600 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b \n"
SAID = [
    ("tc -d -j qdisc show", json.dumps(QDISCS)),
    ("ip -j link show", json.dumps(LINKS)),
    ("nft -j -nn list table inet qosforge", ""),
    ("tc -d class show dev wan0", CLASS),
    ("tc filter show dev wan0 parent 1:", SHOWN),
    ("tc filter show dev wan0 parent 1:20", SHOWN.splitlines(keepends=True)[-1]),
    ("schedulers", "hfsc\n"),
]


def script_says(answers: list[tuple[str, str]]) -> str:
    return "".join(f"qosforge asks: {command}\n{answer}\n" for command, answer in answers)


def test_one_script_has_the_answers_of_all_that_is_asked() -> None:
    answers = reading.answered(script_says(SAID))
    assert reading.told_schedulers(answers) == ("modprobe sch_htb", "modprobe sch_hfsc")
    lines = reading.held_lines(answers)
    assert lines[1] == TREE
    assert [line for line in lines if " filter " in line][:-1] == list(filters.shown_filters("wan0", "1:", SHOWN))
    assert lines[-1].startswith("tc filter add dev wan0 parent 1:20 ")


@pytest.mark.parametrize("missing", range(4))
def test_an_answer_that_is_missing_is_named_and_is_not_that_there_is_nothing(missing: int) -> None:
    command, _ = SAID[missing]
    answers = reading.answered(script_says([each for each in SAID if each[0] != command]))
    with pytest.raises(AnswerError, match=f"^there is no answer to '{command}'$"):
        reading.held_lines(answers)


def test_what_a_script_ended_with_is_told() -> None:
    assert reading.broken_off(script_says(SAID[:2])) == ("ip -j link show", json.dumps(LINKS))
    assert reading.broken_off("hostname Bo") == ("tc -d -j qdisc show", "hostname Bo")
    assert reading.broken_off("") == ("tc -d -j qdisc show", "")


def test_filters_stand_in_the_order_of_their_queues() -> None:
    """Whatever the order in which the router tells of these: the kernel's own is that of a hash."""
    backwards = reading.held_lines(reading.answered(script_says(SAID[:4] + SAID[4:6][::-1] + SAID[6:])))
    assert backwards == reading.held_lines(reading.answered(script_says(SAID)))
