"""Lower a device request onto the 5510: filters on host ports, trust on trunks, the queue set it booted with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.core import core
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, Scheduler, System, Trust
from qosforge.plan.places import class_place
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.names import short_names
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES, check_port, scheduler
from qosforge.platforms.nortel_5510.filters import in_box_order
from qosforge.platforms.nortel_5510.lines import port_list
from qosforge.platforms.nortel_5510.marks import high_drop, maps, mark_findings, unnamed_findings
from qosforge.platforms.nortel_5510.policing import police_findings, shape_findings, shaped
from qosforge.platforms.nortel_5510.queues import Choice, as_served, best, choose, keeps_apart, queue_findings
from qosforge.platforms.nortel_5510.recognise import COUNT_SUFFIX, filter_findings, rules
from qosforge.platforms.recognition import default_marked_down, dscp_of, ipv4_only, ports_only
from qosforge.platforms.share_fidelity import (
    class_shares,
    fidelity,
    priority_findings,
    queue_names,
    rate_findings,
    share_findings,
)

HOST_GROUP = "qosforge-host"
TRUNK_GROUP = "qosforge-trunk"
COS_GROUP = "qosforge-cos"
CLEAR_GROUP = "qosforge-none"
_TRUSTING = {"dscp": (TRUNK_GROUP, Trust.DSCP), "cos": (COS_GROUP, Trust.KEEP), "none": (CLEAR_GROUP, Trust.NONE)}
"""Groups of ports that no rule looks at, by what they trust: an unrestricted port leaves all marks alone."""


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of a 5510 for a request."""
    for interface_request in request.interfaces:
        check_port(interface_request.name, request.device)
    queue_set = running.system.queue_set if running else None
    common = _common(core(request), queue_set if queue_set in CAPABILITIES.queue_sets.value else None)
    current = {i.name: i for i in running.interfaces} if running else {}
    scheduled = any(interface_request.schedule for interface_request in request.interfaces)
    shares = (
        class_shares(request, common.in_force, common.chosen.queue_of) if scheduled and common.chosen.fits else ()
    )
    plan = Plan(
        device=request.device,
        platform=request.platform,
        system=common.system,
        interfaces=tuple(
            _interface(interface_request, current.get(interface_request.name), common.host_rules)
            for interface_request in request.interfaces
        ),
    )
    return LoweredDevice(
        plan=plan,
        findings=(
            *common.queue_findings,
            *(_elsewhere(request, running) if scheduled else ()),
            *(shape_findings(request) if scheduled else ()),
            *common.class_findings,
            *mark_findings(request, common.chosen),
            *share_findings(request, shares),
        ),
        fidelity=fidelity(shares),
        classes=common.called,
    )


@dataclass(frozen=True)
class _Common:
    """What devices have in common (see `qosforge.plan.core`)."""

    chosen: Choice
    system: System
    in_force: Scheduler
    host_rules: tuple[Rule, ...]
    called: Mapping[str, str]
    queue_findings: tuple[Finding, ...]
    class_findings: tuple[Finding, ...]


@memoise
def _common(request: DeviceRequest, told: int | None) -> _Common:
    """Queues, maps and rules; ``told`` is the queue set that the device says it has."""
    rate = min(interface_request.usable for interface_request in request.interfaces)
    chosen = _assumed(request, rate) if told is None else choose(request.classes, told, rate)
    table = maps(request, chosen)
    names = short_names((c.name for c in request.classes), CAPABILITIES.name_limit.value - COUNT_SUFFIX)
    dscps = {c.name: dscp for c in request.classes if (dscp := dscp_of(c)) is not None}
    made = rules(request, names, dscps, table.cos_of)
    host_rules = in_box_order(tuple(rule for rule, _ in made))
    scheduled = any(interface_request.schedule for interface_request in request.interfaces)
    trusted = any(interface_request.trust for interface_request in request.interfaces)
    system = System(
        queue_set=chosen.queue_set if scheduled else None,
        scheduler=scheduler(chosen.queue_set) if scheduled else None,
        cos_to_queue=table.cos_to_queue if scheduled else None,
        cos_to_dscp=table.cos_to_dscp if trusted or scheduled else None,
        dscp_to_cos=table.dscp_to_cos if trusted or scheduled else None,
        dropped_first=tuple(sorted(high_drop(request.classes))) or None if trusted or scheduled else None,
    )
    return _Common(
        chosen=chosen,
        system=system,
        in_force=as_served(scheduler(chosen.queue_set)),
        host_rules=host_rules,
        called=_called(names, made) | queue_names(chosen.queue_of),
        queue_findings=tuple(_queue_findings(request, chosen, rate, told)) if scheduled else (),
        class_findings=(
            *(_wred_findings(request) if scheduled else ()),
            *_input_findings(request, host_rules),
            *unnamed_findings(request, table),
        ),
    )


def _assumed(request: DeviceRequest, rate: int) -> Choice:
    """The set that a device most likely has where it serves the classes, else the best of all."""
    assumed = CAPABILITIES.assumed_queue_set.value
    # With more classes than it has queues it cannot be the one: to find how they would share them takes long.
    if keeps_apart(request.classes, assumed):
        likely = choose(request.classes, assumed, rate)
        if likely.fits and not likely.merged and likely.error <= request.tolerance:
            return likely
    return best(request.classes, rate, request.tolerance) or choose(request.classes, assumed, rate)


def _called(names: dict[str, str], made: Sequence[tuple[Rule, str]]) -> dict[str, str]:
    """The class of every rule: rules that keep a mark have it behind the name of their class."""
    result = {short: name for name, short in names.items()}
    keeping = sorted(made, key=lambda each: (each[0].set_dscp is None, each[0].set_dscp, each[0].set_cos))
    return result | {rule.name: name for name in names for rule, owner in keeping if owner == name}


def default_ingress() -> Ingress:
    """A port that is in no group of its own."""
    return Ingress(policy=CAPABILITIES.default_group.value, trust=Trust.NONE)


def _interface(
    interface_request: InterfaceRequest, current: InterfacePlan | None, host_rules: tuple[Rule, ...]
) -> InterfacePlan:
    ingress = current.ingress if current else default_ingress()
    if interface_request.recognise:
        ingress = Ingress(policy=HOST_GROUP, trust=Trust.NONE, rules=host_rules)
    elif interface_request.trust:
        group, trust = _TRUSTING[interface_request.trust_in or "dscp"]
        ingress = Ingress(policy=group, trust=trust)
    rate, bucket = shaped(interface_request)
    egress = Egress(shape_rate=rate, shape_burst=bucket)
    if rate is None and current is not None:
        egress = current.egress
    return InterfacePlan(name=interface_request.name, ingress=ingress, egress=egress)


def _queue_findings(request: DeviceRequest, chosen: Choice, rate: int, told: int | None) -> Iterator[Finding]:
    yield from rate_findings(request)
    yield from priority_findings(request)
    yield from queue_findings(request, chosen, rate, known=told is not None)


def _elsewhere(request: DeviceRequest, running: Plan | None) -> Iterator[Finding]:
    """That maps and queues are those of the whole switch; which ports outside the output scopes have them too."""
    scheduled = {i.name for i in request.interfaces if i.schedule}
    held = running.interfaces if running else ()
    others = ({i.name for i in request.interfaces} | {i.name for i in held}) - scheduled
    facts = {"variant": "others", "ports": port_list(sorted(others, key=_place))} if others else {}
    yield note("scheduler-device-wide", Place(device=request.device, direction="output"), **facts)


def _place(port: str) -> tuple[int, ...]:
    """Where a port is, to sort by: its unit in a stack, and its number."""
    return tuple(int(part) for part in port.split("/"))


def _wred_findings(request: DeviceRequest) -> Iterator[Finding]:
    for c in request.classes:
        if c.treatment.wred is not None:
            yield note(
                "wred-unsupported",
                class_place(request, c, direction="output"),
                requested="WRED",
                applied="tail drop",
                variant="no-detection",
                preferred=c.treatment.wred.prefer,
            )


def _input_findings(request: DeviceRequest, host_rules: tuple[Rule, ...]) -> Iterator[Finding]:
    if not any(interface_request.recognise for interface_request in request.interfaces):
        return
    for c in request.classes:
        yield from ports_only(request, c)
        yield from ipv4_only(request, c)
    yield from default_marked_down(request)
    yield from filter_findings(request, host_rules)
    yield from police_findings(request)
