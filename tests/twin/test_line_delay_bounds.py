"""No packet is later than the bound that reports give its stream, under every scheduler and random traffic."""

from __future__ import annotations

import json
import math
from fractions import Fraction
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
RATE = 10_000_000
LIMIT = 30
QUEUES = 3


def schedulers(random: Random) -> dict[str, Json]:
    """One of each, as they are in a port of three queues, with what the port has besides."""
    weights = [random.randrange(1, 6) for _ in range(QUEUES)]
    quanta = [random.randrange(300, 4000) for _ in range(QUEUES)]
    burst = random.choice([500, 1600, 8000])
    shape = {"rate_bps": random.randrange(3_000_000, 9_000_000), "burst_bytes": burst}
    one = {"0": {"rate_bps": random.randrange(1_000_000, 4_000_000), "burst_bytes": burst}}
    strict = {"kind": "strict", "order": [0, 1, 2]}
    rates = [random.randrange(500_000, 3_300_000) for _ in range(QUEUES)]
    leaf = [{"queue": n, "weight": weights[n]} for n in range(QUEUES)]
    htb = [
        {"name": f"c{n}", "parent": "all", "rate_bps": rates[n], "prio": random.randrange(3), "queue": n}
        for n in range(QUEUES)
    ]
    top = {"name": "all", "rate_bps": RATE}
    borrowing = [leaf | {"ceil_bps": random.choice([leaf["rate_bps"] * 2, RATE])} for leaf in htb]
    drr = {"kind": "drr", "quantum_bytes": quanta}
    return {
        "fifo": {"kind": "strict", "order": [{"0": 1, "1": 1, "2": 1}]},
        "rounded": {"kind": "wrr", "weights": weights, "quantum_bytes": 256, "counting": "rounded_up"},
        "exact": {"kind": "wrr", "weights": weights, "quantum_bytes": 256},
        "srr": {"kind": "srr", "weights": weights},
        "srr expedite": {"kind": "srr", "weights": weights, "strict": 0},
        "srr shaped": {"kind": "srr", "weights": weights, "shape": [random.randrange(3, 9), None, None]},
        "srr all": {"kind": "srr", "weights": weights, "strict": 2, "shape": [4, random.randrange(3, 9), None]},
        "shared level": {"kind": "strict", "order": [{"0": 4, "1": 3}, 2]},
        "leak": strict | {"leak": {"packets": 1, "out_of": random.randrange(2, 20)}},
        "shaped strict": strict | {"shapes": one},
        "shaped drr": drr | {"shapes": one},
        "shaped second": strict | {"shapes": {"1": one["0"]}},
        "shaped class": {"kind": "cbwfq", "priority": [], "weights": weights, "shapes": {"1": one["0"]}},
        "strict port": strict | {"port": shape},
        "drr port": drr | {"port": shape},
        "llq port": {
            "kind": "cbwfq",
            "priority": [{"queue": 0, "rate_bps": 1_000_000, "burst_bytes": 4000}],
            "weights": {"1": weights[1], "2": weights[2]},
            "port": shape,
        },
        "srr port": {"kind": "srr", "weights": weights, "shape": [5, None, None], "port": shape},
        "tree": {"kind": "tree", "children": leaf},
        "tree tiers": {"kind": "tree", "children": [leaf[0] | {"priority": 1}, *leaf[1:]]},
        "tree policed": {
            "kind": "tree",
            "children": [
                {"queue": 0, "priority": 1, "police": {"rate_bps": 1_000_000, "burst_bytes": 4000}},
                *leaf[1:],
            ],
        },
        "tree ceilings": {
            "kind": "tree",
            "children": [leaf[0] | {"ceil_bps": rates[0], "burst_bytes": burst, "priority": 1}, *leaf[1:]],
        },
        "tree around": {
            "kind": "tree",
            "children": [{"ceil_bps": shape["rate_bps"], "burst_bytes": burst, "children": leaf}],
        },
        "tree nested": {
            "kind": "tree",
            "children": [
                {"weight": 2, "ceil_bps": 6_000_000, "burst_bytes": burst, "children": leaf[:2]},
                leaf[2] | {"ceil_bps": 5_000_000},
            ],
        },
        "htb": {"kind": "htb", "classes": [top, *htb]},
        "htb borrowing": {"kind": "htb", "classes": [top, *borrowing]},
        "htb port": {"kind": "htb", "classes": [top, *htb], "port": shape | {"rate_bps": 8_000_000}},
        "wfq": {"kind": "wfq"},
        "fair": {"kind": "cbwfq", "priority": [], "weights": weights, "fair": [1]},
        "fair shaped": strict | {"fair": [1], "shapes": {"1": one["0"]}},
    }


KINDS = sorted(schedulers(Random(0)))


def traffic(random: Random, load: float) -> tuple[list[Json], list[tuple[int, bool]]]:
    """Streams of steady packets, some of which overload their queue: flows, and class and steadiness of each."""
    flows, kinds = [], []
    for number in range(QUEUES):
        greedy = random.random() < 0.25
        for stream in range(random.randrange(1, 4)):
            rate = RATE if greedy else int(RATE * load * random.uniform(0.3, 1) / QUEUES / 3)
            source = {
                "kind": "cbr",
                "rate_bps": rate,
                "ip_bytes": random.randrange(64, 1500),
                "start_ps": random.choice([0, random.randrange(10**10)]),
            }
            packet = {"dscp": number, "src_port": 1000 + 10 * number + stream}
            flows.append({"name": f"{number}-{stream}", "path": [["a", "out"]], "packet": packet, "source": source})
            kinds.append((number, not greedy))
    return flows, kinds


def document(scheduler: Json, flows: list[Json], framing: str, ring: int) -> Json:
    scheduler = dict(scheduler)
    shape, fair = scheduler.pop("port", None), scheduler.pop("fair", ())
    egress: Json = {"scheduler": scheduler, "tx_fifo_packets": ring} | ({"shape": shape} if shape else {})
    if scheduler["kind"] != "wfq":
        egress["rules"] = [{"match": {"dscp": [n]}, "queue": n} for n in range(QUEUES)]
        egress["queues"] = [
            {"name": f"q{n}", "limit_packets": LIMIT} | ({"fair_queue": {}} if n in fair else {})
            for n in range(QUEUES)
        ]
    return {
        "version": 1,
        "duration_ps": PS // 2,
        "nodes": [
            {"name": "a", "ports": [{"name": "out", "egress": egress}]},
            {"name": "b", "ports": [{"name": "in"}]},
        ],
        "links": [{"a": ["a", "out"], "b": ["b", "in"], "rate_bps": RATE, "framing": framing}],
        "flows": flows,
    }


def modelled(scheduler: Json, flows: list[Json], kinds: list[tuple[int, bool]], framing: str, ring: int) -> Any:
    line = EgressLine(
        node="a",
        port="out",
        rate=RATE,
        assumed_rate=RATE,
        ring=ring,
        limits=(LIMIT,) * QUEUES,
        delay_ps=0,
        latency_ps=0,
        discipline=read_scheduler({key: value for key, value in scheduler.items() if key not in {"port", "fair"}}),
        shaped=(scheduler.get("port") or {}).get("rate_bps"),
        fair=frozenset(scheduler.get("fair", ())),
    )
    found = []
    for flow, (number, steady) in zip(flows, kinds, strict=True):
        size = flow["source"]["ip_bytes"]
        ethernet = framing == "ethernet"
        frame = size + 18 if ethernet else size
        carried = Carried(size, frame, 8 * (frame + 20 if ethernet else frame))
        queue = 0 if scheduler["kind"] == "wfq" else number
        offered = flow["source"]["rate_bps"] if steady else math.inf
        stage = Passage(line, queue, (carried,))
        found.append(TrafficStream(flow["name"], 1, offered, size, steady, 1, (stage,)))
    return delay_bounds(found)


@pytest.mark.parametrize("kind", KINDS)
def test_no_packet_is_later_than_its_bound(kind: str) -> None:
    bounded, tightest = 0, Fraction(0)
    for seed in range(25):
        random = Random(f"{kind} {seed}")
        scheduler = schedulers(random)[kind]
        flows, kinds = traffic(random, random.choice([0.3, 0.7, 0.95]))
        framing, ring = random.choice(["none", "ethernet"]), random.choice([1, 1, 3])
        bounds = modelled(scheduler, flows, kinds, framing, ring)
        answer = json.loads(qosforge_twin.run(json.dumps(document(scheduler, flows, framing, ring)), seed))
        for flow in answer["flows"]:
            bound = bounds[flow["name"]]
            if bound is None or not flow["delivered"]:
                continue
            seen = Fraction(flow["delay_ps"]["max"], PS)
            assert seen <= bound, (seed, flow["name"], float(seen), float(bound))
            bounded, tightest = bounded + 1, max(tightest, seen / bound)
    # Bounds that are there, and of the order of what happens.
    assert bounded >= 25
    assert tightest > Fraction(1, 5), float(tightest)
