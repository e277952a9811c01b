"""Sample packets of a class: one of every kind that the intent puts into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_network

from qosforge.dscp import dscp_label
from qosforge.intent.applications import Application
from qosforge.intent.match import meet
from qosforge.intent.models import Match, MatchTerm, TrafficClass, every_class
from qosforge.inventory.models import Station
from qosforge.validation.context import ValidationContext
from qosforge.validation.packets import Packet, inside

_SAMPLED = frozenset(
    {"application", "dscp", "precedence", "cos", "protocol", "source", "destination", "source_port",
     "destination_port"}
)  # fmt: skip
"""Fields of a match that a sample packet shows; one with a CoS comes with a tag, which stations do not send."""

Level = tuple[Sequence[TrafficClass], TrafficClass]
"""The classes of one level of a link-sharing tree, and that one of them which a packet belongs to."""


def levels_of(classes: Sequence[TrafficClass], name: str) -> Iterator[Level]:
    """The levels of the tree down to the class of this name, the outermost first."""
    for entry in classes:
        if entry.name == name or any(c.name == name for c in every_class(entry.treatment.children)):
            yield classes, entry
            if entry.name != name:
                yield from levels_of(entry.treatment.children, name)
            return


def served_levels(context: ValidationContext, name: str) -> tuple[Level, ...] | None:
    """The levels down to a class that the intent tells by a match and serves; none of another class."""
    intent = context.compilation.intent.intent
    entry = intent.traffic_class(name)
    if entry.match is None or not (entry.treatment.priority or entry.treatment.bandwidth):
        return None
    return tuple(levels_of(intent.classes, name))


def packets_of(
    context: ValidationContext, levels: tuple[Level, ...], source: Station, target: Station
) -> tuple[Packet, ...]:
    """Every kind of packet that the intent puts into a class, as a station without a tag sends it.

    One sample stands for every flow of a match: an address for a prefix, a port for a range. Classes told by what
    no station's packet shows (MAC addresses, VLANs, ways in) or by what a packet is not have none. A station whose
    port is to trust DSCPs is taken to send a class with its mark.
    """
    key = ("packets", levels[-1][1].name, source.name, target.name)
    return context.once(key, lambda: tuple(_packets_of(context, levels, source, target)))


def _packets_of(
    context: ValidationContext, levels: tuple[Level, ...], source: Station, target: Station
) -> Iterator[Packet]:
    catalogue = context.compilation.intent.catalogue
    if any(
        not _sampled(c.match) for classes, entry in levels for c in classes[: classes.index(entry) + 1] if c.match
    ):
        return
    mark = levels[-1][1].mark if _believed(context, source) else None
    for term in _terms(levels):
        if term.cos:
            continue
        for application in term.application or (None,):
            for dscp in _marks(term):
                carried = mark.dscp if mark is not None and mark.dscp is not None and not dscp else dscp
                packet = _sample(term, source, target, carried, catalogue[application] if application else None)
                packet = packet._replace(application=application)
                if all(class_of(classes, packet) is entry for classes, entry in levels):
                    yield packet


def _believed(context: ValidationContext, station: Station) -> bool:
    """Whether the intent says that the port of a station trusts the DSCPs which it sends."""
    device, port = station.attach
    compiled = context.compiled.get(device)
    return compiled is not None and any(
        i.name == port and i.trust_in == "dscp" for i in compiled.request.interfaces
    )


def _terms(levels: tuple[Level, ...]) -> tuple[MatchTerm, ...]:
    """What a class matches, within what those that it divides do."""
    found: tuple[MatchTerm, ...] = ()
    for _, entry in levels:
        own = entry.match.alternatives() if entry.match else ()
        met = (meet(above, term) for above in found for term in own)
        found = tuple(dict.fromkeys(t for t in met if t is not None)) if found else own
    return found


def class_of(classes: Sequence[TrafficClass], packet: Packet) -> TrafficClass | None:
    return next((c for c in classes if c.match and any(_meant(t, packet) for t in c.match.alternatives())), None)


def _marks(term: MatchTerm) -> tuple[int, ...]:
    """DSCPs that a match allows, one for each precedence; 0 where it asks for none."""
    by_precedence = tuple(8 * precedence for precedence in term.precedence)
    if term.dscp and term.precedence:
        return tuple(dscp for dscp in term.dscp if dscp >> 3 in term.precedence)
    return term.dscp or by_precedence or (0,)


def _sample(
    term: MatchTerm, source: Station, target: Station, dscp: int, application: Application | None
) -> Packet:
    return Packet(
        source=_address(source.address, term.source),
        destination=_address(target.address, term.destination),
        dscp=dscp,
        protocol=term.protocol[0] if term.protocol else (application.protocol_number if application else None),
        port=_port(term.destination_port or (application.ports if application else ())),
        source_port=_port(term.source_port),
    )


def _address(own: str, prefixes: tuple[str, ...]) -> str:
    """The station's own address where a match takes it, else the first host of the first prefix."""
    if not prefixes or any(inside(own, prefix) for prefix in prefixes):
        return own
    network = ip_network(prefixes[0])
    return str(network.network_address + (1 if network.num_addresses > 2 else 0))


def _port(ranges: tuple[tuple[int, int], ...]) -> int | None:
    return ranges[0][0] if ranges else None


def _sampled(match: Match) -> bool:
    return not match.none and all(_SAMPLED.issuperset(t.set_fields) for t in match.alternatives())


def _meant(term: MatchTerm, packet: Packet) -> bool:
    return (
        (not term.application or packet.application in term.application)
        and (not term.dscp or packet.dscp in term.dscp)
        and (not term.precedence or packet.dscp >> 3 in term.precedence)
        and (not term.protocol or packet.protocol in term.protocol)
        and (not term.source or any(inside(packet.source, p) for p in term.source))
        and (not term.destination or any(inside(packet.destination, p) for p in term.destination))
        and (not term.source_port or _among(packet.source_port, term.source_port))
        and (not term.destination_port or _among(packet.port, term.destination_port))
        and not term.cos
    )


def _among(port: int | None, ranges: tuple[tuple[int, int], ...]) -> bool:
    return port is not None and any(first <= port <= last for first, last in ranges)


def kind_of(packet: Packet) -> str:
    mark = f"DSCP {dscp_label(packet.dscp)}"
    if packet.application:
        return f"{packet.application} sent with {mark}"
    if packet.protocol is None:
        return f"packets sent with {mark}"
    near, far = (f" port {port}" if port is not None else "" for port in (packet.source_port, packet.port))
    return f"protocol {packet.protocol} from {packet.source}{near} to {packet.destination}{far} sent with {mark}"
