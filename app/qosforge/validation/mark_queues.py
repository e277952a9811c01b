"""Check that every mark gets the queue of its class where maps choose queues, and no rule of the output does.

A class is then told twice: its packets by the rules of inputs, which `classification` proves, and what these write,
or what a port trusts, by the maps of the device. There are 64 DSCPs and 8 CoS: each of them is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qosforge.compiler.compile import CompiledDevice
from qosforge.dscp import CONTROL_DSCP, dscp_label
from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.packet_sets.classification import every_class
from qosforge.packet_sets.exactness import Known, shared
from qosforge.plan.model import Discipline, Egress, Ingress, Queue, Rule, Scheduler, System, Term, Trust
from qosforge.plan.request import ClassRequest, TermRequest
from qosforge.validation.classification import known_classification
from qosforge.validation.context import ValidationContext, class_at
from qosforge.validation.packets import Packet, by_rule, enter, queue_of
from qosforge.validation.ways import UNCLASSIFIED

_MAPS = (
    "cos_to_dscp",
    "dscp_to_cos",
    "cos_to_queue",
    "dscp_to_queue",
    "queue_on_input",
    "untrusted_keeps_dscp",
)
"""What of a device chooses queues."""
_UNSEEN = ("192.0.2.1", "192.0.2.2")
"""Addresses for documentation (RFC 5737): packets are tried by their marks alone."""


@dataclass(frozen=True)
class _Told:
    """A packet as a device tells it: the class that it is meant for, what is seen of it, and how it then stands.

    ``claimed`` is False where no class has its mark, so that it is meant for the class of everything else.
    """

    meant: str
    seen: str
    packet: Packet
    claimed: bool = True


@dataclass(frozen=True)
class _Misserved:
    told: _Told
    served_as: str | None


def check_mark_queues(context: ValidationContext) -> Iterator[Finding]:
    """``classification-differs`` of devices whose maps choose queues, once for each output and pair of classes."""
    for device in context.compilation.devices:
        known = known_classification(device)
        found: dict[tuple[str, str, str | None], Finding] = {}
        for output, input_, each in _differences(device, known):
            key = (output, each.told.meant, each.served_as)
            if key not in found:
                found[key] = _finding(context, device, (output, input_), each)
        yield from found.values()


def _differences(device: CompiledDevice, known: Known) -> Iterator[tuple[str, str, _Misserved]]:
    outputs = tuple(_outputs(device))
    system = _maps(*(getattr(device.plan.system, name) for name in _MAPS))
    inputs = _inputs(device, system, known) if outputs else {}
    for name, default_queue, scheduler in outputs:
        for told, port in inputs.items():
            for each in _misserved(told, system, default_queue, scheduler, known):
                yield name, port, each


def _outputs(device: CompiledDevice) -> Iterator[tuple[str, int | None, Scheduler]]:
    """The outputs that serve classes without a rule to tell them by: the default queue of each, and its queues."""
    for requested in device.request.interfaces:
        there = device.plan.interface(requested.name) if requested.schedule else None
        if there is None or there.egress.dividing.rules:
            continue
        scheduler = there.egress.dividing.scheduler or device.plan.system.scheduler
        if scheduler is not None and scheduler.discipline not in UNCLASSIFIED:
            queues = tuple((queue.number, queue.name) for queue in scheduler.queues)
            yield requested.name, there.egress.dividing.default_queue, _queues(scheduler.discipline, queues)


def _inputs(device: CompiledDevice, system: System, known: Known) -> Mapping[tuple[_Told, ...], str]:
    """What the inputs of a device tell, each with the first port where that is so."""
    found: dict[tuple[_Told, ...], str] = {}
    for port in device.request.interfaces:
        here = device.plan.interface(port.name)
        if here is not None and port.recognise:
            found.setdefault(_ruled(system, shared(here.ingress.rules), known), port.name)
        elif here is not None and port.trust and port.trust_in != "none":
            ingress = _ingress(here.ingress.trust, here.ingress.port_cos, shared(here.ingress.rules))
            told = _trusted(device.request.classes, system, ingress, known, port.tagged)
            found.setdefault(told, port.name)
    return found


# Of what chooses queues, the very same object for devices alike: what is judged of one is then found again.
@memoise
def _maps(*values: object) -> System:
    return System.model_validate(dict(zip(_MAPS, values, strict=True)))


@memoise
def _queues(discipline: Discipline, queues: tuple[tuple[int, str | None], ...]) -> Scheduler:
    return Scheduler(discipline=discipline, queues=tuple(Queue(number=at, name=name) for at, name in queues))


@memoise
def _ingress(trust: Trust, port_cos: int, rules: tuple[Rule, ...]) -> Ingress:
    return Ingress(trust=trust, port_cos=port_cos, rules=rules)


@memoise
def _ruled(system: System, rules: tuple[Rule, ...], known: Known) -> tuple[_Told, ...]:
    """What an input tells by rules: the packets of each, by their own DSCPs where it looks for these alone and they
    choose the queue.
    """
    found = []
    for rule in rules:
        if (name := known.names.get(rule.name)) is None or name in known.lost:
            continue
        kept = [_points(term) for term in rule.any_of]
        if rule.set_dscp is not None or rule.set_precedence is not None or rule.queue is not None:
            found.append(_Told(name, "one of its packets", by_rule(system, rule, Packet(*_UNSEEN))))
        elif system.dscp_to_queue and all(kept):
            for dscp in sorted({dscp for points in kept for dscp in points}):
                packet = by_rule(system, rule, Packet(*_UNSEEN, dscp))
                found.append(_Told(name, f"one with DSCP {dscp_label(dscp)}", packet))
    return tuple(found)


@memoise
def _trusted(
    classes: tuple[ClassRequest, ...], system: System, ingress: Ingress, known: Known, tagged: bool
) -> tuple[_Told, ...]:
    """What a port tells by the mark that it trusts: each stands for one class, or for none."""
    if ingress.trust is Trust.DSCP or ingress.rules:
        return tuple(_by_dscp(classes, system, ingress, known, tagged))
    if ingress.trust is Trust.COS and tagged:
        return tuple(_by_cos(classes, system, ingress, known))
    return ()


def _by_dscp(
    classes: tuple[ClassRequest, ...], system: System, ingress: Ingress, known: Known, tagged: bool
) -> Iterator[_Told]:
    owners, unclear = _owners(classes, known)
    stated = {entry.name: entry.mark.cos for entry in classes if entry.mark}
    hidden = {known.names.get(rule.name) for rule in ingress.rules if not all(map(_points, rule.any_of))}
    for dscp in range(64):
        name, claimed = owners.get(dscp, classes[-1].name), dscp in owners
        if dscp in unclear or name in known.lost | hidden or (not claimed and dscp in CONTROL_DSCP):
            continue
        cos = stated.get(name) if claimed else None
        came = Packet(*_UNSEEN, dscp, dscp >> 3 if cos is None else cos)
        packet = enter(system, ingress, came, tagged=tagged)
        yield _Told(name, f"one with DSCP {dscp_label(dscp)}", packet, claimed)


def _by_cos(classes: tuple[ClassRequest, ...], system: System, ingress: Ingress, known: Known) -> Iterator[_Told]:
    owners: dict[int, str] = {}
    for entry in classes:
        if entry.mark is not None and entry.mark.cos is not None:
            owners.setdefault(entry.mark.cos, entry.name)
    for cos, name in owners.items():
        if name not in known.lost:
            packet = enter(system, ingress, Packet(*_UNSEEN, cos=cos), tagged=True)
            yield _Told(name, f"one with CoS {cos}", packet)


def _owners(classes: tuple[ClassRequest, ...], known: Known) -> tuple[Mapping[int, str], frozenset[int]]:
    """The class of each DSCP: the first that sets it, else the first that is told by it alone; and the DSCPs of
    which that depends on more than the DSCP, or that unmarked packets have."""
    owners: dict[int, str] = {}
    for entry in classes:
        for one in every_class(entry):
            for dscp in _points(one.recognised_by) if one.recognised_by else ():
                owners.setdefault(dscp, entry.name)
    set_by = frozenset(owners)
    unclear = {0} - set_by
    for entry in classes:
        for term in (term for one in every_class(entry) for term in one.terms):
            alone = set(term.set_fields) <= {"dscp", "precedence"} and not entry.none_of
            for dscp in _points(term):
                if alone and dscp not in unclear:
                    owners.setdefault(dscp, entry.name)
                elif dscp not in set_by:
                    unclear.add(dscp)
    # DSCPs that stand for a CoS of a class may be in its queue, too.
    cos = {cos for entry in classes for term in entry.terms for cos in term.cos}
    stand = {d for c in cos for d in (*range(8 * c, 8 * c + 8), *(known.cos_to_dscp or ())[c : c + 1])}
    return owners, frozenset(unclear | (stand - set(owners)))


def _points(term: Term | TermRequest) -> tuple[int, ...]:
    """The DSCPs that a term asks for; none where it asks for no mark of IP."""
    found = set(term.dscp) or set(range(64))
    if term.precedence:
        found &= {8 * precedence + low for precedence in term.precedence for low in range(8)}
    return tuple(sorted(found)) if term.dscp or term.precedence else ()


@memoise
def _misserved(
    told: tuple[_Told, ...], system: System, default_queue: int | None, scheduler: Scheduler, known: Known
) -> tuple[_Misserved, ...]:
    """What gets the queue of another class than its own, or of none where a class is meant."""
    egress = Egress(default_queue=default_queue)
    of_queue = {q.number: known.names.get(q.name or f"queue {q.number}") for q in scheduler.queues}
    served = [(each, queue_of(system, egress, scheduler, each.packet)) for each in told]
    claimed = ((each.packet, queue) for each, queue in served if each.claimed)
    labels = {(_label(system, packet), of_queue.get(queue)) for packet, queue in claimed if queue is not None}
    found = []
    for each, queue in served:
        other = of_queue.get(queue) if queue is not None else None
        if queue is None or other == each.meant or any({other, each.meant} <= set(group) for group in known.groups):
            continue
        # A mark that no class has may go with one that the device does not tell from it, or to a queue of nobody.
        together = {name for group in known.groups if other in group for name in group}
        beside = other is None or known.lost & {other, *together} or (_label(system, each.packet), other) in labels
        if each.claimed or not beside:
            found.append(_Misserved(each, other))
    return tuple(found)


def _label(system: System, packet: Packet) -> int:
    """What chooses a queue of a packet's mark, where the device can tell marks apart no better."""
    if system.queue_on_input:
        return packet.dscp >> 3
    return packet.dscp if system.dscp_to_queue else packet.cos


def _finding(
    context: ValidationContext, device: CompiledDevice, ports: tuple[str, str], found: _Misserved
) -> Finding:
    output, input_ = ports
    place = class_at(context, found.told.meant, (device.name, output), "output")
    witness = f"{found.told.seen} that comes in at {input_}"
    if found.served_as is None:
        return note("classification-differs", place, variant="none", witness=witness)
    if not found.told.claimed:
        return note("classification-differs", place, variant="wider", other=found.served_as, witness=witness)
    return note("classification-differs", place, other=found.served_as, witness=witness)
