"""Lower a device request onto a Catalyst 9000: mark on input, queue on the mark on output."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.dscp import dscp_label
from qosforge.plan.model import Ingress, InterfacePlan, Plan, Rule, Trust
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.catalyst_9000.lines import PORT
from qosforge.platforms.catalyst_9000.marks import ClassMarks, class_marks
from qosforge.platforms.catalyst_9000.names import INPUT_POLICY, QUEUE_SUFFIX, class_names
from qosforge.platforms.catalyst_9000.parse import BEST_EFFORT
from qosforge.platforms.catalyst_9000.queues import QueueGroup, group_classes
from qosforge.platforms.catalyst_9000.recognition import input_rules, trust_policy
from qosforge.platforms.catalyst_9000.scheduling import QueuingPolicies, class_shares
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.ports import on_ports
from qosforge.platforms.ios_switch.queues import runs, scheduled_rates
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.recognition import untagged_cos
from qosforge.platforms.share_fidelity import ClassShare, fidelity, share_findings

_TYPE_QUEUEING = "service-policy type queueing "

_CONTROL_DSCP = (48, 56)
"""The class selectors of network control: CS6, which routing protocols send, and CS7 (RFC 4594)."""


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of a Catalyst 9000 for a request.

    Every port of the request is ours: a policy that it has and the intent does not ask for goes. A port that
    trusts DSCPs needs nothing, the device keeps them.
    """
    notes = Notes(request)
    _check_type_queueing(running, notes)
    request = on_ports(request, notes, PORT)
    recognising = any(i.recognise for i in request.interfaces)
    names = class_names(request, twice=recognising and any(i.schedule for i in request.interfaces))
    marks = class_marks(request, notes)
    rules = input_rules(request, names, marks, notes) if recognising else ()
    groups = group_classes(request, marks, notes) if scheduled_rates(request) else ()
    _note_marks(groups, marks, notes)
    _note_control(groups, marks, notes)
    # A class that is also recognised here has two class-maps.
    queued = {name: held + QUEUE_SUFFIX if recognising else held for name, held in names.items()}
    policies = QueuingPolicies(request, groups, marks, queued, notes)
    interfaces, shares = [], list[ClassShare]()
    for interface_request in request.interfaces:
        egress = policies.lower(interface_request) if interface_request.schedule else BEST_EFFORT
        if not interface_request.recognise:
            notes.extend(untagged_cos(request, interface_request))
        if interface_request.schedule:
            shares.extend(class_shares(request, interface_request, groups, egress))
        interfaces.append(
            InterfacePlan(
                name=interface_request.name,
                ingress=_ingress(request, interface_request, rules, marks),
                egress=egress,
            )
        )
    notes.extend(share_findings(request, tuple(shares)))
    return LoweredDevice(
        plan=Plan(device=request.device, platform=request.platform, interfaces=tuple(interfaces)),
        findings=notes.findings,
        fidelity=fidelity(tuple(shares)),
        classes=_provenance(request, names, queued, groups),
    )


def _check_type_queueing(running: Plan | None, notes: Notes) -> None:
    """``queueing-in-the-way``: policies of the queues of other hardware, beside which no other policy queues."""
    lines = [line for line in running.unknown if line.text.startswith(_TYPE_QUEUEING)] if running else []
    if lines and any(i.schedule for i in notes.request.interfaces):
        ports = dict.fromkeys(line.context.removeprefix("interface ") for line in lines)
        held = ", ".join(dict.fromkeys(repr(line.text) for line in lines))
        notes.note(
            "queueing-in-the-way", direction="output", variant="type-queueing", held=held, ports=", ".join(ports)
        )


def _ingress(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    rules: tuple[Rule, ...],
    marks: Mapping[str, ClassMarks],
) -> Ingress:
    """What an input does: for a phone alone it is a policy beside ``trust device``, as AutoQoS has it."""
    phone = interface_request.requires_phone or interface_request.trust_in == "phone"
    trust = Trust.PHONE if phone else Trust.KEEP
    if interface_request.recognise:
        return Ingress(policy=interface_request.input_policy or INPUT_POLICY, trust=trust, rules=rules)
    found = trust_policy(request, interface_request, marks)
    return Ingress(policy=found[0], trust=trust, rules=found[1]) if found else Ingress()


def _note_marks(groups: tuple[QueueGroup, ...], marks: Mapping[str, ClassMarks], notes: Notes) -> None:
    """Classes that no output can tell: without a mark, or with that of another queue."""
    by_mark: dict[int, tuple[QueueGroup, str]] = {}
    untagged = [i.name for i in notes.request.interfaces if i.schedule and not i.tagged]
    for group in groups:
        for entry in group.classes:
            held = marks[entry.name]
            if held.cos_points and not held.points and untagged:
                notes.note(
                    "cos-untagged",
                    variant="unconfirmed",
                    traffic_class=entry.name,
                    direction="output",
                    interfaces=", ".join(untagged),
                )
            if not held.told_by and not entry.is_default:
                other = by_mark.get(held.dscp) if held.dscp is not None else None
                if other is None:
                    notes.note(
                        "mark-needed",
                        traffic_class=entry.name,
                        direction="output",
                        variant="output-alone",
                    )
            if held.dscp is None:
                continue
            first = by_mark.setdefault(held.dscp, (group, entry.name))
            if first[0] is not group:
                notes.note(
                    "mark-shared",
                    traffic_class=entry.name,
                    applied=f"DSCP {dscp_label(held.dscp)} is served as {first[1]}",
                    first=first[1],
                )


def _note_control(groups: tuple[QueueGroup, ...], marks: Mapping[str, ClassMarks], notes: Notes) -> None:
    """That the DSCPs of network control which no class has are served with everything else."""
    named = {dscp for held in marks.values() for dscp in held.points}
    left = [dscp for dscp in _CONTROL_DSCP if dscp not in named]
    for group in groups:
        if left and group.is_default:
            notes.note(
                "network-control-queue",
                direction="output",
                variant="class-default",
                control=f"DSCP {runs(left)}",
                classes=", ".join(c.name for c in group.classes),
            )


def _provenance(
    request: DeviceRequest, names: Mapping[str, str], queued: Mapping[str, str], groups: tuple[QueueGroup, ...]
) -> dict[str, str]:
    """The intent's class of every class-map; of classes in one queue, the first."""
    held = {names[c.name]: c.name for c in request.classes if not c.is_default}
    held |= {queued[g.classes[0].name]: g.classes[0].name for g in groups if not g.is_default}
    return held | {CLASS_DEFAULT: request.classes[-1].name}
