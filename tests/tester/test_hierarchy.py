"""Shapers and policies inside policies: what the twin makes of them, in the figures of what it delivers."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge import errors
from qosforge.inventory.models import Framing
from qosforge.plan.model import (
    Discipline,
    Egress,
    InterfacePlan,
    Policer,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)
from qosforge.plan.shares import leaf_paths

from .measured import Load, by_mark, measure, policy, sending
from .test_ports import made


def percent(value: int) -> Share:
    return Share(unit=ShareUnit.PERCENT, value=value)


def halves(**last: Any) -> Egress:
    """Two classes of equal guarantees, the first by its mark."""
    first = Queue(number=0, name="first", share=percent(50), limit_packets=20)
    return policy(
        first,
        Queue(number=1, name="rest", share=percent(50), limit_packets=20),
        rules=by_mark(10),
        **last,
    )


# -- ports ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [64, 500, 1500])
def test_a_shaped_port_sends_its_rate(size: int) -> None:
    seen = measure(sending(Egress(shape_rate=1_000_000, shape_burst=4096)), Load(0, 3_000_000, size))
    assert sum(seen.frame_rates()) == pytest.approx(1_000_000, rel=0.01)


def test_a_port_held_to_a_part_of_its_rate_sends_that() -> None:
    limited = Scheduler(discipline=Discipline.FIFO, queues=(Queue(number=0),), limit_percent=25)
    seen = measure(sending(Egress(scheduler=limited)), Load(0, 3_000_000))
    assert sum(seen.frame_rates()) == pytest.approx(500_000, rel=0.01)


def test_the_tightest_shaper_of_a_port_counts() -> None:
    scheduler = Scheduler(discipline=Discipline.FIFO, queues=(Queue(number=0),), limit_percent=50)
    told = made(sending(Egress(scheduler=scheduler, shape_rate=300_000)))["egress"]["shape"]
    assert told == {"rate_bps": 300_000, "burst_bytes": 1000}
    assert "shape" not in made(sending(Egress(shape_rate=2_000_000)))["egress"]


def test_a_policy_around_another_is_the_shaper_of_the_port() -> None:
    """The inner one divides the shaped rate."""
    whole = Queue(number=0, name="class-default", shape_rate=1_000_000, child=halves())
    interface = sending(policy(whole))
    assert made(interface)["egress"]["scheduler"]["kind"] == "cbwfq"
    both = measure(interface, Load(10, 2_000_000), Load(0, 2_000_000))
    assert both.frame_rates() == pytest.approx([500_000, 500_000], rel=0.03)
    alone = measure(interface, Load(10, 2_000_000), Load(0, 100_000))
    assert sum(alone.frame_rates()) == pytest.approx(1_000_000, rel=0.02)


def test_priority_is_policed_while_a_shaper_around_it_waits() -> None:
    cap = Queue(number=0, name="voice", priority=True, capped=True, share=percent(30), burst=2000)
    inner = policy(cap, Queue(number=1, name="rest", limit_packets=20), rules=by_mark(46))
    whole = Queue(number=0, name="class-default", shape_rate=1_000_000, child=inner)
    seen = measure(sending(policy(whole)), Load(46, 800_000, 200), Load(0, 2_000_000))
    assert seen.frame_rates() == pytest.approx([300_000, 700_000], rel=0.05)


# -- classes ----------------------------------------------------------------------------------------------
def test_a_shaped_class_leaves_the_rest_to_the_others() -> None:
    slow = Queue(number=0, name="slow", share=percent(50), shape_rate=400_000, limit_packets=20)
    interface = sending(policy(slow, Queue(number=1, name="rest", limit_packets=20), rules=by_mark(10)))
    line = 2_000_000 * 518 / 538
    both = measure(interface, Load(10, 3_000_000), Load(0, 3_000_000))
    assert both.frame_rates() == pytest.approx([400_000, line - 400_000], rel=0.02)
    alone = measure(interface, Load(10, 3_000_000), Load(0, 10_000))
    assert alone.frame_rates()[0] == pytest.approx(400_000, rel=0.02)


def branches(bound: int | None) -> InterfacePlan:
    """Two branches of 25 and 75 per cent, the first divided 20 to 80 and bounded where ``bound`` says so."""
    inner = policy(
        Queue(number=0, name="a-video", share=percent(20), limit_packets=20),
        Queue(number=1, name="a-rest", share=percent(80), limit_packets=20),
        rules=by_mark(34),
    )
    first = Term(source="10.1.0.0/16")
    outer = policy(
        Queue(number=0, name="a", share=percent(25), shape_rate=bound, child=inner),
        Queue(number=1, name="b", share=percent(75), limit_packets=20),
        rules=(Rule(name="a", any_of=(first,), queue=0),),
    )
    return sending(outer)


A, B = {"src": "10.1.0.1"}, {"src": "10.2.0.1"}
LINE = 2_000_000 * 518 / 538


def test_classes_inside_classes_divide_what_theirs_get() -> None:
    loads = (Load(34, 2_000_000, packet=A), Load(0, 2_000_000, packet=A), Load(34, 2_000_000, packet=B))
    seen = measure(branches(None), *loads)
    # The mark of the inner class alone does not lead into the branch.
    assert seen.frame_rates() == pytest.approx([0.05 * LINE, 0.2 * LINE, 0.75 * LINE], rel=0.03)
    assert [queue["name"] for queue in seen.out["queues"]] == ["a-video", "a-rest", "b"]


@pytest.mark.parametrize(("bound", "taken"), [(None, LINE), (500_000, 500_000)])
def test_a_branch_borrows_unless_it_is_bounded(bound: int | None, taken: float) -> None:
    loads = (Load(34, 2_000_000, packet=A), Load(0, 2_000_000, packet=A), Load(0, 1000, packet=B))
    video, rest, _ = measure(branches(bound), *loads).frame_rates()
    assert [video, rest] == pytest.approx([0.2 * taken, 0.8 * taken], rel=0.03)


def test_priority_inside_a_shaped_branch_is_policed_there() -> None:
    cap = Queue(number=0, name="voice", priority=True, capped=True, share=percent(20), burst=2000)
    inner = policy(cap, Queue(number=1, name="rest", limit_packets=20), rules=by_mark(46))
    outer = policy(
        Queue(number=0, name="a", share=percent(50), shape_rate=1_000_000, child=inner),
        Queue(number=1, name="b", share=percent(50), limit_packets=20),
        rules=(Rule(name="a", any_of=(Term(source="10.1.0.0/16"),), queue=0),),
    )
    # The other branch is silent: the line is never busy for long, the shaper of this one is.
    loads = (Load(46, 600_000, 200, A), Load(0, 2_000_000, packet=A), Load(0, 1000, packet=B))
    voice, rest, _ = measure(sending(outer), *loads).frame_rates()
    assert [voice, rest] == pytest.approx([200_000, 800_000], rel=0.06)


def test_the_class_of_the_rest_may_be_divided_too() -> None:
    inner = policy(
        Queue(number=0, name="bulk", share=percent(25), limit_packets=20),
        Queue(number=1, name="other", share=percent(75), limit_packets=20),
        rules=by_mark(10),
    )
    gold = Queue(number=0, name="gold", share=percent(50), limit_packets=20)
    outer = policy(gold, Queue(number=1, name="class-default", share=percent(50), child=inner), rules=by_mark(46))
    loads = (Load(46, 2_000_000), Load(10, 2_000_000), Load(0, 2_000_000))
    assert measure(sending(outer), *loads).frame_rates() == pytest.approx(
        [0.5 * LINE, 0.125 * LINE, 0.375 * LINE], rel=0.03
    )


def test_queues_of_the_twin_are_the_innermost_ones_in_their_order() -> None:
    interface = branches(500_000)
    assert interface.egress.scheduler is not None
    told = made(interface)["egress"]
    assert len(told["queues"]) == len(leaf_paths(interface.egress.scheduler)) == 3
    numbers = [inner["queue"] for inner in told["scheduler"]["children"][0]["children"]]
    assert [*numbers, told["scheduler"]["children"][1]["queue"]] == [0, 1, 2]


def test_queues_of_one_name_in_two_branches_are_told_apart() -> None:
    inner = policy(Queue(number=0, name="x", share=percent(50)), Queue(number=1, name="rest"), rules=by_mark(34))
    outer = policy(
        Queue(number=0, name="a", share=percent(50), child=inner),
        Queue(number=1, name="b", share=percent(50), child=inner),
        rules=(Rule(name="a", any_of=(Term(source="10.1.0.0/16"),), queue=0),),
    )
    names = [queue["name"] for queue in made(sending(outer))["egress"]["queues"]]
    assert len(set(names)) == 4


# -- flows and marks --------------------------------------------------------------------------------------
@pytest.mark.parametrize("fair", [True, False])
def test_fair_queueing_in_a_class_is_by_flow(fair: bool) -> None:
    queue = Queue(number=0, name="class-default", fair=fair, limit_packets=40)
    small, large = measure(sending(policy(queue)), Load(0, 1_500_000), Load(0, 6_000_000)).frame_rates()
    # In order of arrival constant loads lose by their phases, not by their rates.
    assert large / small == pytest.approx(1, rel=0.05) if fair else large / small > 3


@pytest.mark.parametrize(("kbps", "queues"), [(56, 16), (128, 32), (256, 64), (257, 128), (1544, 256), (None, 256)])
def test_conversations_are_as_many_as_the_bandwidth_makes(kbps: int | None, queues: int) -> None:
    one = Scheduler(discipline=Discipline.FLOW_WFQ, queues=(Queue(number=0),))
    told = made(InterfacePlan(name="1", bandwidth_kbps=kbps, egress=Egress(scheduler=one)))["egress"]
    assert told["scheduler"].get("dynamic_queues", 256) == queues
    fair = policy(Queue(number=0, name="class-default", fair=True))
    (queue,) = made(InterfacePlan(name="1", bandwidth_kbps=kbps, egress=fair))["egress"]["queues"]
    assert queue["fair_queue"].get("dynamic_queues", 256) == queues


def test_marks_set_on_output_are_those_of_the_next_device() -> None:
    marked = Rule(name="c", any_of=(Term(dscp=(46,)),), set_dscp=34, queue=0)
    egress = policy(Queue(number=0, name="c"), Queue(number=1, name="rest"), rules=(marked,))
    far = {"ingress": {"rules": [{"match": {"dscp": [34]}}, {"match": {"dscp": [46]}}]}}
    seen = measure(sending(egress), Load(46, 100_000), far=far, seconds=2)
    remarked, kept, _ = (rule["packets"] for rule in seen.far["rules"]["ingress"])
    assert (remarked > 0, kept) == (True, 0)


# -- what is left -----------------------------------------------------------------------------------------
BUCKET = Policer(rate=64_000, burst=8000)


@pytest.mark.parametrize(
    ("outer", "says"),
    [
        (
            policy(
                Queue(number=0, name="a", share=percent(50), child=halves()),
                Queue(number=1, name="rest"),
                rules=(Rule(name="a", any_of=(Term(dscp=(46,)),), queue=0, police=BUCKET),),
            ),
            "a policer around classes of their own .a",
        ),
        (
            policy(
                Queue(number=0, name="a", share=percent(50), police=BUCKET, child=halves()),
                Queue(number=1, name="rest"),
            ),
            "a policer around classes of their own .a",
        ),
        (
            policy(
                Queue(
                    number=0,
                    name="a",
                    share=percent(50),
                    child=Egress(scheduler=Scheduler(discipline=Discipline.SRR, queues=(Queue(number=0),))),
                ),
                Queue(number=1, name="rest"),
            ),
            "srr around or inside classes of their own .a",
        ),
    ],
)
def test_what_a_tree_of_the_twin_cannot_do_is_refused(outer: Egress, says: str) -> None:
    with pytest.raises(errors.TesterError, match=says):
        made(sending(outer))


@pytest.mark.parametrize("framing", [Framing.PPP, Framing.FRAME_RELAY, Framing.ATM])
def test_shapers_count_frames_on_every_line(framing: Framing) -> None:
    seen = measure(sending(Egress(shape_rate=500_000)), Load(0, 3_000_000), framing=framing)
    assert sum(seen.frame_rates()) == pytest.approx(500_000, rel=0.01)
