"""Where a class's mark is set, and whether every later device reads it before it serves the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.dscp import dscp_name
from app.findings import Finding, Severity
from app.intent.models import Match, MatchTerm, TrafficClass, Verify
from app.inventory.models import Port, Station
from app.plan.model import Discipline, InterfacePlan, Scheduler, System
from app.validation.known import Known
from app.validation.packets import Packet, enter, marked, queue_of
from app.validation.paths import Hop, hops

_UNCLASSIFIED = (Discipline.FIFO, Discipline.FLOW_WFQ)


@dataclass(frozen=True)
class _Loss:
    """A packet of a class that is not served as one: where, and what went wrong."""

    port: Port
    direction: str
    reason: str


def check_marks(known: Known) -> Iterator[Finding]:
    """``mark-lost``, once for every class and place on the paths that the intent verifies.

    Every kind of packet that the intent puts into a class is followed from station to station through the
    plans (through the running configuration where a device has none).
    """
    losses: dict[tuple[str, _Loss], list[str]] = {}
    for check in known.compilation.intent.intent.verify:
        for entry, packet, loss in _followed(known, check):
            kinds = losses.setdefault((entry.name, loss), [])
            if (kind := _kind(packet)) not in kinds:
                kinds.append(kind)
    for (name, loss), kinds in losses.items():
        where = known.compilation.intent.class_place(name)
        yield Finding(
            code="mark-lost",
            severity=Severity.WARNING,
            message=f"{loss.reason} ({', '.join(kinds)})",
            device=loss.port[0],
            interface=loss.port[1],
            direction=loss.direction,
            traffic_class=name,
            file=where.file if where else None,
            line=where.line if where else None,
            mend="set the mark at the edge before this device, trust it here, or recognise the class here",
        )


def _followed(known: Known, check: Verify) -> Iterator[tuple[TrafficClass, Packet, _Loss]]:
    network, intent = known.compilation.network, known.compilation.intent.intent
    try:
        path = hops(network, check.from_, check.to)
        ends = network.station(check.from_), network.station(check.to)
    except (KeyError, ValueError):
        return  # `check_verification` says so
    for name in (*check.classes, *check.beside):
        entry = intent.traffic_class(name)
        if entry.match is None or not (entry.treatment.priority or entry.treatment.bandwidth):
            continue
        for packet in _packets(known, entry, *ends):
            if (loss := _follow(known, path, entry, packet)) is not None:
                yield entry, packet, loss


def _packets(known: Known, entry: TrafficClass, source: Station, target: Station) -> Iterator[Packet]:
    """Every kind of packet that the intent puts into a class, as a station without a tag sends it.

    Only classes told by applications and DSCPs alone are followed: no sample stands for every flow of a prefix.
    """
    classes, catalogue = known.compilation.intent.intent.classes, known.compilation.intent.catalogue
    if any(not _simple(c.match) for c in classes[: classes.index(entry) + 1] if c.match):
        return
    for term in entry.match.alternatives() if entry.match else ():
        if term.cos:
            continue
        for application in term.application or (None,):
            known_by = catalogue[application] if application else None
            for dscp in term.dscp or (0,):
                packet = Packet(
                    source=source.address,
                    destination=target.address,
                    dscp=dscp,
                    application=application,
                    protocol=known_by.protocol_number if known_by else None,
                    port=known_by.ports[0][0] if known_by else None,
                )
                first = next(
                    c for c in classes if c.match and any(_meant(t, packet) for t in c.match.alternatives())
                )
                if first.name == entry.name:
                    yield packet


def _simple(match: Match) -> bool:
    return not match.none and all({"application", "dscp", "cos"}.issuperset(t.given) for t in match.alternatives())


def _meant(term: MatchTerm, packet: Packet) -> bool:
    return (
        (not term.application or packet.application in term.application)
        and (not term.dscp or packet.dscp in term.dscp)
        and not term.cos
    )


def _kind(packet: Packet) -> str:
    mark = f"DSCP {dscp_name(packet.dscp)}"
    return f"{packet.application} sent with {mark}" if packet.application else f"packets sent with {mark}"


def _follow(known: Known, path: tuple[Hop, ...], entry: TrafficClass, packet: Packet) -> _Loss | None:
    """The first place on a path where a packet is not served as its class."""
    mark = entry.mark.dscp if entry.mark else None
    rewritten: _Loss | None = None
    for hop in path:
        plan = known.plan(hop.device)
        if plan is None:
            continue
        before = packet.dscp
        here = known.interface(hop.entry)
        if here is not None:
            packet = enter(plan.system, here.ingress, packet, tagged=hop.tagged)
        if packet.dscp == mark:
            rewritten = None
        elif mark is not None and before == mark:
            what = f"the mark {dscp_name(mark)} is rewritten to {dscp_name(packet.dscp)} here"
            rewritten = _Loss(hop.entry, "input", f"{what}, before {_name(hop.exit)} serves the class")
        if known.schedules(hop.exit) and not _served(known, hop, plan.system, entry, packet):
            return rewritten or _unread(hop, mark, packet)
    return None


def _unread(hop: Hop, mark: int | None, packet: Packet) -> _Loss:
    if mark is None:
        return _Loss(hop.exit, "output", "the class carries no mark, and it is not recognised here")
    if packet.dscp == mark:
        return _Loss(hop.exit, "output", f"the mark {dscp_name(mark)} is not read here: it takes the wrong queue")
    what = f"the class comes without its mark {dscp_name(mark)} and is not recognised here"
    return _Loss(hop.entry, "input", f"{what}, before {_name(hop.exit)} serves it")


def _name(port: Port) -> str:
    return f"{port[0]} {port[1]}"


def _served(known: Known, hop: Hop, system: System, entry: TrafficClass, packet: Packet) -> bool:
    """Whether the queue that a packet takes is one that serves its class."""
    interface, scheduler = known.interface(hop.exit), known.scheduler(hop.exit)
    if interface is None or scheduler is None or scheduler.discipline in _UNCLASSIFIED:
        return True  # the platform's own findings say that it does not tell classes apart
    taken = queue_of(system, interface.egress.dividing, scheduler, packet)
    strict = {queue.number for queue in scheduler.queues if queue.priority}
    if entry.treatment.priority is not None and strict:
        return taken in strict
    wanted = _queues(known, hop.device, interface, scheduler, entry)
    if not wanted and entry.mark is not None and entry.mark.dscp is not None:
        ideal = marked(system, packet, entry.mark.dscp, entry.mark.cos)
        wanted = {queue_of(system, interface.egress.dividing, scheduler, ideal)}
    return not wanted or taken in wanted


def _queues(
    known: Known, device: str, interface: InterfacePlan, scheduler: Scheduler, entry: TrafficClass
) -> set[int | None]:
    """The queues that carry a class by the provenance map, where one without a name stands as ``queue N``."""
    classes = known.compiled[device].classes
    named = {q.number for q in scheduler.queues if classes.get(q.name or f"queue {q.number}") == entry.name}
    return named | {r.queue for r in interface.egress.dividing.rules if classes.get(r.name) == entry.name}
