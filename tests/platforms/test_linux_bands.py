"""Priority without a cap on a Linux router: bands of ETS and PRIO, what the twin and a real kernel make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from napalm_linux_tc.shown import Answers, shown_lines, trees

from qosforge.compiler.candidate import make_candidate, rollback_lines
from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Fidelity, Severity
from qosforge.platforms.base import platform
from qosforge.tester.scenario.schedulers import port_service, twin_scheduler
from qosforge.twin.schedulers import CbwfqScheduler, DrrScheduler

from .test_linux_sharing import CLASSES, RATE, lowered, measured, scheduler_of

LINUX = platform("linux_tc")


def a_class(name: str, dscp: str, **treatment: Any) -> dict[str, Any]:
    return {"name": name, "match": {"any": [{"dscp": [dscp]}]}, "treatment": treatment}


VOICE = a_class("voice", "ef", priority=True)
WEB = a_class("web", "af21", bandwidth={"percent": 30})
BULK = a_class("bulk", "af11", priority=True)
BOUND = a_class("bound", "cs1", bandwidth={"percent": 10}, bounded=True)
SHARES = [VOICE, WEB, BULK]
"""Two classes of priority, one of a share, and the rest."""
LIMITED = [VOICE, WEB, BOUND]


def kernel(*schedulers: str) -> str:
    """A router that tells the schedulers of its kernel, and holds nothing."""
    return "".join(f"modprobe sch_{name}\n" for name in schedulers) + "ip link set dev out up\n"


def words_of(made: CompiledDevice) -> list[str]:
    """The schedulers of a tree and their words, without the FIFOs."""
    qdiscs = [line.split(" handle ")[1] for line in made.text.splitlines() if line.startswith("tc qdisc ")]
    return [words for words in qdiscs if " pfifo " not in words]


def reads_back(made: CompiledDevice) -> bool:
    read = LINUX.parse(made.text, "r", "")
    return not read.unknown and read.interface("out") == made.plan.interface("out")


def twin_bucket(made: CompiledDevice) -> int:
    """The bytes of the bucket that the twin has for the port, which is of a faster line."""
    egress = made.plan.interfaces[0].egress
    shape = port_service(made.plan, made.plan.interfaces[0], 2 * (egress.shape_rate or 0), 10**12).shape
    assert shape is not None
    return shape.burst_bytes


def last_of(bands: int) -> str:
    return " ".join([str(bands - 1)] * 16)


def test_ets_serves_priority_first_and_divides_the_rest_by_quanta() -> None:
    made = lowered("ets", classes=SHARES)
    assert words_of(made) == [
        "2: htb default 0x1 r2q 10",
        f"3: ets strict 2 quanta 686 1600 priomap {last_of(4)}",
    ]
    assert " out/out/bulk meta priority set 3:2 " in made.text
    assert " out/out/web meta priority set 3:3 " in made.text
    assert reads_back(made)
    assert [f for f in made.findings if f.severity is not Severity.INFO] == []
    assert {f.traffic_class: (f.fidelity, f.requested_percent) for f in made.fidelity} == {
        "voice": (Fidelity.EXACT, 100.0),
        "web": (Fidelity.EXACT, 30.0),
        "bulk": (Fidelity.EXACT, 100.0),
        "default": (Fidelity.EXACT, 70.0),
    }


@pytest.mark.parametrize(
    ("weights", "turns"), [((1, 3), (533, 1600)), ((1, 100), (256, 25600)), ((3, 1), (1600, 533))]
)
def test_turns_are_short_and_none_is_less_than_the_kernel_holds(
    weights: tuple[int, int], turns: tuple[int, int]
) -> None:
    shares = [{"bandwidth": {"weight": weight}} for weight in weights]
    classes = [VOICE, a_class("web", "af21", **shares[0]), {"name": "default", "treatment": shares[1]}]
    made = lowered("ets", classes=classes)
    assert f"3: ets strict 1 quanta {turns[0]} {turns[1]} priomap {last_of(3)}" in words_of(made)
    assert [f for f in made.findings if f.code.startswith("share-")] == []


def test_a_kernel_with_both_gets_ets() -> None:
    assert words_of(lowered("ets", "prio", classes=[VOICE])) == words_of(lowered("ets", classes=[VOICE]))


def test_prio_is_enough_where_one_class_takes_the_rest() -> None:
    made = lowered("prio", classes=[VOICE, BULK])
    assert words_of(made) == ["2: htb default 0x1 r2q 10", f"3: prio bands 3 priomap {last_of(3)}"]
    assert reads_back(made)
    # Both serve alike, and mean the same.
    assert made.plan == lowered("ets", classes=[VOICE, BULK]).plan


def test_prio_has_a_tree_of_htb_for_shares_in_its_last_band() -> None:
    made = lowered("prio", classes=SHARES)
    assert words_of(made) == [
        "2: htb default 0x1 r2q 10",
        f"3: prio bands 3 priomap {last_of(3)}",
        "1: htb default 0x13 r2q 10",
    ]
    assert " parent 3:3 handle 1: htb " in made.text
    assert [line.split(" htb ")[1] for line in made.text.splitlines() if " htb prio " in line] == [
        "prio 1 rate 600kbit ceil 2mbit burst 4800b cburst 1600b quantum 1600",
        "prio 1 rate 1400kbit ceil 2mbit burst 6944b cburst 1600b quantum 3733",
    ]
    assert reads_back(made)


@pytest.mark.parametrize(("feature", "words"), [("ets", "ets strict 2"), ("prio", "prio bands 2")])
def test_classes_that_are_held_back_are_in_a_tree_of_htb_whatever_serves_the_bands(
    feature: str, words: str
) -> None:
    """In a band of ETS that has a quantum they would hold back the others (tc-ets(8))."""
    made = lowered(feature, classes=LIMITED)
    assert words_of(made)[1:] == [f"3: {words} priomap {last_of(2)}", "1: htb default 0x13 r2q 10"]
    assert " rate 200kbit ceil 200kbit " in made.text
    assert reads_back(made)


def test_a_capped_priority_is_served_after_those_without_a_cap() -> None:
    capped = a_class("video", "af41", priority={"percent": 20})
    told = lowered("ets", classes=[capped, VOICE])
    (late,) = [f for f in told.findings if f.code == "served-after-strict"]
    assert (late.traffic_class, late.severity) == ("video", Severity.WARNING)
    assert "after voice" in late.message
    assert reads_back(told)
    assert [f for f in lowered("ets", classes=[VOICE, capped]).findings if f.code == "served-after-strict"] == []


@pytest.mark.parametrize("running", [None, kernel("htb", "hfsc", "tbf")])
def test_a_kernel_without_bands_is_refused(running: str | None) -> None:
    made = lowered(*(("hfsc",) if running is None else ()), running=running, classes=SHARES)
    (error,) = [f for f in made.findings if f.severity is Severity.ERROR]
    assert (error.code, error.interface) == ("scheduler-missing", "out")
    assert "the scheduler ets or prio" in error.message
    assert "tc " not in made.text


def test_more_classes_than_bands_are_divided_below_them_or_refused() -> None:
    shares = [a_class(f"c{n}", f"{n}", bandwidth={"percent": 2}) for n in range(1, 17)]
    assert "1: htb default 0x21 r2q 10" in words_of(lowered("ets", classes=[VOICE, *shares]))
    strict = [a_class(f"c{n}", f"{n}", priority=True) for n in range(1, 17)]
    made = lowered("ets", classes=strict)
    (error,) = [f for f in made.findings if f.severity is Severity.ERROR]
    assert (error.code, "17 bands" in error.message) == ("scheduler-missing", True)


def test_tbf_holds_the_rate_where_the_kernel_has_no_htb() -> None:
    made = lowered(running=kernel("tbf", "ets"), classes=SHARES)
    assert words_of(made) == [
        "2: tbf rate 2mbit burst 1600b limit 1536b",
        f"3: ets strict 2 quanta 686 1600 priomap {last_of(4)}",
    ]
    assert "tc class" not in made.text
    assert reads_back(made)
    assert words_of(lowered(running=kernel("tbf", "hfsc")))[0] == "2: tbf rate 2mbit burst 1600b limit 1536b"
    assert reads_back(lowered(running=kernel("tbf", "hfsc")))


def with_mtu(text: str, mtu: int) -> str:
    return text.replace("ip link set dev out up", f"ip link set dev out mtu {mtu} up") if mtu > 1500 else text


@pytest.mark.parametrize("mtu", [1500, 9000, 65535])
@pytest.mark.parametrize("rate", [64_000, 2_000_000, 12_800_000, 70_000_000, 1_000_000_000, 10_000_000_000])
def test_a_bucket_holds_the_longest_packet_and_lets_it_wait_until_it_has_bands(rate: int, mtu: int) -> None:
    """TBF drops what is longer than its bucket, and what its own queue has no room for before it has another.

    tc shows a limit beyond the bucket as a time.
    """
    before = with_mtu(kernel("tbf", "ets"), mtu)
    made = lowered(rate=rate, running=before, classes=SHARES)
    (line,) = [words for words in words_of(made) if " tbf " in words]
    bucket, limit = (int(word.rstrip("b")) for word in (line.split()[5], line.split()[7]))
    microsecond = rate / 8e6
    assert mtu + 18 <= limit < bucket - 2 * microsecond
    assert bucket <= max(mtu * 1.1, rate / 8000 * 1.05)
    read = LINUX.parse(with_mtu("ip link set dev out up\n", mtu) + made.text, "r", "")
    assert not read.unknown
    assert read.interface("out") == made.plan.interface("out")
    assert twin_bucket(made) == bucket


def test_a_bucket_that_is_too_small_for_packets_that_are_longer_now_is_entered_anew() -> None:
    before = kernel("tbf", "ets")
    held = before + lowered(running=before, classes=SHARES).text
    assert make_candidate(lowered(running=held, classes=SHARES), held).empty
    longer = with_mtu(held, 9000)
    delta = make_candidate(lowered(running=longer, classes=SHARES), longer).delta
    assert any(" tbf rate 2mbit burst 9120b " in line for line in delta)


@pytest.mark.parametrize(("mtu", "words"), [(1500, "up"), (1280, "up"), (9000, "mtu 9000 up")])
def test_an_mtu_above_that_of_ethernet_is_shown(mtu: int, words: str) -> None:
    links = json.dumps([{"ifname": "out", "flags": ["UP"], "mtu": mtu}])
    assert shown_lines(Answers(links=links)) == (f"ip link set dev out {words}",)


UNTOLD = "ip link set dev out up\n"


@pytest.mark.parametrize(
    ("schedulers", "classes", "had"),
    [
        (("htb", "ets"), SHARES, "ets, htb"),
        (("htb", "ets"), [VOICE], "ets, htb"),
        (("htb", "prio"), [VOICE, BULK], "htb, prio"),
        (("htb", "prio"), SHARES, "htb, prio"),
        (("htb", "ets"), LIMITED, "ets, htb"),
        (("htb", "hfsc"), [WEB], "hfsc, htb"),
        (("tbf", "ets"), SHARES, "ets, tbf"),
        (("tbf", "drr"), [WEB], "drr, tbf"),
        (("tbf", "hfsc"), [WEB], "hfsc, tbf"),
    ],
)
def test_of_a_router_that_does_not_tell_what_it_has_in_use_is_taken(
    schedulers: tuple[str, ...], classes: list[dict[str, Any]], had: str
) -> None:
    held = UNTOLD + lowered(running=kernel(*schedulers), classes=classes).text
    again = lowered(running=held, classes=classes)
    assert [f.applied for f in again.findings if f.code == "schedulers-untold"] == [had]
    assert make_candidate(again, held).empty
    more = [a_class("other", "cs1", bandwidth={"percent": 5}), *classes] if "prio" not in schedulers else classes
    assert words_of(lowered(running=held, classes=more)) == words_of(
        lowered(running=kernel(*schedulers), classes=more)
    )


def test_a_bucket_of_others_does_not_tell_that_a_kernel_has_no_htb() -> None:
    others = "tc qdisc replace dev lan0 root handle 8001: tbf rate 2mbit burst 1600b limit 1536b\n"
    assert words_of(lowered(running=UNTOLD + others, classes=[WEB])) == ["1: htb default 0x11 r2q 10"]


def test_schedulers_that_others_have_in_use_are_those_of_the_kernel_too() -> None:
    others = f"tc qdisc replace dev lan0 root handle 8001: prio bands 3 priomap {last_of(2)}\n"
    others += 'tc qdisc add dev lan0 parent 8001:1 handle 8002: red {"limit":1}\n'
    assert words_of(lowered(running=UNTOLD + others, classes=SHARES)) == words_of(lowered("prio", classes=SHARES))


def test_without_htb_bands_serve_shares_and_do_not_cap_priority() -> None:
    made = lowered(running=kernel("tbf", "ets"), classes=CLASSES[:2])
    assert f"3: ets strict 1 quanta 1200 1600 priomap {last_of(3)}" in words_of(made)
    (told,) = [f for f in made.findings if f.code == "priority-cap-not-enforced"]
    assert (told.traffic_class, told.requested, told.applied) == (
        "voice",
        "at most 600 kb/s while others wait",
        "up to 2 Mb/s",
    )
    policed = [
        CLASSES[0]
        | {"treatment": {**CLASSES[0]["treatment"], "police": {"rate": "600 kb/s", "direction": "output"}}}
    ]
    held = lowered(running=kernel("tbf", "ets"), classes=policed)
    assert [f for f in held.findings if f.code == "priority-cap-not-enforced"] == []


@pytest.mark.parametrize(
    ("schedulers", "classes", "words"),
    [
        (("tbf",), SHARES, "of ets, drr and prio none"),
        (("tbf", "prio"), SHARES, "of ets, drr and prio none"),
        (("tbf", "ets"), LIMITED, "by htb alone"),
        (("ets", "prio"), SHARES, "neither htb nor tbf"),
        (("hfsc",), CLASSES, "neither htb nor tbf"),
    ],
)
def test_a_kernel_that_lacks_what_is_needed_is_refused_in_words(
    schedulers: tuple[str, ...], classes: list[dict[str, Any]], words: str
) -> None:
    made = lowered(running=kernel(*schedulers), classes=classes)
    errors = [f for f in made.findings if f.severity is Severity.ERROR]
    assert errors
    assert all(f.code == "scheduler-missing" and words in f.message for f in errors)


def test_bands_in_another_order_or_another_place_are_kept_as_not_understood() -> None:
    text = lowered("ets", classes=SHARES).text
    for ours, theirs in ((f"priomap {last_of(4)}", f"priomap {last_of(3)}"), ("handle 3: ets", "handle 5: ets")):
        (unknown,) = LINUX.parse(text.replace(ours, theirs), "r", "").unknown
        assert " ets " in unknown.text


def test_a_rate_of_tbf_alone_is_kept_as_not_understood() -> None:
    line = "tc qdisc replace dev out root handle 2: tbf rate 2mbit burst 1600b limit 1536b"
    plan = LINUX.parse(f"ip link set dev out up\n{line}\n", "r", "")
    assert [each.text for each in plan.unknown] == [line]
    assert plan.interfaces[0].egress.scheduler is None


FOREIGN = ('cake {"bandwidth":1}', f"prio bands 3 priomap {last_of(2)}", "hfsc default 0x1")


@pytest.mark.parametrize("words", FOREIGN)
def test_a_root_of_others_on_a_port_that_no_scope_names_stays(words: str) -> None:
    root = f"tc qdisc replace dev lan0 root handle 8001: {words}\n"
    before = kernel("htb") + root
    made = lowered(classes=[WEB], running=before)
    assert [f.severity for f in made.findings] == [Severity.WARNING]
    assert "lan0" not in make_candidate(made, before).text
    assert rollback_lines("linux_tc", root, "ip link set dev lan0 up\n") == ("tc qdisc del dev lan0 root",)
    assert rollback_lines("linux_tc", "ip link set dev lan0 up\n", root) == (root.rstrip(),)


@pytest.mark.parametrize("schedulers", [("htb", "ets"), ("htb", "prio"), ("tbf", "ets")])
def test_every_line_is_entered_behind_what_it_is_in(schedulers: tuple[str, ...]) -> None:
    before = kernel(*schedulers)
    entered: list[str] = []
    for line in make_candidate(lowered(running=before, classes=SHARES), before).delta:
        words = line.split()
        if words[0] == "tc":
            place = words[words.index("parent") + 1] if "parent" in words else ""
            # Bands, and the class of TBF, are there with the scheduler that they are of.
            made = place in entered or (place[:1] in "23" and f"{place.split(':')[0]}:" in entered)
            assert made or not place, line
            entered.append(words[words.index("classid" if "classid" in words else "handle") + 1])
    assert entered[0] == "2:"


def test_the_twin_serves_bands_strictly_and_then_in_turn() -> None:
    made = twin_scheduler(scheduler_of(lowered("ets", classes=SHARES)), RATE)
    assert isinstance(made, DrrScheduler)
    assert (made.strict, made.quantum_bytes) == ((0, 1), {2: 686, 3: 1600})
    inner = twin_scheduler(scheduler_of(lowered("prio", classes=LIMITED)), RATE)
    assert isinstance(inner, CbwfqScheduler)
    assert [(p.queue, p.rate_bps) for p in inner.priority] == [(0, RATE)]
    assert inner.weights == {1: 600_000, 2: 200_000, 3: 1_200_000}
    assert inner.shapes is not None
    assert {number: shape.rate_bps for number, shape in inner.shapes.items()} == {2: 200_000}


LAST = json.dumps([2] * 16)
LINKS = json.dumps([{"ifname": "out", "flags": ["UP"]}])
ETS_QDISCS = f"""[{{"kind":"htb","handle":"2:","dev":"out","root":true,"options":{{"r2q":10,"default":"0x1"}}}},
{{"kind":"pfifo","handle":"10:","dev":"out","parent":"3:1","options":{{"limit":64}}}},
{{"kind":"bfifo","handle":"12:","dev":"out","parent":"3:3","options":{{"limit":6400}}}},
{{"kind":"ets","handle":"3:","dev":"out","parent":"2:1",
 "options":{{"bands":3,"strict":1,"quanta":[3000,1500],"priomap":{LAST}}}}},
{{"kind":"pfifo","handle":"11:","dev":"out","parent":"3:2","options":{{"limit":64}}}}]"""
ETS_CLASSES = (
    "class htb 2:1 root leaf 3: prio 0 quantum 25000 rate 2Mbit ceil 2Mbit linklayer ethernet burst 1600b/1 mpu 0b "
    "cburst 1600b/1 mpu 0b level 0 \nclass ets 3:1 root leaf 10: \nclass ets 3:2 root leaf 11: quantum 3000 \n"
    "class ets 3:3 root leaf 12: quantum 1500 \n"
)
PRIO_QDISCS = f"""[{{"kind":"tbf","handle":"2:","dev":"out","root":true,
 "options":{{"rate":250000,"burst":"1600b/1","mpu":0,"limit":1536,"linklayer":"ethernet"}}}},
{{"kind":"pfifo","handle":"10:","dev":"out","parent":"3:1","options":{{"limit":64}}}},
{{"kind":"pfifo","handle":"12:","dev":"out","parent":"1:12","options":{{"limit":64}}}},
{{"kind":"htb","handle":"1:","dev":"out","parent":"3:3","options":{{"r2q":10,"default":"0x12"}}}},
{{"kind":"prio","handle":"3:","dev":"out","parent":"2:1",
 "options":{{"bands":3,"priomap":{LAST},"multiqueue":false}}}},
{{"kind":"pfifo","handle":"11:","dev":"out","parent":"3:2","options":{{"limit":64}}}}]"""
PRIO_CLASSES = (
    "class tbf 2:1 parent 2: leaf 3: \nclass htb 1:1 root rate 2Mbit ceil 2Mbit linklayer ethernet burst 1600b/1 "
    "mpu 0b cburst 1600b/1 mpu 0b level 7 \nclass htb 1:12 parent 1:1 leaf 12: prio 1 quantum 1600 rate 1Mbit ceil "
    "2Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 0 \n"
    "class prio 3:1 parent 3: leaf 10: \nclass prio 3:2 parent 3: leaf 11: \nclass prio 3:3 parent 3: leaf 1: \n"
)
"""As the kernel 6.1 and iproute2 6.1 of Debian 12 show them."""


def shown(qdiscs: str, classes: str) -> list[str]:
    assert trees(qdiscs) == ("out",)
    lines = shown_lines(Answers(links=LINKS, qdiscs=qdiscs, classes={"out": classes}))
    return [line.removeprefix("tc ") for line in lines if line.startswith("tc ")]


def test_bands_that_a_kernel_shows_are_those_that_were_entered() -> None:
    buckets = "burst 1600b cburst 1600b"
    assert shown(ETS_QDISCS, ETS_CLASSES) == [
        "qdisc replace dev out root handle 2: htb default 0x1 r2q 10",
        "class add dev out parent 2: classid 2:1 htb rate 2mbit ceil 2mbit burst 1600b cburst 1600b",
        f"qdisc add dev out parent 2:1 handle 3: ets strict 1 quanta 3000 1500 priomap {last_of(3)}",
        "qdisc add dev out parent 3:1 handle 10: pfifo limit 64",
        "qdisc add dev out parent 3:2 handle 11: pfifo limit 64",
        "qdisc add dev out parent 3:3 handle 12: bfifo limit 6400",
    ]
    assert shown(PRIO_QDISCS, PRIO_CLASSES) == [
        "qdisc replace dev out root handle 2: tbf rate 2mbit burst 1600b limit 1536b",
        f"qdisc add dev out parent 2:1 handle 3: prio bands 3 priomap {last_of(3)}",
        "qdisc add dev out parent 3:1 handle 10: pfifo limit 64",
        "qdisc add dev out parent 3:2 handle 11: pfifo limit 64",
        "qdisc add dev out parent 3:3 handle 1: htb default 0x12 r2q 10",
        "class add dev out parent 1: classid 1:1 htb rate 2mbit ceil 2mbit burst 1600b cburst 1600b",
        f"class add dev out parent 1:1 classid 1:12 htb prio 1 rate 1mbit ceil 2mbit {buckets} quantum 1600",
        "qdisc add dev out parent 1:12 handle 12: pfifo limit 64",
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ('"multiqueue":false', '"multiqueue":true'),
        ('"limit":1536,', '"lat":832000,'),
        ('"burst":"1600b/1"', '"burst":"1600b/1","peakrate":500000'),
    ],
)
def test_other_options_of_prio_and_tbf_are_kept_as_not_understood(ours: str, theirs: str) -> None:
    assert ours in PRIO_QDISCS
    lines = "\n".join(f"tc {line}" for line in shown(PRIO_QDISCS.replace(ours, theirs), PRIO_CLASSES))
    assert LINUX.parse(lines, "r", "").unknown


def counted(classes: str) -> dict[str, str]:
    """What a router answers that has counted packets of both classes; ``classes`` is what tc shows."""
    rules = [
        {"rule": {"chain": f"out/out/{name}", "expr": [{"counter": {"packets": 9, "bytes": 9000}}]}}
        for name in ("bulk", "web")
    ]
    return {
        "nft -j list table inet qosforge": json.dumps({"nftables": rules}),
        "tc -s class show dev out": classes,
    }


def test_the_drops_of_bands_are_read() -> None:
    made = lowered("prio", classes=SHARES)
    said = (
        "class htb 2:1 root leaf 3: prio 0 rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b \n"
        " Sent 86 bytes 1 pkt (dropped 0, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n\n"
        "class prio 3:2 parent 3: leaf 11: \n Sent 0 bytes 0 pkt (dropped 4, overlimits 0 requeues 0) \n"
        "class htb 1:12 parent 1:1 leaf 12: prio 1 rate 1Mbit ceil 2Mbit burst 1600b cburst 1600b \n"
        " Sent 0 bytes 0 pkt (dropped 7, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n"
    )
    answers = counted(said)
    assert set(LINUX.counter_commands(made.plan)) == set(answers)
    assert [(c.queue, c.drops) for c in LINUX.read_counters(answers, made.plan)] == [("bulk", 4), ("web", 7)]


OFFERED = {"voice": 0.25, "bulk": 0.15, "web": 1.2, "default": 1.2}


@pytest.mark.needs("virtual-time")
@pytest.mark.parametrize("schedulers", [("htb", "ets"), ("tbf", "ets"), ("htb", "prio")])
def test_on_a_kernel_priority_waits_for_one_packet_and_the_rest_is_divided(schedulers: tuple[str, ...]) -> None:
    made = lowered(running=kernel(*schedulers), classes=SHARES)
    sharing, capless = measured(made, OFFERED, {"voice": 1.2, "bulk": 0.15, "web": 1.2})
    got = sharing.parts
    assert got["voice"] == pytest.approx(0.25, abs=0.01)
    assert got["bulk"] == pytest.approx(0.15, abs=0.01)
    assert got["web"] == pytest.approx(0.3 * 0.6, abs=0.01)
    assert got["default"] == pytest.approx(0.7 * 0.6, abs=0.01)
    assert sharing.waits_for_one_packet("voice")
    assert capless.parts == {"voice": pytest.approx(1.0, abs=0.02)}, "nothing caps it"


@pytest.mark.needs("virtual-time")
def test_on_a_kernel_a_bounded_class_below_bands_stays_at_its_rate() -> None:
    (sharing,) = measured(lowered("ets", classes=LIMITED), {"voice": 0.25, "web": 1.2, "bound": 1.2})
    got = sharing.parts
    assert got["voice"] == pytest.approx(0.25, abs=0.01)
    assert got["bound"] == pytest.approx(0.1, abs=0.01)
    assert got["web"] == pytest.approx(0.65, abs=0.02)
    assert sharing.waits_for_one_packet("voice")
