"""What a Linux router may answer, and what reads it: no answer ends otherwise than in words of ours."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from napalm_linux_tc.answers import AnswerError
from napalm_linux_tc.shown import Answers, shown_lines, trees

from qosforge.platforms.base import platform
from tests.stopwatch import Stopwatch

T = TypeVar("T")
LINUX = platform("linux_tc")

LINKS: list[dict[str, Any]] = [
    {"ifname": "lo", "flags": ["LOOPBACK", "UP"]},
    {"ifname": "wan0", "flags": ["BROADCAST", "UP"]},
]
QDISCS: list[dict[str, Any]] = [
    {
        "kind": "htb",
        "handle": "1:",
        "dev": "wan0",
        "root": True,
        "refcnt": 2,
        "options": {"r2q": 10, "default": "0x10"},
    },
    {"kind": "pfifo", "handle": "10:", "dev": "wan0", "parent": "1:10", "options": {"limit": 64}},
]
CLASSES = (
    "class htb 1:1 root rate 10Mbit ceil 10Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b "
    "level 7\n"
    "class htb 1:10 parent 1:1 leaf 10: prio 0 quantum 1600 rate 2Mbit ceil 2Mbit linklayer ethernet "
    "burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 0\n"
)
RULES: dict[str, Any] = {
    "nftables": [
        {"table": {"family": "inet", "name": "qosforge"}},
        {
            "chain": {
                "name": "output",
                "type": "filter",
                "hook": "postrouting",
                "prio": -150,
                "policy": "accept",
            }
        },
        {"chain": {"name": "out/wan0/voice"}},
        {"rule": {"chain": "out/wan0/voice", "comment": "1", "expr": [{"counter": {"packets": 7, "bytes": 700}}]}},
        {
            "rule": {
                "chain": "out/wan0/voice",
                "comment": "2",
                "expr": [
                    {
                        "limit": {
                            "rate": 9000,
                            "burst": 1600,
                            "per": "second",
                            "inv": True,
                            "rate_unit": "bytes",
                            "burst_unit": "bytes",
                        }
                    },
                    {"drop": None},
                ],
            }
        },
        {
            "rule": {
                "chain": "output",
                "comment": "1",
                "expr": [
                    {"match": {"op": "==", "left": {"meta": {"key": "oifname"}}, "right": "wan0"}},
                    {"jump": {"target": "out/wan0/voice"}},
                ],
            }
        },
    ]
}
RED: dict[str, Any] = {
    "limit": 180_000,
    "min": 15_000,
    "max": 45_000,
    "ecn": False,
    "harddrop": False,
    "adaptive": False,
    "nodrop": False,
    "ewma": 5,
    "probability": 0.5,
    "Scell_log": 10,
}
DEEP = "[" * 100_000
MANY_DIGITS = "9" * 6000
NO_ANSWERS = [
    *("x", "{", "[", DEEP, '{"a":' * 100_000, MANY_DIGITS, f'[{{"ifname": {MANY_DIGITS}}}]', "[NaN]", "5", '"a"'),
    *("null", "[1]", "[[]]", "{}", "\x00", "\x1b[2J", '[{"ifname": "a"', "[" + "[]," * 300_000 + "[]]"),
]
WORDS = [
    "",
    "x",
    "wan0\ntc qdisc del dev lan0 root",
    "a b",
    "\x1b[2J",
    "\u202e",
    "A" * 100_000,
    "9" * 500,
    "1:ffffffff",
]
STRANGE = st.one_of(
    st.sampled_from([None, True, -1, 0, 1 << 70, 1.5, 1e300, [], {}, [[]], [1, 2, 3], {"a": 1}]),
    st.sampled_from(WORDS),
)


def held(links: object = LINKS, qdiscs: object = QDISCS, rules: object = RULES, classes: str = CLASSES) -> str:
    """The lines that answers amount to, the first three as values or as they were said."""
    said = [text if isinstance(text, str) else json.dumps(text) for text in (links, qdiscs, rules)]
    named = dict.fromkeys(trees(said[1]), classes)
    return "\n".join(shown_lines(Answers(links=said[0], qdiscs=said[1], classes=named, rules=said[2])))


def places(value: object) -> Iterator[tuple[Any, Any]]:
    """Every place in a document, as its container and key."""
    for key, below in value.items() if isinstance(value, dict) else enumerate(value):  # type: ignore[call-overload]
        yield value, key
        if isinstance(below, dict | list):
            yield from places(below)


def spoilt(document: object, number: int, strange: object) -> object:
    """A document with something strange in one of its places."""
    made = copy.deepcopy(document)
    found = list(places(made))
    container, key = found[number % len(found)]
    container[key] = strange
    return made


def or_refusal(read: Callable[[], T]) -> tuple[T | None, str]:
    """What a reading gives, or why it is refused."""
    try:
        return read(), ""
    except AnswerError as error:
        return None, str(error)


def test_answers_as_they_should_be_are_read() -> None:
    plan = LINUX.parse(held(), "r", "")
    assert plan.unknown == ()
    (wan,) = plan.interfaces
    assert wan.egress.scheduler is not None
    (counted,) = LINUX.read_counters({"nft -j list table inet qosforge": json.dumps(RULES)}, plan)
    assert (counted.interface, counted.queue, counted.packets) == ("wan0", "voice", 7)


@pytest.mark.parametrize("which", ["links", "qdiscs", "rules"])
@pytest.mark.parametrize("said", NO_ANSWERS, ids=range(len(NO_ANSWERS)))
def test_an_answer_that_is_no_answer_is_refused_by_the_command_and_in_time(which: str, said: str) -> None:
    watch = Stopwatch()
    with pytest.raises(AnswerError, match=r"^the answer to '(?:ip -j|tc -d -j|nft -j) ") as refused:
        held(**{which: said})
    assert len(str(refused.value)) < 250
    assert watch.seconds < 5


@given(which=st.sampled_from(["links", "qdiscs", "rules"]), number=st.integers(0, 200), strange=STRANGE)
@settings(max_examples=600, deadline=None)
def test_something_strange_in_any_place_is_refused_or_told_as_lines_of_their_own(
    which: str, number: int, strange: object
) -> None:
    whole = {"links": LINKS, "qdiscs": QDISCS, "rules": RULES}
    made = spoilt(whole[which], number, strange)
    lines, refused = or_refusal(lambda: held(**{which: made}))
    if lines is None:
        assert len(refused) < 250
        assert refused.isprintable()
        return
    assert all(
        line.isprintable() and line.startswith(("ip link set ", "tc ", "nft ")) for line in lines.split("\n")
    )
    assert len(lines) < 300_000
    plan = LINUX.parse(lines, "r", "")
    assert all(interface.name.isprintable() and " " not in interface.name for interface in plan.interfaces)
    assert len(plan.model_dump_json()) < 3 * 300_000


@given(number=st.integers(0, 200), strange=STRANGE)
@settings(max_examples=300, deadline=None)
def test_counters_with_something_strange_are_refused_or_read(number: int, strange: object) -> None:
    plan = LINUX.parse(held(), "r", "")
    answer = json.dumps(spoilt(RULES, number, strange))
    counts, refused = or_refusal(lambda: LINUX.read_counters({"nft -j list table inet qosforge": answer}, plan))
    assert len(refused) < 250
    assert all(type(count.packets) is int and type(count.size_bytes) is int for count in counts or ())


@pytest.mark.parametrize("said", [DEEP, MANY_DIGITS, "5", "null", "", '{"nftables": 5}', '{"nftables": [5]}'])
def test_counters_that_are_none_are_refused_by_the_command(said: str) -> None:
    plan = LINUX.parse(held(), "r", "")
    with pytest.raises(AnswerError, match=r"^the answer to 'nft -j list table inet qosforge' is "):
        LINUX.read_counters({"nft -j list table inet qosforge": said}, plan)


NESTED_QDISCS: list[dict[str, Any]] = [
    {"kind": "htb", "handle": "1:", "dev": "wan0", "root": True, "options": {"r2q": 10, "default": "0x30"}},
    {"kind": "htb", "handle": "2:", "dev": "wan0", "parent": "1:30", "options": {"r2q": 10, "default": "0x1"}},
    {"kind": "pfifo", "handle": "10:", "dev": "wan0", "parent": "2:1", "options": {"limit": 64}},
]
RATES = "rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b \n"
NESTED = (
    f"class htb 1:5 parent 1:20 prio 0 {RATES}"
    f"class htb 2:1 root leaf 10: prio 0 {RATES}"
    f"class htb 1:30 parent 1:20 leaf 2: prio 0 {RATES}"
    f"class htb 1:20 root {RATES}"
    f"class htb 3:7 parent 3:8 prio 0 {RATES}"
    f"class htb 3:8 parent 3:7 prio 0 {RATES}"
)


def test_every_class_is_shown_behind_what_it_is_in() -> None:
    """Going back enters them in this order, whatever their numbers; classes in a circle are shown all the same."""
    lines = held(qdiscs=NESTED_QDISCS, classes=NESTED).splitlines()
    numbers = [line.split(" classid ")[1].split()[0] for line in lines if " classid " in line]
    assert numbers == ["1:20", "1:5", "1:30", "2:1", "3:7", "3:8"]
    (inner,) = (number for number, line in enumerate(lines) if " parent 1:30 handle 2: " in line)
    assert inner < next(number for number, line in enumerate(lines) if " classid 2:1 " in line)


def test_classes_below_each_other_without_end_are_put_in_order_in_time() -> None:
    watch = Stopwatch()
    deep = "".join(f"class htb 1:{n + 1:x} parent 1:{n:x} prio 0 {RATES}" for n in range(20_000, 0, -1))
    numbers = [
        line.split(" classid ")[1].split()[0] for line in held(classes=deep).splitlines() if "classid" in line
    ]
    assert numbers == [f"1:{n + 1:x}" for n in range(1, 20_001)]
    assert watch.seconds < 5


SAID = "class htb 1:10 parent 1:1 prio 0 rate 1Mbit ceil 1Mbit burst 1600b \n Sent 1 bytes 1 pkt (dropped "


@pytest.mark.parametrize("digits", [MANY_DIGITS, "9" * 30])
def test_drops_of_thousands_of_digits_are_refused(digits: str) -> None:
    plan = LINUX.parse(held(), "r", "")
    with pytest.raises(AnswerError, match=r"^the answer to 'tc -s class show dev wan0' is not understood$"):
        LINUX.read_counters({"tc -s class show dev wan0": f"{SAID}{digits}, overlimits 0 requeues 0) \n"}, plan)


@pytest.mark.parametrize(
    "line",
    [
        "class htb 1:10 parent 1:1 prio 0 rate 1Mbit ceil 1Mbit burst " + MANY_DIGITS + "b cburst 1600b level 0",
        "class htb 1:10 parent 1:1 prio 0 rate " + "9" * 400 + "bit ceil 1Mbit burst 1600b cburst 1600b level 0",
        "class htb 1:10 parent 1:1 prio 0 rate 1Mbit ceil 1Xbit burst 1600b cburst 1600b level 0",
        "class htb 1:10 parent 1:1 rate 1Mbit ceil 1Mbit burst 1.1.1b cburst 1600b level 0",
        "class htb \x1b[2J",
    ],
    ids=range(5),
)
def test_a_class_of_no_such_form_is_refused(line: str) -> None:
    with pytest.raises(AnswerError, match=r"^the answer to 'tc -d class show dev wan0' is not understood$"):
        held(classes=line)


@pytest.mark.parametrize(
    ("kind", "options", "place"),
    [
        ("htb", {"default": "0x10"}, {"root": True}),
        ("htb", {"default": "zz", "r2q": 10}, {"root": True}),
        ("red", {**RED, "min": "much"}, {"parent": "1:10"}),
        ("red", {**RED, "probability": [1]}, {"parent": "1:10"}),
    ],
)
def test_odd_options_of_a_queue_are_those_of_the_answer_that_lists_queues(
    kind: str, options: dict[str, Any], place: dict[str, Any]
) -> None:
    odd = {"kind": kind, "handle": "10:", "dev": "wan0", "options": options, **place}
    with pytest.raises(AnswerError, match=r"^the answer to 'tc -d -j qdisc show' is not understood"):
        held(qdiscs=[odd] if "root" in place else [QDISCS[0], odd])


@pytest.mark.parametrize(
    "line",
    [
        "class htb 1:10 parent 1:1 rate 1Mbit ceil 1Mbit " + "burst 1b cburst 1b " * 30_000 + "x",
        "class htb 1:10 parent 1:1 rate 1Mbit ceil 1Mbit burst " + "1." * 100_000,
        "class htb 1:" + "f" * 500_000,
        "class htb 1:10 parent 1:1 rate 1Mbit ceil 1Mbit burst 1b cburst 1b" + " " * 500_000 + "x",
        "class htb 1:10 root " * 20_000,
    ],
    ids=range(5),
)
def test_no_class_makes_its_reading_long(line: str) -> None:
    watch = Stopwatch()
    lines = held(classes=line)
    assert LINUX.parse(lines, "r", "").unknown
    assert watch.seconds < 5


@pytest.mark.parametrize("digits", [MANY_DIGITS, "9" * 30])
def test_an_inspection_with_numbers_without_end_knows_less(digits: str) -> None:
    answers = {"id -u": f"{digits}\n", "df -P -B1 /etc": f"F 1-blocks Used Free Cap On\n/dev/x 1 1 {digits} 5% /\n"}
    found = LINUX.inspect(answers, "", "linux_tc")
    assert (found.privilege, found.flash_free) == (None, None)
