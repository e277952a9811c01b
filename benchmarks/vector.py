"""One model for several simulators: eight senders that overload a port of four strict-priority queues.

Each sends 600 Mb/s of 1518-byte frames into 1 Gb/s, an eighth of a gap after the one before; its class is
its number modulo 4, a queue holds 100 packets, the first goes before the second and so on.
"""

from __future__ import annotations

import heapq
import json
from collections import deque
from dataclasses import dataclass

import qosforge_twin

PS = 10**12
SENDERS, CLASSES, LIMIT = 8, 4, 100
BYTES, RATE, LINE = 1518, 600_000_000, 1_000_000_000
GAP = BYTES * 8 * PS // RATE
SERVICE = BYTES * 8 * PS // LINE
STARTS = [GAP * sender // SENDERS for sender in range(SENDERS)]


@dataclass(frozen=True)
class Counts:
    """Packets of one second, and of the first queue the drops and the mean delay of what was sent, in µs."""

    offered: int
    sent: int
    dropped: int
    delay: float


def scenario(seconds: int = 1) -> str:
    """The model for the twin."""
    egress = {
        "queues": [{"name": f"q{n}", "limit_packets": LIMIT} for n in range(CLASSES)],
        "rules": [{"match": {"cos": [n]}, "queue": n} for n in range(CLASSES)],
        "scheduler": {"kind": "strict", "order": list(range(CLASSES))},
    }
    flows = [
        {
            "name": f"s{sender}",
            "path": [["switch", "out"]],
            "packet": {"cos": sender % CLASSES},
            "source": {"kind": "cbr", "rate_bps": RATE, "ip_bytes": BYTES, "start_ps": start},
        }
        for sender, start in enumerate(STARTS)
    ]
    nodes = [
        {"name": "switch", "ports": [{"name": "out", "egress": egress}]},
        {"name": "sink", "ports": [{"name": "in"}]},
    ]
    link = {"a": ["switch", "out"], "b": ["sink", "in"], "rate_bps": LINE, "framing": "none"}
    return json.dumps({"version": 1, "duration_ps": seconds * PS, "nodes": nodes, "links": [link], "flows": flows})


def by_twin(text: str) -> Counts:
    """By the twin; its delay counts what still waits after a second too."""
    result = json.loads(qosforge_twin.run(text, 1))
    first = [flow for n, flow in enumerate(result["flows"]) if n % CLASSES == 0]
    delivered = sum(flow["delivered"] for flow in first)
    return Counts(
        offered=sum(flow["sent"] for flow in result["flows"]),
        sent=round(sum(flow["throughput_bps"] for flow in first) / 8 / BYTES),
        dropped=sum(flow["lost"] for flow in first),
        delay=sum(flow["delay_ps"]["mean"] * flow["delivered"] for flow in first) / delivered / 1e6,
    )


def by_heap() -> Counts:
    """By a plain event loop over ``heapq``."""
    queues: list[deque[int]] = [deque() for _ in range(CLASSES)]
    events = [(start, sender, sender) for sender, start in enumerate(STARTS)]
    scheduled = len(events)
    dropped = [0] * CLASSES
    offered = sent = delays = serving = 0
    busy = False
    while events[0][0] < PS:
        now, _, kind = heapq.heappop(events)
        if kind < SENDERS:
            offered += 1
            heapq.heappush(events, (now + GAP, scheduled, kind))
            scheduled += 1
            if len(queues[kind % CLASSES]) < LIMIT:
                queues[kind % CLASSES].append(now)
            else:
                dropped[kind % CLASSES] += 1
        else:
            sent += 1
            delays += now - serving
            busy = False
        if not busy:
            for queue in queues:
                if queue:
                    serving, busy = queue.popleft(), True
                    heapq.heappush(events, (now + SERVICE, scheduled, SENDERS))
                    scheduled += 1
                    break
    return Counts(offered, sent, dropped[0], delays / sent / 1e6)
