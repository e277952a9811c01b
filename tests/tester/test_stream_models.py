"""Fluid and bounds over lines and policers, on networks small enough to reckon by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from app.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from app.tester.delay_bounds import delay_bounds
from app.tester.expectation import expectations, expected_throughput
from app.tester.streams import Line, Meter, Passage, Stage, Stream

RATE = 1_000_000


def line(name: str, rate: int = RATE, scheduler: Scheduler | None = None, limits: int = 1, **more: object) -> Line:
    fields: dict[str, object] = {"ring": 1, "framing": "none", "tagged": False, "delay_ps": 0, "latency_ps": 0}
    fields |= {"limits": (50,) * limits, "believed": rate, "scheduler": scheduler} | more
    return Line(node=name, port="out", rate=rate, **fields)  # type: ignore[arg-type]


def stream(name: str, offered: float, *stages: Stage, size: int = 500, count: int = 1, weight: int = 1) -> Stream:
    return Stream(
        name=name,
        count=count,
        offered=offered,
        ip_bytes=size,
        largest=size,
        smallest=size,
        steady=not math.isinf(offered),
        rtp=False,
        weight=weight,
        stages=stages,
    )


def weighted(discipline: Discipline, *weights: int) -> Scheduler:
    return Scheduler(
        discipline=discipline,
        queues=tuple(
            Queue(number=n, share=Share(unit=ShareUnit.WEIGHT, value=w)) for n, w in enumerate(weights, 1)
        ),
    )


def test_an_overload_is_lost_once_and_not_again() -> None:
    first, second = line("a", 400_000), line("b", 300_000)

    found = expected_throughput(
        [
            stream("through", 400_000, Passage(first, 0), Passage(second, 0)),
            stream("beside", 400_000, Passage(first, 0)),
            stream("later", 200_000, Passage(second, 0)),
        ]
    )

    assert found == pytest.approx({"through": 150_000, "beside": 200_000, "later": 150_000})


def test_a_greedy_stream_gives_way_where_it_cannot_use_its_part() -> None:
    """The long one has a third of its narrow line, so that the short one of the wide line has all but that."""
    narrow, wide = line("a", 300_000), line("b", 1_000_000)

    found = expected_throughput(
        [
            stream("long", math.inf, Passage(narrow, 0), Passage(wide, 0)),
            stream("narrow", math.inf, Passage(narrow, 0), count=2),
            stream("wide", math.inf, Passage(wide, 0)),
        ]
    )

    assert found == pytest.approx({"long": 100_000, "narrow": 100_000, "wide": 900_000})


def test_greedy_streams_take_what_steady_ones_leave_of_their_queue() -> None:
    one = line("a")

    found = expected_throughput(
        [stream("udp", 700_000, Passage(one, 0)), stream("tcp", math.inf, Passage(one, 0), count=3)]
    )

    assert found == pytest.approx({"udp": 700_000, "tcp": 100_000})


def test_flow_based_queueing_goes_by_precedence() -> None:
    fair = line("a", scheduler=Scheduler(discipline=Discipline.FLOW_WFQ, queues=(Queue(number=0),)))

    found = expected_throughput(
        [
            stream("voice", 900_000, Passage(fair, 0), weight=6),
            stream("bulk", math.inf, Passage(fair, 0), count=4),
        ]
    )

    assert found == pytest.approx({"voice": 600_000, "bulk": 100_000})


def test_a_policer_holds_the_streams_that_share_it() -> None:
    wide, out = line("a", 10 * RATE), line("b")
    meter = Meter(("b", "in", "ingress", 0), wide, 300_000, 4000)

    found = expected_throughput(
        [
            stream("one", 400_000, Passage(wide, 0), meter, Passage(out, 0)),
            stream("two", 200_000, Passage(wide, 0), meter, Passage(out, 0)),
            stream("free", 900_000, Passage(wide, 0), Passage(out, 0)),
        ]
    )

    assert found == pytest.approx({"one": 200_000 / 1.2, "two": 100_000 / 1.2, "free": 900_000 / 1.2})


def test_round_robin_by_packets_favours_large_ones() -> None:
    """Weight × size: 1 × 1500 to 3 × 500 is even."""
    robin = line("a", scheduler=weighted(Discipline.WRR, 1, 3), limits=2)
    streams = [stream("large", RATE, Passage(robin, 0), size=1500), stream("small", RATE, Passage(robin, 1))]

    assert expected_throughput(streams) == pytest.approx({"large": 500_000, "small": 500_000})
    by_bytes = [replace(robin, scheduler=weighted(Discipline.SRR, 1, 3))] * 2
    moved = [replace(s, stages=(Passage(at, n),)) for n, (s, at) in enumerate(zip(streams, by_bytes, strict=True))]
    assert expected_throughput(moved) == pytest.approx({"large": 250_000, "small": 750_000})


def test_framing_is_paid_for() -> None:
    ethernet = line("a", framing="ethernet", tagged=True)

    found = expected_throughput([stream("s", 2 * RATE, Passage(ethernet, 0), size=1500)])

    assert found["s"] == pytest.approx(RATE * 1500 / 1542)


@pytest.mark.parametrize(
    ("framing", "size", "more", "frame"),
    [
        ("ethernet", 20, {}, 64),
        ("ethernet", 1500, {}, 1518),
        ("hdlc", 200, {"compression": True}, 171),
        ("mlppp", 1500, {"fragment": 512}, 1533),
        ("none", 100, {}, 100),
    ],
)
def test_frame_sizes(framing: str, size: int, more: dict[str, object], frame: int) -> None:
    assert line("a", framing=framing, **more).frame_bytes(size, rtp=True) == frame


def test_bounds_of_two_lines_add_up_with_what_lies_between() -> None:
    """Two streams begin together: 8 ms for both on the first line, and as much again behind it."""
    first, second = line("a", delay_ps=10**9), line("b", latency_ps=5 * 10**9)
    found = delay_bounds([stream("s", 100_000, Passage(first, 0), Passage(second, 0), count=2)])

    # The burst grows by what comes within the first bound: 0.2 Mb/s for 8 ms.
    assert float(found["s"] or 0) == pytest.approx(0.008 + 0.001 + 0.005 + (8000 + 1600) / RATE, rel=1e-6)


def test_a_full_queue_bounds_who_sends_all_it_can() -> None:
    one = line("a")

    found = delay_bounds([stream("tcp", math.inf, Passage(one, 0))])

    assert float(found["tcp"] or 0) == pytest.approx((50 + 1) * 4000 / RATE, rel=1e-6)


def test_behind_an_unbounded_priority_nothing_is_bounded() -> None:
    strict = line("a", limits=2, discipline={"kind": "strict", "order": [0, 1]})
    found = delay_bounds([stream("first", math.inf, Passage(strict, 0)), stream("last", 1000, Passage(strict, 1))])

    assert found["first"] is not None
    assert found["last"] is None


def test_what_a_policer_lets_through_bounds_a_priority() -> None:
    wide = line("a", 100 * RATE)
    strict = line("b", limits=2, discipline={"kind": "strict", "order": [0, 1]})
    meter = Meter(("b", "in", "ingress", 0), wide, 300_000, 4000)
    found = expectations(
        [
            stream("first", math.inf, Passage(wide, 0), meter, Passage(strict, 0)),
            stream("last", 1000, Passage(wide, 0), Passage(strict, 1)),
        ]
    )

    assert found["first"].offered_bps is None
    assert found["last"].delay_bound_ps is not None
    # Its burst of 4000 bytes, then one packet of the other on the wire, on the policed line.
    assert found["first"].delay_bound_ps == pytest.approx(
        51 * 4000 / 100 * 10**12 / RATE + (32_000 + 4000) * Fraction(10**12, RATE), rel=1e-6
    )


def test_round_robin_by_bytes_is_bounded_and_what_has_no_curve_is_not() -> None:
    def bounds(scheduler: dict[str, object], **more: object) -> set[float | None]:
        one = line("a", limits=2, discipline=scheduler, **more)
        found = delay_bounds([stream("s", 100_000, Passage(one, 0)), stream("t", 100_000, Passage(one, 1))])
        return set(found.values())

    by_turn = bounds({"kind": "drr", "quantum_bytes": [512, 1024]})
    assert None not in by_turn
    assert bounds({"kind": "wrr", "weights": [2, 4], "quantum_bytes": 256}) == by_turn
    assert bounds({"kind": "strict", "order": [0, 1]}) != {None}
    shapes = {"0": {"rate_bps": 1000, "burst_bytes": 1000}}
    for scheduler in (
        {"kind": "wrr", "weights": [2, 4], "quantum_bytes": 256, "counting": "rounded_up"},
        {"kind": "drr", "quantum_bytes": [512, 1024], "shapes": shapes},
        {"kind": "strict", "order": [0, 1], "leak": {"packets": 1, "out_of": 9}},
        {"kind": "strict", "order": [{"0": 1, "1": 2}]},
        {"kind": "tree", "children": [{"queue": 0}, {"queue": 1}]},
    ):
        assert bounds(scheduler) == {None}, scheduler
    assert bounds({"kind": "strict", "order": [0, 1]}, plain=False) == {None}
