"""Trees of Linux routers of which something was changed by hand: they are entered whole, or left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from qosforge.compiler.candidate import make_candidate, plan_differences, rollback_lines
from qosforge.compiler.compile import CompiledDevice

from . import test_linux_sharing as sharing
from . import test_linux_virtual_queues as virtual
from .test_linux_bands import BULK, LIMITED, SHARES, VOICE, WEB, a_class, kernel, last_of, shown

KERNEL = kernel("htb", "ets", "prio", "fq_codel")
MARKED = virtual.classed("web", virtual.AF2, {"profiles": virtual.BY_MARK})


def bands(classes: list[dict[str, Any]], running: str = KERNEL) -> CompiledDevice:
    return sharing.lowered(classes=classes, running=running)


def held_of(made: CompiledDevice, before: str) -> str:
    return before + made.text.replace("!\n", "")


def entered(lines: tuple[str, ...] | str) -> list[str]:
    return [line for line in (lines.splitlines() if isinstance(lines, str) else lines) if line.startswith("tc ")]


def is_whole(made: CompiledDevice, held: str) -> bool:
    """Whether what is cleared comes back whole, as it is to be and as it was."""
    candidate = make_candidate(made, held)
    if not any(line.startswith("tc qdisc del ") for line in candidate.delta):
        return True
    clears = ("tc qdisc del ", "tc filter del ")
    wanted, got = (
        sorted(line for line in lines if not line.startswith(clears))
        for lines in (entered(made.text), entered(candidate.delta))
    )
    back = sorted(line for line in entered(candidate.inverse) if not line.startswith(clears))
    return got == wanted and back == sorted(entered(held))


def without_each(held: str) -> Iterator[str]:
    """What a router holds, without one line of its tree each time, and without all of its filters."""
    for line in entered(held):
        yield held.replace(f"{line}\n", "")
    yield "".join(f"{line}\n" for line in held.splitlines() if " clsact" not in line and " filter " not in line)


@pytest.mark.parametrize("percent", [10, 15])
def test_a_tree_of_which_a_line_is_gone_is_entered_whole_where_it_is_cleared(percent: int) -> None:
    """Of what is not understood for want of the others, the kernel keeps nothing as the tree goes."""
    other = a_class("bulk", "af11", bandwidth={"percent": 10})
    held = held_of(virtual.lowered(MARKED, other), virtual.KERNEL)
    other = a_class("bulk", "af11", bandwidth={"percent": percent})
    cleared = 0
    for left in without_each(held):
        made = virtual.lowered(MARKED, other, running=left)
        assert is_whole(made, left)
        cleared += "tc qdisc del dev wan0 root" in make_candidate(made, left).delta
    assert (cleared > 0) == (percent != 10)


BY_HAND = [
    pytest.param(SHARES, f"priomap {last_of(4)}", f"priomap 2{last_of(4)[1:]}", id="priomap"),
    pytest.param([VOICE, BULK], f"priomap {last_of(3)}", f"priomap {last_of(2)}", id="lower-band"),
    pytest.param(LIMITED, "prio bands 2 priomap", "ets strict 1 quanta 1600 priomap", id="in-turn"),
    pytest.param(
        SHARES, "parent 3:1 handle 10: pfifo limit 64", 'parent 3:1 handle 10: sfq {"limit":127}', id="bands"
    ),
    pytest.param([WEB], "handle 10: pfifo limit 64", 'handle 10: sfq {"limit":127}', id="htb"),
    pytest.param(
        [VOICE, a_class("web", "af21", bandwidth={"percent": 30}, fair_queue=True)],
        "target 1024s",
        "target 5ms",
        id="fair",
    ),
]


@pytest.mark.parametrize(("classes", "ours", "theirs"), BY_HAND)
def test_what_is_in_the_place_of_ours_makes_the_tree_be_entered_whole(
    classes: list[dict[str, Any]], ours: str, theirs: str
) -> None:
    """The kernel adds nothing where there is something."""
    before = held_of(bands(classes), KERNEL)
    assert ours in before
    held = before.replace(ours, theirs)
    made = bands(classes, held)
    assert plan_differences(made, held)
    assert make_candidate(made, held).delta[0] == "tc qdisc del dev out root"
    assert is_whole(made, held)
    told = [f.message for f in made.findings if f.code == "not-understood-affected"]
    assert len(told) == 1
    assert theirs in told[0]
    assert "tc qdisc del dev out root" in told[0]


@pytest.mark.parametrize(
    "root",
    [
        'handle 8001: fq_codel {"limit":10240}',
        'handle 1: tbf {"rate":1}',
        "handle 2: tbf rate 2mbit burst 1600b limit 1b",
    ],
)
def test_a_scheduler_of_others_at_a_port_is_taken_off_before_ours_comes(root: str) -> None:
    held = f"{KERNEL}tc qdisc replace dev out root {root}\n"
    made = bands([VOICE, BULK], held)
    assert make_candidate(made, held).delta[0] == "tc qdisc del dev out root"
    assert is_whole(made, held)
    assert [f.code for f in made.findings if f.code.startswith("not-understood")] == ["not-understood-affected"]


def test_what_was_approved_as_the_way_back_is_what_is_rolled_back() -> None:
    theirs = "tc class add dev out parent 1:1 classid 1:20 htb rate 1mbit ceil 2mbit burst 1600b cburst 1600b\n"
    held = held_of(bands([WEB]), KERNEL) + theirs
    made = bands([VOICE, BULK], held)
    back = make_candidate(made, held).inverse
    assert theirs.strip() in back
    assert back == rollback_lines("linux_tc", held_of(made, KERNEL), held)


@pytest.mark.parametrize(("place", "told"), [("egress pref 65001", 1), ("egress chain 5 pref 65001", 0)])
def test_a_filter_of_others_is_told_where_it_goes_with_ours(place: str, told: int) -> None:
    """Ours are taken away by their preference, which leaves other chains alone."""
    theirs = f'tc filter add dev wan0 {place} {{"kind":"u32"}}'
    plain = f"{virtual.KERNEL}tc qdisc replace dev wan0 clsact\n{theirs}\n"
    added = make_candidate(virtual.lowered(MARKED, running=plain), plain).delta
    assert [line for line in entered(added) if " del " in line] == []
    held = held_of(virtual.lowered(MARKED), virtual.KERNEL) + f"{theirs}\n"
    made = virtual.lowered(virtual.classed("web", virtual.AF2, True), running=held)
    affected = [f.message for f in made.findings if f.code == "not-understood-affected"]
    assert len(affected) == told
    assert all("tc filter del dev wan0 egress pref 65001" in message for message in affected)


def test_a_filter_of_others_in_a_tree_is_told_where_it_goes_with_that() -> None:
    theirs = 'tc filter add dev out parent 4: {"kind":"u32"}'
    held = held_of(bands([WEB]), KERNEL) + f"{theirs}\n"
    made = bands([VOICE, BULK], held)
    assert theirs in make_candidate(made, held).inverse
    assert [f.code for f in made.findings if f.code == "not-understood-affected"] == ["not-understood-affected"]


FOREIGN_QDISCS = """[{"kind":"htb","handle":"1:","dev":"out","root":true,"options":{"r2q":10,"default":"0x20"}},
{"kind":"prio","handle":"20:","dev":"out","parent":"1:20",
 "options":{"bands":3,"priomap":[1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1],"multiqueue":false}}]"""
FOREIGN_CLASSES = (
    "class htb 1:1 root rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b \n"
    "class htb 1:10 parent 1:1 prio 0 quantum 25000 rate 1Mbit ceil 2Mbit burst 1600b cburst 1600b \n"
    "class htb 1:20 parent 1:1 leaf 20: prio 5 quantum 3000 rate 1Mbit ceil 2Mbit burst 1600b cburst 1600b \n"
    "class prio 20:1 parent 20: \nclass prio 20:2 parent 20: \nclass prio 20:3 parent 20: \n"
)


def test_a_class_with_bands_beside_others_keeps_its_place_among_them() -> None:
    """Without its words it would be entered again as served first."""
    (line,) = [line for line in shown(FOREIGN_QDISCS, FOREIGN_CLASSES) if " classid 1:20 " in line]
    assert " htb prio 5 rate 1mbit " in line
    assert line.endswith(" quantum 3000")


BANDS_ABOVE = """[{"kind":"KIND","handle":"1:","dev":"out","root":true,"options":OPTIONS},
{"kind":"htb","handle":"5:","dev":"out","parent":"1:2","options":{"r2q":10,"default":"0x20"}},
{"kind":"pfifo","handle":"8:","dev":"out","parent":"5:20","options":{"limit":7}}]"""
CLASSES_BELOW = (
    "class htb 5:20 root leaf 8: prio 0 quantum 25000 rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b \n"
    "class KIND 1:1 root \nclass KIND 1:2 root leaf 5: \n"
)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("prio", f'{{"bands":2,"multiqueue":false,"priomap":{[1] * 16}}}'),
        ("ets", f'{{"bands":2,"strict":1,"quanta":[1500],"priomap":{[1] * 16}}}'),
    ],
)
def test_a_tree_in_bands_of_others_comes_back_with_its_classes_each_behind_what_it_is_in(
    kind: str, options: str
) -> None:
    lines = shown(
        BANDS_ABOVE.replace("KIND", kind).replace("OPTIONS", options), CLASSES_BELOW.replace("KIND", kind)
    )
    held = KERNEL + "".join(f"tc {line}\n" for line in lines)
    assert [line.split(" handle ")[-1].split(" classid ")[-1].split()[0] for line in lines] == [
        "1:",
        "5:",
        "5:20",
        "8:",
    ]
    back = entered(make_candidate(bands([VOICE, WEB], held), held).inverse)
    assert back == ["tc qdisc del dev out root", *(f"tc {line}" for line in lines)]
