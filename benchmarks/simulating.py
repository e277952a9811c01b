"""The twin against a plain Python event loop on the same model: Poisson packets into one FIFO link."""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Iterator

import qosforge_twin

from benchmarks.timing import Ratio, best

RATE = 100_000_000
LOAD = 0.8
BYTES = 1000
SECONDS = 10
PS = 10**12


def measure() -> Iterator[Ratio]:
    """Time of a plain ``heapq`` simulation over the twin's, for the same number of packets."""
    yield Ratio("plain Python heapq / twin (M/D/1, 10 s at 80 % of 100 Mb/s)", best(_plain), best(_twin))


def _twin() -> None:
    port = {"queues": [{"name": "q", "limit_packets": 1_000_000}], "scheduler": {"kind": "fifo"}}
    scenario = {
        "version": 1,
        "duration_ps": SECONDS * PS,
        "nodes": [
            {"name": "r", "ports": [{"name": "out", "egress": port}]},
            {"name": "h", "ports": [{"name": "in"}]},
        ],
        "links": [{"a": ["r", "out"], "b": ["h", "in"], "rate_bps": RATE, "framing": "none"}],
        "flows": [
            {
                "name": "f",
                "path": [["r", "out"]],
                "source": {"kind": "poisson", "rate_bps": int(RATE * LOAD), "ip_bytes": BYTES},
            }
        ],
    }
    json.loads(qosforge_twin.run(json.dumps(scenario), 1))


def _plain() -> None:
    stream = random.Random(1)  # noqa: S311  # a simulation, not a secret
    gap = BYTES * 8 / (RATE * LOAD)
    service = BYTES * 8 / RATE
    events = [(stream.expovariate(1 / gap), 0, 0.0)]
    waiting: list[float] = []
    busy = False
    delays: list[float] = []
    while events:
        now, kind, arrived = heapq.heappop(events)
        if kind == 0:
            following = now + stream.expovariate(1 / gap)
            if following < SECONDS:
                heapq.heappush(events, (following, 0, 0.0))
            waiting.append(now)
        else:
            delays.append(now - arrived)
            busy = False
        if waiting and not busy:
            busy = True
            heapq.heappush(events, (now + service, 1, waiting.pop(0)))
