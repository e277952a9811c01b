"""Streams and the lines they pass: what the models of expected traffic are made from.

Which rules and queues take a stream, and what its packets are on every line, is asked of the twin itself, which
carries a few packets of each alone: so an expectation is of the very configuration that is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.inventory.models import Network, TrafficFlow, TrafficScenario
from app.plan.model import InterfacePlan, Plan, Scheduler
from app.tester.schedulers import held
from app.tester.traffic import RTP_HEADERS, packets_of_frame

Json = dict[str, Any]

PS = 10**12
_PROBES = 5
_PROBE_SECONDS = 20
"""Time from one probing packet to the next: any line has sent it by then, so that nothing waits or is dropped."""
_ACK_BYTES = 40


@dataclass(frozen=True, slots=True)
class Line:
    """An egress port and its link. ``believed`` is the rate (b/s) that the box takes its shares of, ``ring`` the
    frames its hardware holds, ``limits`` the packets that each queue takes; ``delay_ps`` is the link's and
    ``latency_ps`` that of the node before it, with up to ``jitter_ps`` at random besides. Without a scheduler it is
    one queue in order of arrival; ``discipline`` is what the twin makes of it; ``fair`` are the queues that packets
    do not leave in order of arrival, ``tagged`` frames have an 802.1Q tag. ``shaped`` are the frame bits per second
    that the port sends at most.
    """

    node: str
    port: str
    rate: int
    believed: int
    ring: int
    limits: tuple[int | None, ...]
    delay_ps: int
    latency_ps: int
    scheduler: Scheduler | None = None
    discipline: Json = field(default_factory=lambda: {"kind": "fifo"})
    fair: frozenset[int] = frozenset()
    tagged: bool = False
    shaped: int | None = None
    jitter_ps: int = 0


@dataclass(frozen=True, slots=True)
class Carried:
    """What an IP packet is on a line: frame bytes, which shares and policers count, and bits of line time."""

    ip_bytes: int
    frame_bytes: float
    wire_bits: float


@dataclass(frozen=True, slots=True)
class Meter:
    """A policer that drops: ``rate`` in bits per second and ``burst`` in bytes of frames, which a stream's usual
    packet makes ``frame_bytes`` of. Streams that share it have the same ``place``.
    """

    place: tuple[str, str, str, int]
    rate: int
    burst: int
    frame_bytes: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A queue of a line that a stream passes, and what its usual, largest and smallest packets are there."""

    line: Line
    queue: int
    usual: Carried
    largest: Carried
    smallest: Carried


Stage = Meter | Passage


@dataclass(frozen=True, slots=True)
class Stream:
    """``count`` flows that are described as one; each offers ``offered`` IP bits per second.

    Greedy ones (TCP) offer infinitely much and take what they are left. ``steady``: packets of one size in equal
    distances. ``weight`` is each flow's in flow-based fair queueing: its IP precedence and one. ``stages`` are what
    it passes, in order.
    """

    name: str
    count: int
    offered: float
    ip_bytes: int
    steady: bool
    weight: int
    stages: tuple[Stage, ...]

    @property
    def greedy(self) -> bool:
        """Whether it sends whatever it is left."""
        return math.isinf(self.offered)


def streams(
    network: Network,
    plans: Mapping[str, Plan],
    scenario: TrafficScenario,
    document: Json,
    run: Callable[[Json], Json],
) -> tuple[Stream, ...]:
    """The streams of a scenario, as ``document``, the twin's form of it, routes them through what boxes hold.

    ``run`` gives the twin's answer to a document.
    """
    lines = _lines(network, plans, document)
    ports: dict[tuple[str, ...], Json] = {
        (node["name"], port["name"]): port for node in document["nodes"] for port in node["ports"]
    }
    ends = {tuple(a): tuple(b) for link in document["links"] for a, b in _ways(link)}
    documents = {entry["name"]: entry for entry in document["flows"]}
    found = []
    for flow in scenario.flows:
        entry = documents[flow.name if flow.count == 1 else f"{flow.name}-1"]
        offered, sizes = load(flow, entry["source"], document["duration_ps"])
        # Answers by size; the first is of the usual packet.
        probes = {size: _probe(document, entry, size, run) for size in sizes}
        reports = probes[sizes[0]]
        stages: list[Stage] = []
        for hop in map(tuple, entry["path"]):
            line = lines[hop]
            usual = _carried(sizes[0], reports[hop], line)
            if usual is None:
                stages.append(Meter((*hop, "nothing passes", 0), 0, 0, sizes[0]))
                break
            largest, smallest = (_like(size, probes[size][hop], line, usual) for size in sizes[1:])
            stages += _meters(ports[hop], reports[hop], "egress", hop, usual)
            queues = [i for i, queue in enumerate(reports[hop]["queues"]) if queue["packets_in"]]
            stages.append(Passage(line, queues[0] if queues else 0, usual, largest, smallest))
            far = ends[hop]
            if far in reports:
                stages += _meters(ports[far], reports[far], "ingress", far, usual)
        steady = flow.source.kind == "cbr" and len(set(sizes)) == 1
        found.append(Stream(flow.name, flow.count, offered, sizes[0], steady, (flow.dscp >> 3) + 1, tuple(stages)))
    return tuple(found)


def _probe(document: Json, entry: Json, size: int, run: Callable[[Json], Json]) -> dict[tuple[str, ...], Json]:
    """The ports' reports of a few packets of one size that go a flow's way alone."""
    source = {"kind": "cbr", "rate_bps": max(1, 8 * size // _PROBE_SECONDS), "ip_bytes": size}
    alone = {key: entry[key] for key in ("name", "path", "packet")} | {"source": source}
    duration = _PROBES * _PROBE_SECONDS * PS
    answer = run({**document, "duration_ps": duration, "warmup_ps": 0, "flows": [alone]})
    return {(each["node"], each["port"]): each for each in answer["ports"]}


def _carried(size: int, report: Json, line: Line) -> Carried | None:
    """What packets of a size were found to be on a line; None where none came through."""
    packets = sum(queue["packets_out"] for queue in report["queues"])
    if packets == 0:
        return None
    frames = sum(queue["bytes_out"] for queue in report["queues"])
    return Carried(size, frames / packets, report["busy_ps"] / packets * line.rate / PS)


def _like(size: int, report: Json, line: Line, usual: Carried) -> Carried:
    """The same where the usual packets come through; what is dropped counts as so many of those as hold it."""
    found = _carried(size, report, line)
    if found is not None:
        return found
    packets = math.ceil(size / usual.ip_bytes)
    return Carried(size, packets * usual.frame_bytes, packets * usual.wire_bits)


def load(flow: TrafficFlow, source: Json, duration_ps: int) -> tuple[float, tuple[int, int, int]]:
    """What one flow offers, IP bits per second, and the bytes of its usual, largest and smallest packets."""
    described = flow.source
    size = described.ip_bytes
    match described.kind:
        case "tcp":
            return math.inf, (size, size, _ACK_BYTES)
        case "video":
            frame = described.frame_bytes or 0
            packets = packets_of_frame(described)
            usual = frame / packets + RTP_HEADERS
            offered = (described.frames_per_second or 0) * packets * usual * 8
            return offered, (round(usual), size, RTP_HEADERS)
        case "trace":
            sent = [b for at, b in zip(source["times_ps"], source["ip_bytes"], strict=True) if at <= duration_ps]
            usual = round(sum(sent) / max(len(sent), 1)) or size
            return 8 * sum(sent) * PS / duration_ps, (usual, max(sent, default=size), min(sent, default=size))
    return float(described.rate or 0), (size, size, size)


def _ways(link: Json) -> tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]:
    return (link["a"], link["b"]), (link["b"], link["a"])


def _lines(network: Network, plans: Mapping[str, Plan], document: Json) -> dict[tuple[str, ...], Line]:
    links = {tuple(near): link for link in document["links"] for near, _ in _ways(link)}
    lines: dict[tuple[str, ...], Line] = {}
    for node in document["nodes"]:
        plan = plans.get(node["name"])
        for port in node["ports"]:
            at = (node["name"], port["name"])
            link = links.get(at)
            if link is None:
                continue
            egress = port.get("egress") or {}
            scheduler, believed = None, link["rate_bps"]
            if plan is not None:
                usable = network.device(at[0]).interface(at[1]).usable
                holds = held(plan, plan.interface(at[1]) or InterfacePlan(name=at[1]), usable, believed)
                scheduler, believed = holds.scheduler, holds.believed
            lines[at] = Line(
                node=at[0],
                port=at[1],
                rate=link["rate_bps"],
                believed=believed,
                ring=egress.get("tx_fifo_packets", 1),
                limits=tuple(queue.get("limit_packets") for queue in egress.get("queues", ())) or (1000,),
                delay_ps=link["delay_ps"],
                latency_ps=node["latency_ps"],
                jitter_ps=node.get("latency_jitter_ps", 0),
                scheduler=scheduler,
                discipline=egress.get("scheduler") or {"kind": "fifo"},
                shaped=(egress.get("shape") or {}).get("rate_bps"),
                fair=frozenset(n for n, q in enumerate(egress.get("queues", ())) if "fair_queue" in q),
                tagged=link.get("tagged", False),
            )
    return lines


def _meters(port: Json, report: Json, side: str, at: tuple[str, ...], usual: Carried) -> list[Stage]:
    """The policers that take what they drop from a stream, as its packets were found to meet them."""
    described = port.get(side) or {}
    met: list[tuple[str, int, Json]] = []
    for number, listed in enumerate(described.get("police", ())):
        if any(report["policers"][side][number].values()):
            met.append((f"{side} list", number, listed["police"]))
    rules = described.get("rules", [])
    hit = next((i for i, entry in enumerate(report["rules"][side]) if entry["packets"]), None)
    if hit is not None:
        rule = rules[hit] if hit < len(rules) else described.get("otherwise") or {}
        met.append((side, hit, rule.get("police") or {}))
    if side == "egress":
        for number, (queue, seen) in enumerate(zip(described.get("queues", ()), report["queues"], strict=False)):
            if seen["packets_in"]:
                met.append(("queue", number, queue.get("police") or {}))
    found: list[Stage] = []
    for place, number, police in met:
        if (passed := _passed(police)) is not None:
            found.append(Meter((at[0], at[1], place, number), *passed, usual.frame_bytes))
    return found


def _passed(police: Json) -> tuple[int, int] | None:
    """Rate and burst that a policer lets through; None if it drops nothing for good."""
    exceed = police.get("exceed", "drop")
    if not police or police.get("violate", exceed) != "drop":
        return None
    rate, burst = police["rate_bps"], police["burst_bytes"]
    match police.get("kind", "token_bucket"):
        case "car":
            borrowed = police.get("extended_burst_bytes", 0)
            return (rate, burst + (borrowed if borrowed > burst else 0)) if exceed == "drop" else None
        case "srtcm" if exceed != "drop":
            return rate, burst + police["excess_burst_bytes"]
        case "trtcm" if exceed != "drop":
            return police["peak_bps"], police["peak_burst_bytes"]
    return (rate, burst) if exceed == "drop" else None
