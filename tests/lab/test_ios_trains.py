"""What came with which software train, and that every train prints what it takes."""

from __future__ import annotations

import random

import pytest

from qoslab.boxes.ios.train import Train
from qoslab.errors import SpecError

from .conftest import ROUTER, BoxMaker, type_lines
from .test_random_lines import _line

STARTUP = """\
hostname R1
ip cef
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 no ip address
 encapsulation frame-relay
interface ATM1/0
 no ip address
"""
TRAINS = ["12.0", "12.1", "12.2", "12.3", "12.4", "12.4(24)T", "15.1"]


@pytest.mark.parametrize(
    ("image", "milestone", "has"),
    [
        ("12.4", "12.4(20)T", False),
        ("12.4(25)", "12.4(20)T", False),
        ("12.4(20)T", "12.4(20)T", True),
        ("12.4(15)T3", "12.4(20)T", False),
        ("15.0", "12.4(20)T", True),
        ("15", "15.0", True),
        ("12.2(8)T", "12.2(13)T", False),
        ("12.2", "12.2(13)T", True),
        ("12.3", "12.2(13)T", True),
        ("12.2(46)", "12.2(13)T", False),
        ("12.0", "12.0(7)T", True),
        ("12.0(5)T", "12.0(7)T", False),
        ("12.0(6.5)T7", "12.0(7)T", True),
        ("12.0(6)T", "12.0(7)T", False),
        ("", "12.2(8)T", True),
    ],
)
def test_since(image: str, milestone: str, has: bool) -> None:
    assert Train.of(image).since(milestone) is has


def test_the_main_line_of_12_0_has_no_classes(make: BoxMaker) -> None:
    for image, refused in (("12.0(28)", True), ("12.0(5)T", False)):
        assert any("%" in answer for answer in type_lines(make(image, STARTUP), "class-map C")[1]) is refused


def test_an_image_without_a_release_is_refused() -> None:
    with pytest.raises(SpecError, match=r"12\.4\(20\)T"):
        Train.of("newest")


@pytest.mark.parametrize("image", TRAINS)
def test_the_version_line_and_banner_name_the_train(make: BoxMaker, image: str) -> None:
    box = make(image, STARTUP)
    assert f"\nversion {'.'.join(image.split('(', maxsplit=1)[0].split('.')[:2])}\n" in box.running_text()
    assert f"Version {Train.of(image).name}" in box.new_shell("u").feed("show version").text


BASE = ["class-map C", "match access-group 101", "policy-map P", "class C"]
ONSETS = [
    ([*BASE, "priority 100"], "12.0"),
    ([*BASE, "bandwidth percent 10"], "12.1"),
    ([*BASE, "shape average 64000"], "12.1"),
    ([*BASE, "police 64000 8000 8000 conform-action transmit exceed-action drop"], "12.1"),
    ([*BASE, "set ip dscp ef"], "12.1"),
    (["class-map C", "match ip dscp ef"], "12.1"),
    (["class-map C", "match protocol http"], "12.1"),
    (["class-map C", "match protocol rtp audio"], "12.2"),
    (["class-map C", "match dscp ef"], "12.2"),
    ([*BASE, "set dscp ef"], "12.2"),
    ([*BASE, "priority percent 20"], "12.2"),
    ([*BASE, "bandwidth remaining percent 20"], "12.2"),
    ([*BASE, "police cir 64000 bc 8000"], "12.2"),
    ([*BASE, "compression header ip rtp"], "12.2"),
    ([*BASE, "bandwidth 10", "random-detect", "random-detect ecn"], "12.2"),
    ([*BASE[:3], "class class-default", "class C insert-before class-default"], "12.2"),
    (["table-map T"], "12.2"),
    (["interface Serial0/0", "frame-relay fragment 80 end-to-end"], "12.2"),
    (["interface Serial0/0", "frame-relay ip rtp compression-connections 64"], "12.1"),
    ([*BASE, "priority 100 4000"], "12.1"),
    (["interface Serial0/0", "ip rtp header-compression iphc-format"], "12.2"),
    ([*BASE, "map-class frame-relay M", "service-policy output P"], "12.1"),
    (["interface Serial0/0", "ppp multilink group 1"], "12.3"),
    (["interface Serial0/0", "ppp multilink fragment size 80"], "12.3"),
    ([*BASE, "bandwidth remaining ratio 3"], "12.4(24)T"),
    ([*BASE, "bandwidth 100", "fair-queue"], "12.4(24)T"),
    ([*BASE, "bandwidth 100", "queue-limit 20 ms"], "12.4(24)T"),
    ([*BASE, "priority"], "12.4(24)T"),
    (["class-map C", "match ip precedence 0  1  2  3  4"], "12.4(24)T"),
    (["iphc-profile X ietf"], "12.4(24)T"),
    ([*BASE, "priority level 2 percent 20"], "15.1"),
    ([*BASE, "police rate 1000 pps"], "15.1"),
    (["interface Multilink1", "ppp multilink fragment delay 10 500"], "15.1"),
]


@pytest.mark.parametrize(("lines", "first"), ONSETS, ids=[lines[-1] for lines, _ in ONSETS])
def test_onset(make: BoxMaker, lines: list[str], first: str) -> None:
    """The train before refuses the line as unknown, the first takes it and prints it."""
    at = TRAINS.index(first)
    box = make(first, STARTUP)
    assert type_lines(box, *lines)[1] == []
    printed = [line.strip() for line in box.running_text().splitlines()]
    assert any(line.startswith(lines[-1].split(" insert-")[0].split(" conform")[0]) for line in printed)
    if at:
        assert any("%" in answer for answer in type_lines(make(TRAINS[at - 1], STARTUP), *lines)[1])


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("match ip dscp 46 34", " match ip dscp ef  af41\n", " match ip dscp ef  af41 \n"),
        ("match cos 1 2", " match cos  1  2\n", " match cos  1  2\n"),
        ("match ip precedence critical", " match ip precedence 5\n", " match ip precedence 5\n"),
    ],
)
def test_trains_print_class_maps_alike_but_for_a_blank(make: BoxMaker, line: str, old: str, new: str) -> None:
    for image, text in (("12.2", old), ("15.1", new)):
        box = make(image, STARTUP)
        assert type_lines(box, "class-map C", line)[1] == []
        assert text in box.running_text()


def test_a_spelling_of_the_other_train_is_translated(make: BoxMaker) -> None:
    box = make("12.4", ROUTER)
    lines = ["multilink-group 7", "ppp multilink fragment-delay 10", "no ppp multilink fragmentation"]
    _, answers = type_lines(box, "interface Serial0/0", *lines)
    assert [answer.split(":")[0] for answer in answers] == ["Warning"]
    text = box.running_text()
    for line in ("group 7", "fragment delay 10", "fragment disable"):
        assert f" ppp multilink {line}\n" in text


ENTRIES = {
    "config": [],
    "if": ["interface Serial0/0"],
    "cmap": ["class-map A"],
    "pmap-c": ["policy-map A", "class class-default"],
    "pvc": ["interface ATM1/0", "pvc 4/108"],
    "map-class": ["map-class frame-relay A"],
}


@pytest.mark.parametrize("image", TRAINS)
def test_random_lines_of_every_train(make: BoxMaker, image: str) -> None:
    rng = random.Random(11)
    box = make(image, STARTUP)
    for _ in range(400):
        mode = rng.choice(list(ENTRIES))
        shell, _ = type_lines(box, *ENTRIES[mode])
        shell.feed(_line(box.modes[mode].grammar._start, rng))
    text = box.running_text()
    fresh = make(image, text)
    fresh.ports = box.ports
    fresh.boot()
    assert fresh.boot_messages == []
    assert fresh.running_text() == text


@pytest.mark.parametrize(
    ("word", "before", "since"),
    [("sip", "12.2(15)T", "12.3(7)T"), ("skinny", "12.3(26)", "12.4"), ("rtsp", "12.3(7)T", "12.3(11)T")],
)
def test_names_of_applications_came_with_releases(make: BoxMaker, word: str, before: str, since: str) -> None:
    lines = ("class-map C", f"match protocol {word}")
    assert "% Invalid input" in type_lines(make(before, STARTUP), *lines)[1][-1]
    assert type_lines(make(since, STARTUP), *lines)[1] == []
