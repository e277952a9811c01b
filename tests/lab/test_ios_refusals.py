"""What a router refuses, in its own words, and that a refused line leaves no trace."""

from __future__ import annotations

import pytest

from .conftest import BoxMaker, show, type_lines

BASE = [
    "class-map match-all VOICE",
    "match ip dscp ef",
    "class-map match-any WEB",
    "match protocol http",
    "policy-map P",
    "class VOICE",
    "priority 500",
    "class WEB",
    "bandwidth 400",
]
CAVEAT = "% Invalid input detected at '^' marker."

REFUSALS = [
    (["policy-map Q", "class NONE"], "% class map NONE not configured"),
    (["interface Serial0/0", "service-policy output NONE"], "% policy map NONE not configured"),
    (["no class-map VOICE"], "% Class-map VOICE is being used"),
    (["interface Serial0/0", "service-policy output P", "no policy-map P"], "%PolicyMap P is being used"),
    (
        ["policy-map Q", "interface Serial0/0", "service-policy output P", "service-policy output Q"],
        "Policy map P is already attached",
    ),
    (["policy-map P", "class class-default", "bandwidth percent 10"], "All classes with bandwidth should have"),
    (["policy-map P", "class VOICE", "bandwidth 10"], "Must deconfigure priority"),
    (["policy-map P", "class WEB", "priority 10"], "Must deconfigure bandwidth"),
    (["policy-map P", "class VOICE", "random-detect"], "Must deconfigure priority"),
    (["policy-map P", "class VOICE", "queue-limit 10"], "Must deconfigure priority"),
    (["policy-map P", "class class-default", "priority 10"], "% priority is not supported"),
    (["policy-map Q", "class WEB", "random-detect"], "random-detect not allowed without bandwidth"),
    (["policy-map Q", "class WEB", "queue-limit 9"], "queue-limit not allowed without bandwidth"),
    (["policy-map P", "class WEB", "random-detect dscp af11 1 2"], "% random-detect must be configured first"),
    (
        ["policy-map P", "class WEB", "random-detect", "random-detect dscp af11 1 2"],
        "% Must configure either precedence or dscp",
    ),
    (["policy-map P", "class WEB", "set ip dscp ef", "set precedence 5"], "Two layer 3 markings"),
    (
        ["policy-map Q", "class VOICE", "priority percent 60", "class WEB", "bandwidth percent 41"],
        "Sum total of class bandwidths exceeds 100 percent",
    ),
    (
        ["policy-map Q", "class WEB", "bandwidth remaining percent 70", "class class-default",
         "bandwidth remaining percent 31"],
        "Sum total of class bandwidths exceeds 100 percent",
    ),
    (["interface Serial0/0", "service-policy input P"], "CBWFQ : Can be enabled as an output feature only"),
    (
        ["interface FastEthernet0/0.1", "service-policy output P"],
        "CBWFQ : Not supported on subinterfaces",
    ),
    (
        ["policy-map TOP", "class class-default", "service-policy P", "interface Serial0/0",
         "service-policy output TOP"],
        "CBWFQ : Hierarchy supported only if shaping",
    ),
    (["policy-map P", "class WEB", "bandwidth 0"], CAVEAT),
    (["policy-map P", "class WEB", "priority percent 101"], CAVEAT),
    (["policy-map P", "class WEB", "random-detect dscp af44 1 2"], CAVEAT),
    (["interface Serial7/7"], CAVEAT),
    (["no interface Serial0/0"], "% Removal of physical interfaces"),
    (["frobnicate the bits"], CAVEAT),
    (["interface Serial0/0", "ip address 10.0.0.1"], "% Incomplete command."),
    (["policy-map P", "class WEB", "police 8000 conform-action drop exceed-action transmit"],
     "conform-action action can not be drop"),
]  # fmt: skip


@pytest.mark.parametrize("image", ["12.2", "12.4"])
@pytest.mark.parametrize(("lines", "text"), REFUSALS, ids=[lines[-1] for lines, _ in REFUSALS])
def test_refusal(make: BoxMaker, image: str, lines: list[str], text: str) -> None:
    box = make(image)
    assert type_lines(box, *BASE)[1] == []
    shell, answers = type_lines(box, *lines[:-1])
    before = box.running_text()
    answer = shell.feed(lines[-1]).text
    assert text in answer, answers
    assert box.running_text() == before


def test_seventy_five_percent_rule(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, *BASE, "policy-map P", "class VOICE", "priority 1101")
    _, answers = type_lines(box, "interface Serial0/0", "service-policy output P")
    assert answers == ["I/f Serial0/0 class WEB requested bandwidth 400 (kbps), available only 399 (kbps)"]
    assert "service-policy" not in box.running_text()
    _, answers = type_lines(box, "interface Serial0/0", "max-reserved-bandwidth 80", "service-policy output P")
    assert answers == []
    # An edit of the attached policy is checked too, and the old line stays.
    _, answers = type_lines(box, "policy-map P", "class WEB", "bandwidth 500")
    assert answers == ["I/f Serial0/0 class WEB requested bandwidth 500 (kbps), available only 499 (kbps)"]
    assert "  bandwidth 400" in box.running_text()


def test_percent_form_of_the_rule(make: BoxMaker) -> None:
    box = make("12.2")
    type_lines(
        box, *BASE[:4], "policy-map Q", "class VOICE", "priority percent 20", "class WEB", "bandwidth percent 60"
    )
    _, answers = type_lines(box, "interface Serial0/0", "service-policy output Q")
    assert answers == ["I/f Serial0/0 class WEB requested bandwidth 60%, available only 55%"]


def test_a_refused_attachment_on_ethernet_leaves_fair_queue_behind(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, *BASE, "policy-map P", "class VOICE", "priority 90000")
    type_lines(box, "interface FastEthernet0/0", "service-policy output P")
    assert " fair-queue 64 256 256" in box.running_text()


def test_hqf_images_book_everything_but_one_percent(make: BoxMaker) -> None:
    box = make("12.4", hqf=True)
    _, answers = type_lines(box, *BASE, "policy-map P", "class VOICE", "priority 1580",
                            "interface Serial0/0", "service-policy output P")  # fmt: skip
    assert answers == []
    _, answers = type_lines(box, "policy-map P", "class VOICE", "priority 1581")
    assert answers == ["I/f Serial0/0 class WEB requested bandwidth 400 (kbps), available only 399 (kbps)"]


def test_the_caret_stands_under_the_bad_word(make: BoxMaker) -> None:
    box = make("12.4")
    shell, _ = type_lines(box, "interface Serial0/0")
    answer = shell.feed("ip mtu 12").text
    assert shell.prompt == "R1(config-if)#"
    assert answer.splitlines()[0] == " " * len("R1(config-if)#ip mtu ") + "^"


@pytest.mark.parametrize(
    ("image", "line", "known"),
    [
        ("12.2", "ppp multilink group 1", False),
        ("12.2", "multilink-group 1", True),
        ("12.2", "ppp multilink fragment-delay 10", True),
        ("12.2", "ppp multilink fragment delay 10", False),
        ("12.4", "ppp multilink group 1", True),
        ("12.4", "ppp multilink fragment delay 10", True),
    ],
)
def test_trains_differ(make: BoxMaker, image: str, line: str, known: bool) -> None:
    _, answers = type_lines(make(image), "interface Serial0/0", line)
    assert (answers == []) is known


def test_old_train_has_no_archive(make: BoxMaker) -> None:
    old, new = make("12.2"), make("12.4")
    assert "% Invalid input" in show(old, "show archive")
    assert "next archive file" in show(new, "show archive")
    assert "Unknown command" in show(old, "tclsh")
