"""Derive a traffic scenario from measured traffic of stations, with notes on what is assumed.

Counters tell how much each station sent and received, never to whom. The pairs are those of the fewest flows that
keep both: the station with the most left to send goes to the one with the most left to receive, until nothing fits.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import networkx

from qosforge.discovery.port_traffic import MeasuredTraffic, StationTraffic, unmeasured
from qosforge.dscp import dscp_label
from qosforge.importing.to_intent import rate
from qosforge.inventory.models import Network, TrafficScenario
from qosforge.units import format_rate, listed

DISCARD_PORT = 9
"""Destination port of flows whose class names none: that of the discard service (RFC 863)."""
_LONGEST_NAME = 63
_COLUMNS = 110
_ASSUMED = (
    "Assumed: packets arrive at random (poisson), all of a flow have the mean size, frames are untagged Ethernet.",
    "Pairs are chosen, not measured: the most left to send goes to the most left to receive, which keeps the rate",
    "of each port in both directions with the fewest flows. Who talks to whom no counter tells, nor how bursty it",
    "is: correct both where you know better.",
)


@dataclass(frozen=True)
class Pair:
    """What is taken to go from one station to another, in IP bits per second."""

    source: str
    target: str
    rate_bps: int


@dataclass(frozen=True)
class MeasuredScenario:
    """A scenario as ``traffic.yaml`` holds it; ``notes`` say what counters do not tell of this one."""

    words: Mapping[str, Any]
    above: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def flows(self) -> Sequence[Mapping[str, Any]]:
        """The flows, as the file holds them."""
        flows: Sequence[Mapping[str, Any]] = self.words["flows"]
        return flows


def pairs_of(network: Network, stations: Sequence[StationTraffic]) -> tuple[Pair, ...]:
    """Which station sends to which, and how much: only such as links connect, and none to itself."""
    graph = networkx.Graph([(link.a[0], link.b[0]) for link in network.links])
    graph.add_nodes_from(device.name for device in network.devices)
    part_of = {name: at for at, part in enumerate(networkx.connected_components(graph)) for name in part}
    parts: dict[int, list[StationTraffic]] = {}
    for one in stations:
        parts.setdefault(part_of[network.station(one.station).attach[0]], []).append(one)
    return tuple(pair for part in parts.values() for pair in _matched(part))


def _matched(stations: Sequence[StationTraffic]) -> Iterator[Pair]:
    """Largest to largest; among equals by name, so that the same counters give the same pairs."""
    senders = [(-one.sent.rate_bps, one.station) for one in stations if one.sent]
    receivers = [(-one.received.rate_bps, one.station) for one in stations if one.received]
    heapq.heapify(senders)
    heapq.heapify(receivers)
    while senders and receivers:
        to_send, source = heapq.heappop(senders)
        to_receive, target = heapq.heappop(receivers)
        if source == target:
            own = (to_receive, target)
            if not receivers:  # only itself is left to receive: others may send to it yet
                heapq.heappush(receivers, own)
                continue
            to_receive, target = heapq.heappop(receivers)
            heapq.heappush(receivers, own)
        amount = min(-to_send, -to_receive)
        yield Pair(source, target, amount)
        if -to_send > amount:
            heapq.heappush(senders, (to_send + amount, source))
        if -to_receive > amount:
            heapq.heappush(receivers, (to_receive + amount, target))


def scenario_of_counters(network: Network, measured: MeasuredTraffic, name: str) -> MeasuredScenario | None:
    """The scenario of a measurement; ``None`` where no traffic went between two stations."""
    pairs = pairs_of(network, measured.stations)
    if not pairs:
        return None
    by_name = {one.station: one for one in measured.stations}
    flows = [flow for at, pair in enumerate(pairs, 1) for flow in _flows(at, pair, by_name[pair.source])]
    seconds = max(one.seconds for one in measured.stations)
    when = measured.began.strftime("%Y-%m-%d %H:%M:%S UTC")
    words = {
        "name": name,
        "title": f"Measured by counters of {len(measured.stations)} ports, {when}, {seconds:.1f} s",
        "between": [[pair.source, pair.target] for pair in pairs],
        "flows": flows,
    }
    notes = tuple(_notes(network, measured, pairs))
    above = (
        f"Measured {when} for {seconds:.1f} s by two readings of packets and bytes at the stations' ports.",
        "Rates are those of IP packets, means of that time; sizes are bytes by packets, less 18 bytes of Ethernet.",
        *_ASSUMED,
        *(line for note in notes for line in wrap(f"Not told: {note}", _COLUMNS)),
    )
    return MeasuredScenario(words, above, notes)


def _flows(at: int, pair: Pair, sender: StationTraffic) -> Iterator[dict[str, Any]]:
    """One flow of each class that the sender's port counts, else one of all."""
    assert sender.sent is not None
    ends = {"from": pair.source, "to": pair.target}
    if not sender.classes:
        yield {
            "name": f"m{at}",
            **ends,
            "dst_port": DISCARD_PORT,
            "source": _source(pair.rate_bps, sender.sent.ip_bytes),
        }
    for part in sender.classes:
        bits = round(pair.rate_bps * part.part)
        if bits:
            mark = part.mark
            flow: dict[str, Any] = {"name": f"m{at}-{part.name}"[:_LONGEST_NAME], **ends}
            if mark.protocol != "udp":
                flow["protocol"] = mark.protocol
            flow["dst_port"] = DISCARD_PORT if mark.port is None else mark.port
            if mark.dscp:
                flow["dscp"] = mark.dscp
            yield {**flow, "source": _source(bits, part.ip_bytes or sender.sent.ip_bytes)}


def _source(bits: int, ip_bytes: int) -> dict[str, Any]:
    return {"kind": "poisson", "rate": rate(bits), "ip_bytes": ip_bytes}


def _notes(network: Network, measured: MeasuredTraffic, pairs: Sequence[Pair]) -> Iterator[str]:
    missing = list(unmeasured(network, measured))
    if missing:
        yield f"nothing of {listed(missing)}, which could not be measured"
    sent = sum(one.sent.rate_bps for one in measured.stations if one.sent)
    received = sum(one.received.rate_bps for one in measured.stations if one.received)
    paired = sum(pair.rate_bps for pair in pairs)
    if sent > paired:
        yield f"{format_rate(sent - paired)} of what stations sent reached no station, and is in no flow"
    if received > paired:
        yield f"{format_rate(received - paired)} of what stations received came from no station, and is in no flow"
    plain = [one.station for one in measured.stations if one.sent and not one.classes]
    if plain:
        yield f"classes of what {listed(plain)} sent: the devices do not count them there; one flow has all of it"
    vague = sorted({part.name for one in measured.stations for part in one.classes if not part.mark.known})
    if vague:
        yield f"all by which devices know class {listed(vague)}: give its flows what it takes to be of the class"
    same = sorted({part.name for one in measured.stations for part in one.classes if part.ip_bytes is None})
    if same:
        yield f"packet sizes of class {listed(same)}: they have the mean of their port, and bytes are divided alike"


def scenario_differences(known: TrafficScenario, discovered: MeasuredScenario) -> tuple[str, ...]:
    """How the flows of a scenario that is there differ from those of a new measurement, in this order: added,
    changed, gone."""
    now = {_key(flow["from"], flow["to"], flow.get("dscp", 0), flow["dst_port"]): flow for flow in discovered.flows}
    before = {_key(flow.from_, flow.to, flow.dscp, flow.dst_port): flow for flow in known.flows}
    told = []
    for key, flow in now.items():
        if key not in before:
            told.append(f"added    {_words(key)}: {flow['source']['rate']}, {flow['source']['ip_bytes']} bytes")
    for key, flow in now.items():
        if key in before:
            source = before[key].source
            was = f"{rate(source.rate) if source.rate else source.kind}, {source.ip_bytes} bytes"
            is_now = f"{flow['source']['rate']}, {flow['source']['ip_bytes']} bytes"
            if was != is_now:
                told.append(f"changed  {_words(key)}: {was} in traffic.yaml, {is_now} now")
    told += [f"gone     {_words(key)}" for key in before if key not in now]
    return tuple(told)


_Key = tuple[str, str, int, int]


def _key(source: str, target: str, dscp: int, port: int) -> _Key:
    return source, target, dscp, port


def _words(key: _Key) -> str:
    source, target, dscp, port = key
    mark = f" DSCP {dscp_label(dscp)}" if dscp else ""
    return f"flow {source} to {target}{mark} port {port}"
