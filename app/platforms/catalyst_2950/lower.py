"""Lower a device request onto a 2950: class-maps and marks on host ports, trust on trunks, one WRR for all."""

from __future__ import annotations

from app.findings import Severity
from app.plan.model import InterfacePlan, Plan, PortRange, Rule, System, Term
from app.plan.request import DeviceRequest
from app.platforms.base import Lowered
from app.platforms.catalyst_2950.capabilities import capabilities, enhanced, supported_dscp
from app.platforms.catalyst_2950.scheduling import layout
from app.platforms.ios_switch.classes import input_rules
from app.platforms.ios_switch.marks import (
    DEFAULT_COS_TO_DSCP,
    DEFAULT_DSCP_TO_COS,
    ClassMarks,
    class_marks,
    cos_to_dscp,
    dscp_to_cos,
)
from app.platforms.ios_switch.notes import Notes
from app.platforms.ios_switch.ports import flat, ingress, note_shared_marks, note_unsupported, provenance
from app.platforms.ios_switch.queues import Assignment, assign
from app.platforms.service import fidelity, priority_findings, rate_findings, served, share_findings


def lower(request: DeviceRequest, running: Plan | None) -> Lowered:
    """The plan of a 2950 for a request; ``running`` is what it holds now, where it is known."""
    notes = Notes(request)
    marks = class_marks(request, supported_dscp(), notes)
    note_unsupported(request, notes)
    rules = _rules(request, marks, notes)
    assignment = assign(request, layout(), notes) if any(i.schedule for i in request.interfaces) else None
    interfaces = []
    for wanted in request.interfaces:
        held = running.interface(wanted.name) if running else None
        interfaces.append(InterfacePlan(name=wanted.name, ingress=ingress(wanted, flat(rules), held, notes)))
    shares = served(request, assignment.scheduler, assignment.queue_of) if assignment else ()
    if assignment:
        notes.extend(priority_findings(request))
        notes.extend(rate_findings(request))
        notes.extend(share_findings(request, shares))
        note_shared_marks(marks, assignment, True, notes)
        _note_box_wide(request, running, notes)
    return Lowered(
        plan=Plan(
            device=request.device,
            platform=request.platform,
            system=_system(request, marks, assignment, notes),
            interfaces=tuple(interfaces),
        ),
        findings=notes.findings,
        fidelity=fidelity(shares),
        classes=provenance(rules, assignment),
    )


def _rules(request: DeviceRequest, marks: dict[str, ClassMarks], notes: Notes) -> dict[str, tuple[Rule, ...]]:
    if not any(i.recognise for i in request.interfaces):
        return {}
    if not enhanced(request.image):
        notes.add(
            Severity.ERROR,
            "recognition-unsupported",
            f"image {request.image} has no class-maps: it cannot recognise or mark classes",
            asked="recognise and mark classes on host ports",
            will_be="DSCP 0 and CoS 0 for everything from them",
            mend="load the enhanced image (EI), or recognise at another box and tag this one's ports as trunks",
        )
        return {}
    rules = input_rules(request, marks, dscp_to_cos(marks), notes)
    single = {name: tuple(_single_ports(rule) for rule in entries) for name, entries in rules.items()}
    for name, entries in single.items():
        ranges = [p for rule in entries for term in rule.any_of for p in _ports(term) if p.first != p.last]
        if ranges:
            notes.add(
                Severity.WARNING,
                "acl-range-unconfirmed",
                "it is not confirmed that every image of the box takes port ranges in an access list",
                traffic_class=name,
                asked=", ".join(f"ports {p.first} to {p.last}" for p in dict.fromkeys(ranges)),
                mend="if the box refuses the line, mark the class at its hosts and match its DSCP",
            )
    return single


def _ports(term: Term) -> tuple[PortRange, ...]:
    return (*term.source_ports, *term.destination_ports)


def _single_ports(rule: Rule) -> Rule:
    """Short ranges as single ports, so that as few lines as possible rest on a range."""
    terms: list[Term] = []
    for term in rule.any_of:
        size = sum(p.last - p.first + 1 for p in _ports(term))
        if not 1 < size <= capabilities()["acl_port_range"]["spelled_out"]:
            terms.append(term)
            continue
        for ports in _ports(term):
            for port in range(ports.first, ports.last + 1):
                one = (PortRange(first=port, last=port),)
                side = "source_ports" if term.source_ports else "destination_ports"
                terms.append(term.model_copy(update={side: one}))
    return rule.model_copy(update={"any_of": tuple(terms)})


def _system(
    request: DeviceRequest, marks: dict[str, ClassMarks], assignment: Assignment | None, notes: Notes
) -> System:
    queues = assignment.cos_to_queue(marks) if assignment else None
    scheduler = assignment.scheduler if assignment else None
    forth, back = cos_to_dscp(marks), dscp_to_cos(marks)
    if enhanced(request.image):
        return System(cos_to_dscp=forth, dscp_to_cos=back, cos_to_queue=queues, scheduler=scheduler)
    if (forth, back) != (DEFAULT_COS_TO_DSCP, DEFAULT_DSCP_TO_COS):
        changed = [f"DSCP {d} and CoS {cos}" for cos, d in enumerate(forth) if d != DEFAULT_COS_TO_DSCP[cos]]
        notes.add(
            Severity.ERROR,
            "maps-unsupported",
            f"image {request.image} cannot change the maps between CoS and DSCP",
            asked=", ".join(changed) or None,
            will_be="CoS is the upper three bits of the DSCP",
            mend="load the enhanced image (EI), or give classes the CoS of their DSCP's upper three bits",
        )
    return System(cos_to_queue=queues, scheduler=scheduler)


def _note_box_wide(request: DeviceRequest, running: Plan | None, notes: Notes) -> None:
    asked = {i.name for i in request.interfaces if i.schedule}
    others = [i.name for i in running.interfaces if i.name not in asked] if running else []
    notes.add(
        Severity.INFO,
        "scheduler-box-wide",
        "weights and queue map hold for every port of the switch"
        + (f", {', '.join(others)} too" if others else ""),
        direction="output",
    )
