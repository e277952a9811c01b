"""Lower a device request onto IOS: class-maps, policy-maps with LLQ and CBWFQ, link efficiency."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.core import core
from qosforge.plan.model import (
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Plan,
    Queue,
    Rule,
    Scheduler,
)
from qosforge.plan.percentages import resolved, resolved_output
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.platforms.base import ClassFidelity, LoweredDevice
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, default_bandwidth, since
from qosforge.platforms.cisco_ios.car import CarLowering, check_replaced
from qosforge.platforms.cisco_ios.circuits import check_circuit, lower_circuit, takes_policy
from qosforge.platforms.cisco_ios.class_maps import told_as_running
from qosforge.platforms.cisco_ios.classification import classification
from qosforge.platforms.cisco_ios.efficiency import efficiency, transmit_ring
from qosforge.platforms.cisco_ios.encryption import check_encryption
from qosforge.platforms.cisco_ios.fidelity import fidelity
from qosforge.platforms.cisco_ios.foreign_queueing import check_foreign_queueing
from qosforge.platforms.cisco_ios.limits import check_bandwidth, check_member, check_treatments
from qosforge.platforms.cisco_ios.marking import check_cos, check_marks
from qosforge.platforms.cisco_ios.policing import check_percentages
from qosforge.platforms.cisco_ios.routed import check_routed, dscp_of_cos
from qosforge.platforms.cisco_ios.rules import check_versions
from qosforge.platforms.cisco_ios.scheduling import OutputPolicies, port_rate
from qosforge.platforms.cisco_ios.trains import check_release, has, uses_car
from qosforge.platforms.cisco_ios.tunnels import inside_tunnels
from qosforge.platforms.class_trees import every_class
from qosforge.platforms.mqc import trust
from qosforge.platforms.mqc.blocks import every_rule
from qosforge.platforms.recognition import untagged_cos

INPUT_POLICY = "QOSFORGE-IN"


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of an IOS router for a request."""
    told = classification(core(request), frozenset(i.name for i in running.interfaces) if running else None)
    request = request.model_copy(update={"classes": told.classes})
    findings = [
        *told.findings,
        *check_treatments(request, every_class(told.classes)),
        *check_marks(request, every_class(told.classes)),
    ]
    policies = OutputPolicies(request, told.at_output, findings)
    car = CarLowering(request, running, findings)
    interfaces = []
    nearness: list[ClassFidelity] = []
    for interface_request in request.interfaces:
        current = running.interface(interface_request.name) if running else None
        shaped = port_rate(interface_request) is not None
        if interface_request.circuit is not None:
            findings.extend(check_circuit(request, interface_request, running))
        elif not shaped:
            findings.extend(check_bandwidth(request, interface_request, current))
        findings.extend(check_member(request, interface_request, running))
        # What a policy shapes is divided by that rate, whatever rate the device assumes for the interface. Where
        # nothing is scheduled, no share is taken of it, and the device may assume any rate.
        kbps: int | None = (interface_request.rate if shaped else interface_request.usable) // 1000
        if current is not None and (shaped or not interface_request.schedule):
            kbps = current.bandwidth_kbps
        attached = default_egress(interface_request.name, kbps)
        if interface_request.schedule and not has(request, "policies"):
            findings.append(_no_policies(request, interface_request))
        elif takes_policy(request, interface_request):
            attached, dividing = policies.lower(interface_request, current)
            dividing = resolved_output(dividing, interface_request.usable)
            near, differences = fidelity(request, interface_request, dividing)
            nearness.extend(near)
            findings.extend(differences)
        plan = InterfacePlan(
            name=interface_request.name,
            bandwidth_kbps=kbps,
            reservable_percent=current.reservable_percent if current else None,
            circuit=lower_circuit(interface_request, current),
            ingress=_ingress(request, interface_request, told.marking, car),
            egress=_with(
                attached,
                car.policers(interface_request, "output") if uses_car(request) else (),
                transmit_ring(request, interface_request, findings),
            ),
            efficiency=efficiency(request, interface_request, running, findings),
            groups=current.groups if current else (),
        )
        reference = (kbps or interface_request.usable // 1000) * 1000
        if (of_rate := resolved(plan, reference)) is not plan:
            findings.extend(check_percentages(request, of_rate, told.called))
        interfaces.append(of_rate)
        findings.extend(check_cos(request, interface_request))
        findings.extend(_check_trust(request, interface_request))
    whole = Plan(
        device=request.device,
        platform=request.platform,
        system=inside_tunnels(request, running, findings),
        interfaces=tuple(interfaces),
    )
    whole = told_as_running(whole, running)
    findings.extend(check_release(request))
    findings.extend(_check_forwarding(whole, running))
    findings.extend(check_routed(request, told.at_output))
    findings.extend(check_encryption(whole, running, told.called))
    findings.extend(check_foreign_queueing(request, running))
    findings.extend(check_versions(request, told.rules, running))
    findings.extend(check_replaced(request, whole, running))
    return LoweredDevice(
        plan=whole,
        findings=tuple(dict.fromkeys(findings)),
        fidelity=tuple(nearness),
        classes={**told.called, **car.classes},
    )


def _no_policies(request: DeviceRequest, interface_request: InterfaceRequest) -> Finding:
    return note(
        "policies-unsupported",
        Place(device=request.device, interface=interface_request.name, direction="output"),
        requested="queues for the classes",
        applied="one queue",
        image=request.image,
        release=since("policies"),
    )


def _with(egress: Egress, policers: tuple[InterfacePolicer, ...], ring: int | None) -> Egress:
    if not policers and ring is None:
        return egress
    return egress.model_copy(update={"policers": policers, "transmit_ring": ring})


def _ingress(
    request: DeviceRequest, interface_request: InterfaceRequest, marking: tuple[Rule, ...], car: CarLowering
) -> Ingress:
    if not interface_request.recognise:
        policy = _trust_policy(request, interface_request)
        return (
            Ingress()
            if policy is None
            else Ingress(policy=interface_request.input_policy or policy[0], rules=policy[1])
        )
    if uses_car(request):
        return Ingress(policers=car.policers(interface_request, "input"))
    return Ingress(policy=interface_request.input_policy or INPUT_POLICY, rules=marking) if marking else Ingress()


def default_egress(interface: str, bandwidth_kbps: int | None) -> Egress:
    """What an interface without a policy does: flow WFQ up to E1 on serial lines, FIFO elsewhere."""
    serial = interface.startswith(("Serial", "Multilink"))
    limit = CAPABILITIES.wfq_below_kbps.value
    if serial and (bandwidth_kbps or default_bandwidth(interface) or 0) <= limit:
        return _one_queue(Discipline.FLOW_WFQ, CAPABILITIES.wfq_discard_threshold.value)
    return _one_queue(Discipline.FIFO, CAPABILITIES.hold_queue.value)


@memoise
def _one_queue(discipline: Discipline, limit: int) -> Egress:
    queue = Queue(number=0, limit_packets=limit)
    return Egress(default_queue=0, scheduler=Scheduler(discipline=discipline, queues=(queue,)))


def _trust_policy(
    request: DeviceRequest, interface_request: InterfaceRequest
) -> tuple[str, tuple[Rule, ...]] | None:
    """The input policy, by name and rules, that does what an interface is to trust; None where it needs none."""
    if uses_car(request):
        return None
    return trust.trust_policy(interface_request, dscp_of_cos(request))


def _check_trust(request: DeviceRequest, interface_request: InterfaceRequest) -> Iterator[Finding]:
    """``trust-unsupported``: what the image cannot trust, and a CoS that no packet carries."""
    if not interface_request.trust or interface_request.trust_in in (None, "dscp"):
        return
    place = Place(device=request.device, interface=interface_request.name, direction="input")
    requested = f"trust {interface_request.trust_in}"
    if uses_car(request):
        yield note(
            "trust-unsupported",
            place,
            requested=requested,
            applied="trust dscp",
            variant="no-marking",
            image=request.image,
        )
    else:
        yield from untagged_cos(request, interface_request)


def _check_forwarding(plan: Plan, running: Plan | None) -> Iterator[Finding]:
    """What a plan asks for and the device does not do as it runs, without CEF: tell applications, police and mark.

    Cisco tech note 4800, "When Is CEF Required for Quality of Service".
    """
    if running is None or running.system.express_forwarding is not False:
        return
    rules = [r for i in plan.interfaces for r in _rules(i)]
    applications = dict.fromkeys(t.application for r in rules for t in r.any_of if t.application)
    policed = [i.name for i in plan.interfaces if i.ingress.policers or i.egress.policers]
    if applications:
        yield note("nbar-needs-cef", Place(device=plan.device), applications=", ".join(applications))
    if policed:
        yield note("car-needs-cef", Place(device=plan.device), interfaces=", ".join(policed))
    # An interface that has a policy which marks took it.
    taking = {i.name for i in running.interfaces if any(rule.writes for rule in _rules(i))}
    marked = [i.name for i in plan.interfaces if i.name not in taking and any(r.writes for r in _rules(i))]
    if marked:
        yield note("marking-needs-cef", Place(device=plan.device), interfaces=", ".join(marked))


def _rules(interface: InterfacePlan) -> tuple[Rule, ...]:
    return (*interface.ingress.rules, *every_rule(interface.egress))
