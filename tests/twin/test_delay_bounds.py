"""No packet of the twin is later than network calculus allows, and the worst comes near where that is exact."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
import qosforge_twin

from qosforge.calculus.bounds import (
    RateLatency,
    TokenBucket,
    backlog_bound,
    concatenation,
    deficit_round_robin,
    delay_bound,
    departures,
    full_queue_delay,
    held_back,
    policed,
    strict_priority,
    weighted_fair,
    weighted_round_robin,
)

PS = 10**12
RATE = 10_000_000
LINK = RateLatency.of(RATE)
Json = dict[str, Any]


def flow(name: str, dscp: int, rate: int, size: int, **source: int) -> Json:
    return {
        "name": name,
        "path": [["a", "out"]],
        "packet": {"dscp": dscp},
        "source": {"kind": "cbr", "rate_bps": rate, "ip_bytes": size, **source},
    }


def run(scheduler: Json, queues: int, flows: list[Json], *, hops: int = 1, seed: int = 1, **port: Any) -> Json:
    """One port, or a path of equal ones; packets with DSCP n take queue n. No framing, no propagation."""
    nodes = "abcdef"[: hops + 1]
    limit = port.pop("limit_bytes", 10**9)
    egress = {
        "rules": [{"match": {"dscp": [n]}, "queue": n} for n in range(queues)],
        "queues": [{"name": f"q{n}", "limit_bytes": limit} for n in range(queues)],
        "scheduler": scheduler,
        **port,
    }
    answer = qosforge_twin.run(
        json.dumps(
            {
                "version": 1,
                "duration_ps": PS,
                "nodes": [
                    {"name": name, "ports": [{"name": "out", "egress": egress}, {"name": "in"}]} for name in nodes
                ],
                "links": [
                    {"a": [near, "out"], "b": [far, "in"], "rate_bps": RATE, "framing": "none"}
                    for near, far in pairwise(nodes)
                ],
                "flows": [{**each, "path": [[name, "out"] for name in nodes[:-1]]} for each in flows],
            }
        ),
        seed,
    )
    document: Json = json.loads(answer)
    return document


def worst(answer: Json, prefix: str) -> Fraction:
    """The largest delay of the flows whose names begin so, in seconds."""
    chosen = [each for each in answer["flows"] if each["name"].startswith(prefix)]
    assert chosen
    assert all(each["delivered"] for each in chosen)
    return Fraction(max(each["delay_ps"]["max"] for each in chosen), PS)


def offers(random: Random, classes: int, load: float) -> tuple[list[Json], list[TokenBucket], list[list[int]]]:
    """Two jittered streams a class, synchronised, with what bounds each class and its packet sizes in bits."""
    flows, arrivals, sizes = [], [], []
    for number in range(classes):
        bucket, packets = TokenBucket.of(0, 0), []
        for stream in range(2):
            size, rate = random.randrange(64, 1500), int(RATE * load / classes / 2)
            jitter = random.randrange(0, 20) * 10**9
            flows.append(flow(f"{number}-{stream}", number, rate, size, jitter_ps=jitter))
            # The source rounds the time between packets to whole picoseconds.
            bucket += TokenBucket.of(8 * size + Fraction(rate * jitter, PS), rate + 1)
            packets.append(8 * size)
        arrivals.append(bucket)
        sizes.append(packets)
    return flows, arrivals, sizes


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["fifo", "strict", "wrr", "drr", "cbwfq"])
def test_no_packet_is_later_than_its_bound(kind: str, seed: int) -> None:
    random = Random(seed)
    classes = 1 if kind == "fifo" else 3
    flows, arrivals, sizes = offers(random, classes, random.choice([0.3, 0.6, 0.85]))
    largest = [max(packets) for packets in sizes]
    weights = [random.randrange(1, 6) for _ in range(classes)]
    quanta = [random.randrange(200, 4000) for _ in range(classes)]
    scheduler: Json = {
        "fifo": {"kind": "fifo"},
        "strict": {"kind": "strict", "order": list(range(classes))},
        "wrr": {"kind": "wrr", "weights": weights},
        "drr": {"kind": "drr", "quantum_bytes": quanta},
        "cbwfq": {"kind": "cbwfq", "priority": [], "weights": weights},
    }[kind]
    found = run(scheduler, classes, flows, seed=seed)
    bounded = 0
    for number in range(classes):
        above = sum(arrivals[:number], TokenBucket.of(0, 0))
        service = {
            "fifo": lambda: LINK,
            "strict": lambda n=number, up=above: strict_priority(LINK, up, max([*largest[n + 1 :], 0])),
            "wrr": lambda n=number: weighted_round_robin(LINK, weights, largest, min(sizes[n]), n),
            "drr": lambda n=number: deficit_round_robin(LINK, [8 * q for q in quanta], largest, n),
            "cbwfq": lambda n=number: weighted_fair(LINK, weights, largest, n),
        }[kind]()
        assert service is not None
        bound = delay_bound(arrivals[number], service)
        if bound is not None:
            bounded += 1
            assert worst(found, f"{number}-") <= bound
    assert bounded or kind in {"wrr", "drr", "cbwfq"}


def test_the_bound_of_a_fifo_is_reached() -> None:
    flows = [flow(f"s{n}", 0, 400_000, 500) for n in range(8)]
    arrivals = TokenBucket.of(8 * 4000, 8 * 400_000)

    assert worst(run({"kind": "fifo"}, 1, flows), "s") == delay_bound(arrivals, LINK)


def test_the_bound_of_the_first_of_a_strict_order_is_reached() -> None:
    flows = [flow("low", 1, 400_000, 1500), flow("high", 0, 400_000, 500, start_ps=1)]
    service = strict_priority(LINK, TokenBucket.of(0, 0), 1500 * 8)
    assert service is not None

    bound = delay_bound(TokenBucket.of(4000, 400_000), service)

    assert worst(run({"kind": "strict", "order": [0, 1]}, 2, flows), "high") == (bound or 0) - Fraction(1, PS)


def test_the_bound_of_the_last_of_a_strict_order_is_reached() -> None:
    """A burst of the first class meets the last one's packet, and its next packets come while that waits."""
    high = [flow(f"high{n}", 0, 1_000_000, 500) for n in range(5)]
    service = strict_priority(LINK, TokenBucket.of(5 * 4000, 5_000_000), 0)
    assert service is not None

    bound = delay_bound(TokenBucket.of(4000, 40_000), service)
    seen = worst(run({"kind": "strict", "order": [0, 1]}, 2, [*high, flow("low", 1, 40_000, 500)]), "low")

    assert bound is not None
    assert bound / 2 <= seen <= bound


@pytest.mark.parametrize("ring", [1, 3])
def test_a_policed_priority_class_bounds_itself_and_the_others(ring: int) -> None:
    """Its own sender exceeds it by far: what its policer admits bounds both classes."""
    burst = 5000
    scheduler = {
        "kind": "cbwfq",
        "priority": [{"queue": 0, "rate_bps": 2_000_000, "burst_bytes": burst}],
        "weights": {"1": 1, "2": 3},
    }
    flows = [
        *(flow(f"voice{n}", 0, 800_000, 500) for n in range(10)),
        *(flow(f"bulk{n}", 1, 600_000, 1500) for n in range(2)),
        flow("data", 2, 20_000_000, 1000),
    ]
    found = run(scheduler, 3, flows, tx_fifo_packets=ring, limit_bytes=20_000)
    admitted = policed(burst * 8, 2_000_000, 4000, unmetered=ring)
    first = held_back(LINK, ring * 12000)
    rest = strict_priority(held_back(LINK, (ring - 1) * 12000), admitted, 0)
    assert rest is not None

    own = delay_bound(admitted, first)
    bulk = delay_bound(TokenBucket.of(24000, 1_200_000), weighted_fair(rest, [1, 3], [12000, 8000], 0))

    assert own is not None
    assert bulk is not None
    assert own / 3 <= worst(found, "voice") <= own
    assert worst(found, "bulk") <= bulk
    # The third class overloads its queue: what it holds bounds the packets that it takes.
    full = full_queue_delay(20_000 * 8, weighted_fair(rest, [1, 3], [12000, 8000], 1))
    assert full / 3 <= worst(found, "data") <= full


@pytest.mark.parametrize("hops", [2, 4])
def test_along_a_path_a_burst_is_paid_once(hops: int) -> None:
    flows = [flow(f"s{n}", 0, 400_000, 500) for n in range(8)]
    arrivals = TokenBucket.of(8 * 4000, 8 * 400_000)
    path = concatenation([LINK] * hops, 4000)
    hop_by_hop, here = Fraction(0), arrivals
    for _ in range(hops):
        hop_by_hop += delay_bound(here, LINK) or 0
        here = departures(here, LINK) or here

    seen = worst(run({"kind": "fifo"}, 1, flows, hops=hops), "s")

    assert seen == delay_bound(arrivals, path)
    assert seen < hop_by_hop


@pytest.mark.parametrize("seed", range(6))
def test_no_queue_is_longer_than_its_bound(seed: int) -> None:
    flows, arrivals, sizes = offers(Random(seed), 2, 0.6)
    largest = [max(packets) for packets in sizes]
    found = run({"kind": "strict", "order": [0, 1]}, 2, flows, seed=seed)
    depths = [queue["max_depth"] for queue in found["ports"][0]["queues"]]
    for number, above, below in ((0, TokenBucket.of(0, 0), largest[1]), (1, arrivals[0], 0)):
        service = strict_priority(LINK, above, below)
        assert service is not None
        bound = backlog_bound(arrivals[number], service)
        assert bound is not None
        assert depths[number] * min(sizes[number]) <= bound
