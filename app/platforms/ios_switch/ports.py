"""Input side of a switch port, and what of the intent no Catalyst of this kind can do."""

from __future__ import annotations

from app.dscp import dscp_name
from app.findings import Severity
from app.intent.models import RESERVED_CLASS
from app.plan.model import Ingress, InterfacePlan, Rule, Trust
from app.plan.request import DeviceRequest, InterfaceRequest
from app.platforms.ios_switch.classes import INPUT_POLICY
from app.platforms.ios_switch.marks import ClassMarks
from app.platforms.ios_switch.notes import Notes
from app.platforms.ios_switch.queues import Assignment
from app.platforms.service import queue_names


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
        _note_foreign_policy(wanted, policy, held, notes)
        return Ingress(policy=policy, trust=Trust.NONE, port_cos=port_cos, rules=rules)
    if wanted.trust:
        _note_foreign_policy(wanted, None, held, notes)
        return Ingress(trust=Trust.DSCP, port_cos=port_cos)
    if held is None or held.ingress.trust is Trust.KEEP:
        return Ingress(trust=Trust.NONE, port_cos=port_cos)
    return held.ingress


def _note_foreign_policy(
    wanted: InterfaceRequest, policy: str | None, held: InterfacePlan | None, notes: Notes
) -> None:
    present = held.ingress.policy if held else None
    if present and policy is None:
        notes.add(
            Severity.ERROR,
            "policy-in-the-way",
            f"policy {present} on the port supersedes its trust",
            interface=wanted.name,
            direction="input",
            mend=f"enter 'no service-policy input {present}' on the port",
        )


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


def note_shared_marks(marks: dict[str, ClassMarks], assignment: Assignment, only_cos: bool, notes: Notes) -> None:
    """Classes of different queues with one mark; one CoS is an error where it alone chooses the queue.

    CoS 0 is the default class's: untagged and unmarked packets have it.
    """
    by_dscp: dict[int, str] = {}
    by_cos = {0: RESERVED_CLASS}
    for name, entry in marks.items():
        first = by_dscp.setdefault(entry.dscp, name) if entry.dscp is not None else name
        if assignment.queue_of[first] != assignment.queue_of[name]:
            notes.add(
                Severity.ERROR,
                "mark-shared",
                f"the mark is that of class {first} too, so the box cannot tell them apart",
                traffic_class=name,
                will_be=f"DSCP {dscp_name(entry.dscp or 0)} is served as {first}",
                mend="give every class a mark of its own",
            )
            continue
        for cos in entry.cos:
            first = by_cos.setdefault(cos, name)
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
    return named | queue_names(assignment.queue_of)
