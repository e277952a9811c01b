"""Traffic streams: the load of each flow, and of its acknowledgements, on every line of its path.

Which rules and queues take a stream is asked of the twin itself, which carries a few packets of each alone: so an
expectation is of the very configuration that is measured. What a packet is on a line is reckoned for each size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from qosforge.calculus.encapsulation import Encapsulation
from qosforge.calculus.stages import EgressLine, Place, Stage, TrafficStream
from qosforge.inventory.models import Network, TrafficFlow, TrafficScenario
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.tester.scenario.path_stages import PartCache, PathStages
from qosforge.tester.scenario.policers import find_policers, other_actions, policer_limit, with_actions
from qosforge.tester.scenario.schedulers import port_service
from qosforge.tester.scenario.sources import CLOCK_PPM
from qosforge.tester.scenario.traffic import RTP_HEADERS, TCP_HEADERS, flow_names, packets_of_frame
from qosforge.twin.filters import Action, MatchSpec, PolicerSpec, PortRange
from qosforge.twin.report import PortReport, TwinReport
from qosforge.twin.scenario import (
    PS,
    EgressSpec,
    FlowSpec,
    LinkSpec,
    NodeSpec,
    PacketSpec,
    PortName,
    PortSpec,
    TwinScenario,
)
from qosforge.twin.schedulers import FIFO
from qosforge.twin.sources import CbrSource, SourceSpec, TraceSource

_PROBES = 5
_PROBE_SECONDS = 20
"""Time from one probing packet to the next: any line has sent it by then, so that nothing waits or is dropped."""
_PLAIN_PORT = EgressSpec(scheduler=FIFO)
"""Of a port that says nothing of what leaves."""
_PLAIN_LIMIT = 1000
"""Packets that such a port takes."""


def find_streams(
    network: Network,
    plans: Mapping[str, Plan],
    scenario: TrafficScenario,
    document: TwinScenario,
    run: Callable[[TwinScenario], TwinReport],
) -> tuple[TrafficStream, ...]:
    """The streams of a scenario, as ``document``, the twin's form of it, routes them through what devices hold.

    Flows that are described as one are one stream if every rule takes them alike, else as many as rules tell apart.
    ``run`` gives the twin's answer to a document.
    """
    lines = _Lines(network, plans, document, run)
    documents = {entry.name: entry for entry in document.flows}
    found = []
    for flow in scenario.flows:
        groups = lines.split_by_ports([documents[name] for name in flow_names(flow)])
        for entries in groups:
            # No flow has such a name.
            name = flow.name if len(groups) == 1 else f"{flow.name} {entries[0].packet.src_port}"
            found.append(_stream(flow, name, entries, document.duration_ps, lines))
    return tuple(found)


def _stream(
    flow: TrafficFlow, name: str, entries: Sequence[FlowSpec], duration_ps: int, lines: _Lines
) -> TrafficStream:
    """The stream of flows that every rule takes alike."""
    entry, count, weight = entries[0], len(entries), (flow.dscp >> 3) + 1
    offered, sizes = offered_load(flow, entry.source, duration_ps)
    back = None
    if entry.return_path is not None:
        first, *others = lines.ways(entry.return_path, _reverse(entry.packet), [TCP_HEADERS])
        back = TrafficStream(
            name=f"{name} acknowledgements",
            count=count,
            offered=0.0,
            ip_bytes=TCP_HEADERS,
            steady=False,
            weight=weight,
            stages=first,
            otherwise=tuple(others),
        )
    first, *others = lines.ways(entry.path, entry.packet, sizes)
    return TrafficStream(
        name=name,
        count=count,
        offered=offered,
        ip_bytes=sizes[0],
        steady=flow.source.kind == "cbr",
        weight=weight,
        stages=first,
        otherwise=tuple(others),
        fast_ppm=CLOCK_PPM,
        flows=tuple(each.name for each in entries),
        acknowledgements=back,
    )


def _reverse(packet: PacketSpec) -> PacketSpec:
    """A packet of the way back: addresses and ports are swapped, marks are the flow's own."""
    return replace(packet, src=packet.dst, dst=packet.src, src_port=packet.dst_port, dst_port=packet.src_port)


def offered_load(flow: TrafficFlow, source: SourceSpec, duration_ps: int) -> tuple[float, list[int]]:
    """What one flow offers, IP bits per second, and the bytes of its packets: the usual ones, then all others."""
    described = flow.source
    size = described.ip_bytes
    match described.kind:
        case "tcp":
            return math.inf, [size]
        case "video":
            frame = described.frame_bytes or 0
            packets = packets_of_frame(described)
            usual = frame / packets + RTP_HEADERS
            offered = (described.frames_per_second or 0) * packets * usual * 8
            return offered, _sizes(round(usual), range(RTP_HEADERS + 1, size + 1))
        case "trace":
            assert isinstance(source, TraceSource)
            sent = [b for at, b in zip(source.times_ps, source.ip_bytes, strict=True) if at <= duration_ps]
            usual = round(sum(sent) / max(len(sent), 1)) or size
            return 8 * sum(sent) * PS / duration_ps, _sizes(usual, source.ip_bytes)
    return float(described.rate or 0), [size]


def _sizes(usual: int, others: Iterable[int]) -> list[int]:
    return [usual, *sorted(set(others) - {usual})]


class _Lines:
    """The lines of a network that a document describes, and what the twin does with packets on them."""

    def __init__(
        self,
        network: Network,
        plans: Mapping[str, Plan],
        document: TwinScenario,
        run: Callable[[TwinScenario], TwinReport],
    ) -> None:
        self._document, self._run = document, run
        self._ports = {(node.name, port.name): port for node in document.nodes for port in node.ports}
        self._links = {near: link for link in document.links for near, _ in _directions(link)}
        self._ends = {near: far for link in document.links for near, far in _directions(link)}
        self._lines = _egress_lines(network, plans, document, self._links)
        self._ranges = sorted(_port_ranges(document.nodes))
        self._known: PartCache = {}

    def split_by_ports(self, entries: Sequence[FlowSpec]) -> list[list[FlowSpec]]:
        """Flows that differ in their ports, by the rules' port ranges that they are in."""
        groups: dict[tuple[bool, ...], list[FlowSpec]] = {}
        for entry in entries:
            port = entry.packet.src_port or 0
            groups.setdefault(tuple(low <= port <= high for low, high in self._ranges), []).append(entry)
        return list(groups.values())

    def ways(
        self, hops: Sequence[PortName], packet: PacketSpec, sizes: Sequence[int]
    ) -> Iterator[tuple[Stage, ...]]:
        """What packets of these sizes, the usual one first, pass on a path: those that conform to every policer,
        then those that get other marks where they do not, which other rules and queues may take.
        """
        seen: list[object] = []
        waiting: list[dict[Place, Action]] = [{}]
        while waiting:
            actions = waiting.pop(0)
            reports = self._probe(hops, packet, sizes[0], actions)
            if len(sizes) > 1 and not _lets_through(reports[hops[-1]]):
                # What the usual packet is too large for may pass smaller ones.
                reports = self._probe(hops, packet, min(sizes), actions)
            last = list(actions)[-1] if actions else None
            for place, police in self._policers(hops, reports):
                # Those before the last one that was changed have been tried with it.
                if last == place:
                    last = None
                elif last is None and place not in actions:
                    waiting += [{**actions, place: action} for action in other_actions(police)]
            queues = [[bool(queue.packets_out) for queue in reports[at].queues] for at in hops]
            route = ([place for place, _ in self._policers(hops, reports)], queues)
            if route not in seen:
                seen.append(route)
                yield self._stages(hops, reports, packet, sizes)

    def _policers(
        self, hops: Sequence[PortName], reports: Mapping[PortName, PortReport]
    ) -> Iterator[tuple[Place, PolicerSpec]]:
        """The policers on a path in the order of the packets."""
        for at in hops:
            yield from find_policers(self._ports[at], reports[at], "egress", at)
            far = self._ends[at]
            if far in reports:
                yield from find_policers(self._ports[far], reports[far], "ingress", far)

    def _stages(
        self,
        hops: Sequence[PortName],
        reports: Mapping[PortName, PortReport],
        packet: PacketSpec,
        sizes: Sequence[int],
    ) -> tuple[Stage, ...]:
        rtp = (packet.application or "").startswith("rtp-")
        way = PathStages(sizes, self._known)
        for at in hops:
            report = reports[at]
            carries = Encapsulation.of(self._links[at], self._ports[at].egress or _PLAIN_PORT, rtp=rtp)
            way.cut(carries)
            for place, police in find_policers(self._ports[at], report, "egress", at):
                if (passes := policer_limit(police)) is not None:
                    way.police(place, *passes, carries.policed_bytes)
            if not _lets_through(report):
                way.police((at[0], at[1], "nothing passes", 0), 0, 0, carries.policed_bytes)
                break
            queue = next(number for number, seen in enumerate(report.queues) if seen.packets_out)
            way.pass_line(self._lines[at], queue, carries)
            far = self._ends[at]
            if far in reports:
                for place, police in find_policers(self._ports[far], reports[far], "ingress", far):
                    if (passes := policer_limit(police)) is not None:
                        way.police(place, *passes, carries.received_bytes)
        return way.stages()

    def _probe(
        self, hops: Sequence[PortName], packet: PacketSpec, size: int, actions: Mapping[Place, Action]
    ) -> dict[PortName, PortReport]:
        """The ports' reports of a few packets of one size that go a way alone, where policers act so."""
        source = CbrSource(rate_bps=max(1, 8 * size // _PROBE_SECONDS), ip_bytes=size)
        document = replace(
            self._document,
            duration_ps=_PROBES * _PROBE_SECONDS * PS,
            warmup_ps=0,
            cool_down_ps=0,
            flows=(FlowSpec(name="probe", path=tuple(hops), packet=packet, source=source),),
        )
        if actions:
            document = replace(document, nodes=with_actions(document.nodes, actions))
        answer = self._run(document)
        return {(each.node, each.port): each for each in answer.ports}


def _lets_through(report: PortReport) -> bool:
    return any(queue.packets_out for queue in report.queues)


def _directions(link: LinkSpec) -> tuple[tuple[PortName, PortName], tuple[PortName, PortName]]:
    return (link.a, link.b), (link.b, link.a)


def _port_ranges(nodes: Iterable[NodeSpec]) -> set[PortRange]:
    """The ranges of transport ports that rules match by, wherever they stand."""
    ports = [port for node in nodes for port in node.ports]
    matches = [match for port in ports for match in _matches(port)]
    found: set[PortRange] = set()
    while matches:
        match = matches.pop()
        found.update(match.src_ports or (), match.dst_ports or (), match.any_port or ())
        matches += match.any or ()
        if match.not_ is not None:
            matches.append(match.not_)
    return found


def _matches(port: PortSpec) -> Iterator[MatchSpec]:
    for side in (port.ingress, port.egress):
        if side is not None:
            yield from (listed.match for listed in side.police)
            yield from (rule.match for rule in side.rules)
    for queue in port.egress.queues if port.egress is not None else ():
        yield from (threshold.match for threshold in queue.thresholds)


def _egress_lines(
    network: Network, plans: Mapping[str, Plan], document: TwinScenario, links: Mapping[PortName, LinkSpec]
) -> dict[PortName, EgressLine]:
    lines: dict[PortName, EgressLine] = {}
    for node in document.nodes:
        plan = plans.get(node.name)
        for port in node.ports:
            at = (node.name, port.name)
            link = links.get(at)
            if link is None:
                continue
            egress = port.egress or _PLAIN_PORT
            scheduler, assumed_rate = None, link.rate_bps
            if plan is not None:
                usable = network.device(at[0]).interface(at[1]).usable
                holds = port_service(plan, plan.interface(at[1]) or InterfacePlan(name=at[1]), usable, assumed_rate)
                scheduler, assumed_rate = holds.scheduler, holds.assumed_rate
            lines[at] = EgressLine(
                node=at[0],
                port=at[1],
                rate=link.rate_bps,
                assumed_rate=assumed_rate,
                ring=egress.tx_fifo_packets,
                limits=tuple(queue.limit_packets for queue in egress.queues) or (_PLAIN_LIMIT,),
                delay_ps=link.delay_ps,
                latency_ps=node.latency_ps,
                jitter_ps=node.latency_jitter_ps,
                scheduler=scheduler,
                discipline=egress.scheduler,
                shaped=None if egress.shape is None else egress.shape.rate_bps,
                fair=frozenset(n for n, q in enumerate(egress.queues) if q.fair_queue is not None),
                tagged=link.tagged,
            )
    return lines
