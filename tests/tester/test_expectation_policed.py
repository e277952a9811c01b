"""What is expected of priority classes beyond their caps, beside what the twin does with such traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from qosforge.calculus.encapsulation import Carried
from qosforge.calculus.stages import EgressLine, Passage, TrafficStream
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.tester.expectation import expectations, throughput_ranges
from qosforge.tester.scenario.schedulers import twin_scheduler
from tests.twin.scenarios import egress, flow, flows_of, one_port, run, wire

RATE = 10_000_000
NEAR = 0.015
"""Part of the line: what chance and the packet on the line make of a long run."""


@dataclass(frozen=True)
class Offered:
    """What one class is and has to send: parts of the line, bytes."""

    load: float
    cap: float | None = None
    level: int | None = None
    size: int = 500
    kind: str = "poisson"
    burst: int | None = None


def queue(number: int, offered: Offered) -> Queue:
    if offered.cap is None:
        return Queue(number=number, name=f"q{number}")
    cap = Share(unit=ShareUnit.PERCENT, value=round(100 * offered.cap))
    return Queue(number=number, priority=True, capped=True, share=cap, level=offered.level, burst=offered.burst)


def line_of(classes: tuple[Offered, ...], node: str = "r", rate: int = RATE) -> EgressLine:
    scheduler = Scheduler(
        discipline=Discipline.LLQ_CBWFQ, queues=tuple(queue(n, each) for n, each in enumerate(classes))
    )
    return EgressLine(
        node=node,
        port="out",
        rate=rate,
        assumed_rate=rate,
        ring=1,
        limits=(100,) * len(classes),
        delay_ps=0,
        latency_ps=0,
        scheduler=scheduler,
        discipline=twin_scheduler(scheduler, rate),
    )


def stream(number: int, offered: Offered, *stages: tuple[EgressLine, int]) -> TrafficStream:
    packet = Carried(offered.size, offered.size, 8 * offered.size)
    passed = tuple(Passage(line, at, (packet,)) for line, at in stages)
    return TrafficStream(f"q{number}", 1, offered.load * RATE, offered.size, offered.kind == "cbr", 1, passed)


def ranges(*classes: Offered) -> list[tuple[float, float]]:
    """Least and most of each class, in parts of the line."""
    line = line_of(classes)
    found = throughput_ranges([stream(n, each, (line, n)) for n, each in enumerate(classes)])
    return [(found[f"q{n}"][0] / RATE, found[f"q{n}"][1] / RATE) for n in range(len(classes))]


def seen(*classes: Offered) -> list[float]:
    """What each class gets on the twin, in parts of the line."""
    port = egress(len(classes), wire(line_of(classes).discipline))
    flows = [
        flow(f"q{n}", n, kind=each.kind, rate_bps=round(each.load * RATE), ip_bytes=each.size)
        for n, each in enumerate(classes)
    ]
    found = flows_of(run(one_port(port, flows, rate_bps=RATE, seconds=30)))
    return [found[f"q{n}"]["throughput_bps"] / RATE for n in range(len(classes))]


ALONE_ABOVE = (Offered(1.5, cap=0.2), Offered(0.3))
NO_OVERLOAD = (Offered(0.3, cap=0.1), Offered(0.3))
TWO_LEVELS = (Offered(1.5, cap=0.2, level=1), Offered(1.5, cap=0.1, level=2), Offered(0.1))
FULL = (Offered(1.5, cap=0.2), Offered(1.5))
STEADY = (Offered(1.5, cap=0.2, kind="cbr"), Offered(0.3, kind="cbr", size=700))
TOO_LARGE = (Offered(0.5, cap=0.3, size=700, burst=420), Offered(1.5))
TOO_LARGE_NOW_AND_THEN = (Offered(0.5, cap=0.3, size=700, burst=420), Offered(0.3))


@pytest.mark.parametrize(
    "classes", [ALONE_ABOVE, NO_OVERLOAD, TWO_LEVELS, FULL, STEADY, TOO_LARGE, TOO_LARGE_NOW_AND_THEN]
)
def test_what_is_seen_lies_in_what_is_expected(classes: tuple[Offered, ...]) -> None:
    for (least, most), got in zip(ranges(*classes), seen(*classes), strict=True):
        assert least - NEAR <= got <= most + NEAR


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (ALONE_ABOVE, [(0.2, 0.7), (0.3, 0.3)]),
        (NO_OVERLOAD, [(0.1, 0.3), (0.3, 0.3)]),
        (TWO_LEVELS, [(0.2, 0.8), (0.1, 0.7), (0.1, 0.1)]),
        (FULL, [(0.2, 0.2), (0.8, 0.8)]),
        (TOO_LARGE, [(0.0, 0.0), (1.0, 1.0)]),
        (TOO_LARGE_NOW_AND_THEN, [(0.0, 0.5), (0.3, 0.3)]),
    ],
)
def test_a_priority_class_gets_its_cap_for_sure_and_the_rest_at_most(
    classes: tuple[Offered, ...], expected: list[tuple[float, float]]
) -> None:
    assert ranges(*classes) == [pytest.approx(each) for each in expected]


def test_within_its_cap_one_number_is_expected() -> None:
    assert ranges(Offered(0.2, cap=0.2), Offered(1.5)) == [pytest.approx((0.2, 0.2)), pytest.approx((0.8, 0.8))]


def test_packets_of_both_kinds_share_a_queue_whose_bucket_holds_the_small_ones_only() -> None:
    """The small ones have the cap for themselves while the line is full."""
    classes = (Offered(0.5, cap=0.3, burst=420), Offered(1.5))
    line = line_of(classes)
    small, large = (stream(n, Offered(0.5, size=size), (line, 0)) for n, size in ((0, 200), (2, 700)))

    found = throughput_ranges([small, large, stream(1, classes[1], (line, 1))])

    assert found == {
        "q0": pytest.approx((0.3 * RATE, 0.3 * RATE)),
        "q2": (0.0, 0.0),
        "q1": pytest.approx((0.7 * RATE, 0.7 * RATE)),
    }


def test_what_may_come_leaves_less_to_others_on_the_next_line() -> None:
    """From 20 to 70 % come to a line of half the rate that serves in order of arrival; the other class has 30 %."""
    first = line_of(ALONE_ABOVE)
    second = replace(line_of((Offered(1.0),), "s", RATE // 2), discipline={"kind": "fifo"}, scheduler=None)
    both = [stream(n, each, (first, n), (second, 0)) for n, each in enumerate(ALONE_ABOVE)]

    found = throughput_ranges(both)

    assert found["q0"] == pytest.approx((0.2 * RATE, 0.35 * RATE))
    assert found["q1"] == pytest.approx((0.15 * RATE, 0.3 * RATE))


def test_two_classes_that_may_exceed_each_bound_what_the_other_leaves_on_the_next_line() -> None:
    """A line of a fifth of the rate in order of arrival: most for one is while the other keeps to its cap."""
    first = line_of(TWO_LEVELS)
    second = replace(line_of((Offered(1.0),), "s", RATE // 5), discipline={"kind": "fifo"}, scheduler=None)
    found = throughput_ranges([stream(n, each, (first, n), (second, 0)) for n, each in enumerate(TWO_LEVELS)])

    # Of 20 % of the line: 0.8 of 0.8 + 0.1 + 0.1, and 0.7 of 0.2 + 0.7 + 0.1.
    assert found["q0"][1] == pytest.approx(0.2 * 0.8 / 1.0 * RATE)
    assert found["q1"][1] == pytest.approx(0.2 * 0.7 / 1.0 * RATE)
    assert found["q0"][0] == pytest.approx(0.2 * 0.2 / 1.0 * RATE)


def test_expectations_of_flows_have_both_ends() -> None:
    line = line_of(ALONE_ABOVE)
    found = expectations([stream(n, each, (line, n)) for n, each in enumerate(ALONE_ABOVE)])

    assert (found["q0"].expected_bps, found["q0"].expected_most_bps) == (2_000_000, 7_000_000)
    assert (found["q1"].expected_bps, found["q1"].expected_most_bps) == (3_000_000, None)
