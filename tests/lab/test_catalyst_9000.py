"""The Catalyst 9000's grammar: what it takes, how it prints it, what it refuses, what packets get."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.packets import Packets
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

from .conftest import show, type_lines
from .test_random_lines import _line as random_line

STARTUP = """\
hostname SW
interface GigabitEthernet1/0/1
 switchport mode access
interface GigabitEthernet1/0/2
 switchport mode trunk
interface Port-channel1
interface Vlan5
"""
CLASSES = (
    "class-map match-any VOICE", "match dscp ef",
    "class-map match-any DATA", "match dscp af21", "match dscp af22",
    "ip access-list extended WEB", "permit tcp any any eq www",
    "class-map match-any WEB", "match access-group name WEB",
)  # fmt: skip
INVALID = "% Invalid input"


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A switch with two ports and some classes."""
    made = booted(tmp_path, STARTUP)
    assert type_lines(made, *CLASSES)[1] == []
    return made


def booted(folder: Path, startup: str) -> Box:
    spec = BoxSpec(name="sw", platform="catalyst_9000", image="17.12", username="u", password="p")
    made = make_box(spec, Storage(folder / f"box{len(list(folder.iterdir()))}", startup), Clock())
    made.boot()
    return made


def in_class(*lines: str, name: str = "DATA") -> tuple[str, ...]:
    return ("policy-map P", f"class {name}", *lines)


def policy(made: Box, name: str = "P") -> list[str]:
    """A policy as it prints."""
    lines = made.running_text().splitlines()
    rest = lines[lines.index(f"policy-map {name}") + 1 :]
    return rest[: next(i for i, line in enumerate(rest) if not line.startswith(" "))]


def refusal(made: Box, *lines: str) -> str:
    """What the box says to the last of these lines, which it must refuse; the others it must take."""
    before = type_lines(made, *lines[:-1])[1]
    assert before == []
    answers = type_lines(made, *lines)[1]
    assert len(answers) == 1, answers
    return answers[0].strip()


@pytest.mark.parametrize(
    ("name", "typed", "printed"),
    [
        ("VOICE", ["priority"], ["priority level 1"]),
        ("VOICE", ["priority level 2"], None),
        ("VOICE", ["priority level 1 percent 10"], None),
        ("VOICE", ["priority level 2 2000 64000"], None),
        ("VOICE", ["priority level 1", "police rate percent 10"], None),
        ("DATA", ["bandwidth 100000000"], None),
        ("DATA", ["bandwidth percent 30"], None),
        ("DATA", ["ban rem per 30"], ["bandwidth remaining percent 30"]),
        ("DATA", ["bandwidth remaining ratio 65536"], None),
        ("DATA", ["bandwidth remaining percent 30", "queue-buffers ratio 10"], None),
        ("DATA", ["shape average 8000"], None),
        ("DATA", ["shape average percent 50"], None),
        (
            "DATA",
            [
                "bandwidth remaining percent 30",
                "queue-limit dscp af22 percent 80",
                "queue-limit dscp 18 percent 90",
            ],
            [
                "bandwidth remaining percent 30",
                "queue-limit dscp af22 percent 80",
                "queue-limit dscp af21 percent 90",
            ],
        ),
        (
            "DATA",
            ["shape average 8000", "queue-limit dscp values cs1 af13 percent 80"],
            ["shape average 8000", "queue-limit dscp values  cs1 af13 percent 80"],
        ),
        (
            "DATA",
            ["bandwidth percent 5", "random-detect dscp-based", "random-detect dscp af21 percent 80 100"],
            None,
        ),
        ("class-default", ["random-detect dscp-based", "random-detect dscp default percent 80 100"], None),
        ("DATA", ["set dscp af21", "set cos 2"], None),
        (
            "DATA",
            ["police cir 1000000 bc 31250", "conform-action transmit", "exceed-action drop"],
            ["police cir 1000000 bc 31250", "conform-action transmit", "exceed-action drop"],
        ),
    ],
)
def test_a_class_prints_what_it_holds(box: Box, name: str, typed: list[str], printed: list[str] | None) -> None:
    assert type_lines(box, *in_class(*typed, name=name))[1] == []
    held = policy(box)
    assert held[0] == f" class {name}"
    assert [line.strip() if "values" not in line else line[2:] for line in held[1:]] == (printed or typed)


@pytest.mark.parametrize(
    "line",
    [
        "priority level 3",
        "priority percent 10",
        "priority level 1 percent 101",
        "bandwidth 0",
        "bandwidth remaining ratio 65537",
        "queue-buffers ratio 101",
        "queue-limit 64",
        "queue-limit dscp af21 percent 101",
        "random-detect prec-based",
        "random-detect dscp af21 20 40",
        "shape average 7999",
        "shape peak 100000",
        "fair-queue",
        "set ip dscp ef",
        "police rate percent 0",
    ],
)
def test_what_the_family_does_not_have_is_invalid(box: Box, line: str) -> None:
    assert INVALID in refusal(box, *in_class(line))


@pytest.mark.parametrize(
    "line", ["match ip dscp ef", "match not dscp ef", "match input-interface Gi1/0/1", "match any"]
)
def test_what_a_class_map_does_not_match_is_invalid(box: Box, line: str) -> None:
    assert INVALID in refusal(box, "class-map match-any DATA", line)


MIXED = "Mixed bandwidth types are not supported."


@pytest.mark.parametrize(
    ("before", "line", "words"),
    [
        (["bandwidth percent 5"], "priority level 1", "Must deconfigure bandwidth"),
        (["priority level 1"], "bandwidth percent 5", "Must deconfigure priority"),
        (["priority level 1"], "shape average 8000", "Must deconfigure priority"),
        (["priority level 1"], "random-detect dscp-based", "Must deconfigure priority"),
        (["priority level 1 percent 5"], "police rate percent 5", "Must deconfigure priority"),
        (["priority level 1", "police rate percent 5"], "priority level 1 percent 5", "Must deconfigure police"),
        (
            [],
            "queue-limit dscp af21 percent 80",
            "queue-limit not allowed without bandwidth shape or priority command",
        ),
        ([], "random-detect dscp-based", "random-detect not allowed"),
        (["bandwidth percent 5"], "random-detect dscp af21 percent 1 2", "must be configured first"),
        (
            ["bandwidth percent 5", "random-detect dscp-based"],
            "queue-limit dscp af21 percent 80",
            "Must deconfigure random-detect",
        ),
        (
            ["bandwidth percent 5", "queue-limit dscp af21 percent 80"],
            "no bandwidth",
            "Must deconfigure queue-limit",
        ),
        (["bandwidth percent 5", "random-detect dscp-based"], "random-detect dscp af21 percent 3 2", "above"),
    ],
)
def test_lines_of_a_class_exclude_each_other(box: Box, before: list[str], line: str, words: str) -> None:
    assert words in refusal(box, *in_class(*before, line))


def test_a_policy_has_one_kind_of_bandwidth(box: Box) -> None:
    assert type_lines(box, *in_class("bandwidth remaining percent 50"))[1] == []
    assert MIXED in refusal(box, *in_class("bandwidth remaining ratio 5", name="WEB"))
    assert "exceeds 100" in refusal(box, *in_class("bandwidth remaining percent 51", name="WEB"))


def test_a_level_is_that_of_one_class(box: Box) -> None:
    assert type_lines(box, *in_class("priority level 1", name="VOICE"))[1] == []
    assert "priority level 1 is used" in refusal(box, *in_class("priority level 1"))


def test_a_queue_has_three_thresholds(box: Box) -> None:
    limits = [f"queue-limit dscp af1{n} percent {70 + n}" for n in (1, 2, 3)]
    assert "3 thresholds" in refusal(
        box, *in_class("bandwidth percent 5", *limits, "queue-limit dscp cs1 percent 9")
    )
    assert type_lines(box, *in_class("queue-limit dscp cs1 percent 71"))[1] == []


PORT = "interface GigabitEthernet1/0/1"


def test_a_queueing_policy_is_for_outputs(box: Box) -> None:
    type_lines(box, *in_class("bandwidth percent 5"))
    words = "Queueing policy is not supported in input direction"
    assert refusal(box, PORT, "service-policy input P") == words
    assert type_lines(box, PORT, "service-policy output P")[1] == []
    type_lines(box, "policy-map M", "class DATA", "set dscp af21", PORT, "service-policy input M")
    assert refusal(box, "policy-map M", "class DATA", "shape average 8000") == words
    assert policy(box, "M") == [" class DATA", "  set dscp af21"]


def test_a_queueing_policy_matches_no_list(box: Box) -> None:
    type_lines(box, *in_class("bandwidth percent 5", name="WEB"))
    assert "match access-group name WEB is not supported" in refusal(box, PORT, "service-policy output P")
    type_lines(box, "policy-map Q", "class DATA", "bandwidth percent 5", PORT, "service-policy output Q")
    assert "not supported" in refusal(box, "class-map match-any DATA", "match access-group name WEB")


def test_a_queueing_policy_has_eight_classes(box: Box) -> None:
    names = [f"C{n}" for n in range(8)]
    for name in names:
        type_lines(box, f"class-map match-any {name}", "match dscp ef", *in_class("bandwidth percent 1", name=name))
    assert "more than 8 classes" in refusal(box, PORT, "service-policy output P")
    type_lines(box, "policy-map P", "no class C7", PORT, "service-policy output P")
    assert f"{PORT}\n switchport mode access\n service-policy output P" in box.running_text()
    assert "more than 8 classes" in refusal(box, *in_class("bandwidth percent 1", name="C7")[:-1])
    type_lines(box, "no policy-map P")
    assert " class C7" not in policy(box), "what was refused is not there"


def test_beside_priority_shares_are_of_what_it_leaves(box: Box) -> None:
    type_lines(box, *in_class("priority level 1", name="VOICE"), *in_class("bandwidth percent 5"))
    assert "Only bandwidth remaining" in refusal(box, PORT, "service-policy output P")


def test_four_classes_detect_early(box: Box) -> None:
    for n in range(5):
        lines = in_class("bandwidth percent 5", "random-detect dscp-based", name=f"C{n}")
        assert type_lines(box, f"class-map match-any C{n}", f"match dscp {n}", *lines)[1] == []
    assert "4 classes only" in refusal(box, PORT, "service-policy output P")


def test_a_policy_inside_a_shape_prints_one_blank_further_in(box: Box) -> None:
    type_lines(box, *in_class("bandwidth percent 5"))
    assert "only if shaping" in refusal(box, "policy-map TOP", "class class-default", "service-policy P")
    assert (
        type_lines(box, "policy-map TOP", "class class-default", "shape average 1000000", "service-policy P")[1]
        == []
    )
    assert policy(box, "TOP") == [" class class-default", "  shape average 1000000", "   service-policy P"]
    assert "any deeper" in refusal(
        box, "policy-map A", "class class-default", "shape average 8000", "service-policy TOP"
    )


@pytest.mark.parametrize("place", ["Port-channel1", "Vlan5"])
def test_policies_are_for_physical_ports(box: Box, place: str) -> None:
    type_lines(box, *in_class("bandwidth percent 5"))
    assert INVALID in refusal(box, f"interface {place}", "service-policy output P")


def test_what_is_used_does_not_go(box: Box) -> None:
    type_lines(box, *in_class("bandwidth percent 5"), PORT, "service-policy output P")
    assert "being used" in refusal(box, "no policy-map P")
    assert "being used" in refusal(box, "no class-map DATA")
    assert "already attached" in refusal(box, "policy-map O", PORT, "service-policy output O")


def test_the_policy_of_the_processor_is_always_there(box: Box) -> None:
    assert " service-policy input system-cpp-policy" in box.running_text()
    assert "being used" in refusal(box, "no policy-map system-cpp-policy")
    assert "cannot be detached" in refusal(box, "control-plane", "no service-policy input")
    assert INVALID in refusal(box, "no control-plane")
    assert " service-policy input system-cpp-policy" in box.running_text()


@pytest.mark.parametrize("seed", range(3))
def test_what_random_lines_leave_loads_again_unchanged(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    made = booted(tmp_path, STARTUP)
    type_lines(made, *CLASSES, "table-map A")
    shell = made.new_shell("u")
    for _ in range(400):
        if not shell.configuring:
            shell.feed("configure terminal")
        mode = rng.choice(shell.levels).mode if rng.random() < 0.7 else shell.mode
        reply = shell.feed(random_line(mode.grammar._start, rng))
        for _ in range(4):
            if reply.ask is None:
                break
            reply = reply.ask.answer("n")
        if reply.close:
            shell = made.new_shell("u")
    text = made.running_text()
    fresh = booted(tmp_path, text)
    assert fresh.boot_messages == []
    assert fresh.running_text() == text


# -- packets -------------------------------------------------------------------------------------------------
MARKING = ("policy-map IN", "class WEB", "set dscp af21", "set cos 2", "class class-default", "set dscp default")
QUEUEING = (
    "policy-map OUT",
    "class VOICE", "priority level 1 percent 10",
    "class DATA", "bandwidth remaining percent 60",
    "class class-default", "bandwidth remaining percent 40",
)  # fmt: skip
ATTACHED = (*MARKING, *QUEUEING, PORT, "service-policy input IN", "interface Gi1/0/2", "service-policy output OUT")


def test_packets_are_marked_on_input_and_queued_by_the_mark(box: Box) -> None:
    assert type_lines(box, *ATTACHED)[1] == []
    offered = [
        Packets(10, 500, protocol=6, dst_port=80, tagged=False),
        Packets(10, 500, dscp=46, tagged=False),
    ]
    web, stranger = box.offer("GigabitEthernet1/0/1", "GigabitEthernet1/0/2", offered, 1.0)
    assert (web.ingress_class, web.dscp_out, web.cos_out, web.queue) == ("WEB", 18, 2, "class DATA")
    assert (stranger.ingress_class, stranger.dscp_out, stranger.queue) == (
        "class-default",
        0,
        "class class-default",
    )


def test_marks_are_kept_without_a_policy_and_a_level_is_policed(box: Box) -> None:
    type_lines(box, *QUEUEING, "interface Gi1/0/2", "service-policy output OUT")
    sent = [Packets(200_000, 1000, dscp=46)]  # 1.6 Gb/s for a cap of 100 Mb/s
    good, lost = box.offer("GigabitEthernet1/0/1", "GigabitEthernet1/0/2", sent, 1.0)
    assert (good.dscp_out, good.queue, good.dropped_out) == (46, "priority level 1", 0)
    assert good.count == 15_000  # a second of 100 Mb/s and 200 ms of burst
    assert lost.dropped_out == lost.count == 185_000
    text = show(box, "show policy-map interface GigabitEthernet1/0/2 output")
    assert "queue stats for all priority classes:" in text
    assert "      (total drops) 185000" in text
    assert "    Class-map: VOICE (match-any)\n      200000 packets\n      Match: dscp ef (46)" in text
    assert "      bandwidth remaining percent 60" in text


def test_a_planted_fault_takes_priority_away(box: Box) -> None:
    type_lines(box, *QUEUEING, "interface Gi1/0/2", "service-policy output OUT")
    box.faults.ignore_priority = True
    (sent,) = box.offer("GigabitEthernet1/0/1", "GigabitEthernet1/0/2", [Packets(1, 100, dscp=46)], 1.0)
    assert sent.queue == "class VOICE"


# -- table-maps ------------------------------------------------------------------------------------------------
TABLE = ("table-map policed-dscp", "map from 46 to 8", "map from 0 to 8")
MARKED_DOWN = "exceed-action set-dscp-transmit dscp table policed-dscp"
POLICED = ("set dscp ef", "police cir 128000 bc 8000", "conform-action transmit", MARKED_DOWN)


def test_a_table_map_prints_whole_and_stays_while_a_policer_uses_it(box: Box) -> None:
    """As in public running configurations of Catalyst 9000s: before the class-maps, with ``default copy``."""
    assert type_lines(box, *TABLE)[1] == []
    assert "table-map policed-dscp\n map from  0 to 8\n map from  46 to 8\n default copy\n" in box.running_text()
    assert type_lines(box, *in_class(*POLICED, name="VOICE"))[1] == []
    assert f"   {MARKED_DOWN} " in box.running_text()
    assert type_lines(box, "no table-map policed-dscp")[1] == ["% Table-map policed-dscp is being used"]
    again = booted(Path(box.storage.folder).parent, box.running_text())
    assert again.boot_messages == []
    assert again.running_text() == box.running_text()


def test_what_exceeds_is_marked_and_then_marked_down(box: Box) -> None:
    attach = ("interface GigabitEthernet1/0/1", "service-policy input P")
    assert type_lines(box, *TABLE, *in_class(*POLICED, name="VOICE"), *attach)[1] == []
    (conforming, exceeding) = box.offer(
        "GigabitEthernet1/0/1", "GigabitEthernet1/0/2", [Packets(dscp=46, count=2000, bytes=1000)], 1.0
    )
    assert (conforming.count, conforming.dscp_out) == (24, 46)
    assert (exceeding.count, exceeding.dscp_out) == (1976, 8)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("police cir 128000 bc 8000", "exceed-action set-dscp-transmit af12"), INVALID),
        (
            ("police cir 128000 bc 8000", "exceed-action set-dscp-transmit dscp table OTHER"),
            "% Table-map OTHER not",
        ),
    ],
)
def test_a_policer_marks_by_a_table_alone(box: Box, lines: tuple[str, ...], answer: str) -> None:
    assert type_lines(box, *TABLE)[1] == []
    assert refusal(box, *in_class(*lines)).lstrip("^ \n").startswith(answer)


def test_a_release_before_3_6_1_takes_no_empty_class(tmp_path: Path) -> None:
    spec = BoxSpec(name="sw", platform="catalyst_9000", image="15.0", username="u", password="p")
    old = make_box(spec, Storage(tmp_path / "old", STARTUP), Clock())
    old.boot()
    assert type_lines(old, *CLASSES, "policy-map P", "class VOICE")[1] == []
    assert refusal(old, "interface GigabitEthernet1/0/1", "service-policy input P") == "Empty class unsupported"
    assert type_lines(old, "policy-map P", "class VOICE", "set dscp ef")[1] == []
    assert type_lines(old, "interface GigabitEthernet1/0/1", "service-policy input P")[1] == []


def test_a_port_takes_one_table_and_no_third_colour(box: Box) -> None:
    two = (*in_class(*POLICED, name="VOICE"), "class DATA", "police cir 128000 bc 8000")
    assert type_lines(box, *TABLE, "table-map T", *two, "exceed-action set-dscp-transmit dscp table T")[1] == []
    attach = ("interface GigabitEthernet1/0/1", "service-policy input P")
    assert refusal(box, *attach) == "% Only one table-map is supported in a direction"
    assert type_lines(box, *in_class("police cir 128000 bc 8000 be 9000"))[1] == []
    assert refusal(box, *attach) == "% A policer with one rate and three colours is not supported"


def test_a_policer_in_per_cent_has_its_peak_and_bursts_as_times(box: Box) -> None:
    lines = (
        "police cir percent 1 bc 100 ms pir percent 2 be 100 ms",
        "exceed-action transmit",
        "violate-action drop",
    )
    attach = ("interface GigabitEthernet1/0/1", "service-policy input P")
    assert type_lines(box, *in_class(*lines), *attach)[1] == []
    offered = [Packets(dscp=18, count=5000, bytes=1000)]
    outcomes = box.offer("GigabitEthernet1/0/1", "GigabitEthernet1/0/2", offered, 1.0)
    # Of 1 Gb/s: 1.25 MB and 125 kB conform; twice that, what conforms among it, does not violate.
    assert sorted((o.count, o.dropped_in) for o in outcomes) == [(1375, 0), (1375, 0), (2250, 2250)]
