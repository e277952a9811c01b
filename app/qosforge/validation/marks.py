"""Check that the mark of a class reaches every device on a path that serves the class by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qosforge.dscp import dscp_label
from qosforge.findings import Finding
from qosforge.intent.models import TrafficClass
from qosforge.inventory.models import Port
from qosforge.note import Reason, because
from qosforge.plan.model import Egress, Scheduler, System
from qosforge.validation.context import ValidationContext, class_at
from qosforge.validation.packets import Packet, marked, queue_of
from qosforge.validation.paths import Hop
from qosforge.validation.samples import Level, kind_of, served_levels
from qosforge.validation.ways import UNCLASSIFIED, Way, packets_on, passages, ways


@dataclass(frozen=True)
class _Loss:
    """A packet of a class that is not served as one: where, and what went wrong."""

    port: Port
    direction: str
    reason: Reason


def check_marks(context: ValidationContext) -> Iterator[Finding]:
    """``mark-lost``, once for every class and place on the paths that the intent verifies, in both directions.

    Every kind of packet that the intent puts into a class is followed from station to station through the
    plans (through the running configuration where a device has none).
    """
    losses: dict[tuple[str, _Loss], dict[Way, dict[str, None]]] = {}
    for check in context.compilation.intent.intent.verify:
        for way in ways(context, check):
            for name in check.classes if way.back else (*check.classes, *check.beside):
                for packet, loss in _losses(context, way, name):
                    of_way = losses.setdefault((name, loss), {}).setdefault(way, {})
                    of_way[kind_of(packet)] = None
    for (name, loss), lost in losses.items():
        yield loss.reason.note(class_at(context, name, loss.port, loss.direction), kinds=_kinds(lost))


def _kinds(lost: Mapping[Way, Mapping[str, None]]) -> str:
    """What is lost in the directions verified; where nothing is, what is in the first return direction."""
    if there := dict.fromkeys(kind for way, kinds in lost.items() if not way.back for kind in kinds):
        return ", ".join(there)
    way, kinds = next(iter(lost.items()))
    return f"{', '.join(kinds)}, in the return direction, {way}"


def _losses(context: ValidationContext, way: Way, name: str) -> Iterator[tuple[Packet, _Loss]]:
    if (levels := served_levels(context, name)) is None:
        return
    for packet in packets_on(context, way, levels):
        if (loss := _follow(context, way, levels, packet)) is not None:
            yield packet, loss


def _follow(context: ValidationContext, way: Way, levels: tuple[Level, ...], packet: Packet) -> _Loss | None:
    """The first place on a way where a packet is not served as its class."""
    entry = levels[-1][1]
    mark = entry.mark.dscp if entry.mark else None
    rewritten: _Loss | None = None
    for passage in passages(context, way, packet):
        if passage.system is None:
            continue
        hop, packet = passage.hop, passage.packet
        if packet.dscp == mark:
            rewritten = None
        elif mark is not None and passage.came.dscp == mark:
            reason = because(
                "mark-lost",
                variant="rewritten",
                mark=dscp_label(mark),
                new=dscp_label(packet.dscp),
                queue=_name(hop.exit),
            )
            rewritten = _Loss(hop.entry, "input", reason)
        if context.schedules(hop.exit) and not _served_as_class(context, hop, passage.system, levels, packet):
            return rewritten or _unread(hop, mark, packet)
        if mark is not None and packet.dscp == mark != passage.left.dscp:
            reason = because(
                "mark-lost", variant="rewritten-on-output", mark=dscp_label(mark), new=dscp_label(passage.left.dscp)
            )
            rewritten = _Loss(hop.exit, "output", reason)
    return None


def _unread(hop: Hop, mark: int | None, packet: Packet) -> _Loss:
    if mark is None:
        return _Loss(hop.exit, "output", because("mark-lost", variant="no-mark"))
    name = dscp_label(mark)
    if packet.dscp == mark:
        return _Loss(hop.exit, "output", because("mark-lost", variant="not-read", mark=name))
    reason = because("mark-lost", variant="not-recognised", mark=name, queue=_name(hop.exit))
    return _Loss(hop.entry, "input", reason)


def _name(port: Port) -> str:
    return f"{port[0]} {port[1]}"


def _served_as_class(
    context: ValidationContext, hop: Hop, system: System, levels: tuple[Level, ...], packet: Packet
) -> bool:
    """Whether the queue that a packet takes is one that serves its class, and inside it that of the class below."""
    interface, scheduler = context.interface(hop.exit), context.scheduler(hop.exit)
    if interface is None or scheduler is None or scheduler.discipline in UNCLASSIFIED:
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
