"""Check that the mark of a class reaches every device on a path that serves the class by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_network

from qosforge.dscp import dscp_name
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.applications import Application
from qosforge.intent.match import meet
from qosforge.intent.models import Match, MatchTerm, TrafficClass, Verify, every_class
from qosforge.inventory.models import Port, Station
from qosforge.note import Reason, because
from qosforge.plan.model import Discipline, Egress, Scheduler, System
from qosforge.validation.context import ValidationContext
from qosforge.validation.packets import Packet, enter, inside, leave, marked, queue_of
from qosforge.validation.paths import Hop, hops

_SAMPLED = frozenset(
    {"application", "dscp", "precedence", "cos", "protocol", "source", "destination", "source_port",
     "destination_port"}
)  # fmt: skip
"""Fields of a match that a sample packet shows; one with a CoS comes with a tag, which stations do not send."""
_UNCLASSIFIED = (Discipline.FIFO, Discipline.FLOW_WFQ)


@dataclass(frozen=True)
class _Loss:
    """A packet of a class that is not served as one: where, and what went wrong."""

    port: Port
    direction: str
    reason: Reason


def check_marks(context: ValidationContext) -> Iterator[Finding]:
    """``mark-lost``, once for every class and place on the paths that the intent verifies.

    Every kind of packet that the intent puts into a class is followed from station to station through the
    plans (through the running configuration where a device has none).
    """
    losses: dict[tuple[str, _Loss], list[str]] = {}
    for check in context.compilation.intent.intent.verify:
        for entry, packet, loss in _follow_class(context, check):
            kinds = losses.setdefault((entry.name, loss), [])
            if (kind := _kind(packet)) not in kinds:
                kinds.append(kind)
    for (name, loss), kinds in losses.items():
        where = context.compilation.intent.class_place(name)
        place = Place(
            device=loss.port[0],
            interface=loss.port[1],
            direction=loss.direction,
            traffic_class=name,
            file=where.file if where else None,
            line=where.line if where else None,
        )
        yield loss.reason.note(place, kinds=", ".join(kinds))


def _follow_class(context: ValidationContext, check: Verify) -> Iterator[tuple[TrafficClass, Packet, _Loss]]:
    network, intent = context.compilation.network, context.compilation.intent.intent
    try:
        path = hops(network, check.from_, check.to)
        ends = network.station(check.from_), network.station(check.to)
    except (KeyError, ValueError):
        return  # `check_verification` says so
    for name in (*check.classes, *check.beside):
        entry = intent.traffic_class(name)
        if entry.match is None or not (entry.treatment.priority or entry.treatment.bandwidth):
            continue
        levels = tuple(_levels(intent.classes, name))
        for packet in _packets(context, levels, *ends):
            if (loss := _follow(context, path, levels, packet)) is not None:
                yield entry, packet, loss


_Level = tuple[Sequence[TrafficClass], TrafficClass]
"""The classes of one level of a link-sharing tree, and that one of them which a packet belongs to."""


def _levels(classes: Sequence[TrafficClass], name: str) -> Iterator[_Level]:
    """The levels of the tree down to the class of this name, the outermost first."""
    for entry in classes:
        if entry.name == name or any(c.name == name for c in every_class(entry.treatment.children)):
            yield classes, entry
            if entry.name != name:
                yield from _levels(entry.treatment.children, name)
            return


def _packets(
    context: ValidationContext, levels: tuple[_Level, ...], source: Station, target: Station
) -> Iterator[Packet]:
    """Every kind of packet that the intent puts into a class, as a station without a tag sends it.

    One sample stands for every flow of a match: an address for a prefix, a port for a range. Classes told by what
    no station's packet shows (MAC addresses, VLANs, ways in) or by what a packet is not have none. A station whose
    port is to trust DSCPs is taken to send a class with its mark.
    """
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
                packet = replace(packet, application=application)
                if all(_first(classes, packet) is entry for classes, entry in levels):
                    yield packet


def _believed(context: ValidationContext, station: Station) -> bool:
    """Whether the intent says that the port of a station trusts the DSCPs which it sends."""
    device, port = station.attach
    compiled = context.compiled.get(device)
    return compiled is not None and any(
        i.name == port and i.trust_in == "dscp" for i in compiled.request.interfaces
    )


def _terms(levels: tuple[_Level, ...]) -> tuple[MatchTerm, ...]:
    """What a class matches, within what those that it divides do."""
    found: tuple[MatchTerm, ...] = ()
    for _, entry in levels:
        own = entry.match.alternatives() if entry.match else ()
        met = (meet(above, term) for above in found for term in own)
        found = tuple(dict.fromkeys(t for t in met if t is not None)) if found else own
    return found


def _first(classes: Sequence[TrafficClass], packet: Packet) -> TrafficClass | None:
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


def _kind(packet: Packet) -> str:
    mark = f"DSCP {dscp_name(packet.dscp)}"
    if packet.application:
        return f"{packet.application} sent with {mark}"
    if packet.protocol is None:
        return f"packets sent with {mark}"
    near, far = (f" port {port}" if port is not None else "" for port in (packet.source_port, packet.port))
    return f"protocol {packet.protocol} from {packet.source}{near} to {packet.destination}{far} sent with {mark}"


def _follow(
    context: ValidationContext, path: tuple[Hop, ...], levels: tuple[_Level, ...], packet: Packet
) -> _Loss | None:
    """The first place on a path where a packet is not served as its class."""
    entry = levels[-1][1]
    mark = entry.mark.dscp if entry.mark else None
    rewritten: _Loss | None = None
    for hop in path:
        plan = context.plan(hop.device)
        if plan is None:
            continue
        before = packet.dscp
        here = context.interface(hop.entry)
        if here is not None:
            packet = enter(plan.system, here.ingress, packet, tagged=hop.tagged)
        if packet.dscp == mark:
            rewritten = None
        elif mark is not None and before == mark:
            reason = because(
                "mark-lost",
                variant="rewritten",
                mark=dscp_name(mark),
                new=dscp_name(packet.dscp),
                queue=_name(hop.exit),
            )
            rewritten = _Loss(hop.entry, "input", reason)
        if context.schedules(hop.exit) and not _served_as_class(context, hop, plan.system, levels, packet):
            return rewritten or _unread(hop, mark, packet)
        there = context.interface(hop.exit)
        left = packet if there is None else leave(there.egress.dividing, packet)
        if mark is not None and packet.dscp == mark != left.dscp:
            reason = because(
                "mark-lost", variant="rewritten-on-output", mark=dscp_name(mark), new=dscp_name(left.dscp)
            )
            rewritten = _Loss(hop.exit, "output", reason)
        packet = left
    return None


def _unread(hop: Hop, mark: int | None, packet: Packet) -> _Loss:
    if mark is None:
        return _Loss(hop.exit, "output", because("mark-lost", variant="no-mark"))
    name = dscp_name(mark)
    if packet.dscp == mark:
        return _Loss(hop.exit, "output", because("mark-lost", variant="not-read", mark=name))
    reason = because("mark-lost", variant="not-recognised", mark=name, queue=_name(hop.exit))
    return _Loss(hop.entry, "input", reason)


def _name(port: Port) -> str:
    return f"{port[0]} {port[1]}"


def _served_as_class(
    context: ValidationContext, hop: Hop, system: System, levels: tuple[_Level, ...], packet: Packet
) -> bool:
    """Whether the queue that a packet takes is one that serves its class, and inside it that of the class below."""
    interface, scheduler = context.interface(hop.exit), context.scheduler(hop.exit)
    if interface is None or scheduler is None or scheduler.discipline in _UNCLASSIFIED:
        return True  # the platform's own findings say that it does not tell classes apart
    egress = interface.egress.dividing
    classes = context.compiled[hop.device].classes
    for _, entry in levels:
        taken = queue_of(system, egress, scheduler, packet)
        wanted = _requested_treatment(classes, egress, scheduler, entry)
        if not wanted and entry.mark is not None and entry.mark.dscp is not None:
            ideal = marked(system, packet, entry.mark.dscp, entry.mark.cos)
            wanted = {queue_of(system, egress, scheduler, ideal)}
        if wanted and taken not in wanted:
            return False
        below = next((q.child for q in scheduler.queues if q.number == taken), None)
        if below is None or below.scheduler is None:
            return True  # a device that divides no class says so itself
        egress, scheduler = below, below.scheduler
    return True


def _requested_treatment(
    classes: Mapping[str, str], egress: Egress, scheduler: Scheduler, entry: TrafficClass
) -> set[int | None]:
    """The queues that may carry a class; none where only its mark tells.

    The provenance map ``classes`` tells them, where a queue without a name stands as ``queue N``.
    """
    strict: set[int | None] = {queue.number for queue in scheduler.queues if queue.priority}
    if entry.treatment.priority is not None and strict:
        return strict
    named = {q.number for q in scheduler.queues if classes.get(q.name or f"queue {q.number}") == entry.name}
    return named | {r.queue for r in egress.rules if classes.get(r.name) == entry.name}
