"""Ports of a request and their input side, and findings on what no such Catalyst can do."""

from __future__ import annotations

import re

from qosforge.dscp import dscp_label
from qosforge.findings import DEFAULT
from qosforge.intent.models import RESERVED_CLASS
from qosforge.plan.model import Ingress, InterfacePlan, Rule, Trust
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.ios_switch.classes import INPUT_POLICY
from qosforge.platforms.ios_switch.lines import PORT
from qosforge.platforms.ios_switch.marks import SwitchClassMarks
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.queues import QueueAssignment, scheduled_rates
from qosforge.platforms.recognition import untagged_cos
from qosforge.platforms.share_fidelity import format_percent, priority_findings, queue_names
from qosforge.units import format_rate


def on_ports(request: DeviceRequest, notes: Notes, port: re.Pattern[str] = PORT) -> DeviceRequest:
    """The request for physical ports alone: these switches have no QoS on others.

    A link aggregation is served by its members, which must be in the request. ``port`` matches headings of ports.
    """
    kept = tuple(i for i in request.interfaces if port.fullmatch(f"interface {i.name}"))
    if len(kept) == len(request.interfaces):
        return request
    members = {i.lag for i in kept}
    for i in request.interfaces:
        if i not in kept:
            variant = "aggregation" if i.name in members else DEFAULT
            notes.note("port-not-physical", interface=i.name, variant=variant)
    return request.model_copy(update={"interfaces": kept})


def ingress(
    interface_request: InterfaceRequest,
    rules: tuple[Rule, ...],
    current: InterfacePlan | None,
    dscp_to_cos: tuple[int, ...] | None,
    notes: Notes,
) -> Ingress:
    """What a port does on input: recognise and mark, trust (DSCPs unless the intent says another mark), or what it
    does already.

    Packets that no rule matches get CoS 0, and DSCP 0 unless the device leaves it. The CoS of the port itself is
    left alone.
    ``dscp_to_cos`` is the map that the switch is to have: what a port marks already gets its CoS from it too.
    """
    port_cos = current.ingress.port_cos if current else 0
    if interface_request.recognise:
        if port_cos and not rules:
            notes.note(
                "port-cos-kept",
                interface=interface_request.name,
                direction="input",
                requested="CoS 0",
                applied=f"CoS {port_cos}",
            )
        policy = (interface_request.input_policy or INPUT_POLICY) if rules else None
        if policy is None:
            _note_foreign_policy(current, notes)
        return Ingress(policy=policy, trust=Trust.NONE, port_cos=port_cos, rules=rules)
    if interface_request.trust:
        _note_foreign_policy(current, notes)
        if not port_cos:  # else untagged packets count as of that CoS, which somebody has set for them
            notes.extend(untagged_cos(notes.request, interface_request))
        return Ingress(trust=Trust(interface_request.trust_in or Trust.DSCP), port_cos=port_cos)
    if current is None or current.ingress.trust is Trust.KEEP:
        return Ingress(trust=Trust.NONE, port_cos=port_cos)
    return _under_map(current, dscp_to_cos, notes) if dscp_to_cos else current.ingress


def _under_map(current: InterfacePlan, dscp_to_cos: tuple[int, ...], notes: Notes) -> Ingress:
    rules = []
    for rule in current.ingress.rules:
        cos = rule.set_cos if rule.set_dscp is None else dscp_to_cos[rule.set_dscp]
        if cos != rule.set_cos:
            notes.note(
                "map-shared",
                interface=current.name,
                direction="input",
                requested=f"CoS {rule.set_cos}, as now",
                applied=f"CoS {cos}",
                policy_class=rule.name,
            )
        rules.append(rule.model_copy(update={"set_cos": cos}))
    return current.ingress.model_copy(update={"rules": tuple(rules)})


def _note_foreign_policy(current: InterfacePlan | None, notes: Notes) -> None:
    policy = current.ingress.policy if current else None
    if current and policy:
        notes.note("policy-in-the-way", interface=current.name, direction="input", policy=policy)


def note_rates(request: DeviceRequest, notes: Notes) -> None:
    """Shares given as rates: the device holds weights, which are that rate while a port runs at its own."""
    for entry in request.classes:
        share = entry.treatment.bandwidth
        if share is not None and share.rate is not None:
            parts = [
                f"{format_percent(share.rate / rate)} of {format_rate(rate)}" for rate in scheduled_rates(request)
            ]
            notes.note(
                "rate-as-weight",
                traffic_class=entry.name,
                direction="output",
                requested=format_rate(share.rate),
                applied=", ".join(parts),
            )


def note_priority(request: DeviceRequest, assignment: QueueAssignment, notes: Notes) -> None:
    """What the strict queues mean for the priority classes: a class without a cap gets what it asks for."""
    uncapped = {c.name for c in request.classes if c.treatment.priority and not c.treatment.priority.capped}
    for finding in priority_findings(request):
        capped = finding.code == "priority-cap-not-enforced" and finding.traffic_class in uncapped
        if not (capped or (assignment.in_order and finding.code == "priority-queues-exceeded")):
            notes.extend([finding])


def note_tail_drop(entry: ClassRequest, notes: Notes) -> None:
    """A wish for WRED that becomes the drop at the tail of a queue."""
    wred = entry.treatment.wred
    if wred is not None:
        notes.note(
            "wred-unsupported",
            traffic_class=entry.name,
            direction="output",
            requested="WRED",
            applied="tail drop",
            variant="tail-drop",
            preferred=wred.prefer,
        )


def note_shared_marks(
    marks: dict[str, SwitchClassMarks], assignment: QueueAssignment, only_cos: bool, notes: Notes
) -> None:
    """Classes of different queues with one mark; one CoS is an error where it alone chooses the queue.

    CoS 0 is the default class's: untagged and unmarked packets have it.
    """
    by_dscp: dict[int, str] = {}
    by_cos = {0: RESERVED_CLASS}
    for name, entry in marks.items():
        first = by_dscp.setdefault(entry.dscp, name) if entry.dscp is not None else name
        if assignment.queue_of[first] != assignment.queue_of[name]:
            notes.note(
                "mark-shared",
                traffic_class=name,
                applied=f"DSCP {dscp_label(entry.dscp or 0)} is served as {first}",
                first=first,
            )
            continue
        for cos in entry.cos:
            first = by_cos.setdefault(cos, name)
            if assignment.queue_of[first] != assignment.queue_of[name]:
                notes.note(
                    "cos-shared",
                    traffic_class=name,
                    applied=f"CoS {cos} is served as {first}",
                    variant="only-cos" if only_cos else "beside-dscp",
                    cos=cos,
                    other=first,
                )


def flat(rules: dict[str, tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """The rules of all classes, in their order."""
    return tuple(rule for entries in rules.values() for rule in entries)


def provenance(rules: dict[str, tuple[Rule, ...]], assignment: QueueAssignment | None) -> dict[str, str]:
    """The intent's class of every class-map and queue; of classes in one queue, the first."""
    named = {rule.name: name for name, entries in rules.items() for rule in entries}
    if assignment is None:
        return named
    return named | queue_names(assignment.queue_of)
