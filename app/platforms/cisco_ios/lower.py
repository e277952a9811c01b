"""Lower a device request onto IOS: class-maps, policy-maps with LLQ and CBWFQ, link efficiency."""

from __future__ import annotations

from app.findings import Fidelity, Finding, Severity
from app.inventory.models import Framing, Role
from app.plan.model import (
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)
from app.plan.request import ClassRequest, DeviceRequest, EfficiencyRequest, InterfaceRequest
from app.plan.shares import expected_shares
from app.platforms.base import ClassFidelity, Lowered
from app.platforms.cisco_ios.capabilities import capabilities, default_bandwidth, default_red
from app.platforms.cisco_ios.grammar import CLASS_DEFAULT
from app.platforms.cisco_ios.limits import (
    check_bandwidth,
    check_image,
    check_inputs,
    check_queues,
    check_treatments,
    may_detect,
    queue_limit,
    refused_match,
    shape_rate,
    trusts_mark,
)
from app.platforms.cisco_ios.matching import lower_match
from app.platforms.cisco_ios.policing import policer
from app.platforms.names import short_names
from app.units import format_rate

OUTPUT_POLICY = "QOSFORGE-OUT"
INPUT_POLICY = "QOSFORGE-IN"


def lower(request: DeviceRequest, running: Plan | None) -> Lowered:
    """The plan of an IOS router for a request."""
    findings: list[Finding] = list(check_image(request))
    served = [c for c in request.classes if not c.is_default]
    names = _names([c.name for c in served])
    names[next(c.name for c in request.classes if c.is_default)] = CLASS_DEFAULT
    rules = {c.name: _rule(request, c, names[c.name], running, findings) for c in request.classes}
    findings.extend(check_treatments(request))
    interfaces = []
    fidelity: list[ClassFidelity] = []
    for wanted in request.interfaces:
        held = running.interface(wanted.name) if running else None
        findings.extend(check_bandwidth(request, wanted, held))
        plan = InterfacePlan(
            name=wanted.name,
            bandwidth_kbps=wanted.usable // 1000,
            ingress=_ingress(request, wanted, rules),
            egress=_egress(request, wanted, rules),
            efficiency=_efficiency(request, wanted, findings),
        )
        interfaces.append(plan)
        if wanted.schedule:
            findings.extend(check_queues(request, wanted, plan))
            fidelity.extend(_fidelity(request, wanted, plan))
        if wanted.recognise:
            findings.extend(_cos_findings(request, wanted))
    return Lowered(
        plan=Plan(device=request.device, platform=request.platform, interfaces=tuple(interfaces)),
        findings=tuple(findings),
        fidelity=tuple(fidelity),
        classes={names[c.name]: c.name for c in request.classes},
    )


def _names(names: list[str]) -> dict[str, str]:
    """What the box calls the classes; a name that it could take for a keyword (or its beginning) is changed."""
    words = [n for n in names if any(w.startswith(n.lower()) for w in (CLASS_DEFAULT, "match-any", "match-all"))]
    return short_names(names, capabilities()["name_length"]["value"], words)


def _rule(
    request: DeviceRequest, wanted: ClassRequest, name: str, running: Plan | None, findings: list[Finding]
) -> Rule:
    """What a class's class-map matches here: the mark where an edge has set it, else what the intent lists."""
    if wanted.is_default:
        return Rule(name=name, any_of=(Term(),))
    if trusts_mark(request, wanted):
        assert wanted.mark is not None
        assert wanted.mark.dscp is not None
        return Rule(name=name, any_of=(Term(dscp=(wanted.mark.dscp,)),))
    if request.role is not Role.EDGE and any(t.application for t in wanted.terms):
        findings.append(
            Finding(
                code="recognised-again",
                severity=Severity.INFO,
                message="the class carries no mark, so this device recognises its applications again",
                device=request.device,
                traffic_class=wanted.name,
                line=wanted.line,
                mend="give the class a mark",
            )
        )
    findings.extend(check_inputs(request, wanted, running))
    matched = lower_match(wanted)
    if isinstance(matched, str):
        findings.append(refused_match(request, wanted, matched))
        return Rule(name=name)
    return Rule(name=name, any_of=matched[0], none_of=matched[1])


def _ingress(request: DeviceRequest, wanted: InterfaceRequest, rules: dict[str, Rule]) -> Ingress:
    if not wanted.recognise:
        return Ingress()
    marking = [
        rules[c.name].model_copy(
            update={"set_dscp": c.mark.dscp if c.mark else None, "police": policer(request, c, "input")}
        )
        for c in request.classes
    ]
    # A class that nothing is done to still takes its packets from those behind it.
    while marking and marking[-1].set_dscp is None and marking[-1].police is None:
        marking.pop()
    return Ingress(policy=wanted.input_policy or INPUT_POLICY, rules=tuple(marking)) if marking else Ingress()


def _egress(request: DeviceRequest, wanted: InterfaceRequest, rules: dict[str, Rule]) -> Egress:
    if not wanted.schedule:
        return default_egress(wanted.name, wanted.usable // 1000)
    served = [c for c in request.classes if not c.is_default]
    queues = [_queue(request, number, c, rules[c.name].name) for number, c in enumerate(request.classes)]
    chosen = tuple(
        rules[c.name].model_copy(update={"queue": number, "police": policer(request, c, "output")})
        for number, c in enumerate(served)
    )
    return Egress(
        policy=wanted.output_policy or OUTPUT_POLICY,
        rules=chosen,
        default_queue=len(served),
        scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues)),
    )


def _queue(request: DeviceRequest, number: int, wanted: ClassRequest, name: str) -> Queue:
    treatment = wanted.treatment
    share = None
    if treatment.priority:
        share = _share(treatment.priority.percent, None, treatment.priority.rate)
    elif treatment.bandwidth:
        asked = treatment.bandwidth
        share = _share(asked.percent, asked.remaining_percent, asked.rate)
    limit, shaped = queue_limit(request, wanted), shape_rate(request, wanted)
    return Queue(
        number=number,
        name=name,
        priority=treatment.priority is not None,
        capped=treatment.priority is not None,
        share=share,
        limit_packets=limit if isinstance(limit, int) else capabilities()["class_queue_limit"]["value"],
        shape_rate=shaped if isinstance(shaped, int) else None,
        red=default_red() if treatment.wred and may_detect(wanted) else None,
    )


def _share(percent: int | None, remaining: int | None, rate: int | None) -> Share | None:
    if percent is not None:
        return Share(unit=ShareUnit.PERCENT, value=percent)
    if remaining is not None:
        return Share(unit=ShareUnit.REMAINING_PERCENT, value=remaining)
    return Share(unit=ShareUnit.KBPS, value=rate // 1000) if rate is not None else None


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


def _efficiency(request: DeviceRequest, wanted: InterfaceRequest, findings: list[Finding]) -> Efficiency:
    bundle = wanted.framing is Framing.MLPPP
    asked = wanted.efficiency
    if asked is None:
        return Efficiency(multilink=bundle)
    if asked.fragment_bytes is not None and not bundle:
        findings.append(
            Finding(
                code="fragmentation-needs-multilink",
                severity=Severity.WARNING if asked.prefer else Severity.ERROR,
                message=f"{wanted.framing.value} framing allows no fragments of {asked.fragment_bytes} bytes",
                device=request.device,
                interface=wanted.name,
                direction="output",
                asked=f"{asked.fragment_bytes} bytes",
                will_be="no fragmentation",
                mend="put the line into a Multilink bundle",
            )
        )
        return Efficiency(header_compression=asked.header_compression)
    if asked.fragment_bytes is None or asked.blocking_delay is None:
        return Efficiency(header_compression=asked.header_compression, multilink=bundle)
    # The box takes whole milliseconds and computes the size itself: bandwidth × delay / 8.
    delay = int(round(asked.blocking_delay * 1000, 6))
    limits = capabilities()["fragment_delay_ms"]
    size = wanted.usable // 1000 * min(delay, limits["maximum"]) // 8
    if delay < limits["minimum"] or size < capabilities()["fragment_bytes_minimum"]["value"]:
        # The next larger fragment would block for longer than asked.
        findings.append(_fragment_finding(request, wanted, asked, "no fragmentation"))
        return Efficiency(header_compression=asked.header_compression, multilink=True)
    delay = min(delay, limits["maximum"])
    if size != asked.fragment_bytes:
        findings.append(_fragment_finding(request, wanted, asked, f"{size} bytes"))
    findings.append(
        Finding(
            code="fragment-size",
            severity=Severity.INFO,
            message=f"{format_rate(wanted.usable)} × {delay} ms = {size} bytes a fragment",
            device=request.device,
            interface=wanted.name,
            direction="output",
        )
    )
    return Efficiency(
        header_compression=asked.header_compression,
        multilink=True,
        interleave=True,
        fragment_delay_ms=delay,
        fragment_bytes=size,
    )


def _fragment_finding(
    request: DeviceRequest, wanted: InterfaceRequest, asked: EfficiencyRequest, will_be: str
) -> Finding:
    limits = capabilities()["fragment_delay_ms"]
    return Finding(
        code="fragment-size-approximate",
        severity=Severity.WARNING if asked.prefer else Severity.ERROR,
        message="the box sizes fragments by whole milliseconds",
        device=request.device,
        interface=wanted.name,
        direction="output",
        asked=f"{asked.fragment_bytes} bytes",
        will_be=will_be,
        mend=f"ask for a blocking delay of {limits['minimum']} to {limits['maximum']} whole milliseconds",
    )


def _fidelity(request: DeviceRequest, wanted: InterfaceRequest, plan: InterfacePlan) -> list[ClassFidelity]:
    scheduler = plan.egress.scheduler
    assert scheduler is not None
    shares = expected_shares(scheduler, wanted.usable)
    return [
        ClassFidelity(c.name, wanted.name, Fidelity.EXACT, shares[number] * 100, shares[number] * 100)
        for number, c in enumerate(request.classes)
    ]


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
