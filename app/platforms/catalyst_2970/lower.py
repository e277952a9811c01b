"""Lower a device request onto a 2970: class-maps and marks on host ports, trust on trunks, SRR on every port."""

from __future__ import annotations

from app.findings import Severity
from app.plan.model import Egress, InterfacePlan, Plan, Rule, Scheduler, System, Trust
from app.plan.request import DeviceRequest, InterfaceRequest
from app.platforms.base import Lowered
from app.platforms.catalyst_2970.capabilities import capabilities, policer_range
from app.platforms.catalyst_2970.depth import own_levels, plain_maps, wished_levels
from app.platforms.catalyst_2970.input_queues import input_queues
from app.platforms.catalyst_2970.levels import Depth, as_delivered, default_depths, depths
from app.platforms.catalyst_2970.policed import PolicedMap
from app.platforms.catalyst_2970.scheduling import default_shape, default_share, layout, shaped_round_robin
from app.platforms.catalyst_2970.shaping import (
    note_bounded_priority,
    port_limit,
    shape_weights,
    shaped_classes,
)
from app.platforms.catalyst_2970.shares import port_shares
from app.platforms.ios_switch.classes import Classifier, input_rules
from app.platforms.ios_switch.marks import ClassMarks, class_marks, cos_to_dscp, dscp_to_cos
from app.platforms.ios_switch.notes import Notes
from app.platforms.ios_switch.policing import policed
from app.platforms.ios_switch.ports import (
    as_asked,
    flat,
    ingress,
    note_efficiency,
    note_priority,
    note_rates,
    note_shared_marks,
    on_ports,
    provenance,
)
from app.platforms.ios_switch.queues import Assignment, assign, scheduled_rates
from app.platforms.service import Served, fidelity, share_findings

_EVERY_DSCP = frozenset(range(64))


def lower(request: DeviceRequest, running: Plan | None) -> Lowered:
    """The plan of a 2970 for a request; ``running`` is what it holds now, where it is known."""
    notes = Notes(request)
    request = on_ports(request, notes)
    marks = class_marks(request, _EVERY_DSCP, notes)
    note_efficiency(request, notes)
    exceeding = PolicedMap()
    rules = _rules(request, marks, exceeding, notes)
    assignment = None
    held_depths: tuple[Depth, ...] = ()
    if scheduled_rates(request):
        assignment = assign(request, layout(), notes, shaped_classes(request))
        held_depths = _depths(request, assignment, marks, running, notes)
    interfaces, shares = [], list[Served]()
    for wanted in request.interfaces:
        held = running.interface(wanted.name) if running else None
        scheduler = None
        if assignment and wanted.schedule:
            scheduler = _scheduler(request, wanted, assignment, held_depths, notes)
            shares.extend(as_asked(port_shares(request, wanted, scheduler, assignment)))
        interfaces.append(
            InterfacePlan(
                name=wanted.name,
                ingress=ingress(wanted, flat(rules), held, notes),
                egress=_egress(wanted, scheduler, held, notes),
            )
        )
    if assignment:
        note_bounded_priority(request, notes)
        note_rates(request, notes)
        note_priority(request, assignment, notes)
        notes.extend(share_findings(request, tuple(shares)))
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
                policed_dscp=exceeding.table(),
                input_queues=input_queues(request, marks, notes) if assignment else None,
            ),
            interfaces=tuple(interfaces),
        ),
        findings=notes.findings,
        fidelity=fidelity(tuple(shares)),
        classes=provenance(rules, assignment),
    )


def _rules(
    request: DeviceRequest, marks: dict[str, ClassMarks], exceeding: PolicedMap, notes: Notes
) -> dict[str, tuple[Rule, ...]]:
    if not any(i.recognise for i in request.interfaces):
        return {}
    box = Classifier(_EVERY_DSCP, default_class=True, mac_beside_ip=capabilities()["mac_acl_ip"]["value"])
    rules = input_rules(request, marks, dscp_to_cos(marks), box, notes)
    return policed(request, rules, policer_range(), exceeding.write, notes)


def _depths(
    request: DeviceRequest,
    assignment: Assignment,
    marks: dict[str, ClassMarks],
    running: Plan | None,
    notes: Notes,
) -> tuple[Depth, ...]:
    """What the queues of all scheduled ports hold: as asked, else as delivered.

    Ports whose queue set somebody has changed get our own set: which of the two it was, a plan does not say.
    """
    wished = wished_levels(request, assignment, marks, notes)
    if wished is not None:
        return depths(*wished)
    scheduled = {i.name for i in request.interfaces if i.schedule}
    changed = [
        i.name
        for i in (running.interfaces if running else ())
        if i.name in scheduled and i.egress.scheduler and not as_delivered(i.egress.scheduler.queues)
    ]
    if not changed:
        return default_depths()
    notes.add(
        Severity.INFO,
        "queue-set-replaced",
        f"buffers and thresholds of {', '.join(changed)} are not as delivered; the intent asks for none",
        direction="output",
        asked="no queue limits",
        will_be=f"queue set {capabilities()['own_queue_set']['value']}, with the same thresholds for all marks",
    )
    return depths(*own_levels(plain_maps(assignment, marks)))


def _scheduler(
    request: DeviceRequest,
    wanted: InterfaceRequest,
    assignment: Assignment,
    held_depths: tuple[Depth, ...],
    notes: Notes,
) -> Scheduler:
    shape = shape_weights(request, wanted, assignment, notes)
    shaped = {number for number, weight in enumerate(shape, start=1) if weight}
    return shaped_round_robin(
        assignment.weights(request, (wanted.usable,), shaped),
        shape,
        expedite=assignment.first is not None,
        limit=port_limit(wanted, notes),
        depths=held_depths,
    )


def _egress(
    wanted: InterfaceRequest, scheduler: Scheduler | None, held: InterfacePlan | None, notes: Notes
) -> Egress:
    """The port's scheduler; a limit that the port has already stays, and a port not asked for is left alone."""
    known = held.egress.scheduler if held and held.ingress.trust is not Trust.KEEP else None
    if scheduler is None:
        return Egress(scheduler=known or shaped_round_robin(default_share(), default_shape(), expedite=False))
    limit = held.egress.scheduler.limit_percent if held and held.egress.scheduler else None
    if limit is None or scheduler.limit_percent is not None:
        return Egress(scheduler=scheduler)
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
