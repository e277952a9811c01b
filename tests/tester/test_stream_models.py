"""Fluid and bounds over lines and policers, on networks small enough to reckon by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest
import qosforge_twin

from qosforge.calculus.delay_bounds import delay_bounds
from qosforge.calculus.encapsulation import Carried
from qosforge.calculus.stages import EgressLine, Meter, Passage, TrafficStream
from qosforge.inventory.models import TrafficFlow
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.tester.expectation import expectations, throughput_ranges
from qosforge.tester.scenario.policers import find_policers, policer_limit
from qosforge.tester.scenario.streams import offered_load
from qosforge.twin.described import read_scheduler
from qosforge.twin.report import read_report
from qosforge.twin.scenario import PS, PortSpec
from qosforge.twin.schedulers import StrictScheduler
from qosforge.twin.sources import TraceSource, VideoSource
from tests.twin.scenarios import part

RATE = 1_000_000


def line(
    name: str, rate: int = RATE, scheduler: Scheduler | None = None, limits: int = 1, **more: object
) -> EgressLine:
    fields: dict[str, object] = {"ring": 1, "delay_ps": 0, "latency_ps": 0}
    fields |= {"limits": (50,) * limits, "assumed_rate": rate, "scheduler": scheduler} | more
    return EgressLine(node=name, port="out", rate=rate, **fields)  # type: ignore[arg-type]


def stream(
    name: str,
    offered: float,
    *stages: tuple[EgressLine, int] | Meter,
    size: int = 500,
    gap: int = 0,
    count: int = 1,
    weight: int = 1,
) -> TrafficStream:
    """Packets of one size without headers; ``gap`` bytes of line time between them."""
    packet = Carried(size, size, 8 * (size + gap))
    return TrafficStream(
        name=name,
        count=count,
        offered=offered,
        ip_bytes=size,
        steady=not math.isinf(offered),
        weight=weight,
        stages=tuple(s if isinstance(s, Meter) else Passage(*s, (packet,)) for s in stages),
    )


def throughput(streams: list[TrafficStream]) -> dict[str, float]:
    """Of streams without a policed priority class, whose throughput is one number."""
    found = throughput_ranges(streams)
    assert all(least == most for least, most in found.values())
    return {name: least for name, (least, _) in found.items()}


def weighted(discipline: Discipline, *weights: int) -> Scheduler:
    return Scheduler(
        discipline=discipline,
        queues=tuple(
            Queue(number=n, share=Share(unit=ShareUnit.WEIGHT, value=w)) for n, w in enumerate(weights, 1)
        ),
    )


def test_an_overload_is_lost_once_and_not_again() -> None:
    first, second = line("a", 400_000), line("b", 300_000)

    found = throughput(
        [
            stream("through", 400_000, (first, 0), (second, 0)),
            stream("beside", 400_000, (first, 0)),
            stream("later", 200_000, (second, 0)),
        ]
    )

    assert found == pytest.approx({"through": 150_000, "beside": 200_000, "later": 150_000})


def test_a_greedy_stream_gives_way_where_it_cannot_use_its_part() -> None:
    """The long one has a third of its narrow line, so that the short one of the wide line has all but that."""
    narrow, wide = line("a", 300_000), line("b", 1_000_000)

    found = throughput(
        [
            stream("long", math.inf, (narrow, 0), (wide, 0)),
            stream("narrow", math.inf, (narrow, 0), count=2),
            stream("wide", math.inf, (wide, 0)),
        ]
    )

    assert found == pytest.approx({"long": 100_000, "narrow": 100_000, "wide": 900_000})


def test_greedy_streams_take_what_steady_ones_leave_of_their_queue() -> None:
    one = line("a")

    found = throughput([stream("udp", 700_000, (one, 0)), stream("tcp", math.inf, (one, 0), count=3)])

    assert found == pytest.approx({"udp": 700_000, "tcp": 100_000})


def test_flow_based_queueing_goes_by_precedence() -> None:
    fair = line("a", scheduler=Scheduler(discipline=Discipline.FLOW_WFQ, queues=(Queue(number=0),)))

    found = throughput(
        [
            stream("voice", 900_000, (fair, 0), weight=6),
            stream("bulk", math.inf, (fair, 0), count=4),
        ]
    )

    assert found == pytest.approx({"voice": 600_000, "bulk": 100_000})


def test_a_policer_holds_the_streams_that_share_it() -> None:
    wide, out = line("a", 10 * RATE), line("b")
    meter = Meter(("b", "in", "ingress", 0), 300_000, 4000, 500)

    found = throughput(
        [
            stream("one", 400_000, (wide, 0), meter, (out, 0)),
            stream("two", 200_000, (wide, 0), meter, (out, 0)),
            stream("free", 900_000, (wide, 0), (out, 0)),
        ]
    )

    assert found == pytest.approx({"one": 200_000 / 1.2, "two": 100_000 / 1.2, "free": 900_000 / 1.2})


def test_round_robin_by_packets_favours_large_ones() -> None:
    """Weight × size: 1 × 1500 to 3 × 500 is even."""
    robin = line("a", scheduler=weighted(Discipline.WRR, 1, 3), limits=2)
    streams = [stream("large", RATE, (robin, 0), size=1500), stream("small", RATE, (robin, 1))]

    assert throughput(streams) == pytest.approx({"large": 500_000, "small": 500_000})
    by_bytes = replace(robin, scheduler=weighted(Discipline.SRR, 1, 3))
    streams = [stream("large", RATE, (by_bytes, 0), size=1500), stream("small", RATE, (by_bytes, 1))]
    assert throughput(streams) == pytest.approx({"large": 250_000, "small": 750_000})


def test_framing_is_paid_for() -> None:
    found = throughput([stream("s", 2 * RATE, (line("a"), 0), size=1500, gap=42)])

    assert found["s"] == pytest.approx(RATE * 1500 / 1542)


def test_bounds_of_two_lines_add_up_with_what_lies_between() -> None:
    """Two streams begin together: 8 ms for both on the first line, and as much again behind it."""
    first, second = line("a", delay_ps=10**9), line("b", latency_ps=5 * 10**9)
    found = delay_bounds([stream("s", 100_000, (first, 0), (second, 0), count=2)])

    # The burst grows by what comes within the first bound: 0.2 Mb/s for 8 ms.
    assert float(found["s"] or 0) == pytest.approx(0.008 + 0.001 + 0.005 + (8000 + 1600) / RATE, rel=1e-6)


def test_a_clock_that_is_fast_may_overload_a_line_that_is_nearly_full() -> None:
    unlimited = line("a", limits=0)
    nearly = stream("s", RATE * (1 - 3e-5), (unlimited, 0))

    assert delay_bounds([nearly])["s"] is not None
    assert delay_bounds([replace(nearly, fast_ppm=50)])["s"] is None


def test_a_random_latency_counts_in_full_and_brings_packets_together() -> None:
    first, second, third = line("a"), line("b", jitter_ps=10**10), line("c")
    fixed = delay_bounds([stream("s", 100_000, (first, 0), (line("b"), 0), (third, 0))])["s"]
    found = delay_bounds([stream("s", 100_000, (first, 0), (second, 0), (third, 0))])["s"]

    # 10 ms themselves; what comes in them waits in the second queue, and with what comes meanwhile in the third.
    grown = 0.1 * 0.010
    assert float((found or 0) - (fixed or 0)) == pytest.approx(0.010 + grown + grown + 0.1 * grown, rel=1e-6)


def test_a_full_queue_bounds_who_sends_all_it_can() -> None:
    one = line("a")

    found = delay_bounds([stream("tcp", math.inf, (one, 0))])

    assert float(found["tcp"] or 0) == pytest.approx((50 + 1) * 4000 / RATE, rel=1e-6)


def test_behind_an_unbounded_priority_nothing_is_bounded() -> None:
    strict = line("a", limits=2, discipline=StrictScheduler(order=(0, 1)))
    found = delay_bounds([stream("first", math.inf, (strict, 0)), stream("last", 1000, (strict, 1))])

    assert found["first"] is not None
    assert found["last"] is None


def test_what_a_policer_lets_through_bounds_a_priority() -> None:
    wide = line("a", 100 * RATE)
    strict = line("b", limits=2, discipline=StrictScheduler(order=(0, 1)))
    meter = Meter(("b", "in", "ingress", 0), 300_000, 4000, 500)
    found = expectations(
        [
            stream("first", math.inf, (wide, 0), meter, (strict, 0)),
            stream("last", 1000, (wide, 0), (strict, 1)),
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
        one = line("a", limits=2, discipline=read_scheduler(scheduler), **more)
        found = delay_bounds([stream("s", 100_000, (one, 0)), stream("t", 100_000, (one, 1))])
        return set(found.values())

    by_turn = bounds({"kind": "drr", "quantum_bytes": [512, 1024]})
    assert None not in by_turn
    assert bounds({"kind": "wrr", "weights": [2, 4], "quantum_bytes": 256}) == by_turn
    assert bounds({"kind": "strict", "order": [0, 1]}) != {None}
    for kind in ("cbq", "dcbq", "dcbqe"):
        classes = [{"name": f"c{n}", "parent": None, "share": 0.5, "queue": n} for n in range(2)]
        assert bounds({"kind": kind, "classes": classes}) == {None}


def test_a_recording_offers_what_it_holds_of_the_time_measured() -> None:
    flow = TrafficFlow.model_validate(
        {"name": "r", "from": "a", "to": "b", "dst_port": 1, "source": {"kind": "trace", "file": "r.csv"}}
    )
    source = TraceSource(times_ps=(0, 10**12, 3 * 10**12), ip_bytes=(100, 300, 1500))

    assert offered_load(flow, source, 2 * 10**12) == (8 * 400 / 2, [200, 100, 300, 1500])


def test_a_video_offers_its_frames_and_their_headers() -> None:
    source = {"kind": "video", "frames_per_second": 10, "frame_bytes": 2400, "ip_bytes": 1000}
    flow = TrafficFlow.model_validate({"name": "v", "from": "a", "to": "b", "dst_port": 1, "source": source})

    sent = VideoSource(frame_rate=10, frame_bytes_mean=2400, ip_bytes=1000)
    assert offered_load(flow, sent, 10**12) == (10 * (2400 + 3 * 40) * 8, [840, *range(41, 840), *range(841, 1001)])


def test_every_policer_that_drops_is_a_meter() -> None:
    """Listed, in a rule and before a queue: rate and burst of what they let through; none if they lose nothing."""
    bucket = {"kind": "token_bucket", "rate_bps": 64_000, "burst_bytes": 1_000}
    car = {"kind": "car", "rate_bps": 96_000, "burst_bytes": 2_000, "extended_burst_bytes": 3_000}
    remark = bucket | {"exceed": {"dscp": 12}}
    srtcm = bucket | {"kind": "srtcm", "excess_burst_bytes": 500, "exceed": "transmit", "violate": "drop"}
    trtcm = {"kind": "trtcm", "peak_bps": 90_000, "peak_burst_bytes": 700, "exceed": {"cos": 1}, "violate": "drop"}
    egress = {
        "police": [{"match": {}, "police": car | {"conform": "continue"}}, {"match": {}, "police": remark}],
        "otherwise": {"queue": 0, "police": srtcm},
        "queues": [{"name": "q", "limit_packets": 10, "police": bucket | trtcm}],
        "scheduler": {"kind": "fifo"},
    }
    port = {"name": "out", "egress": egress}
    document = {
        "version": 1,
        "duration_ps": PS,
        "nodes": [{"name": "a", "ports": [port]}, {"name": "b", "ports": [{"name": "in"}]}],
        "links": [{"a": ["a", "out"], "b": ["b", "in"], "rate_bps": 10**6, "framing": "none"}],
        "flows": [
            {
                "name": "f",
                "path": [["a", "out"]],
                "packet": {},
                "source": {"kind": "cbr", "rate_bps": 8_000, "ip_bytes": 100},
            }
        ],
    }
    report = read_report(qosforge_twin.run(json.dumps(document), 1)).ports[0]

    found = [
        (place, policer_limit(police))
        for place, police in find_policers(part(port, PortSpec), report, "egress", ("a", "out"))
    ]

    assert [(place, *passes) for place, passes in found if passes is not None] == [
        (("a", "out", "egress list", 0), 96_000, 5_000),
        (("a", "out", "egress", 0), 64_000, 1_500),
        (("a", "out", "queue", 0), 90_000, 700),
    ]
