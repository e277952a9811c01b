"""Lower a device request onto a 2970: class-maps and marks on host ports, trust on trunks, SRR on every port."""

from __future__ import annotations

from app.findings import Severity
from app.plan.model import Egress, InterfacePlan, Plan, Scheduler, System, Trust
from app.plan.request import DeviceRequest, InterfaceRequest
from app.platforms.base import Lowered
from app.platforms.catalyst_2970.scheduling import default_shape, default_share, layout, shaped_round_robin
from app.platforms.ios_switch.classes import input_rules
from app.platforms.ios_switch.marks import class_marks, cos_to_dscp, dscp_to_cos
from app.platforms.ios_switch.notes import Notes
from app.platforms.ios_switch.ports import flat, ingress, note_shared_marks, note_unsupported, provenance
from app.platforms.ios_switch.queues import assign
from app.platforms.service import fidelity, priority_findings, rate_findings, served, share_findings

_EVERY_DSCP = frozenset(range(64))


def lower(request: DeviceRequest, running: Plan | None) -> Lowered:
    """The plan of a 2970 for a request; ``running`` is what it holds now, where it is known."""
    notes = Notes(request)
    marks = class_marks(request, _EVERY_DSCP, notes)
    note_unsupported(request, notes)
    recognises = any(i.recognise for i in request.interfaces)
    rules = input_rules(request, marks, dscp_to_cos(marks), notes) if recognises else {}
    assignment = assign(request, layout(), notes) if any(i.schedule for i in request.interfaces) else None
    interfaces = []
    for wanted in request.interfaces:
        held = running.interface(wanted.name) if running else None
        scheduler = assignment.scheduler if assignment and wanted.schedule else None
        interfaces.append(
            InterfacePlan(
                name=wanted.name,
                ingress=ingress(wanted, flat(rules), held, notes),
                egress=_egress(wanted, scheduler, held, notes),
            )
        )
    shares = served(request, assignment.scheduler, assignment.queue_of) if assignment else ()
    if assignment:
        notes.extend(priority_findings(request))
        notes.extend(rate_findings(request))
        notes.extend(share_findings(request, shares))
        note_shared_marks(marks, assignment, False, notes)
    _note_switched_on(request, running, notes)
    return Lowered(
        plan=Plan(
            device=request.device,
            platform=request.platform,
            system=System(
                cos_to_dscp=cos_to_dscp(marks),
                dscp_to_cos=dscp_to_cos(marks),
                cos_to_queue=assignment.cos_to_queue(marks) if assignment else None,
                dscp_to_queue=assignment.dscp_to_queue(marks) if assignment else None,
            ),
            interfaces=tuple(interfaces),
        ),
        findings=notes.findings,
        fidelity=fidelity(shares),
        classes=provenance(rules, assignment),
    )


def _egress(
    wanted: InterfaceRequest, scheduler: Scheduler | None, held: InterfacePlan | None, notes: Notes
) -> Egress:
    """The port's scheduler; a limit that the port has already stays, and a port not asked for is left alone."""
    known = held.egress.scheduler if held and held.ingress.trust is not Trust.KEEP else None
    if scheduler is None:
        return Egress(scheduler=known or shaped_round_robin(default_share(), default_shape(), expedite=False))
    limit = held.egress.scheduler.limit_percent if held and held.egress.scheduler else None
    if limit is not None:
        notes.add(
            Severity.WARNING,
            "port-limit-kept",
            "the port is held below its rate, so every share is one of what it may send",
            interface=wanted.name,
            direction="output",
            asked="100 % of the port",
            will_be=f"{limit} % of the port",
            mend="enter 'no srr-queue bandwidth limit' on the port, or give the contracted rate in the inventory",
        )
    return Egress(scheduler=scheduler.model_copy(update={"limit_percent": limit}))


def _note_switched_on(request: DeviceRequest, running: Plan | None, notes: Notes) -> None:
    """Switching QoS on makes every port untrusted that the intent does not speak of."""
    if running is None:
        return
    asked = {i.name for i in request.interfaces}
    others = [i.name for i in running.interfaces if i.name not in asked and i.ingress.trust is Trust.KEEP]
    if others:
        notes.add(
            Severity.WARNING,
            "marks-reset-elsewhere",
            f"QoS is off now; once it is on, ports outside the intent reset marks: {', '.join(others)}",
            direction="input",
            asked="left as they are",
            will_be="DSCP 0 and CoS 0 for what they receive",
            mend="add the ports to the inventory with a tag that the intent applies to",
        )
