"""Long-run shares against the fluid model: what each class got of all that was sent, to a turn and a few packets.

All packets are there from the start, so that every class waits all the time and nothing but the scheduler divides.
"""

import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.plan.fluid import FluidClass, throughput
from tests.properties.budget import tried

from .disciplines import QUEUES
from .scenarios import egress, flow, flows_of, one_port, port_of, run

RATE = 10_000_000
SECONDS = 0.4
LINE_BYTES = round(RATE * SECONDS / 8)
LARGEST = 1500
Json = dict[str, Any]
# Of a scheduler that is given weights only: bytes of the heaviest queue's turn (a full frame and more).
WEIGHTED_TURN = 1600
HTB_BURST = 1600


@dataclass(frozen=True)
class Shared:
    """A scheduler, the fluid class of each queue, and how many bytes each may get at one turn."""

    scheduler: Json
    classes: tuple[FluidClass, ...]
    turns: tuple[float, ...] = (0.0,) * QUEUES
    # Bytes of every packet of a queue; none: from 40 to LARGEST at random.
    sizes: tuple[int, ...] | None = None


def fluid(*weights: float, **rest: Any) -> tuple[FluidClass, ...]:
    return tuple(FluidClass(f"q{i}", math.inf, weight, **rest) for i, weight in enumerate(weights))


three_weights = st.lists(st.integers(1, 20), min_size=QUEUES, max_size=QUEUES)
three_sizes = st.lists(st.integers(40, LARGEST), min_size=QUEUES, max_size=QUEUES)


@st.composite
def by_packets(draw: st.DrawFn) -> Shared:
    weights, sizes = draw(three_weights), draw(three_sizes)
    ordered: Json = {str(q): w for q, w in enumerate(weights)}
    scheduler = draw(
        st.sampled_from(
            [
                {"kind": "wrr", "weights": weights},
                {"kind": "strict_wrr", "strict": [], "weights": weights, "mode": "packets"},
                {"kind": "strict", "order": [ordered]},
            ]
        )
    )
    turns = tuple(float(w * s) for w, s in zip(weights, sizes, strict=True))
    return Shared(scheduler, fluid(*turns), turns, tuple(sizes))


@st.composite
def by_rounded_quanta(draw: st.DrawFn) -> Shared:
    weights, sizes, quantum = draw(three_weights), draw(three_sizes), draw(st.sampled_from([64, 256, 512]))
    scheduler = {"kind": "wrr", "weights": weights, "quantum_bytes": quantum, "counting": "rounded_up"}
    # An untagged frame is counted with the 4 bytes of a tag.
    packets = [w / math.ceil((s + 4) / quantum) for w, s in zip(weights, sizes, strict=True)]
    turns = tuple(p * s for p, s in zip(packets, sizes, strict=True))
    return Shared(scheduler, fluid(*turns), turns, tuple(sizes))


@st.composite
def by_bytes(draw: st.DrawFn) -> Shared:
    weights = draw(three_weights)
    kind = draw(st.sampled_from(["drr", "exact", "bytes", "srr"]))
    quantum = draw(st.sampled_from([64, 256, 1500]))
    scheduler: Json = {
        "drr": {"kind": "drr", "quantum_bytes": [w * quantum for w in weights]},
        "exact": {"kind": "wrr", "weights": weights, "quantum_bytes": quantum},
        "bytes": {"kind": "strict_wrr", "strict": [], "weights": weights, "mode": "bytes"},
        "srr": {"kind": "srr", "weights": weights},
    }[kind]
    unit = quantum if kind in {"drr", "exact"} else WEIGHTED_TURN / max(weights)
    return Shared(scheduler, fluid(*weights), tuple(w * unit for w in weights))


@st.composite
def by_finish_numbers(draw: st.DrawFn) -> Shared:
    weights = draw(three_weights)
    leaves = [{"queue": q, "weight": w} for q, w in enumerate(weights)]
    inner: Json = {"weight": weights[0] + weights[1], "children": leaves[:2]}
    scheduler = draw(
        st.sampled_from(
            [
                {"kind": "cbwfq", "weights": weights},
                {"kind": "tree", "children": leaves},
                {"kind": "tree", "children": [inner, leaves[2]]},
            ]
        )
    )
    return Shared(scheduler, fluid(*weights))


@st.composite
def shaped_round_robin(draw: st.DrawFn) -> Shared:
    weights, divisor = draw(three_weights), draw(st.integers(2, 20))
    scheduler = {"kind": "srr", "weights": weights, "shape": [divisor, 0, 0]}
    held = FluidClass("q0", math.inf, priority=1, ceiling=LINE_BYTES / divisor)
    unit = WEIGHTED_TURN / max(weights[1:])
    return Shared(scheduler, (held, *fluid(*weights)[1:]), tuple(w * unit for w in weights))


@st.composite
def by_rates(draw: st.DrawFn) -> Shared:
    weights = draw(three_weights)
    rates = [RATE * w // (sum(weights) + 1) for w in weights]
    classes: list[Json] = [{"name": "all", "rate_bps": sum(rates), "burst_bytes": HTB_BURST}]
    classes += [
        {"name": f"c{q}", "parent": "all", "rate_bps": rate, "queue": q, "quantum_bytes": LARGEST}
        for q, rate in enumerate(rates)
    ]
    return Shared({"kind": "htb", "classes": classes}, fluid(*rates), (float(LARGEST + 2 * HTB_BURST),) * QUEUES)


KINDS = {
    draw.__name__: draw()
    for draw in (by_packets, by_rounded_quanta, by_bytes, by_finish_numbers, shaped_round_robin, by_rates)
}


def backlog(queue: int, sizes: list[int]) -> Json:
    """Packets that are all there when the first one, of another flow, is on the line."""
    return flow(f"c{queue}", queue, {"src_port": queue}, kind="trace", times_ps=[1] * len(sizes), ip_bytes=sizes)


def backlogged(port: Json, sizes: tuple[int, ...] | None, random: Any) -> Json:
    """Each class has more than the line carries."""
    flows = [flow("first", 0, {"src_port": 9}, kind="trace", times_ps=[0], ip_bytes=[40])]
    for queue in range(QUEUES):
        pool = [sizes[queue]] if sizes else [random.randrange(40, LARGEST + 1) for _ in range(97)]
        count = LINE_BYTES * len(pool) // sum(pool) + len(pool)
        flows.append(backlog(queue, (pool * (count // len(pool) + 1))[:count]))
    return one_port(port, flows, rate_bps=RATE, seconds=SECONDS) | {"drain": False}


@pytest.mark.parametrize("kind", KINDS)
@tried(0.2)
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_backlogged_classes_get_what_the_fluid_model_says(kind: str, data: st.DataObject, random: Any) -> None:
    shared = data.draw(KINDS[kind])
    queues = port_of(run(backlogged(egress(QUEUES, shared.scheduler, 10**6), shared.sizes, random)))["queues"]
    served = [queue["bytes_out"] for queue in queues]
    assert all(queue["packets_out"] < queue["packets_in"] for queue in queues)
    total = sum(served)
    expected = throughput(FluidClass("line", children=shared.classes), total)
    largest = max(shared.sizes or [LARGEST])
    for queue, turn in enumerate(shared.turns):
        part = expected[f"q{queue}"]
        # One turn, a packet that goes over its end, and the class's part of what is over in the others.
        bound = turn + largest * (2 + QUEUES * part / total)
        assert abs(served[queue] - part) <= bound, (served, expected)


@tried(0.3)
@given(
    precedences=st.lists(st.integers(0, 7), min_size=QUEUES, max_size=QUEUES),
    random=st.randoms(use_true_random=False),
)
def test_conversations_get_what_the_fluid_model_says(precedences: list[int], random: Any) -> None:
    """Flow-based fair queuing: by precedence + 1."""
    scheduler = {"kind": "wfq", "congestive_discard_threshold": 10**5, "hold_queue": 10**5}
    document = backlogged({"scheduler": scheduler}, None, random)
    for each, precedence in zip(document["flows"][1:], precedences, strict=True):
        each["packet"]["dscp"] = 8 * precedence
    reports = flows_of(run(document))
    served = [reports[f"c{q}"]["bytes_delivered"] for q in range(QUEUES)]
    expected = throughput(FluidClass("line", children=fluid(*(p + 1 for p in precedences))), sum(served))
    for queue in range(QUEUES):
        part = expected[f"q{queue}"]
        assert abs(served[queue] - part) <= LARGEST * (2 + QUEUES * part / sum(served)), (served, expected)


@st.composite
def link_sharing(draw: st.DrawFn) -> tuple[Json, tuple[FluidClass, ...]]:
    weights = draw(st.lists(st.integers(2, 10), min_size=QUEUES, max_size=QUEUES))
    kind = draw(st.sampled_from(["cbq", "dcbq", "dcbqe"]))
    classes = [{"name": f"c{q}", "share": w / sum(weights), "queue": q} for q, w in enumerate(weights)]
    return {"kind": kind, "classes": classes}, fluid(*weights)


@tried(0.2)
@given(shared=link_sharing(), random=st.randoms(use_true_random=False))
def test_link_sharing_keeps_the_shares_as_its_estimator_can(shared: tuple[Json, Any], random: Any) -> None:
    """Class-based queuing: within 2^-gain of the share (the estimator's average), and the burst it allows."""
    scheduler, classes = shared
    queues = port_of(run(backlogged(egress(QUEUES, scheduler, 10**6), (1000,) * QUEUES, random)))["queues"]
    served = [queue["bytes_out"] for queue in queues]
    expected = throughput(FluidClass("line", children=classes), sum(served))
    for queue in range(QUEUES):
        part = expected[f"q{queue}"]
        assert abs(served[queue] - part) <= part / 16 + 8 * 1000, (served, expected)


@st.composite
def mixed(draw: st.DrawFn) -> tuple[Json, tuple[FluidClass, ...]]:
    """A class before the others, and two that share the rest, with any loads."""
    loads = draw(st.lists(st.integers(10, 120), min_size=QUEUES, max_size=QUEUES))
    weights = draw(st.lists(st.integers(1, 9), min_size=2, max_size=2))
    rest = {"1": weights[0], "2": weights[1]}
    scheduler = draw(
        st.sampled_from(
            [
                {"kind": "strict_wrr", "strict": [0], "weights": rest, "mode": "bytes"},
                {"kind": "srr", "weights": [1, *weights], "strict": 0},
                {
                    "kind": "tree",
                    "children": [
                        {"queue": 0, "priority": 0},
                        {"queue": 1, "weight": weights[0]},
                        {"queue": 2, "weight": weights[1]},
                    ],
                },
            ]
        )
    )
    offered = [RATE * load / 100 for load in loads]
    first = FluidClass("q0", offered[0], priority=1)
    return scheduler, (first, *(FluidClass(f"q{i}", offered[i], weights[i - 1]) for i in (1, 2)))


@tried(0.5)
@given(shared=mixed(), sizes=three_sizes)
def test_what_a_class_leaves_goes_to_the_others(shared: tuple[Json, Any], sizes: list[int]) -> None:
    scheduler, classes = shared
    flows = [flow(f"c{q}", q, rate_bps=round(each.offered), ip_bytes=sizes[q]) for q, each in enumerate(classes)]
    document = one_port(egress(QUEUES, scheduler, 10**6), flows, rate_bps=RATE, seconds=1.0) | {"drain": False}
    queues = port_of(run(document))["queues"]
    expected = throughput(FluidClass("line", children=classes), RATE)
    for queue, reported in enumerate(queues):
        # Turns and packets of all classes: who owes whom changes whenever one runs dry.
        bound = 2 * WEIGHTED_TURN + 2 * QUEUES * LARGEST
        assert abs(reported["bytes_out"] - expected[f"q{queue}"] / 8) <= bound, (expected, reported)
