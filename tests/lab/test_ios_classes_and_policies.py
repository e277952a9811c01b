"""Every line of class maps, policy maps and table maps: printed as the box does, ranges held, taken back by no."""

from __future__ import annotations

import pytest

from qoslab.box import Box

from .conftest import ROUTER, BoxMaker, type_lines

BAD = "% Invalid input detected at '^' marker."


def typed(box: Box, mode: list[str], line: str) -> list[str]:
    """The lines a box holds under a mode after one more."""
    _, answers = type_lines(box, *mode, line)
    assert answers == []
    return box.running_text().splitlines()


MATCHES = [
    ("match access-group 2699", "match access-group 2699"),
    ("match not access-group name WEB", "match not access-group name WEB"),
    ("match any", "match any"),
    ("match class-map OTHER", "match class-map OTHER"),
    ("match not class-map OTHER", "match not class-map OTHER"),
    ("match cos 5", "match cos  5"),
    ("match dscp af21 20 0", "match dscp af21  af22  default "),
    ("match ip dscp 1 46", "match ip dscp 1  ef "),
    ("match precedence network 3", "match precedence 7  3"),
    ("match ip rtp 16384 16383", "match ip rtp 16384 16383"),
    ("match protocol rtp audio", "match protocol rtp audio"),
    ('match protocol rtp payload-type "0, 4-8"', 'match protocol rtp payload-type "0, 4-8"'),
    ('match protocol rtp payload-type "18"', "match protocol rtp payload-type 18"),
    ("match protocol http url *.gif", "match protocol http url *.gif"),
    ("match input-interface fa0/0", "match input-interface FastEthernet0/0"),
    ("match qos-group 99", "match qos-group 99"),
    ("match packet length min 40 max 90", "match packet length min 40 max 90"),
    ("match packet length max 90", "match packet length max 90"),
    ("match fr-de", "match fr-de"),
    ("match fr-dlci 100", "match fr-dlci 100"),
    ("match mpls experimental topmost 3", "match mpls experimental topmost 3"),
    ("match discard-class 2", "match discard-class 2"),
    ("match source-address mac 0000.AAAA.1111", "match source-address mac 0000.aaaa.1111"),
    ("match not destination-address mac 0000.aaaa.1111", "match not destination-address mac 0000.aaaa.1111"),
    ("description voice of the campus", "description voice of the campus"),
]


@pytest.mark.parametrize(("line", "printed"), MATCHES, ids=[line for line, _ in MATCHES])
def test_class_map_line(make: BoxMaker, line: str, printed: str) -> None:
    box = make("12.4")
    type_lines(box, "class-map OTHER", "class-map C")
    before = box.running_text()
    assert f" {printed}" in typed(box, ["class-map C"], line)
    type_lines(box, "class-map C", f"no {line}")
    assert box.running_text() == before


@pytest.mark.parametrize(
    "line",
    ["match access-group 2700", "match cos 8", "match cos 1 2 3 4 5", "match ip dscp 64", "match qos-group 100",
     "match ip dscp 0 1 2 3 4 5 6 7 8", "match ip precedence 0 1 2 3 4", "match packet length min 90 max 40",
     "match protocol rtp payload-type 128", "match protocol nosuch", "match fr-dlci 15", "match",
     "match ip rtp 1999 10"],
)  # fmt: skip
def test_class_map_refusal(make: BoxMaker, line: str) -> None:
    box = make("12.4")
    shell, _ = type_lines(box, "class-map C")
    before = box.running_text()
    assert shell.feed(line).text.endswith((f"{BAD}\n", "% Incomplete command.\n"))
    assert box.running_text() == before


def test_a_class_cannot_contain_itself_and_stays_while_another_names_it(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, "class-map A", "class-map B", "match class-map A")
    assert type_lines(box, "class-map A", "match not class-map B")[1] == ["% Class-map B would contain itself"]
    assert type_lines(box, "class-map A", "match class-map A")[1] == ["% Class-map A would contain itself"]
    assert type_lines(box, "class-map A", "match class-map NONE")[1] == ["% class map NONE not configured"]
    assert type_lines(box, "no class-map A")[1] == ["% Class-map A is being used"]
    type_lines(box, "no class-map B", "no class-map A")
    assert "class-map" not in box.running_text()


# A class with bandwidth 100 and one with nothing; the line, what prints, the mode's class.
ACTIONS = [
    ("N", "bandwidth 2000000", "bandwidth 2000000"),
    ("N", "bandwidth percent 100", "bandwidth percent 100"),
    ("N", "bandwidth remaining percent 1", "bandwidth remaining percent 1"),
    ("N", "priority 8", "priority 8"),
    ("N", "priority 128 32", "priority 128 32"),
    ("N", "priority percent 20 2000000", "priority percent 20 2000000"),
    ("B", "queue-limit 512", "queue-limit 512"),
    ("class-default", "fair-queue", "fair-queue"),
    ("class-default", "fair-queue 4096", "fair-queue 4096"),
    ("B", "random-detect", "random-detect"),
    ("B", "random-detect prec-based", "random-detect"),
    ("B", "random-detect dscp-based", "random-detect dscp-based"),
    ("B", "random-detect cos-based", "random-detect cos-based"),
    ("N", "shape average 8000", "shape average 8000"),
    ("N", "shape peak 154400000 256 0", "shape peak 154400000 256 0"),
    ("N", "shape average percent 50 125 ms 0 ms", None),
    ("N", "shape average percent 50 125 ms 10 ms", "shape average percent 50 125 ms 10 ms"),
    ("N", "set ip dscp 46", "set ip dscp ef"),
    ("N", "set dscp 46", "set dscp ef"),
    ("N", "set precedence critical", "set precedence 5"),
    ("N", "set ip precedence 3", "set ip precedence 3"),
    ("N", "set cos 7", "set cos 7"),
    ("N", "set qos-group 99", "set qos-group 99"),
    ("N", "set fr-de", "set fr-de"),
    ("N", "set atm-clp", "set atm-clp"),
    ("N", "set discard-class 2", "set discard-class 2"),
    ("N", "set mpls experimental imposition 4", "set mpls experimental imposition 4"),
    ("N", "set dscp cos", "set dscp cos"),
    ("N", "set cos dscp table T", "set cos dscp table T"),
    ("N", "compression header ip", "compression header ip"),
    ("N", "compression header ip rtp", "compression header ip rtp"),
    ("N", "service-policy KID", "service-policy KID"),
    ("N", "police cir 64000", "police cir 64000 bc 2000"),
    ("N", "police cir 64000 bc 8000 be 9000", "police cir 64000 bc 8000 be 9000"),
    ("N", "police cir 64000 bc 8000 pir 128000 be 9000", "police cir 64000 bc 8000 pir 128000 be 9000"),
    ("N", "police cir percent 10 bc 20 ms pir percent 20 be 30 ms",
     "police cir percent 10 bc 20 ms pir percent 20 be 30 ms"),
    ("N", "police 64000 8000 9000 conform-action transmit exceed-action set-prec-transmit 1 violate-action drop",
     "police 64000 8000 9000"),
    ("N", "bandwidth 0", None),
    ("N", "bandwidth 2000001", None),
    ("N", "bandwidth percent 101", None),
    ("N", "bandwidth remaining percent 0", None),
    ("N", "bandwidth remaining ratio 2", None),
    ("N", "priority 2000001", None),
    ("N", "priority 128 31", None),
    ("N", "priority level 1", None),
    ("B", "queue-limit 513", None),
    ("B", "queue-limit 64 packets", None),
    ("class-default", "fair-queue 17", None),
    ("class-default", "fair-queue 8", None),
    ("N", "shape average 7999", None),
    ("N", "shape average 154400001", None),
    ("N", "set cos 8", None),
    ("N", "set qos-group 100", None),
    ("N", "set dscp precedence", None),
    ("N", "compression header ip udp", None),
    ("N", "police 7999 conform-action transmit exceed-action drop", None),
    ("N", "police 64000 999", None),
    ("N", "police cir 64000 bc 51200001", None),
    ("N", "police cir 64000 conform-action shout", None),
    ("N", "police rate 100 pps", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "line", "printed"), ACTIONS, ids=[line for _, line, _ in ACTIONS])
def test_policy_class_line(make: BoxMaker, name: str, line: str, printed: str | None) -> None:
    box = make("12.4")
    type_lines(
        box,
        "class-map B",
        "class-map N",
        "table-map T",
        "policy-map KID",
        "class B",
        "set ip dscp 8",
        "policy-map P",
        "class N",
        "class B",
        *(["bandwidth 100"] if name == "B" else []),
        "class class-default",
    )
    mode = ["policy-map P", f"class {name}"]
    shell, _ = type_lines(box, *mode)
    before = box.running_text()
    if printed is None:
        assert shell.feed(line).text.endswith(f"{BAD}\n")
        assert box.running_text() == before
        return
    assert f"  {printed}" in typed(box, mode, line)
    head = (
        line.split(" transmit", maxsplit=1)[0].split(" cir", maxsplit=1)[0] if line.startswith("police") else line
    )
    assert type_lines(box, *mode, f"no {head.split(' conform')[0]}")[1] == []
    assert box.running_text() == before


EXCLUSIONS = [
    ("12.4", ["class B", "bandwidth remaining percent 5"], ["class N", "bandwidth percent 5"], "consistent units"),
    ("15.1", ["class B", "bandwidth remaining ratio 5"], ["class N", "bandwidth remaining percent 5"],
     "Mixed bandwidth types are not supported"),
    ("15.1", ["class B", "priority"], ["bandwidth remaining ratio 5"], "Must deconfigure priority"),
    ("12.4", ["class B", "bandwidth 10", "random-detect"], ["queue-limit 10"], "Must deconfigure random-detect"),
    ("12.4", ["class B", "bandwidth 10", "queue-limit 10"], ["random-detect"], "Must deconfigure queue-limit"),
    ("12.4", ["class B", "bandwidth 10", "queue-limit 10"], ["no bandwidth"], "Must deconfigure queue-limit"),
    ("12.4", ["class B"], ["fair-queue"], "only in class-default"),
    ("12.4", ["class B", "priority 10"], ["fair-queue"], "Must deconfigure priority"),
    ("12.4", ["class B"], ["shape adaptive 8000"], "shape must be configured first"),
    ("15.1", ["class B", "bandwidth 10", "random-detect", "queue-limit 10 ms"],
     ["random-detect precedence 1 2 3"], "same unit"),
    ("15.1", ["class B", "bandwidth 10", "random-detect", "random-detect precedence 1 2 3"],
     ["queue-limit 10 bytes"], "same unit"),
    ("12.4", ["class B", "bandwidth 10"], ["random-detect ecn"], "random-detect must be configured first"),
    ("12.4", ["class B", "bandwidth 10", "random-detect dscp-based", "random-detect dscp ef 10 20"],
     ["random-detect"], "either precedence or dscp"),
    ("12.4", ["class B"], ["police cir 64000 bc 8000 pir 32000"], "pir must be greater"),
    ("12.4", ["class B"], ["set dscp cos table NONE"], "% Table-map NONE not configured"),
    ("12.1", ["class B"], ["shape average 8001"], "multiple of 8000"),
    ("12.4", ["class B"], ["service-policy P"], "cannot contain itself"),
    ("12.4", ["class B"], ["service-policy TOP"], "cannot contain itself"),
    ("12.4", ["policy-map DEEP", "class B"], ["service-policy TOP"], "nested any deeper"),
    ("12.4", ["class B"], ["police cir 64000", "conform-action set-dscp-transmit ef",
     "exceed-action set-prec-transmit 1"], "Two layer 3 markings"),
]  # fmt: skip


@pytest.mark.parametrize(("image", "first", "then", "text"), EXCLUSIONS, ids=[case[2][-1] for case in EXCLUSIONS])
def test_what_excludes_each_other(make: BoxMaker, image: str, first: list[str], then: list[str], text: str) -> None:
    box = make(image, ROUTER)
    set_up = ["class-map B", "class-map N", "policy-map P", "class N", "policy-map TOP", "class N",
              "service-policy P", "policy-map P", *first]  # fmt: skip
    assert type_lines(box, *set_up)[1] == []
    kept = first[-2:] if first[0].startswith("policy-map") else ["policy-map P", first[0]]
    kept = first if first[0].startswith("policy-map") else kept
    shell, answers = type_lines(box, *kept, *then[:-1])
    assert answers == []
    before = box.running_text()
    assert text in shell.feed(then[-1]).text
    assert box.running_text() == before


def test_classic_priority_queues_have_no_limit_and_hqf_ones_do(make: BoxMaker) -> None:
    lines = ["class-map B", "policy-map P", "class B", "priority 100", "queue-limit 20"]
    assert "Must deconfigure priority" in type_lines(make("12.4"), *lines)[1][0]
    hqf = make("15.1", ROUTER)
    assert type_lines(hqf, *lines)[1] == []
    assert "  queue-limit 20 packets" in hqf.running_text().splitlines()


def test_priority_levels(make: BoxMaker) -> None:
    box = make("15.1", ROUTER)
    lines = ["class-map A", "class-map B", "policy-map P", "class A", "priority level 1 percent 20 2000"]
    assert type_lines(box, *lines, "class B", "priority level 2")[1] == []
    assert "  priority level 1 percent 20 2000\n" in box.running_text()
    assert "  priority level 2\n" in box.running_text()
    answers = type_lines(box, "policy-map P", "class B", "priority level 2 percent 81", "priority level 3")[1]
    assert [answer.split("\n")[-2 if answer.endswith("\n") else -1] for answer in answers] == [
        "Sum total of class bandwidths exceeds 100 percent",
        BAD,
    ]


def test_a_level_is_for_one_class_and_for_no_priority_without_one(make: BoxMaker) -> None:
    box = make("15.1", ROUTER)
    maps = [f"class-map {name}" for name in "ABC"]
    lines = [*maps, "policy-map P", "class A", "priority level 1", "class B", "priority level 1"]
    assert "priority level is used" in type_lines(box, *lines)[1][0]
    assert "not supported in one policy-map" in type_lines(box, "policy-map P", "class C", "priority 100")[1][0]
    type_lines(box, "policy-map P", "class A", "no priority", "class C", "priority 100")
    assert "not supported in one" in type_lines(box, "policy-map P", "class A", "priority level 2 percent 5")[1][0]


def test_wred_rows_print_in_order_and_defaults_do_not(make: BoxMaker) -> None:
    box = make("12.4")
    rows = ["random-detect dscp rsvp 30 40", "random-detect dscp 46 30 40 20", "random-detect dscp cs1 22 40 10",
            "random-detect dscp af11 1 4096 65536"]  # fmt: skip
    lines = ["class-map B", "policy-map P", "class B", "bandwidth 100", "random-detect dscp-based", *rows]
    assert type_lines(box, *lines, "random-detect exponential-weighting-constant 16", "random-detect ecn")[1] == []
    start = box.running_text().split("\n").index("  random-detect dscp-based")
    assert box.running_text().split("\n")[start : start + 6] == [
        "  random-detect dscp-based",
        "  random-detect exponential-weighting-constant 16",
        "  random-detect ecn",
        "  random-detect dscp af11 1 4096 65536",
        "  random-detect dscp ef 30 40 20",
        "  random-detect dscp rsvp 30 40",
    ]
    for line in ("random-detect dscp 1 0 40", "random-detect dscp 1 50 40", "random-detect dscp 1 1 4097",
                 "random-detect exponential-weighting-constant 17", "random-detect dscp 1 1 2 65537"):  # fmt: skip
        assert type_lines(box, "policy-map P", "class B", line)[1][0].endswith(f"{BAD}\n")
    type_lines(
        box, "policy-map P", "class B", "no random-detect dscp 46", "no random-detect dscp af11 1 4096 65536"
    )
    assert "dscp ef" not in box.running_text()
    assert "dscp af11" not in box.running_text()


def test_police_submode(make: BoxMaker) -> None:
    box = make("12.4")
    lines = ["class-map B", "policy-map P", "class B", "police cir 64000 bc 8000 be 9000"]
    shell, answers = type_lines(box, *lines, "exceed-action set-dscp-transmit 8", "violate-action drop")
    assert (shell.prompt, answers) == ("R1(config-pmap-c-police)#", [])
    assert (
        "  police cir 64000 bc 8000 be 9000\n    conform-action transmit \n"
        "    exceed-action set-dscp-transmit cs1 \n    violate-action drop \n"
    ) in box.running_text()
    shell.feed("no violate-action")
    shell.feed("no exceed-action")
    assert "    exceed-action drop \n!" in box.running_text()


def test_shape_takes_its_companions_along(make: BoxMaker) -> None:
    box = make("12.4")
    lines = ["class-map B", "policy-map P", "class B", "shape average 64000", "shape adaptive 32000",
             "shape max-buffers 100"]  # fmt: skip
    assert type_lines(box, *lines)[1] == []
    assert "  shape average 64000\n  shape adaptive 32000\n  shape max-buffers 100\n" in box.running_text()
    type_lines(box, "policy-map P", "class B", "shape max-buffers 1000")
    assert "max-buffers" not in box.running_text()
    type_lines(box, "policy-map P", "class B", "no shape")
    assert "shape" not in box.running_text()


def test_insert_before(make: BoxMaker) -> None:
    box = make("12.4")
    lines = ["class-map A", "class-map B", "policy-map P", "class class-default", "class B", "exit",
             "class A insert-before B"]  # fmt: skip
    assert type_lines(box, *lines)[1] == []
    assert "policy-map P\n class A\n class B\n class class-default\n" in box.running_text()
    assert type_lines(box, "class-map C", "policy-map P", "class C insert-before NONE")[1] == [
        "% class map NONE not configured"
    ]


def test_the_sixty_fifth_class_is_refused_before_hqf(make: BoxMaker) -> None:
    maps = [f"class-map C{n}" for n in range(65)]
    classes = ["policy-map P", "description many", *(f"class C{n}" for n in range(65))]
    assert type_lines(make("12.4"), *maps, *classes)[1] == ["% Maximum number of classes reached"]
    assert type_lines(make("15.1", ROUTER), *maps, *classes)[1] == []


def test_table_map(make: BoxMaker) -> None:
    box = make("12.4")
    lines = ["table-map T", "map from 5 to 46", "map from 0 to 0", "default ignore"]
    assert type_lines(box, *lines)[1] == []
    assert "table-map T\n map from 0 to 0\n map from 5 to 46\n default ignore\n" in box.running_text()
    type_lines(box, "class-map B", "policy-map P", "class B", "set dscp cos table T")
    assert type_lines(box, "no table-map T")[1] == ["% Table-map T is being used"]
    assert type_lines(box, "table-map T", "map from 64 to 0")[1][0].endswith(f"{BAD}\n")
    type_lines(box, "table-map T", "default copy", "no map from 5", "no map from 0 to 0")
    assert "table-map T\n!" in box.running_text()
    type_lines(box, "no policy-map P", "no table-map T")
    assert "table-map" not in box.running_text()


@pytest.mark.parametrize("anchor", ["bandwidth 100", "shape average 64000"])
@pytest.mark.parametrize("needy", ["random-detect", "queue-limit 20"])
def test_what_a_class_may_have_only_because_it_is_scheduled(make: BoxMaker, anchor: str, needy: str) -> None:
    box = make("12.4")
    lines = ["class-map B", "policy-map P", "class B"]
    assert "not allowed without bandwidth" in type_lines(box, *lines, needy)[1][0]
    assert type_lines(box, *lines, anchor, needy)[1] == []
    assert f"  {anchor}\n  {needy}\n" in box.running_text()
    assert f"Must deconfigure {needy.split(maxsplit=1)[0]}" in type_lines(box, *lines, f"no {anchor}")[1][0]
    assert type_lines(box, *lines, f"no {needy}", f"no {anchor}")[1] == []
