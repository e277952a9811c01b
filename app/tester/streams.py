"""Streams and the lines they pass: what the models of expected traffic are made from.

Which rules and queues take a stream is asked of the twin itself, which carries a few packets of each alone: so an
expectation is of the very configuration that is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.inventory.models import Network, TrafficFlow, TrafficScenario
from app.plan.model import InterfacePlan, Plan, Scheduler

Json = dict[str, Any]

PS = 10**12
_PROBE = {"kind": "cbr", "rate_bps": 8_000, "ip_bytes": 100}
_PROBE_PS = PS
"""Ten packets in a second: nothing waits, so nothing is dropped."""
_ETHERNET_GAP = 20
"""Bytes of preamble, start delimiter and gap (IEEE 802.3)."""
_RTP_SAVED = 36
"""Bytes that header compression takes off (RFC 2508): 40 become 4."""
_LINK_HEADERS = {"none": 0, "ethernet": 18, "hdlc": 7, "ppp": 7, "mlppp": 11}
_UDP_HEADERS = 40
_ACK_BYTES = 40


@dataclass(frozen=True, slots=True)
class Line:
    """An egress port and its link. ``believed`` is the rate (b/s) that the box takes its shares of, ``ring`` the
    frames its hardware holds, ``limits`` the packets that each queue takes; ``delay_ps`` is the link's and
    ``latency_ps`` that of the node before it. Without a scheduler it is one queue in order of arrival;
    ``discipline`` is what the twin makes of it; a line that is not ``plain`` is shaped below its rate, or has a
    queue that packets do not leave in order of arrival.
    """

    node: str
    port: str
    rate: int
    framing: str
    tagged: bool
    believed: int
    ring: int
    limits: tuple[int | None, ...]
    delay_ps: int
    latency_ps: int
    scheduler: Scheduler | None = None
    fragment: int | None = None
    interleave: bool = False
    compression: bool = False
    discipline: Json = field(default_factory=lambda: {"kind": "fifo"})
    plain: bool = True

    def frame_bytes(self, ip_bytes: float, rtp: bool) -> float:
        """Frame bytes of an IP packet: what shares, policers and limits count."""
        carried = ip_bytes - _RTP_SAVED if self.compression and rtp and ip_bytes > _UDP_HEADERS else ip_bytes
        pieces = math.ceil(carried / self.fragment) if self.fragment else 1
        size = carried + pieces * _LINK_HEADERS[self.framing]
        return max(size + 4 * self.tagged, 64) if self.framing == "ethernet" else size

    def wire_bits(self, ip_bytes: float, rtp: bool) -> float:
        """Bits of line time that an IP packet takes."""
        gap = _ETHERNET_GAP if self.framing == "ethernet" else 0
        return 8 * (self.frame_bytes(ip_bytes, rtp) + gap)


@dataclass(frozen=True, slots=True)
class Meter:
    """A policer that drops: ``rate`` in bits per second and ``burst`` bytes of the frames on ``line``.

    Streams that share it have the same ``place``.
    """

    place: tuple[str, str, str, int]
    line: Line
    rate: int
    burst: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A queue of a line that a stream passes."""

    line: Line
    queue: int


Stage = Meter | Passage


@dataclass(frozen=True, slots=True)
class Stream:
    """``count`` flows that are described as one: each offers ``offered`` IP bits per second in mean ``ip_bytes``.

    Greedy ones (TCP) offer infinitely much and take what they are left. ``steady``: packets in equal distances.
    ``weight`` is that of each flow in flow-based fair queueing: its IP precedence and one. ``stages`` are what it
    passes, in order.
    """

    name: str
    count: int
    offered: float
    ip_bytes: float
    largest: int
    smallest: int
    steady: bool
    rtp: bool
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
    ports = {(node["name"], port["name"]): port for node in document["nodes"] for port in node["ports"]}
    ends = {tuple(a): tuple(b) for link in document["links"] for a, b in _ways(link)}
    documents = {entry["name"]: entry for entry in document["flows"]}
    found = []
    for flow in scenario.flows:
        entry = documents[flow.name if flow.count == 1 else f"{flow.name}-1"]
        alone = {key: entry[key] for key in ("name", "path", "packet")} | {"source": _PROBE}
        answer = run({**document, "duration_ps": _PROBE_PS, "warmup_ps": 0, "flows": [alone]})
        reports = {(each["node"], each["port"]): each for each in answer["ports"]}
        stages: list[Stage] = []
        for hop in map(tuple, entry["path"]):
            line = lines[hop]
            stages += _meter(ports[hop], reports[hop], "egress", hop, line)
            queues = [i for i, queue in enumerate(reports[hop]["queues"]) if queue["packets_in"]]
            stages.append(Passage(line, queues[0] if queues else 0))
            far = ends[hop]
            if far in ports:
                stages += _meter(ports[far], reports[far], "ingress", far, line)
        found.append(_stream(flow, tuple(stages)))
    return tuple(found)


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
                held = plan.interface(at[1]) or InterfacePlan(name=at[1])
                scheduler = held.egress.scheduler or plan.system.scheduler
                usable = network.device(at[0]).interface(at[1]).usable
                believed = held.bandwidth_kbps * 1000 if held.bandwidth_kbps else usable
            lines[at] = Line(
                node=at[0],
                port=at[1],
                rate=link["rate_bps"],
                framing=link["framing"],
                tagged=link["tagged"],
                believed=believed,
                ring=egress.get("tx_fifo_packets", 1),
                limits=tuple(queue.get("limit_packets") for queue in egress.get("queues", ())) or (1000,),
                delay_ps=link["delay_ps"],
                latency_ps=node["latency_ps"],
                scheduler=scheduler,
                fragment=egress.get("fragment_bytes"),
                interleave=bool(egress.get("interleave")),
                discipline=egress.get("scheduler") or {"kind": "fifo"},
                plain=not (egress.get("shape") or any("fair_queue" in q for q in egress.get("queues", ()))),
                compression=bool(egress.get("header_compression")) and link["framing"] != "ethernet",
            )
    return lines


def _meter(port: Json, report: Json, side: str, at: tuple[str, ...], line: Line) -> list[Stage]:
    """The policer that takes what it drops from a stream, by the rule that its packets were found to meet."""
    rules = (port.get(side) or {}).get("rules", [])
    hit = next((i for i, entry in enumerate(report["rules"][side]) if entry["packets"]), None)
    if hit is None:
        return []
    rule = rules[hit] if hit < len(rules) else (port.get(side) or {}).get("otherwise") or {}
    police = rule.get("police")
    if not police or police.get("exceed"):
        return []
    return [Meter((at[0], at[1], side, hit), line, police["rate_bps"], police["burst_bytes"])]


def _stream(flow: TrafficFlow, stages: tuple[Stage, ...]) -> Stream:
    source = flow.source
    offered, size = float(source.rate or 0), float(source.ip_bytes)
    largest, smallest = source.ip_bytes, source.ip_bytes
    if source.kind == "tcp":
        offered, smallest = math.inf, _ACK_BYTES
    elif source.kind == "video":
        frame = source.frame_bytes or 0
        packets = max(1, math.ceil(frame / (source.ip_bytes - _UDP_HEADERS)))
        size = frame / packets + _UDP_HEADERS
        offered, smallest = (source.frames_per_second or 0) * packets * size * 8, _UDP_HEADERS
    return Stream(
        name=flow.name,
        count=flow.count,
        offered=offered,
        ip_bytes=size,
        largest=largest,
        smallest=smallest,
        steady=source.kind == "cbr",
        rtp=(flow.application or "").startswith("rtp-"),
        weight=(flow.dscp >> 3) + 1,
        stages=stages,
    )
