"""Lower a device request onto a 2970: class-maps and marks on host ports, trust on trunks, SRR on every port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.plan.core import core, rate_in
from qosforge.plan.model import Egress, InterfacePlan, Plan, Rule, Scheduler, System, Trust
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES, assumed_release
from qosforge.platforms.catalyst_2970.depth import own_levels, plain_maps, wished_levels
from qosforge.platforms.catalyst_2970.input_queues import input_queues
from qosforge.platforms.catalyst_2970.levels import (
    QueueBuffers,
    as_delivered,
    default_depths,
    default_queue_set,
    depths,
)
from qosforge.platforms.catalyst_2970.scheduling import default_share, layout, shaped_round_robin
from qosforge.platforms.catalyst_2970.shaping import (
    note_bounded_priority,
    port_limit,
    shape_weights,
    shaped_classes,
)
from qosforge.platforms.catalyst_2970.unscoped_ports import is_on, note_shaped_ports
from qosforge.platforms.ios_switch.arrivals import note_arrivals
from qosforge.platforms.ios_switch.auto_qos import note_auto_qos
from qosforge.platforms.ios_switch.classes import ClassifierLimits, input_rules
from qosforge.platforms.ios_switch.flow_control import note_flow_control
from qosforge.platforms.ios_switch.marks import SwitchClassMarks, class_marks, cos_to_dscp, dscp_to_cos
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.policing import PolicedMap, police_rules
from qosforge.platforms.ios_switch.ports import (
    flat,
    ingress,
    note_priority,
    note_rates,
    note_shared_marks,
    on_ports,
    provenance,
)
from qosforge.platforms.ios_switch.queues import QueueAssignment, assign, scheduled_rates
from qosforge.platforms.share_fidelity import ClassShare, fidelity, port_shares, share_findings

_EVERY_DSCP = frozenset(range(64))


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of a 2970 for a request; ``running`` is what it holds now, where it is known."""
    notes = Notes(request)
    request = on_ports(request, notes)
    common = _common(core(request), running.system.cos_to_dscp if running else None)
    assignment = common.assignment
    notes.extend(common.of_classes)
    note_auto_qos(request, running, notes)
    note_flow_control(request, running, notes)
    held_depths = _depths(request, common, running, notes) if assignment else ()
    interfaces, shares = [], list[ClassShare]()
    for interface_request in request.interfaces:
        current = running.interface(interface_request.name) if running else None
        scheduler = None
        if assignment and interface_request.schedule:
            scheduler = _scheduler(request, interface_request, assignment, held_depths, notes)
            shares.extend(port_shares(request, interface_request, scheduler, assignment.queue_of))
        interfaces.append(
            InterfacePlan(
                name=interface_request.name,
                ingress=ingress(interface_request, common.rules, current, common.system.dscp_to_cos, notes),
                egress=_egress(interface_request, scheduler, current, common.elsewhere, notes),
            )
        )
    if assignment:
        _note_queues_elsewhere(request, running, notes)
        notes.extend(common.of_service)
        notes.extend(share_findings(request, tuple(shares)))
        notes.extend(common.of_shared_marks)
    note_shaped_ports(request, running, assignment, notes)
    _note_switched_on(request, running, notes)
    release = assumed_release(request.image)
    if release is not None and any(rule.set_dscp is not None for rule in common.rules):
        notes.note("release-assumed", image=request.image, release=release)
    notes.extend(common.of_input_queues)
    plan = Plan(
        device=request.device, platform=request.platform, system=common.system, interfaces=tuple(interfaces)
    )
    note_arrivals(request, plan, running, common.marks, notes)
    return LoweredDevice(
        plan=plan,
        findings=notes.findings,
        fidelity=fidelity(tuple(shares)),
        classes=common.called,
    )


@dataclass(frozen=True)
class _Common:
    """What devices have in common (see `qosforge.plan.core`), with what is to be told of each of its parts.

    ``wished`` is the depth of the queues that classes ask for, ``own`` that of our own queue set without wishes,
    ``elsewhere`` that of ports whose queue set is as delivered, behind the same maps.
    """

    marks: Mapping[str, SwitchClassMarks]
    rules: tuple[Rule, ...]
    assignment: QueueAssignment | None
    wished: tuple[QueueBuffers, ...] | None
    own: tuple[QueueBuffers, ...]
    elsewhere: tuple[QueueBuffers, ...]
    system: System
    called: Mapping[str, str]
    of_classes: tuple[Finding, ...]
    of_service: tuple[Finding, ...]
    of_shared_marks: tuple[Finding, ...]
    of_input_queues: tuple[Finding, ...]


@memoise
def _common(request: DeviceRequest, held: tuple[int, ...] | None) -> _Common:
    """``held`` is the map from CoS to DSCP that the switch has now."""
    of_classes, of_service, of_shared_marks, of_input_queues = (Notes(request) for _ in range(4))
    marks = class_marks(request, _EVERY_DSCP, of_classes)
    exceeding = PolicedMap()
    rules = _rules(request, marks, exceeding, of_classes)
    assignment = wished = None
    own = elsewhere = tuple[QueueBuffers, ...]()
    if scheduled_rates(request):
        assignment = assign(request, layout(), marks, of_classes, shaped_classes(request))
        levels = wished_levels(request, assignment, marks, of_classes)
        wished = depths(*levels) if levels is not None else None
        own = depths(*own_levels(plain_maps(assignment, marks)))
        elsewhere = depths(default_queue_set(), levels[1] if levels is not None else plain_maps(assignment, marks))
        note_bounded_priority(request, of_service)
        note_rates(request, of_service)
        note_priority(request, assignment, of_service)
        note_shared_marks(marks, assignment, False, of_shared_marks)
    return _Common(
        marks=marks,
        rules=flat(rules),
        assignment=assignment,
        wished=wished,
        own=own,
        elsewhere=elsewhere,
        system=System(
            cos_to_dscp=cos_to_dscp(request, marks, held),
            dscp_to_cos=dscp_to_cos(marks),
            cos_to_queue=assignment.cos_to_queue(marks) if assignment else None,
            dscp_to_queue=assignment.dscp_to_queue(marks) if assignment else None,
            policed_dscp=exceeding.table(),
            input_queues=input_queues(request, marks, of_input_queues) if assignment else None,
        ),
        called=provenance(rules, assignment),
        of_classes=of_classes.findings,
        of_service=of_service.findings,
        of_shared_marks=of_shared_marks.findings,
        of_input_queues=of_input_queues.findings,
    )


def _rules(
    request: DeviceRequest, marks: dict[str, SwitchClassMarks], exceeding: PolicedMap, notes: Notes
) -> dict[str, tuple[Rule, ...]]:
    if not any(i.recognise for i in request.interfaces):
        return {}
    limits = ClassifierLimits(_EVERY_DSCP, mac_beside_ip=CAPABILITIES.mac_acl_ip.value)
    rules = input_rules(request, marks, dscp_to_cos(marks), limits, notes)
    return police_rules(request, rules, CAPABILITIES.police, exceeding.write, notes, ports="switch")


def _depths(
    request: DeviceRequest, common: _Common, running: Plan | None, notes: Notes
) -> tuple[QueueBuffers, ...]:
    """What the queues of all scheduled ports hold: as asked, else as delivered.

    Ports whose queue set somebody has changed get our own set: which of the two it was, a plan does not say.
    """
    if common.wished is not None:
        return common.wished
    scheduled = {i.name for i in request.interfaces if i.schedule}
    changed = [
        i.name
        for i in (running.interfaces if running else ())
        if i.name in scheduled and i.egress.scheduler and not as_delivered(i.egress.scheduler.queues)
    ]
    if not changed:
        return default_depths()
    notes.note(
        "queue-set-replaced",
        direction="output",
        requested="no queue limits",
        applied=f"queue set {CAPABILITIES.own_queue_set.value}, with the same thresholds for all marks",
        ports=", ".join(changed),
    )
    return common.own


def _scheduler(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    assignment: QueueAssignment,
    held_depths: tuple[QueueBuffers, ...],
    notes: Notes,
) -> Scheduler:
    shape = shape_weights(request, interface_request, assignment, notes)
    shaped = frozenset(number for number, weight in enumerate(shape, start=1) if weight)
    weights = _weights(assignment, core(request), rate_in(request.classes, interface_request.usable), shaped)
    limit = port_limit(interface_request, notes)
    return shaped_round_robin(weights, shape, assignment.first is not None, limit, held_depths)


@memoise
def _weights(
    assignment: QueueAssignment, request: DeviceRequest, rate: int, shaped: frozenset[int]
) -> tuple[int, ...]:
    return assignment.weights(request, (rate,), shaped)


def _egress(
    interface_request: InterfaceRequest,
    scheduler: Scheduler | None,
    current: InterfacePlan | None,
    elsewhere: tuple[QueueBuffers, ...],
    notes: Notes,
) -> Egress:
    """The port's scheduler; a limit that the port has already stays, and a port not asked for is left alone.

    ``elsewhere`` is how deep the queues of such a port are behind the maps of the whole switch, where those change.
    """
    known = current.egress.scheduler if current and current.ingress.trust is not Trust.KEEP else None
    if scheduler is None:
        known = known or shaped_round_robin(default_share(), CAPABILITIES.shape_default.value, False)
        return Egress(scheduler=_deep(known, elsewhere) if elsewhere and as_delivered(known.queues) else known)
    limit = current.egress.scheduler.limit_percent if current and current.egress.scheduler else None
    if limit is None or scheduler.limit_percent is not None:
        return Egress(scheduler=scheduler)
    notes.note(
        "port-limit-kept",
        interface=interface_request.name,
        direction="output",
        requested="100 % of the port",
        applied=f"{limit} % of the port",
    )
    return Egress(scheduler=scheduler.model_copy(update={"limit_percent": limit}))


def _deep(scheduler: Scheduler, depths: tuple[QueueBuffers, ...]) -> Scheduler:
    queues = tuple(
        queue.model_copy(update={"limit_packets": depth.packets, "thresholds": depth.thresholds})
        for queue, depth in zip(scheduler.queues, depths, strict=True)
    )
    return scheduler.model_copy(update={"queues": queues})


def _note_queues_elsewhere(request: DeviceRequest, running: Plan | None, notes: Notes) -> None:
    """Ports that are left alone and whose thresholds change with the maps or the queue set of the others."""
    scheduled = {i.name for i in request.interfaces if i.schedule}
    for port in running.interfaces if running else ():
        queues = port.egress.scheduler.queues if port.egress.scheduler else ()
        if port.name not in scheduled and not as_delivered(queues):
            notes.note(
                "queue-set-shared",
                interface=port.name,
                direction="output",
                requested="left as it is",
                applied="other thresholds",
            )


def _note_switched_on(request: DeviceRequest, running: Plan | None, notes: Notes) -> None:
    """Switching QoS on makes every port untrusted that has no input scope (2970 guide, port trust state).

    Without a running configuration QoS is off, as delivered.
    """
    if running is not None and is_on(running):
        return
    scoped = {i.name for i in request.interfaces if i.recognise or i.trust}
    held = running.interfaces if running else ()
    known = [*(i.name for i in request.interfaces), *(i.name for i in held)]
    others = [name for name in dict.fromkeys(known) if name not in scoped]
    if others or running is None:
        notes.note(
            "marks-reset-elsewhere",
            direction="input",
            requested="left as they are",
            applied="DSCP 0 and CoS 0 for what they receive",
            variant="default" if running else "offline" if others else "unknown",
            ports=", ".join(others),
        )
