"""Input side of a switch port, and what of the intent no Catalyst of this kind can do."""

from __future__ import annotations

from app.findings import Severity
from app.intent.models import RESERVED_CLASS
from app.plan.model import Ingress, InterfacePlan, Rule, Trust
from app.plan.request import DeviceRequest, InterfaceRequest
from app.platforms.ios_switch.classes import INPUT_POLICY
from app.platforms.ios_switch.marks import ClassMarks
from app.platforms.ios_switch.notes import Notes
from app.platforms.ios_switch.queues import Assignment


def ingress(wanted: InterfaceRequest, rules: tuple[Rule, ...], held: InterfacePlan | None, notes: Notes) -> Ingress:
    """What a port does on input: recognise and mark, trust DSCPs, or what it does already.

    Packets that no rule matches become DSCP 0 and CoS 0. The CoS of the port itself is left alone.
    """
    port_cos = held.ingress.port_cos if held else 0
    if wanted.recognise:
        if port_cos and not rules:
            notes.add(
                Severity.WARNING,
                "port-cos-kept",
                "the port gives its own CoS to what it receives",
                interface=wanted.name,
                direction="input",
                asked="CoS 0",
                will_be=f"CoS {port_cos}",
                mend="enter 'no mls qos cos' on the port",
            )
        policy = (wanted.input_policy or INPUT_POLICY) if rules else None
        return Ingress(policy=policy, trust=Trust.NONE, port_cos=port_cos, rules=rules)
    if wanted.trust:
        if held and held.ingress.policy:
            notes.add(
                Severity.ERROR,
                "policy-in-the-way",
                f"policy {held.ingress.policy} on the port supersedes its trust",
                interface=wanted.name,
                direction="input",
                mend=f"enter 'no service-policy input {held.ingress.policy}' on the port",
            )
        return Ingress(trust=Trust.DSCP, port_cos=port_cos)
    if held is None or held.ingress.trust is Trust.KEEP:
        return Ingress(trust=Trust.NONE, port_cos=port_cos)
    return held.ingress


def note_unsupported(request: DeviceRequest, notes: Notes) -> None:
    """WRED and link efficiency, which these switches do not have."""
    if any(i.schedule for i in request.interfaces):
        for entry in request.classes:
            wred = entry.treatment.wred
            if wred is not None:
                notes.add(
                    Severity.WARNING if wred.prefer else Severity.ERROR,
                    "wred-unsupported",
                    "the box drops at the tail of its queues only",
                    traffic_class=entry.name,
                    direction="output",
                    asked="WRED",
                    will_be="tail drop",
                )
    for interface in request.interfaces:
        asked = interface.efficiency
        if asked is not None:
            notes.add(
                Severity.WARNING if asked.prefer else Severity.ERROR,
                "link-efficiency-unsupported",
                "a switch port neither compresses headers nor fragments",
                interface=interface.name,
                direction="output",
            )


def note_shared_cos(marks: dict[str, ClassMarks], assignment: Assignment, only_cos: bool, notes: Notes) -> None:
    """Classes of different queues with one CoS; an error where the box chooses queues by CoS alone.

    CoS 0 is the default class's: untagged and unmarked packets have it.
    """
    owner = {0: RESERVED_CLASS}
    for name, entry in marks.items():
        for cos in entry.cos:
            first = owner.setdefault(cos, name)
            if assignment.queue_of[first] != assignment.queue_of[name]:
                notes.add(
                    Severity.ERROR if only_cos else Severity.WARNING,
                    "cos-shared",
                    f"CoS {cos} is that of class {first} too"
                    + ("" if only_cos else "; packets with a DSCP are told apart by it"),
                    traffic_class=name,
                    will_be=f"CoS {cos} is served as {first}",
                    mend="give the classes marks with different CoS",
                )


def flat(rules: dict[str, tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """The rules of all classes, in their order."""
    return tuple(rule for entries in rules.values() for rule in entries)


def provenance(rules: dict[str, tuple[Rule, ...]], assignment: Assignment | None) -> dict[str, str]:
    """The intent's class of every class-map and queue; of classes in one queue, the first."""
    named = {rule.name: name for name, entries in rules.items() for rule in entries}
    if assignment is None:
        return named
    return named | {f"queue {number}": name for name, number in reversed(assignment.queue_of.items())}
