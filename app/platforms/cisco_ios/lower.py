"""Lower a device request onto IOS: class-maps, policy-maps with LLQ and CBWFQ, link efficiency."""

from __future__ import annotations

from app.findings import Finding, Severity
from app.plan.model import Discipline, Egress, Ingress, InterfacePlan, Plan, Queue, Rule, Scheduler
from app.plan.request import DeviceRequest, InterfaceRequest
from app.platforms.base import ClassFidelity, Lowered
from app.platforms.cisco_ios.applications import recognised
from app.platforms.cisco_ios.capabilities import capabilities, default_bandwidth
from app.platforms.cisco_ios.car import CarLowering, check_replaced
from app.platforms.cisco_ios.circuits import check_circuit, lower_circuit
from app.platforms.cisco_ios.efficiency import efficiency, transmit_ring
from app.platforms.cisco_ios.fidelity import fidelity
from app.platforms.cisco_ios.forwarding import check_forwarding
from app.platforms.cisco_ios.grammar import CLASS_DEFAULT
from app.platforms.cisco_ios.limits import check_bandwidth, check_treatments
from app.platforms.cisco_ios.policing import policer
from app.platforms.cisco_ios.rules import every_class, lower_rules, marked_rules, on_input
from app.platforms.cisco_ios.scheduling import OutputPolicies, port_rate
from app.platforms.cisco_ios.trains import uses_car
from app.platforms.names import short_names

INPUT_POLICY = "QOSFORGE-IN"


def lower(request: DeviceRequest, running: Plan | None) -> Lowered:
    """The plan of an IOS router for a request."""
    findings: list[Finding] = []
    request = recognised(request, findings)
    classes = tuple(every_class(request.classes))
    names = _names([c.name for c in classes if not c.is_default])
    names[next(c.name for c in request.classes if c.is_default)] = CLASS_DEFAULT
    rules = lower_rules(request, names, running, findings)
    findings.extend(check_treatments(request, classes))
    marked = marked_rules(request, rules, names)
    policies = OutputPolicies(request, rules, marked, findings)
    car = CarLowering(request, running, findings)
    interfaces = []
    nearness: list[ClassFidelity] = []
    for wanted in request.interfaces:
        held = running.interface(wanted.name) if running else None
        shaped = port_rate(wanted) is not None
        if wanted.circuit is not None:
            findings.extend(check_circuit(request, wanted, running))
        elif not shaped:
            findings.extend(check_bandwidth(request, wanted, held))
        # What a policy shapes is divided by that rate, whatever the box takes the interface's to be. Where nothing is
        # scheduled, no share is taken of it, and the box may believe what it likes.
        kbps: int | None = (wanted.rate if shaped else wanted.usable) // 1000
        if held is not None and not wanted.schedule:
            kbps = held.bandwidth_kbps
        attached = default_egress(wanted.name, kbps)
        if wanted.schedule:
            attached, dividing = policies.lower(wanted, held)
            near, told = fidelity(request, wanted, dividing)
            nearness.extend(near)
            findings.extend(told)
        plan = InterfacePlan(
            name=wanted.name,
            bandwidth_kbps=kbps,
            reservable_percent=held.reservable_percent if held else None,
            circuit=lower_circuit(wanted, held),
            ingress=_ingress(request, wanted, rules, car),
            egress=attached.model_copy(
                update={
                    "policers": car.policers(wanted, "output") if uses_car(request) else (),
                    "transmit_ring": transmit_ring(request, wanted, findings),
                }
            ),
            efficiency=efficiency(request, wanted, findings),
        )
        interfaces.append(plan)
        if wanted.recognise:
            findings.extend(_cos_findings(request, wanted))
    whole = Plan(device=request.device, platform=request.platform, interfaces=tuple(interfaces))
    findings.extend(check_forwarding(whole, running))
    findings.extend(check_replaced(whole, running))
    return Lowered(
        plan=whole,
        findings=tuple(dict.fromkeys(findings)),
        fidelity=tuple(nearness),
        classes={r[c.name].name: c.name for r in (rules, marked) for c in classes} | car.classes,
    )


def _names(names: list[str]) -> dict[str, str]:
    """What the box calls the classes; a name that it could take for a keyword (or its beginning) is changed."""
    words = [n for n in names if any(w.startswith(n.lower()) for w in (CLASS_DEFAULT, "match-any", "match-all"))]
    return short_names(names, capabilities()["name_length"]["value"], words)


def _ingress(request: DeviceRequest, wanted: InterfaceRequest, rules: dict[str, Rule], car: CarLowering) -> Ingress:
    if not wanted.recognise:
        return Ingress()
    if uses_car(request):
        return Ingress(policers=car.policers(wanted, "input"))
    marking = [
        rules[c.name].model_copy(
            update={
                "set_dscp": c.mark.dscp if c.mark else None,
                "set_precedence": c.mark.precedence if c.mark else None,
                "police": policer(request, c, "input"),
            }
        )
        for c in on_input(request)
    ]
    # A class that nothing is done to still takes its packets from those behind it.
    while marking and (marking[-1].set_dscp, marking[-1].set_precedence, marking[-1].police) == (None, None, None):
        marking.pop()
    return Ingress(policy=wanted.input_policy or INPUT_POLICY, rules=tuple(marking)) if marking else Ingress()


def default_egress(interface: str, bandwidth_kbps: int | None) -> Egress:
    """What an interface without a policy does: flow WFQ up to E1 on serial lines, FIFO elsewhere."""
    serial = interface.startswith(("Serial", "Multilink"))
    limit = capabilities()["wfq_below_kbps"]["value"]
    if serial and (bandwidth_kbps or default_bandwidth(interface) or 0) <= limit:
        threshold = capabilities()["wfq_discard_threshold"]["value"]
        queue = Queue(number=0, limit_packets=threshold)
        return Egress(default_queue=0, scheduler=Scheduler(discipline=Discipline.FLOW_WFQ, queues=(queue,)))
    queue = Queue(number=0, limit_packets=capabilities()["hold_queue"]["value"])
    return Egress(default_queue=0, scheduler=Scheduler(discipline=Discipline.FIFO, queues=(queue,)))


def _cos_findings(request: DeviceRequest, wanted: InterfaceRequest) -> list[Finding]:
    if not any(c.mark and c.mark.cos is not None for c in request.classes):
        return []
    return [
        Finding(
            code="cos-carried-as-dscp",
            severity=Severity.INFO,
            message="the port carries no 802.1Q tag: the DSCP is marked, the switches derive the CoS from it",
            device=request.device,
            interface=wanted.name,
            direction="input",
        )
    ]
