"""Turns of a Linux router without HTB, HFSC and ETS: classes of DRR, and what a real kernel makes of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from napalm_linux_tc.schedulers import SCHEDULERS
from napalm_linux_tc.shown import Answers, shown_lines
from napalm_linux_tc.turns import readable

from qosforge.compiler.candidate import make_candidate
from qosforge.findings import Fidelity, Severity
from qosforge.platforms.base import platform
from qosforge.tester.scenario.schedulers import twin_scheduler
from qosforge.twin.schedulers import DrrScheduler

from .test_linux_bands import LIMITED, SHARES, VOICE, WEB, a_class, counted, kernel, last_of, reads_back, words_of
from .test_linux_sharing import CLASSES, RATE, lowered, measured, scheduler_of

LINUX = platform("linux_tc")
HOLDER = "2: tbf rate 2mbit burst 1600b limit 1536b"
TURNS = ("tbf", "drr")
BANDS = ("tbf", "prio", "drr")
UNTOLD = "tc filter add dev out parent 4: protocol all pref 65003 handle 0x1 matchall classid 4:2"


def test_shares_are_turns_of_drr_and_a_filter_has_what_no_rule_tells() -> None:
    made = lowered(running=kernel(*TURNS), classes=[WEB])
    assert words_of(made) == [HOLDER, "4: drr"]
    assert "dev out parent 2:1 handle 4: drr" in made.text
    assert [line.split(" classid ")[1] for line in made.text.splitlines() if line.startswith("tc class ")] == [
        "4:1 drr quantum 686b",
        "4:2 drr quantum 1600b",
    ]
    assert UNTOLD in made.text.splitlines()
    assert " out/out/web meta priority set 4:1 " in made.text
    assert reads_back(made)
    assert [f for f in made.findings if f.severity is not Severity.INFO] == []
    assert {f.traffic_class: (f.fidelity, f.requested_percent) for f in made.fidelity} == {
        "web": (Fidelity.EXACT, 30.0),
        "default": (Fidelity.EXACT, 70.0),
    }


@pytest.mark.parametrize("first", ["prio", "ets"])
def test_priority_has_bands_and_the_last_one_holds_the_turns(first: str) -> None:
    shares = [a_class(f"c{n}", f"{n}", bandwidth={"percent": 2}) for n in range(1, 17)]
    made = lowered(running=kernel("tbf", "drr", first), classes=[VOICE, *shares])
    words = "prio bands 2" if first == "prio" else "ets strict 2"
    assert words_of(made) == [HOLDER, f"3: {words} priomap {last_of(2)}", "4: drr"]
    assert " parent 3:2 handle 4: drr\n" in made.text
    assert " out/out/voice meta priority set 3:1 " in made.text
    assert " out/out/c1 meta priority set 4:2 " in made.text
    assert reads_back(made)


def test_turns_are_those_of_ets_where_its_bands_are_enough() -> None:
    made = lowered(running=kernel("tbf", "drr", "ets"), classes=SHARES)
    assert made.text == lowered(running=kernel("tbf", "ets"), classes=SHARES).text


@pytest.mark.parametrize("others", [("htb",), ("hfsc",)])
def test_a_kernel_with_htb_or_hfsc_is_served_by_them(others: tuple[str, ...]) -> None:
    for classes in (SHARES, [WEB]):
        made = lowered(running=kernel(*BANDS, *others), classes=classes)
        assert (" drr" in made.text) == (others == ("hfsc",) and classes is SHARES)


def test_one_class_behind_priority_needs_no_turns() -> None:
    made = lowered(running=kernel(*BANDS), classes=[VOICE])
    assert words_of(made) == [HOLDER, f"3: prio bands 2 priomap {last_of(2)}"]


def test_priority_with_a_cap_is_served_first_and_the_missing_cap_is_told() -> None:
    made = lowered(running=kernel(*BANDS), classes=CLASSES[:2])
    assert words_of(made)[1:] == [f"3: prio bands 2 priomap {last_of(2)}", "4: drr"]
    (told,) = [f for f in made.findings if f.code == "priority-cap-not-enforced"]
    assert (told.traffic_class, told.applied) == ("voice", "up to 2 Mb/s")
    assert reads_back(made)


@pytest.mark.parametrize(
    ("schedulers", "classes", "words"),
    [(TURNS, SHARES, "of ets, drr and prio none"), (TURNS, LIMITED, "by htb alone"), (("drr",), [WEB], "nor tbf")],
)
def test_what_turns_do_not_serve_is_refused(
    schedulers: tuple[str, ...], classes: list[dict[str, Any]], words: str
) -> None:
    made = lowered(running=kernel(*schedulers), classes=classes)
    errors = [f for f in made.findings if f.severity is Severity.ERROR]
    assert errors
    assert all(f.code == "scheduler-missing" and words in f.message for f in errors)
    assert "tc " not in made.text


@pytest.mark.parametrize(
    ("schedulers", "classes", "modules"),
    [
        (TURNS, SHARES, "sch_ets or sch_prio"),
        (("tbf", "prio"), SHARES, "sch_htb, sch_ets or sch_drr"),
        (("tbf",), SHARES, "sch_ets"),
        (("tbf",), [VOICE], "sch_ets or sch_prio"),
        (("tbf",), [WEB], "sch_htb, sch_hfsc, sch_ets or sch_drr"),
        (("tbf", "prio"), CLASSES[:2], "sch_htb, sch_hfsc, sch_ets or sch_drr"),
    ],
)
def test_each_module_that_is_named_has_the_classes_served_and_no_other_one_does(
    schedulers: tuple[str, ...], classes: list[dict[str, Any]], modules: str
) -> None:
    (error,) = [
        f for f in lowered(running=kernel(*schedulers), classes=classes).findings if f.severity is Severity.ERROR
    ]
    assert f"the kernel's module {modules};" in (error.hint or "")
    for name in {*SCHEDULERS} - {*schedulers}:
        made = lowered(running=kernel(*schedulers, name), classes=classes)
        lacking = [f for f in made.findings if f.code == "scheduler-missing"]
        assert (not lacking) == (f"sch_{name}" in re.findall(r"sch_\w+", modules))


def test_more_priority_than_prio_has_bands_is_refused() -> None:
    strict = [a_class(f"c{n}", f"{n}", priority=True) for n in range(1, 17)]
    made = lowered(running=kernel(*BANDS), classes=[*strict, WEB])
    (error,) = [f for f in made.findings if f.severity is Severity.ERROR]
    assert (error.code, "17 bands" in error.message) == ("scheduler-missing", True)


@pytest.mark.parametrize(
    ("quantum", "held"),
    [(256, 256), (1020, 1020), (1024, 1024), (1030, 1024), (1035, 1040), (2030, 2030), (2035, 2032), (2041, 2048)],
)
def test_quanta_are_such_as_are_known_again(quantum: int, held: int) -> None:
    """`tc` shows 2035 bytes as 2Kb, which are 2048."""
    assert readable(quantum) == held


def test_every_line_is_entered_behind_what_it_is_in_and_all_go_with_the_tree() -> None:
    before = kernel(*BANDS)
    candidate = make_candidate(lowered(running=before, classes=SHARES), before)
    entered: list[str] = []
    for line in (line for line in candidate.delta if line.startswith("tc ")):
        words = line.split()
        place = words[words.index("parent") + 1] if "parent" in words else ""
        made = place in entered or (place[:1] in "23" and f"{place.split(':')[0]}:" in entered)
        assert made or not place, line
        if words[1] == "filter":
            assert words[-1] in entered
        else:
            entered.append(words[words.index("classid" if "classid" in words else "handle") + 1])
    assert "4:" in entered
    assert [line for line in candidate.inverse if line.startswith("tc ")] == ["tc qdisc del dev out root"]


def test_a_tree_of_turns_is_changed_as_a_whole() -> None:
    before = kernel(*TURNS) + lowered(running=kernel(*TURNS), classes=[WEB]).text
    again = make_candidate(lowered(running=before, classes=[WEB]), before)
    assert again.empty
    other = make_candidate(
        lowered(running=before, classes=[a_class("web", "af21", bandwidth={"percent": 40})]), before
    )
    assert other.delta[:2] == ("tc qdisc del dev out root", f"tc qdisc replace dev out root handle {HOLDER}")
    assert "tc class add dev out parent 4: classid 4:1 drr quantum 1067b" in other.delta
    assert other.delta.index(UNTOLD) > other.delta.index(
        "tc class add dev out parent 4: classid 4:2 drr quantum 1600b"
    )
    assert UNTOLD in other.inverse
    assert "tc class add dev out parent 4: classid 4:1 drr quantum 686b" in other.inverse


@pytest.mark.parametrize(
    ("ours", "theirs", "kept"),
    [
        ("matchall classid 4:2", "matchall classid 1:2", " matchall "),
        ("handle 4: drr", "handle 5: drr", " drr"),
        (f"{UNTOLD}\n", "", " 4: drr"),
    ],
)
def test_turns_of_others_are_kept_as_not_understood(ours: str, theirs: str, kept: str) -> None:
    text = lowered(running=kernel(*TURNS), classes=[WEB]).text
    assert ours in text
    unknown = [line.text for line in LINUX.parse(text.replace(ours, theirs), "r", "").unknown]
    assert any(kept in line for line in unknown)


def test_the_twin_serves_turns_by_its_own() -> None:
    made = twin_scheduler(scheduler_of(lowered(running=kernel(*TURNS), classes=[WEB])), RATE)
    assert isinstance(made, DrrScheduler)
    assert made.quantum_bytes == {0: 686, 1: 1600}
    behind = twin_scheduler(scheduler_of(lowered(running=kernel(*BANDS), classes=SHARES)), RATE)
    assert isinstance(behind, DrrScheduler)
    assert (behind.strict, behind.quantum_bytes) == ((0, 1), {2: 686, 3: 1600})


LINKS = json.dumps([{"ifname": "out", "flags": ["UP"]}])
QDISCS = f"""[{{"kind":"tbf","handle":"2:","dev":"out","root":true,"refcnt":2,
 "options":{{"rate":250000,"burst":"1600b/1","mpu":0,"limit":1536,"linklayer":"ethernet"}}}},
{{"kind":"drr","handle":"4:","dev":"out","parent":"3:2","options":{{}}}},
{{"kind":"pfifo","handle":"10:","dev":"out","parent":"3:1","options":{{"limit":64}}}},
{{"kind":"bfifo","handle":"12:","dev":"out","parent":"4:3","options":{{"limit":6400}}}},
{{"kind":"prio","handle":"3:","dev":"out","parent":"2:1",
 "options":{{"bands":2,"priomap":{json.dumps([1] * 16)},"multiqueue":false}}}},
{{"kind":"pfifo","handle":"11:","dev":"out","parent":"4:2","options":{{"limit":64}}}}]"""
SHOWN = (
    "class tbf 2:1 parent 2: leaf 3: \nclass drr 4:2 root leaf 11: quantum 686b \n"
    "class drr 4:3 root leaf 12: quantum 2Kb \n"
    "class prio 3:1 parent 3: leaf 10: \nclass prio 3:2 parent 3: leaf 4: \n"
)
FILTERS = (
    "filter protocol all pref 65003 matchall chain 0 \n"
    "filter protocol all pref 65003 matchall chain 0 handle 0x1 flowid 4:3 \n  not_in_hw\n"
)
"""As the kernel 6.1 and iproute2 6.1 of Debian 12 show them."""


def shown(filters: str) -> list[str]:
    inside = {("out", "4:"): filters}
    lines = shown_lines(Answers(links=LINKS, qdiscs=QDISCS, classes={"out": SHOWN}, inside=inside))
    return [line.removeprefix("tc ") for line in lines if line.startswith("tc ")]


def test_turns_that_a_kernel_shows_are_those_that_were_entered() -> None:
    assert shown(FILTERS) == [
        f"qdisc replace dev out root handle {HOLDER}",
        f"qdisc add dev out parent 2:1 handle 3: prio bands 2 priomap {last_of(2)}",
        "qdisc add dev out parent 3:1 handle 10: pfifo limit 64",
        "qdisc add dev out parent 3:2 handle 4: drr",
        "class add dev out parent 4: classid 4:2 drr quantum 686b",
        "qdisc add dev out parent 4:2 handle 11: pfifo limit 64",
        "class add dev out parent 4: classid 4:3 drr quantum 2048b",
        "qdisc add dev out parent 4:3 handle 12: bfifo limit 6400",
        "filter add dev out parent 4: protocol all pref 65003 handle 0x1 matchall classid 4:3",
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("handle 0x1", "handle 0x2"),
        ("matchall", "u32"),
        ("flowid 4:3", "flowid 3:1"),
        ("  not_in_hw", "  not_in_hw\n\taction order 1: gact action pass"),
        ("handle 0x1 flowid 4:3 \n  not_in_hw", ""),
    ],
)
def test_filters_of_others_are_kept_as_not_understood(ours: str, theirs: str) -> None:
    assert ours in FILTERS
    lines = "\n".join(f"tc {line}" for line in shown(FILTERS.replace(ours, theirs)))
    unknown = [line.text for line in LINUX.parse(lines, "r", "").unknown]
    assert any(line.startswith("tc filter add dev out parent 4: protocol all pref 65003 ") for line in unknown)
    # Entered again without them it would drop packets: tc refuses the line.
    assert 'tc qdisc add dev out parent 3:2 handle 4: drr {"filters":"others"}' in unknown


@pytest.mark.parametrize("filters", ["", "\n"])
def test_a_drr_of_others_is_none_that_is_entered_alone(filters: str) -> None:
    assert 'qdisc add dev out parent 3:2 handle 4: drr {"filters":"others"}' in shown(filters)
    root = [{"kind": "drr", "handle": "8001:", "dev": "out", "root": True, "options": {}}]
    lines = shown_lines(Answers(links=LINKS, qdiscs=json.dumps(root), inside={("out", "8001:"): FILTERS}))
    assert 'tc qdisc replace dev out root handle 8001: drr {"filters":"others"}' in lines


def test_the_drops_of_turns_are_read_and_not_those_of_the_band_around_them() -> None:
    made = lowered(running=kernel(*BANDS), classes=SHARES)
    said = (
        "class drr 4:3 root leaf 12: quantum 686b \n"
        " Sent 0 bytes 0 pkt (dropped 7, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n deficit 0b \n"
        "class prio 3:2 parent 3: leaf 11: \n Sent 0 bytes 0 pkt (dropped 4, overlimits 0 requeues 0) \n"
        "class prio 3:3 parent 3: leaf 4: \n Sent 0 bytes 0 pkt (dropped 9, overlimits 0 requeues 0) \n"
    )
    assert [(c.queue, c.drops) for c in LINUX.read_counters(counted(said), made.plan)] == [("bulk", 4), ("web", 7)]


@pytest.mark.needs("virtual-time")
def test_on_a_kernel_turns_are_in_the_ratio_of_the_shares() -> None:
    (sharing,) = measured(lowered(running=kernel(*TURNS), classes=[WEB]), {"web": 1.2, "default": 1.2})
    got = sharing.parts
    assert got["web"] == pytest.approx(0.3, abs=0.01)
    assert got["default"] == pytest.approx(0.7, abs=0.01)


@pytest.mark.needs("virtual-time")
def test_on_a_kernel_priority_goes_before_turns_and_what_no_rule_tells_is_sent() -> None:
    made = lowered(running=kernel(*BANDS), classes=SHARES)
    (sharing,) = measured(made, {"voice": 0.25, "bulk": 0.15, "web": 1.2, "default": 1.2})
    got = sharing.parts
    assert got["voice"] == pytest.approx(0.25, abs=0.01)
    assert got["bulk"] == pytest.approx(0.15, abs=0.01)
    assert got["web"] == pytest.approx(0.3 * 0.6, abs=0.01)
    assert got["default"] == pytest.approx(0.7 * 0.6, abs=0.01)
    assert sharing.waits_for_one_packet("voice")
