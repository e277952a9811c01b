"""Delay bounds of one device between stations beside what the twin does, whatever its discipline and latency."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
import qosforge_twin

from qosforge.calculus.delay_bounds import delay_bounds
from qosforge.calculus.encapsulation import Carried
from qosforge.calculus.stages import EgressLine, Passage, TrafficStream
from qosforge.twin.described import read_scheduler
from qosforge.twin.scenario import PS

Json = dict[str, Any]

ACCESS = 100_000_000
LATENCY = 10**6


def disciplines(random: Random, queues: int) -> list[Json]:
    """One of each kind that has service curves, with weights at random."""
    weights = [random.randint(1, 8) for _ in range(queues)]
    order = random.sample(range(queues), queues)
    strict = random.randrange(queues)
    shared = {str(n): weights[n] for n in range(strict, queues)}
    return [
        {"kind": "strict", "order": order},
        {"kind": "wrr", "weights": weights},
        {"kind": "wrr", "weights": weights, "quantum_bytes": random.choice([256, 1500])},
        {"kind": "drr", "quantum_bytes": [weight * 400 for weight in weights]},
        {"kind": "cbwfq", "priority": [], "weights": {str(n): w * 1000 for n, w in enumerate(weights)}},
        {"kind": "strict_wrr", "strict": list(range(strict)), "weights": shared, "mode": "packets"},
        {"kind": "strict_wrr", "strict": list(range(strict)), "weights": shared, "mode": "bytes"},
    ]


def tightness(random: Random, discipline: Json, limits: list[int]) -> list[float]:
    """Largest delays over their bounds of streams at random through a device that serves so."""
    rate, jitter = random.choice([10**6, 2 * 10**6]), random.choice([0, 10**9, 10**10])
    ring, count = random.choice([1, 2, 3]), random.randint(1, 5)
    served = read_scheduler(discipline)
    out = EgressLine(
        "box",
        "out",
        rate,
        rate,
        ring,
        tuple(limits),
        0,
        LATENCY,
        discipline=served,
        jitter_ps=jitter,
    )
    streams, flows = [], []
    for n in range(count):
        queue, size = random.randrange(len(limits)), random.choice([64, 200, 500, 1500])
        bps = random.choice([50_000, 100_000, 300_000, 800_000])
        packet = Carried(size, size, 8 * size)
        access = EgressLine(f"host{n}", "nic", ACCESS, ACCESS, 1, (1000,), 0, 0)
        passages = (Passage(access, 0, (packet,)), Passage(out, queue, (packet,)))
        streams.append(TrafficStream(f"flow{n}", 1, float(bps), size, True, 1, passages))
        source = {"kind": "cbr", "rate_bps": bps, "ip_bytes": size, "phase_ps": 10**10}
        path = [[f"host{n}", "nic"], ["box", "out"]]
        flows.append({"name": f"flow{n}", "path": path, "packet": {"dscp": queue}, "source": source})
    egress = {
        "queues": [{"name": str(n), "limit_packets": limit} for n, limit in enumerate(limits)],
        "rules": [{"match": {"dscp": [n]}, "queue": n} for n in range(1, len(limits))],
        "scheduler": discipline,
        "tx_fifo_packets": ring,
    }
    inputs = [{"name": f"in{n}"} for n in range(count)]
    device = {"name": "box", "latency_ps": LATENCY, "latency_jitter_ps": jitter}
    hosts = [{"name": f"host{n}", "ports": [{"name": "nic"}]} for n in range(count)]
    lines = [
        *({"a": [f"host{n}", "nic"], "b": ["box", f"in{n}"], "rate_bps": ACCESS} for n in range(count)),
        {"a": ["box", "out"], "b": ["far", "in"], "rate_bps": rate},
    ]
    document = {
        "version": 1,
        "duration_ps": 10 * PS,
        "nodes": [
            {**device, "ports": [*inputs, {"name": "out", "egress": egress}]},
            {"name": "far", "ports": [{"name": "in"}]},
            *hosts,
        ],
        "links": [{**line, "framing": "none"} for line in lines],
        "flows": flows,
    }
    bounds = delay_bounds(streams)
    return [
        flow["delay_ps"]["max"] / float(bound * PS)
        for flow in json.loads(qosforge_twin.run(json.dumps(document), 1))["flows"]
        if flow["delivered"] and (bound := bounds[flow["name"]]) is not None
    ]


@pytest.mark.parametrize("seed", range(4))
def test_no_packet_is_later_than_its_bound(seed: int) -> None:
    random = Random(seed)
    found: list[float] = []
    for _ in range(4):
        limits = [random.randint(2, 20) for _ in range(random.randint(1, 4))]
        for discipline in disciplines(random, len(limits)):
            own = tightness(random, discipline, limits)
            assert max(own, default=0) <= 1, discipline
            found += own
    # A bound that is never near would hold of anything.
    assert max(found) > 0.9
