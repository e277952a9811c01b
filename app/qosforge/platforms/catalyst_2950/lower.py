"""Lower a device request onto a 2950: class-maps and marks on host ports, trust on trunks, one WRR for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.dscp import dscp_label
from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.plan.core import core
from qosforge.plan.model import Discipline, InterfacePlan, Plan, Scheduler, Share, ShareUnit, System
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES, DSCP_TO_COS, enhanced
from qosforge.platforms.catalyst_2950.masks import note_switch_masks
from qosforge.platforms.catalyst_2950.recognise import Recognised, kind_of, port_rules
from qosforge.platforms.catalyst_2950.scheduling import layout, round_robin, strict_priority
from qosforge.platforms.catalyst_2950.unnamed_marks import note_unnamed, unnamed_marks, with_default
from qosforge.platforms.ios_switch.arrivals import note_arrivals
from qosforge.platforms.ios_switch.auto_qos import note_auto_qos
from qosforge.platforms.ios_switch.flow_control import note_flow_control
from qosforge.platforms.ios_switch.marks import (
    DEFAULT_COS_TO_DSCP,
    SwitchClassMarks,
    class_marks,
    cos_to_dscp,
    dscp_to_cos,
)
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.ports import (
    ingress,
    note_priority,
    note_rates,
    note_shared_marks,
    note_tail_drop,
    on_ports,
    provenance,
)
from qosforge.platforms.ios_switch.queues import QueueAssignment, assign, scheduled_rates
from qosforge.platforms.share_fidelity import ClassShare, class_shares, fidelity, share_findings


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of a 2950 for a request; ``running`` is what it holds now, where it is known."""
    notes = Notes(request)
    request = on_ports(request, notes)
    kinds = tuple(dict.fromkeys(kind_of(i) for i in request.interfaces if i.recognise))
    common = _common(core(request), kinds, running.system.cos_to_dscp if running else None)
    notes.extend(common.of_classes)
    note_auto_qos(request, running, notes, excludes_phone=True)
    note_flow_control(request, running, notes)
    interfaces = []
    for interface_request in request.interfaces:
        current = running.interface(interface_request.name) if running else None
        policy, rules = common.recognised.of(interface_request)
        requested = interface_request.model_copy(update={"input_policy": policy})
        interfaces.append(
            InterfacePlan(
                name=interface_request.name,
                ingress=ingress(requested, rules, current, common.system.dscp_to_cos, notes),
            )
        )
    notes.extend(common.of_switch)
    shares: tuple[ClassShare, ...] = ()
    if common.assignment and common.by_share:
        shares = class_shares(request, common.by_share, common.assignment.queue_of)
        notes.extend(share_findings(request, shares))
        notes.extend(common.of_shared_marks)
        _note_box_wide(request, running, notes)
    plan = Plan(
        device=request.device, platform=request.platform, system=common.system, interfaces=tuple(interfaces)
    )
    note_switch_masks(request, plan, running, notes)
    if enhanced(request.image) or not any(i.recognise for i in request.interfaces):
        note_arrivals(request, plan, running, common.marks, notes)
    return LoweredDevice(
        plan=plan,
        findings=notes.findings,
        fidelity=fidelity(shares),
        classes=common.called,
    )


@dataclass(frozen=True)
class _Common:
    """What devices have in common (see `qosforge.plan.core`), with what is to be told of each of its parts."""

    marks: Mapping[str, SwitchClassMarks]
    recognised: Recognised
    assignment: QueueAssignment | None
    system: System
    by_share: Scheduler | None
    called: Mapping[str, str]
    of_classes: tuple[Finding, ...]
    of_switch: tuple[Finding, ...]
    of_shared_marks: tuple[Finding, ...]


@memoise
def _common(request: DeviceRequest, kinds: tuple[str, ...], held: tuple[int, ...] | None) -> _Common:
    """Marks, rules and queues.

    ``kinds`` are those of the ports that recognise classes, ``held`` is the map from CoS to DSCP of the switch now.
    """
    of_classes, of_switch, of_shared_marks = (Notes(request) for _ in range(3))
    keeps = CAPABILITIES.untrusted_keeps_dscp.value
    marks = class_marks(request, CAPABILITIES.supported_dscp.value, of_classes, rest_keeps_dscp=keeps)
    recognised = port_rules(request, kinds, marks, of_classes)
    assignment = None
    if scheduled_rates(request):
        for entry in request.classes:
            note_tail_drop(entry, of_classes)
        assignment = assign(request, layout(), marks, of_classes)
    system = _system(request, marks, assignment, held, of_switch)
    if assignment:
        note_rates(request, of_switch)
        note_priority(request, assignment, of_switch)
        note_shared_marks(marks, assignment, True, of_shared_marks)
    return _Common(
        marks=marks,
        recognised=recognised,
        assignment=assignment,
        system=system,
        by_share=_by_share(system.scheduler, assignment) if assignment and system.scheduler else None,
        called=provenance(recognised.rules, assignment),
        of_classes=of_classes.findings,
        of_switch=of_switch.findings,
        of_shared_marks=of_shared_marks.findings,
    )


def _by_share(scheduler: Scheduler, assignment: QueueAssignment) -> Scheduler:
    """The scheduler as the fluid model takes it: the last of queues served in order has what the others leave."""
    if not assignment.in_order:
        return scheduler
    last = scheduler.queues[-1].model_copy(
        update={"priority": False, "share": Share(unit=ShareUnit.WEIGHT, value=1)}
    )
    return scheduler.model_copy(update={"discipline": Discipline.WRR, "queues": (*scheduler.queues[:-1], last)})


def _system(
    request: DeviceRequest,
    marks: dict[str, SwitchClassMarks],
    assignment: QueueAssignment | None,
    held: tuple[int, ...] | None,
    notes: Notes,
) -> System:
    queues = scheduler = None
    if assignment:
        queues = assignment.cos_to_queue(marks)
        weights = assignment.weights(request, scheduled_rates(request))
        served_first = [0 if n == assignment.first else w for n, w in enumerate(weights, start=1)]
        scheduler = strict_priority() if assignment.in_order else round_robin(served_first)
    forth = cos_to_dscp(request, marks, held if enhanced(request.image) else None)
    back = dscp_to_cos(marks, DSCP_TO_COS)
    unnamed = unnamed_marks(marks, assignment) if assignment else ()
    note_unnamed(request, unnamed, marks, notes)
    supported = CAPABILITIES.supported_dscp.value
    for value in sorted(set(forth) - supported):
        notes.note(
            "dscp-unsupported",
            requested=f"DSCP {dscp_label(value)} of CoS {forth.index(value)}",
            applied="DSCP of the same precedence",
            supported=", ".join(map(dscp_label, sorted(supported))),
        )
    forth = tuple(dscp if dscp in supported else dscp >> 3 << 3 for dscp in forth)
    system = System(
        cos_to_queue=queues,
        scheduler=scheduler,
        untrusted_keeps_dscp=CAPABILITIES.untrusted_keeps_dscp.value,
    )
    if enhanced(request.image):
        return system.model_copy(update={"cos_to_dscp": forth, "dscp_to_cos": with_default(back, unnamed)})
    if (forth, back) != (DEFAULT_COS_TO_DSCP, DSCP_TO_COS):
        changed = [
            f"DSCP {dscp_label(d)} and CoS {cos}" for cos, d in enumerate(forth) if d != DEFAULT_COS_TO_DSCP[cos]
        ]
        notes.note(
            "maps-unsupported",
            requested=", ".join(changed) or None,
            applied="CoS is the upper three bits of the DSCP",
            image=request.image,
        )
    return system


def _note_box_wide(request: DeviceRequest, running: Plan | None, notes: Notes) -> None:
    requested = {i.name for i in request.interfaces if i.schedule}
    others = [i.name for i in running.interfaces if i.name not in requested] if running else []
    if others:
        notes.note("scheduler-device-wide", direction="output", variant="others", ports=", ".join(others))
    else:
        notes.note("scheduler-device-wide", direction="output")
