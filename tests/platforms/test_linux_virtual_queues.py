"""Drop profiles for each mark on Linux routers: the kernel's ``gred``, and the filters that direct packets."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from napalm_linux_tc.answers import AnswerError
from napalm_linux_tc.gred import average_words
from napalm_linux_tc.red import MOST_WEIGHT, cell, weight_of
from napalm_linux_tc.shown import Answers, shown_lines
from napalm_linux_tc.undo import going_back
from napalm_linux_tc.virtual_queues import filter_words

from qosforge.compiler.candidate import make_candidate, rollback_lines
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.early_drop import Red
from qosforge.plan.model import Queue
from qosforge.platforms.base import platform
from qosforge.tester.scenario.queues import twin_queue
from tests.compiler.support import made_text

LINUX = platform("linux_tc")
PORTS = tuple(Interface(name=name, rate=10**7, role=DeviceRole.EDGE, tags=(name[:3],)) for name in ("lan0", "wan0"))
HARDWARE = "ip link set dev lan0 up\nip link set dev wan0 up\n"
KERNEL = f"modprobe sch_htb\nmodprobe sch_red\nmodprobe sch_gred\n{HARDWARE}"
SIDES = [{"interfaces": "lan", "direction": "input"}, {"interfaces": "wan", "direction": "output"}]
AF2 = (18, 20, 22)


def profile(dscp: object, minimum: str, maximum: str, probability: str = "10 %") -> dict[str, object]:
    return {"dscp": dscp, "minimum": minimum, "maximum": maximum, "probability": probability}


BY_MARK = [
    profile(18, "30 kB", "60 kB"),
    profile(20, "20 kB", "60 kB", "20 %"),
    profile(22, "10 kB", "40 kB", "50 %"),
]


def classed(name: str, dscp: object, wred: object, percent: int = 20, **match: object) -> dict[str, object]:
    """A class of these DSCPs with early detection."""
    return {
        "name": name,
        "match": {"any": [{"dscp": dscp, **match}]},
        "treatment": {"bandwidth": {"percent": percent}, "wred": wred},
    }


def lowered(*classes: dict[str, object], running: str = KERNEL) -> CompiledDevice:
    device = Device(
        name="r", platform="linux_tc", image="6.1", role=DeviceRole.EDGE, driver="linux_tc", interfaces=PORTS
    )
    network = Network(name="one", devices=(device,), links=(), stations=())
    intent = parse_intent(made_text(list(classes), apply=SIDES), "made.yaml")
    (made,) = compile_intent(intent, network, {"r": running}).devices
    return made


def queues_of(made: CompiledDevice) -> tuple[Queue, ...]:
    egress = made.plan.interfaces[-1].egress
    assert egress.scheduler is not None
    return egress.scheduler.queues


def red_of(queue: Queue) -> Red:
    assert queue.red is not None
    return queue.red


def reads_back(made: CompiledDevice) -> bool:
    read = LINUX.parse(made.text, "r", "")
    return read.unknown == () and read.interface("wan0") == made.plan.interface("wan0")


def test_profiles_of_marks_are_virtual_queues_of_one_average() -> None:
    made = lowered(classed("web", AF2, {"profiles": BY_MARK, "weight_exponent": 5, "ecn": True}))
    queue = queues_of(made)[0]
    told = [(p.dscp, p.minimum, p.maximum, p.denominator) for p in red_of(queue).profiles]
    assert told == [((18,), 30_000, 60_000, 10), ((20,), 20_000, 60_000, 5), ((22,), 10_000, 40_000, 2)]
    assert (queue.limit_bytes, red_of(queue).weight_exponent, red_of(queue).ecn) == (240_000, 5, True)
    setup, *virtual = [line for line in made.text.splitlines() if " gred " in line]
    assert setup.endswith("parent 1:10 handle 10: gred setup DPs 4 default 1 grio limit 240000b")
    assert [line.partition(" bandwidth 2000000bit ")[2] for line in virtual] == [
        f"DP {number} prio 1 ecn" for number in (1, 2, 3)
    ]
    # One avpkt and one weight, as tc_red_eval_ewma reckons it: the average is all virtual queues' own.
    words = [line.split() for line in virtual]
    entered = [{name: line[line.index(name) + 1] for name in ("min", "avpkt", "burst")} for line in words]
    assert {each["avpkt"] for each in entered} == {"1000b"}
    weights = [weight_of(int(e["min"].rstrip("b")), int(e["burst"]), 1000) for e in entered]
    assert weights == [5, 5, 5]
    assert reads_back(made)


def test_packets_of_each_version_of_ip_are_directed_by_their_mark() -> None:
    made = lowered(classed("web", AF2, {"profiles": BY_MARK}))
    lines = made.text.splitlines()
    directed = [line for line in lines if line.startswith("tc filter")]
    assert directed == [
        filter_words("wan0", protocol, dscp, number)
        for protocol in ("ip", "ipv6")
        for dscp, number in ((18, 1), (20, 2), (22, 3))
    ]
    assert directed[0] == (
        "tc filter replace dev wan0 egress protocol ip pref 65001 handle 0x13 flower ip_tos 0x48/0xfc classid :1"
    )
    assert lines[lines.index(directed[0]) - 1] == "tc qdisc replace dev wan0 clsact"


def test_one_curve_for_all_marks_needs_neither_virtual_queues_nor_filters() -> None:
    made = lowered(classed("web", AF2, {"profiles": [profile(AF2, "10 kB", "40 kB")]}))
    assert red_of(queues_of(made)[0]).by_dscp is False
    assert "gred" not in made.text
    assert "filter" not in made.text.replace("type filter hook", "")


def test_what_a_mark_means_at_a_port_holds_in_each_of_its_queues() -> None:
    """A packet has one virtual queue's number, so a profile that another class divides is in two of them."""
    halves = [profile([10, 12], "10 kB", "40 kB"), profile(14, "5 kB", "20 kB")]
    others = [profile(10, "10 kB", "40 kB"), profile([12, 14], "5 kB", "20 kB")]
    made = lowered(
        classed("left", [10, 12, 14], {"profiles": halves}, source="192.0.2.0/24"),
        classed("right", [10, 12, 14], {"profiles": others}),
    )
    left, right = (red_of(queue).profiles for queue in queues_of(made)[:2])
    assert [(p.dscp, p.minimum) for p in left] == [((10,), 10_000), ((12,), 10_000), ((14,), 5_000)]
    assert [(p.dscp, p.minimum) for p in right] == [((10,), 10_000), ((12,), 5_000), ((14,), 5_000)]
    assert reads_back(made)


def test_more_profiles_than_the_kernel_has_numbers_for_are_refused() -> None:
    marks = (*range(8, 16), *range(16, 24))
    named = [profile(dscp, f"{10 + at} kB", f"{40 + at} kB") for at, dscp in enumerate(marks)]
    fitting = lowered(classed("web", marks[:-1], {"profiles": named[:-1]}))
    assert len(red_of(queues_of(fitting)[0]).profiles) == 15
    assert reads_back(fitting)
    first = classed("first", marks[:8], {"profiles": named[:8]})
    made = lowered(first, classed("second", marks[8:], {"profiles": named[8:]}))
    assert [queue.red is not None for queue in queues_of(made)[:2]] == [True, False]
    assert queues_of(made)[1].limit_packets == 64
    (found,) = [f for f in made.findings if f.code == "wred-unsupported"]
    assert found.traffic_class == "second"
    assert "15 different drop profiles" in found.message


def test_a_kernel_without_gred_is_told() -> None:
    made = lowered(classed("web", AF2, {"profiles": BY_MARK}), running=KERNEL.replace("modprobe sch_gred\n", ""))
    (found,) = [f for f in made.findings if f.code == "wred-unsupported"]
    assert "of the scheduler gred" in found.message
    assert queues_of(made)[0].red is None


def test_a_mark_without_a_profile_is_told() -> None:
    made = lowered(classed("web", AF2, {"profiles": BY_MARK[:2]}))
    (found,) = [f for f in made.findings if f.code == "wred-unsupported"]
    assert "marks that no drop profile names" in found.message


def test_filters_go_with_their_tree_and_come_back_with_it() -> None:
    by_mark = lowered(classed("web", AF2, {"profiles": BY_MARK}))
    held = KERNEL + by_mark.text.replace("!\n", "")
    plain = lowered(classed("web", AF2, True), running=held)
    candidate = make_candidate(plain, held)
    assert candidate.delta[:3] == (
        "tc qdisc del dev wan0 root",
        "tc filter del dev wan0 egress pref 65001",
        "tc filter del dev wan0 egress pref 65002",
    )
    back = [line for line in candidate.inverse if line.startswith("tc ")]
    assert back[0] == "tc qdisc del dev wan0 root"
    assert sorted(back[1:]) == sorted(line for line in held.splitlines() if line.startswith("tc "))
    assert make_candidate(lowered(classed("web", AF2, {"profiles": BY_MARK}), running=held), held).empty


def test_the_twin_has_one_average_and_a_profile_for_each_mark() -> None:
    made = lowered(classed("web", AF2, {"profiles": BY_MARK, "weight_exponent": 5}))
    red = twin_queue(queues_of(made)[0], "web").red
    assert red is not None
    assert [(p.match_dscp, p.min, p.max, p.mark_denominator) for p in red.profiles] == [
        ((18,), 30_000, 60_000, 10),
        ((20,), 20_000, 60_000, 5),
        ((22,), 10_000, 40_000, 2),
    ]
    assert (red.weight_exponent, red.unit, red.spacing, red.idle_decay) == (5, "bytes", "uniform", True)


@settings(suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.integers(64, 10**9), min_size=2, max_size=15).map(tuple),
    st.integers(1, MOST_WEIGHT),
)
def test_any_thresholds_have_averages_of_one_weight(minima: tuple[int, ...], weight: int) -> None:
    words = average_words(minima, weight)
    assert words is not None
    packet, bursts = words
    assert [weight_of(m, b, packet) for m, b in zip(minima, bursts, strict=True)] == [weight] * len(minima)


VIRTUAL = {
    "prio": 1,
    "limit": 180_000,
    "ecn": False,
    "harddrop": False,
    "adaptive": False,
    "nodrop": False,
    "ewma": 5,
    "probability": 0.5,
    "Scell_log": cell(5, 1000, 3_000_000),
}
OPTIONS = {
    "dp_cnt": 3,
    "dp_default": 1,
    "grio": True,
    "limit": 180_000,
    "ecn": False,
    "harddrop": False,
    "adaptive": False,
    "nodrop": False,
}


def shown(options: dict[str, Any], virtual: dict[str, Any], filters: list[dict[str, Any]]) -> str:
    """What a router shows of a queue whose second virtual queue is changed like this."""
    first = VIRTUAL | {"vq": 1, "min": 15_000, "max": 45_000}
    second = VIRTUAL | {"vq": 2, "min": 10_000, "max": 30_000} | virtual
    qdiscs = [
        {"kind": "htb", "handle": "1:", "dev": "wan0", "root": True, "options": {"r2q": 10, "default": "0x10"}},
        {
            "kind": "gred",
            "handle": "10:",
            "dev": "wan0",
            "parent": "1:10",
            "options": OPTIONS | {"vqs": [first, second]} | options,
        },
        {"kind": "clsact", "handle": "ffff:", "dev": "wan0", "parent": "ffff:fff1", "options": {}},
    ]
    classes = (
        "class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b\n"
        "class htb 1:10 parent 1:1 leaf 10: prio 1 quantum 1600 rate 3Mbit ceil 10Mbit burst 1600b cburst 1600b\n"
    )
    links = json.dumps([{"ifname": "wan0", "flags": ["UP"]}])
    outputs = {"wan0": json.dumps(filters)}
    answers = Answers(links=links, qdiscs=json.dumps(qdiscs), classes={"wan0": classes}, outputs=outputs)
    return "\n".join(shown_lines(answers))


def flower(protocol: str, dscp: int, number: int, **more: object) -> dict[str, object]:
    """A filter as ``tc -j filter show`` of iproute2 6.1 has it."""
    keys = {"eth_type": "ipv4" if protocol == "ip" else "ipv6", "ip_tos": dscp << 2, "ip_tos_mask": "fc"}
    options = {"handle": dscp + 1, "classid": f":{number:x}", "keys": keys, "not_in_hw": True, **more}
    pref = 65001 if protocol == "ip" else 65002
    return {"protocol": protocol, "pref": pref, "kind": "flower", "chain": 0, "options": options}


DIRECTED = [
    flower(protocol, dscp, number)
    for protocol, (dscp, number) in itertools.product(("ip", "ipv6"), ((18, 1), (20, 2)))
]
ELSEWHERE = [flower(protocol, 22, 1) | {"chain": 5} for protocol in ("ip", "ipv6")]
OTHERS = [
    {"protocol": "all", "pref": 49152, "kind": "matchall", "chain": 0, "options": {"handle": 1, "not_in_hw": True}}
]


@pytest.mark.parametrize(
    ("options", "virtual", "filters", "ours"),
    [
        pytest.param({}, {}, DIRECTED, True, id="as entered"),
        pytest.param({}, {}, [*OTHERS, *DIRECTED], True, id="filters of others"),
        pytest.param({"grio": False}, {}, DIRECTED, False, id="an average for each"),
        pytest.param({}, {"prio": 2}, DIRECTED, False, id="averages of others added"),
        pytest.param({}, {"ewma": 6}, DIRECTED, False, id="two weights"),
        pytest.param({}, {"Scell_log": 25}, DIRECTED, False, id="another avpkt"),
        pytest.param({}, {"limit": 90_000}, DIRECTED, False, id="two limits"),
        pytest.param({}, {"probability": 0.4}, DIRECTED, False, id="a probability of no whole number"),
        pytest.param({"dp_default": 2}, {}, DIRECTED, False, id="another default"),
        pytest.param({"vqs": []}, {}, DIRECTED, False, id="no virtual queue"),
        pytest.param({}, {}, DIRECTED[:-1], False, id="one version of IP alone"),
        pytest.param({}, {}, [*DIRECTED, flower("ip", 22, 1, handle=9)], False, id="another handle"),
        pytest.param({}, {}, [*DIRECTED, *ELSEWHERE], False, id="another chain"),
    ],
)
def test_what_was_entered_otherwise_is_kept_as_not_understood(
    options: dict[str, Any], virtual: dict[str, Any], filters: list[dict[str, Any]], ours: bool
) -> None:
    plan = LINUX.parse(shown(options, virtual, filters), "r", "")
    assert (plan.unknown == ()) is ours
    if ours:
        scheduler = plan.interfaces[0].egress.scheduler
        assert scheduler is not None
        told = [(p.dscp, p.minimum, p.maximum, p.denominator) for p in red_of(scheduler.queues[0]).profiles]
        assert told == [((18,), 15_000, 45_000, 2), ((20,), 10_000, 30_000, 2)]


@pytest.mark.parametrize(
    "options",
    [
        {"handle": "1", "classid": ":1", "keys": {"eth_type": 0, "ip_tos": "?", "ip_tos_mask": "fc"}},
        {"handle": 1, "classid": ":1", "keys": {"eth_type": 0, "ip_tos": 40, "ip_tos_mask": None}},
        {"handle": 19, "classid": ":zz", "keys": {"eth_type": 0, "ip_tos": 72, "ip_tos_mask": "fc"}},
        [1],
    ],
)
def test_an_odd_answer_about_filters_is_told(options: object) -> None:
    with pytest.raises(AnswerError, match="tc -j filter show egress dev wan0"):
        shown({}, {}, [{**DIRECTED[0], "options": options}])


def test_a_filter_of_another_kind_at_the_same_place_is_kept_as_one_line() -> None:
    odd = {**DIRECTED[0], "kind": "u32\ntc qdisc del dev lan0 root"}
    lines = shown({}, {}, [odd]).splitlines()
    assert not any(line.startswith("tc qdisc del") for line in lines)
    assert [line.text for line in LINUX.parse("\n".join(lines), "r", "").unknown if "filter" in line.text] == lines[
        -1:
    ]


INGRESS = "tc qdisc replace dev wan0 ingress\n"


def test_profiles_by_mark_are_refused_where_others_filter_what_comes_in() -> None:
    """The kernel has one place for ``ingress`` and ``clsact``, and refuses the second ("Invalid qdisc name")."""
    classes = [classed("web", AF2, {"profiles": BY_MARK, "prefer": False}), classed("mail", "af11", {})]
    made = lowered(*classes, running=KERNEL + INGRESS)
    (error,) = [f for f in made.findings if f.severity is Severity.ERROR]
    assert (error.code, error.interface, error.traffic_class) == ("wred-unsupported", "wan0", "web")
    assert "'ingress' of others" in error.message
    assert [queue.red is None for queue in queues_of(made)] == [True, False, True]
    assert "clsact" not in make_candidate(made, KERNEL + INGRESS).text
    elsewhere = lowered(*classes, running=KERNEL + INGRESS.replace("wan0", "lan0"))
    assert reads_back(elsewhere)
    assert "clsact" in elsewhere.text


def test_ingress_of_others_is_shown_and_neither_understood_as_ours_nor_brought_back() -> None:
    qdiscs = [{"kind": "ingress", "handle": "ffff:", "dev": "wan0", "parent": "ffff:fff1", "options": {}}]
    links = json.dumps([{"ifname": name, "flags": ["UP"]} for name in ("lan0", "wan0")])
    lines = shown_lines(Answers(links=links, qdiscs=json.dumps(qdiscs)))
    assert "".join(f"{line}\n" for line in lines) == HARDWARE + INGRESS
    plan = LINUX.parse(HARDWARE + INGRESS, "r", "")
    assert (plan.unknown, plan.filtered_inputs) == ((), ("wan0",))
    tree, _ = going_back(lines, ["wan0"])
    assert "ingress" not in tree
    assert rollback_lines("linux_tc", HARDWARE, HARDWARE + INGRESS) == ()


@pytest.mark.parametrize("theirs", [*ELSEWHERE, DIRECTED[0] | {"kind": "u32"}])
def test_filters_of_others_alone_are_nothing_that_a_change_takes_back(theirs: dict[str, object]) -> None:
    lines = shown({"vqs": []}, {}, [theirs]).splitlines()
    assert [line.split(" {")[0] for line in lines if "clsact" in line or "filter" in line] == [
        "tc filter add dev wan0 egress " + ("chain 5 " if theirs["chain"] else "") + f"pref {theirs['pref']}"
    ]
