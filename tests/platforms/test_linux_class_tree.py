"""Classes below a class on a Linux router: classes of HFSC inside others, told apart by chains inside others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from qosforge import errors
from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Fidelity, Severity
from qosforge.plan.model import Queue
from qosforge.platforms.base import platform
from qosforge.platforms.linux_tc.class_tree import every_queue
from qosforge.tester.scenario.ports import twin_port
from qosforge.tester.scenario.schedulers import twin_scheduler
from qosforge.tester.scenario.twin_support import check_twin_support
from qosforge.twin.part import VERSION
from qosforge.twin.scenario import PS, FlowSpec, LinkSpec, NodeSpec, PacketSpec, PortSpec, TwinScenario
from qosforge.twin.schedulers import DcbqScheduler
from qosforge.twin.simulation import simulate
from qosforge.twin.sources import CbrSource
from tests.platforms.kernel_loads import FRAME, SECONDS, LoadRun, loaded
from tests.platforms.test_linux_sharing import RATE, lowered, scheduler_of

LINUX = platform("linux_tc")


def a_class(name: str, dscps: Sequence[int], **treatment: Any) -> dict[str, Any]:
    return {"name": name, "match": {"any": [{"dscp": list(dscps)}]}, "treatment": treatment}


BRANCHES = [
    a_class(
        "a",
        [10, 12],
        bandwidth={"percent": 30},
        bounded=True,
        children=[
            a_class("a1", [10], priority={"percent": 30}),
            a_class("a2", [12], bandwidth={"percent": 60}, queue_limit={"packets": 20}),
        ],
    ),
    a_class(
        "b",
        [18, 20, 22],
        bandwidth={"percent": 60},
        children=[
            a_class("b1", [18], bandwidth={"percent": 25}, bounded=True),
            a_class(
                "b2",
                [20, 22],
                bandwidth={"percent": 75},
                children=[a_class("b3", [20], bandwidth={"percent": 50})],
            ),
        ],
    ),
]


def curves_of(made: CompiledDevice) -> dict[str, tuple[str, str]]:
    """By the number of a class of HFSC what it is in, and its curves."""
    lines = [line.split() for line in made.text.splitlines() if "class add" in line and " hfsc " in line]
    return {words[8]: (words[6], " ".join(words[10:])) for words in lines}


def test_classes_below_a_class_are_inside_it_with_parts_of_its_share() -> None:
    assert curves_of(lowered("hfsc", classes=BRANCHES)) == {
        "1:10": ("1:", "ls m2 600kbit ul m2 600kbit"),
        "1:11": ("1:", "ls m2 1200kbit"),
        "1:12": ("1:", "ls m2 200kbit"),
        "1:13": ("1:10", "rt m1 2000kbit d 19800us m2 180kbit ls m2 180kbit"),
        "1:14": ("1:10", "ls m2 360kbit"),
        "1:15": ("1:10", "ls m2 60kbit"),
        "1:16": ("1:11", "ls m2 300kbit ul m2 300kbit"),
        "1:17": ("1:11", "ls m2 892kbit"),
        "1:18": ("1:11", "ls m2 8kbit"),
        "1:19": ("1:17", "ls m2 446kbit"),
        "1:1a": ("1:17", "ls m2 446kbit"),
    }


def test_innermost_classes_alone_have_queues_and_are_chosen() -> None:
    made = lowered("hfsc", classes=BRANCHES)
    lines = made.text.splitlines()
    queued = [line.split()[6] for line in lines if " pfifo " in line]
    assert queued == ["1:12", "1:13", "1:14", "1:15", "1:16", "1:18", "1:19", "1:1a"]
    chosen = {line.split()[5]: line.split()[9] for line in lines if "meta priority set" in line}
    assert chosen == {
        "out/out/a": "1:15",
        "out/out/a/a1": "1:13",
        "out/out/a/a2": "1:14",
        "out/out/b": "1:18",
        "out/out/b/b1": "1:16",
        "out/out/b/b2": "1:1a",
        "out/out/b/b2/b3": "1:19",
    }
    assert "tc qdisc add dev out parent 2:1 handle 1: hfsc default 0x12" in lines


def test_a_tree_reads_back_as_it_was_meant() -> None:
    made = lowered("hfsc", classes=BRANCHES)
    read = LINUX.parse(made.text, "r", "")
    assert read.unknown == ()
    assert read.interface("out") == made.plan.interface("out")
    assert [f.severity for f in made.findings if f.severity is Severity.ERROR] == []


def test_what_no_class_takes_may_be_divided_as_well() -> None:
    inside = {"name": "default", "treatment": {"children": [a_class("d1", [8], bandwidth={"percent": 40})]}}
    made = lowered("hfsc", classes=[BRANCHES[0], inside])
    assert "nft add rule inet qosforge out/out goto out/out/default " in made.text
    assert "hfsc default 0x16\n" in made.text
    read = LINUX.parse(made.text, "r", "")
    assert read.unknown == ()
    assert read.interface("out") == made.plan.interface("out")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("set 1:15 ", "set 1:10 "),
        ("hfsc default 0x12", "hfsc default 0x11"),
        ("parent 1:17 classid 1:19", "parent 1:30 classid 1:19"),
    ],
)
def test_what_no_plan_says_of_a_tree_is_kept_as_not_understood(before: str, after: str) -> None:
    """A class with classes inside has no queue: the kernel gives what is for it to the default class."""
    text = lowered("hfsc", classes=BRANCHES).text.replace(before, after)
    (unknown,) = LINUX.parse(text, "r", "").unknown
    assert after in f"{unknown.text} "


def test_the_default_of_a_tree_is_that_of_its_rules() -> None:
    inside = {"name": "default", "treatment": {"children": [a_class("d1", [8], bandwidth={"percent": 40})]}}
    text = lowered("hfsc", classes=[BRANCHES[0], inside]).text.replace("hfsc default 0x16", "hfsc default 0x15")
    (unknown,) = LINUX.parse(text, "r", "").unknown
    assert "hfsc default 0x15" in unknown.text


@pytest.mark.parametrize(
    ("features", "rate", "classes", "variant"),
    [
        ((), RATE, BRANCHES, "hfsc"),
        (("hfsc",), 10**11, BRANCHES, "34359738360 b/s"),
        (
            ("hfsc",),
            RATE,
            [a_class("p", [10, 12], priority={"percent": 30}, children=[a_class("p1", [10])])],
            "a priority class has one queue",
        ),
    ],
)
def test_what_cannot_be_divided_is_refused(
    features: tuple[str, ...], rate: int, classes: list[dict[str, Any]], variant: str
) -> None:
    made = lowered(*features, rate=rate, classes=classes)
    told = [f for f in made.findings if f.code == "children-unsupported"]
    assert [f.traffic_class for f in told] == [c["name"] for c in classes]
    assert all(f.severity is Severity.ERROR and variant in f.message for f in told)
    assert every_queue(scheduler_of(made)) == scheduler_of(made).queues


def test_children_that_are_told_by_a_mark_that_their_class_replaces_are_refused() -> None:
    marking = {**a_class("a", [10, 12], children=[a_class("a2", [12])]), "mark": {"dscp": "af21"}}
    (told,) = [f for f in lowered("hfsc", classes=[marking]).findings if f.code == "children-unsupported"]
    assert "class a2 below it is told by the one that they had before" in told.message


def test_levels_end_where_names_of_chains_do() -> None:
    deep: dict[str, Any] = a_class("c6", [10])
    for level in range(5, 0, -1):
        deep = a_class(f"c{level}", [10], children=[deep])
    made = lowered("hfsc", classes=[deep])
    (told,) = [f for f in made.findings if f.code == "children-unsupported"]
    assert told.traffic_class == "c5"
    assert "5 levels" in told.message


def test_shares_are_told_of_every_level_and_the_most_that_priority_may_reach() -> None:
    made = lowered("hfsc", classes=BRANCHES)
    told = {f.traffic_class: (f.fidelity, f.requested_percent, f.applied_percent) for f in made.fidelity}
    assert told["a2"] == (Fidelity.EXACT, 18.0, 18.0)
    assert told["b1"] == (Fidelity.EXACT, 15.0, 15.0)
    assert told["b3"][1:] == (pytest.approx(22.5), pytest.approx(22.3, abs=0.1))
    # Alone beside the rest of its class, whose rate is a third of its own, and never above what its class may.
    assert told["a1"] == (Fidelity.APPROXIMATE, 9.0, 30.0)
    (most,) = [f for f in made.findings if f.code == "priority-cap-not-enforced"]
    assert (most.traffic_class, most.applied) == ("a1", "up to 600 kb/s while one of them waits")


def test_real_time_curves_are_together_no_more_than_the_classes_that_they_are_in() -> None:
    made = lowered(
        "hfsc",
        classes=[
            a_class(
                "a",
                [10, 12],
                bandwidth={"percent": 40},
                children=[
                    a_class("a1", [10], priority={"percent": 50}),
                    a_class("a2", [12], priority={"percent": 50}),
                ],
            )
        ],
    )
    first = [q for q in every_queue(scheduler_of(made)) if q.priority]
    assert sum(q.share.value for q in first if q.share) <= 800


def test_the_twin_divides_such_a_tree_as_d_cbq() -> None:
    made = twin_scheduler(scheduler_of(lowered("hfsc", classes=BRANCHES)), RATE)
    assert isinstance(made, DcbqScheduler)
    found = [(c.name, c.parent, round(c.share, 4), c.priority, c.borrow, c.queue) for c in made.classes]
    assert found == [
        ("0", None, 0.3, "low", False, None),
        ("0.0", "0", 0.09, "high", True, 0),
        ("0.1", "0", 0.18, "low", True, 1),
        ("0.2", "0", 0.03, "low", True, 2),
        ("1", None, 0.6, "low", True, None),
        ("1.0", "1", 0.15, "low", False, 3),
        ("1.1", "1", 0.446, "low", True, None),
        ("1.1.0", "1.1", 0.223, "low", True, 4),
        ("1.1.1", "1.1", 0.223, "low", True, 5),
        ("1.2", "1", 0.004, "low", True, 6),
        ("2", None, 0.1, "low", True, 7),
    ]
    assert made.shapes is not None
    assert {number: shape.rate_bps for number, shape in made.shapes.items()} == {3: 300_000}


def test_the_twin_refuses_a_limit_above_the_share_of_classes_of_their_own() -> None:
    a, b = BRANCHES
    shaped = a | {"treatment": {**a["treatment"], "bounded": False, "shape": {"percent": 50}}}
    made = lowered("hfsc", classes=[shaped, b])
    with pytest.raises(errors.TesterError, match="a limit above the share"):
        check_twin_support(made.plan, made.plan.interfaces[0], None)
    bounded = lowered("hfsc", classes=BRANCHES)
    check_twin_support(bounded.plan, bounded.plan.interfaces[0], None)


def test_the_counts_of_a_class_are_its_own_and_its_drops_those_of_its_queues() -> None:
    made = lowered("hfsc", classes=BRANCHES)
    drops = {"1:13": 1, "1:14": 2, "1:15": 4, "1:10": 100}
    shown = "".join(
        f"class hfsc {number} parent 1: ls m1 0bit d 0us m2 600Kbit \n"
        f" Sent 9000 bytes 9 pkt (dropped {dropped}, overlimits 0 requeues 0) \n"
        for number, dropped in drops.items()
    )
    rules = [
        {"rule": {"chain": f"out/out/{name}", "expr": [{"counter": {"packets": packets, "bytes": 100 * packets}}]}}
        for name, packets in (("a", 9), ("a/a1", 3), ("a/a2", 4), ("a/default", 2))
    ]
    answers = {
        "nft -j list table inet qosforge": json.dumps({"nftables": rules}),
        "tc -s class show dev out": shown,
    }
    counts = LINUX.read_counters(answers, made.plan)
    assert [(c.queue, c.packets, c.drops) for c in counts] == [("a", 9, 7), ("a1", 3, 1), ("a2", 4, 2)]


def measured(made: CompiledDevice, *loads: dict[int, float]) -> list[LoadRun]:
    """What comes of loads on a kernel, one after another: parts of the link by DSCP.

    Filters stand in for the rules of ``nft``, which are the driver's.
    """
    tree = [line for line in made.text.splitlines() if line.startswith("tc ")]
    leaves = {dscp: number for number, dscps in leaf_dscps(made).items() for dscp in dscps}
    tree += [
        f"tc filter add dev out parent 1: protocol ip u32 match ip tos {dscp << 2:#04x} 0xfc "
        f"flowid 1:{leaves[dscp]:x}"
        for dscp in dict.fromkeys(dscp for load in loads for dscp in load)
    ]
    return loaded(tree, loads, RATE)


def leaf_dscps(made: CompiledDevice) -> dict[int, tuple[int, ...]]:
    """The DSCPs that each innermost class is for, by its number in the tree."""

    def level(queues: Sequence[Queue], rules: Any) -> dict[int, tuple[int, ...]]:
        told = {rule.queue: tuple(d for term in rule.any_of for d in term.dscp) for rule in rules}
        found: dict[int, tuple[int, ...]] = {}
        for queue in queues:
            if queue.child is not None and queue.child.scheduler is not None:
                found |= level(queue.child.scheduler.queues, queue.child.rules)
            else:
                found[0x10 + queue.number] = told.get(queue.number, ())
        return found

    egress = made.plan.interfaces[0].egress
    assert egress.scheduler is not None
    return level(egress.scheduler.queues, egress.rules)


TORINO = [
    a_class(
        "branch-a",
        [8, 16],
        bandwidth={"percent": 30},
        bounded=True,
        children=[
            a_class("class-1", [8], priority={"rate": "200 kb/s"}),
            a_class("class-2", [16], bandwidth={"rate": "400 kb/s"}),
        ],
    ),
    a_class(
        "branch-b",
        [24, 32],
        bandwidth={"percent": 70},
        children=[
            a_class("class-3", [24], bandwidth={"rate": "200 kb/s"}),
            a_class("class-4", [32], priority={"rate": "1184 kb/s", "burst": "2 kB"}),
        ],
    ),
]
"""The tree of the Torino study (appendix I, table 6): branches of 600 and 1400 kb/s, the first one bounded.

What no class takes has 8 kb/s of the line and of each branch. HFSC makes up to class 3 for what a burst of class 4
takes from it: a small one, so that this is soon over.
"""


LOADS = [(8, 16, 32), (8, 16, 24, 32), (16, 24), (8, 16)]
PUBLISHED = [
    pytest.param(LOADS[0], {8: 200, 16: 400, 32: 1400}, id="class 4 borrows what class 3 leaves"),
    pytest.param(LOADS[1], {8: 200, 16: 400, 24: 200, 32: 1200}, id="all send"),
    pytest.param(LOADS[2], {16: 600, 24: 1400}, id="one of each branch"),
    pytest.param(LOADS[3], {8: 200, 16: 400}, id="a bounded branch alone"),
]


@pytest.fixture(scope="module")
def branches_on_a_kernel() -> dict[tuple[int, ...], LoadRun]:
    """What a kernel made of each of the loads."""
    runs = measured(lowered("hfsc", classes=TORINO), *(dict.fromkeys(load, 1.2) for load in LOADS))
    return dict(zip(LOADS, runs, strict=True))


@pytest.mark.needs("virtual-time")
@pytest.mark.parametrize(("offered", "kbps"), PUBLISHED)
def test_on_a_kernel_branches_share_as_published(
    branches_on_a_kernel: dict[tuple[int, ...], LoadRun], offered: tuple[int, ...], kbps: dict[int, int]
) -> None:
    """Within 2 %: what a class leaves stays in its branch, and a bounded branch takes nothing of the other one."""
    got = branches_on_a_kernel[offered].parts()
    assert {dscp: part * RATE / 1000 for dscp, part in got.items()} == pytest.approx(kbps, rel=0.02)


@pytest.mark.parametrize(("offered", "kbps"), PUBLISHED)
def test_in_the_twin_branches_share_as_published(offered: tuple[int, ...], kbps: dict[int, int]) -> None:
    """As is predicted: by the rules of the plan, those inside others too, and held by the router, not by the line.

    Rates of the twin's classes have the headers of frames in them, 1.8 % here; and one class alone in a bounded
    branch stays 3 % below its rate.
    """
    made = lowered("hfsc", classes=TORINO)
    port = twin_port(made.plan, made.plan.interfaces[0], None, 2 * RATE, LINUX.profile)
    path = (("from", "nic"), ("r", "out"))
    flows = tuple(
        FlowSpec(
            name=str(dscp),
            path=path,
            packet=PacketSpec(dscp=dscp),
            source=CbrSource(rate_bps=round(1.2 * RATE), ip_bytes=FRAME),
        )
        for dscp in offered
    )
    nic = PortSpec(name="nic")
    document = TwinScenario(
        version=VERSION,
        duration_ps=SECONDS * PS,
        nodes=(
            NodeSpec(name="from", ports=(nic,)),
            NodeSpec(name="r", ports=(PortSpec(name="lan"), port)),
            NodeSpec(name="to", ports=(nic,)),
        ),
        links=(
            LinkSpec(a=("from", "nic"), b=("r", "lan"), framing="ethernet", rate_bps=10**9),
            LinkSpec(a=("r", "out"), b=("to", "nic"), framing="ethernet", rate_bps=2 * RATE),
        ),
        flows=flows,
    )
    got = {int(flow.name): flow.throughput_bps / 1000 for flow in simulate(document, 1).flows}
    assert got == pytest.approx(kbps, rel=0.05)
