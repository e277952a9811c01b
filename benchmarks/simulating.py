"""The twin against other simulators on one model, and how its cost grows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import qosforge_twin

from benchmarks import full_stack, vector
from benchmarks.timing import Ratio, alone_in_its_process, best, best_elapsed, peak

PS = 10**12
BYTES, LINE, LOAD = 1518, 1_000_000_000, 800_000_000
LEAST = 20e6
"""Offered packets a second on one core."""
CASES = 8


@dataclass(frozen=True)
class Speed:
    """Packets in some seconds of processor time, all that surrounds a run included."""

    name: str
    packets: int
    seconds: float
    at_least: float | None = None

    def __str__(self) -> str:
        rate = self.packets / self.seconds
        bound = ""
        if self.at_least is not None:
            bound = f" (at least {self.at_least / 1e6:g}: {'met' if rate >= self.at_least else 'MISSED'})"
        return f"{self.name}: {rate / 1e6:.2f} million packets a second{bound}"


def measure() -> Iterator[Ratio | Speed | str]:
    """Speed on the model that others run too, growth by packets, hops, flows and cores, and memory."""
    yield from _side_by_side()
    yield from _growth()
    yield from _cores()
    short, long = (alone_in_its_process(_peak, seconds) for seconds in (1, 10))
    yield f"twin, peak memory: {short / 1e3:.1f} MB for 1 s of the model, {long / 1e3:.1f} MB for 10 s"


def _side_by_side() -> Iterator[Ratio | Speed | str]:
    text = vector.scenario()
    found = vector.by_twin(text)
    ours = best(lambda: qosforge_twin.run(text, 1), 15)
    yield Speed("twin, 8 senders into strict priority", found.offered, ours, LEAST)
    others = [("plain Python heapq", vector.by_heap, None)]
    if find_spec("simpy") is None:
        yield "SimPy / twin: simpy is not installed, run make bench"
    else:
        from benchmarks import processes  # noqa: PLC0415  # only where SimPy is

        others.append(("SimPy", processes.by_simpy, 15.0))
    for name, simulate, least in others:
        counts = simulate()
        if (counts.offered, counts.sent, counts.dropped) != (found.offered, found.sent, found.dropped):
            raise ValueError(f"{name} and the twin do not count the same: {counts}, {found}")
        yield Ratio(f"{name} / twin, the same model", best(simulate, 3), ours, at_least=least)
    yield _full_stack(found, ours)


def _full_stack(found: vector.Counts, ours: float) -> Ratio | str:
    """ns-3 with its whole stack, which does more for a packet; in a process of its own, for its state is global."""
    if find_spec("ns") is None:
        return "ns-3 / twin: not measured, the package ns3 is missing (pip install 'qosforge[crosscheck]')"
    offered, sent, dropped, took = alone_in_its_process(full_stack.by_ns3)
    # Two frames more leave the queues: those in the device and on the line.
    if (offered, dropped) != (found.offered, found.dropped) or not 0 <= sent - found.sent <= 2:
        raise ValueError(f"ns-3 and the twin do not count the same: {offered}, {sent}, {dropped}, {found}")
    return Ratio("ns-3's full stack (sockets, UDP, IP, routing) / twin, the same model", took, ours, at_least=100.0)


def _growth() -> Iterator[Ratio]:
    """Processor time of a million packet-hops over that of a smaller case."""

    def cost(*, flows: int = 8, hops: int = 1, seconds: int = 10) -> float:
        text = chain(flows, hops, seconds)
        sent = sum(flow["sent"] for flow in json.loads(qosforge_twin.run(text, 1))["flows"])
        return best(lambda: qosforge_twin.run(text, 1)) / (sent * hops) * 1e6

    usual = cost()
    yield Ratio("twin, a million packets of a run of 10 s / of 1 s", usual, cost(seconds=1), at_most=1.2)
    yield Ratio("twin, a million packet-hops of 8 hops / of 1", cost(hops=8), usual, at_most=1.2)
    # A flow costs its reading and its report once: 40 s give each of 4,000 some 660 packets to bear that.
    many, few = (cost(flows=flows, seconds=40) for flows in (4000, 4))
    yield Ratio("twin, a million packets of 40 s of 4,000 flows / of 4", many, few, at_most=2)


def _cores() -> Iterator[Ratio]:
    texts, seeds = [vector.scenario(2)] * CASES, list(range(CASES))
    one, two = (best_elapsed(lambda n=n: qosforge_twin.run_many(texts, seeds, n)) for n in (1, 2))
    yield Ratio(f"twin, {CASES} cases on 1 core / on 2, by the clock", one, two, at_least=1.7)


def _peak(seconds: int) -> float:
    qosforge_twin.run(vector.scenario(seconds), 1)
    return peak()


def chain(flows: int, hops: int, seconds: int) -> str:
    """Flows that together load every line of a chain of strict-priority ports to 80 %."""
    egress = {
        "queues": [{"name": f"q{n}", "limit_packets": 100} for n in range(4)],
        "rules": [{"match": {"cos": [n]}, "queue": n} for n in range(4)],
        "scheduler": {"kind": "strict", "order": [0, 1, 2, 3]},
    }
    rate = LOAD // flows
    gap = BYTES * 8 * PS // rate

    def sent(number: int) -> dict[str, Any]:
        source = {"kind": "cbr", "rate_bps": rate, "ip_bytes": BYTES, "start_ps": gap * number // flows}
        path = [[f"n{hop}", "out"] for hop in range(hops)]
        return {"name": f"f{number}", "path": path, "packet": {"cos": number % 4}, "source": source}

    nodes = [
        {"name": f"n{n}", "ports": [{"name": "in"}, {"name": "out", "egress": egress}]} for n in range(hops + 1)
    ]
    links = [
        {"a": [f"n{n}", "out"], "b": [f"n{n + 1}", "in"], "rate_bps": LINE, "framing": "none"} for n in range(hops)
    ]
    scenario = {"version": 1, "duration_ps": seconds * PS, "nodes": nodes, "links": links}
    return json.dumps(scenario | {"flows": [sent(number) for number in range(flows)]})
