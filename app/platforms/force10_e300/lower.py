"""Lower a device request onto FTOS: class maps on host ports, fixed trust on trunks, one strict queue."""

from __future__ import annotations

from collections.abc import Iterator

from app.findings import Finding
from app.plan.asked import asked_shares
from app.plan.model import (
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
    Trust,
)
from app.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from app.platforms.base import Lowered
from app.platforms.force10_e300.capabilities import (
    capabilities,
    default_scheduler,
    default_wred,
    dot1p_to_queue,
    dscp_to_queue,
    family,
    name_limit,
    predefined_wred,
    queue_limit,
    red,
)
from app.platforms.force10_e300.limits import (
    box_findings,
    expressible,
    mark_findings,
    match_findings,
    wred_findings,
)
from app.platforms.force10_e300.queues import Assignment, assign, marks, percentages, queue_findings
from app.platforms.names import short_names, shorten
from app.platforms.recognition import ports_only
from app.platforms.service import (
    fidelity,
    priority_findings,
    queue_names,
    rate_findings,
    served,
    share_findings,
)

INPUT_POLICY = "QOSFORGE-IN"
TRUST_POLICY = "QOSFORGE-TRUST"
OUTPUT_POLICY = "QOSFORGE-OUT"
CONTROL = "QOSFORGE-CTRL"
CONTROL_2 = "QOSFORGE-CTR2"
IDLE = "QOSFORGE-IDLE"
_TEN = "-te"


def lower(request: DeviceRequest, running: Plan | None) -> Lowered:
    """The plan of an E300 for a request."""
    lowering = _Lowering(request, running)
    interfaces = tuple(lowering.interface(wanted) for wanted in request.interfaces)
    scheduled = any(wanted.schedule for wanted in request.interfaces)
    system = System(
        cos_to_queue=dot1p_to_queue(),
        dscp_to_queue=dscp_to_queue(),
        queue_on_input=True,
        scheduler=default_scheduler(lowering.chosen.strict) if scheduled else None,
    )
    shares = (
        served(request, lowering.scheduler("", red_wanted=False), lowering.chosen.queue_of) if scheduled else ()
    )
    return Lowered(
        plan=Plan(device=request.device, platform=request.platform, system=system, interfaces=interfaces),
        findings=(*lowering.findings(), *share_findings(request, shares)),
        fidelity=fidelity(shares),
        classes=lowering.provenance(),
    )


class _Lowering:
    """One lowering: the queues and names chosen for a request."""

    def __init__(self, request: DeviceRequest, running: Plan | None) -> None:
        self.request = request
        self.running = running
        self.chosen: Assignment = assign(request)
        self.limit = name_limit(request.image)
        limit = self.limit - len(_TEN)
        reserved = (CONTROL, CONTROL_2, IDLE)
        self.names = short_names((c.name for c in request.classes), limit, reserved)
        self.mark_names = short_names(
            (f"{c.name}-mark" for c in request.classes), limit, {*reserved, *self.names.values()}
        )
        rate = min(wanted.usable for wanted in request.interfaces)
        self.shares = percentages(request.classes, asked_shares(request.classes, rate), self.chosen)

    def findings(self) -> Iterator[Finding]:
        """Everything but the shares, device-wide and once each."""
        request = self.request
        if any(wanted.schedule for wanted in request.interfaces):
            yield from rate_findings(request)
            yield from priority_findings(request)
            yield from queue_findings(request, self.chosen)
            yield from wred_findings(request)
            yield from box_findings(request, self.chosen.strict, self.running)
        if any(wanted.recognise for wanted in request.interfaces):
            for c in request.classes:
                if (note := ports_only(request, c)) is not None:
                    yield note
            yield from match_findings(request, self.chosen.queue_of)
        yield from mark_findings(request)

    def provenance(self) -> dict[str, str]:
        """What the box calls a class to the class's name."""
        called = {self.names[c.name]: c.name for c in self.request.classes}
        called |= {self.names[c.name] + _TEN: c.name for c in self.request.classes}
        called |= queue_names(self.chosen.queue_of)
        return called | {self.mark_names[f"{c.name}-mark"]: c.name for c in self.request.classes}

    def interface(self, wanted: InterfaceRequest) -> InterfacePlan:
        """The plan of one port."""
        port_family = family(wanted.name, self.request.device)
        held = self.running.interface(wanted.name) if self.running else None
        ingress = held.ingress if held else Ingress()
        egress = held.egress if held else Egress(default_queue=0)
        if wanted.recognise:
            policy = shorten(wanted.input_policy or INPUT_POLICY, self.limit)
            ingress = Ingress(policy=policy, rules=tuple(self._edge_rules()))
        elif wanted.trust and self.chosen.by_map:
            ingress = Ingress(policy=shorten(wanted.input_policy or TRUST_POLICY, self.limit), trust=Trust.DSCP)
        elif wanted.trust:
            policy = shorten(wanted.input_policy or TRUST_POLICY, self.limit)
            ingress = Ingress(policy=policy, rules=tuple(self._mark_rules()))
        if wanted.schedule:
            suffix = _TEN if port_family.startswith("Ten") else ""
            policy = shorten(wanted.output_policy or OUTPUT_POLICY, self.limit - len(_TEN)) + suffix
            egress = Egress(policy=policy, default_queue=0, scheduler=self.scheduler(port_family))
        return InterfacePlan(name=wanted.name, ingress=ingress, egress=egress)

    def _in_box_order(self) -> list[ClassRequest]:
        """The box looks at the class of the highest queue first."""
        return sorted(self.request.classes, key=lambda c: -self.chosen.queue_of[c.name])

    def _edge_rules(self) -> Iterator[Rule]:
        for c in self._in_box_order():
            mark = c.mark.dscp if c.mark else None
            queue = self.chosen.queue_of[c.name]
            if c.is_default:
                # An explicit last rule: an unknown host's own mark must not pass for one of ours.
                yield Rule(name=self.names[c.name], any_of=(Term(),), set_dscp=mark or 0, queue=queue)
            elif terms := expressible(self.request, c):
                yield Rule(name=self.names[c.name], any_of=terms, set_dscp=mark, queue=queue)

    def _mark_rules(self) -> Iterator[Rule]:
        control = tuple(capabilities()["control_dscps"]["value"])
        for queue in self.chosen.control:
            yield Rule(name=CONTROL, any_of=(Term(dscp=control),), queue=queue)
        for c in self._in_box_order():
            carried = marks(c)
            marked = c.mark is not None and c.mark.dscp is not None
            terms = (Term(dscp=carried),) if marked else expressible(self.request, c)
            if terms and not c.is_default:
                name = self.mark_names[f"{c.name}-mark"]
                yield Rule(name=name, any_of=terms, queue=self.chosen.queue_of[c.name])

    def scheduler(self, port_family: str, *, red_wanted: bool = True) -> Scheduler:
        """The eight queues of a port of this family."""
        owner: dict[int, str] = {}
        for name, queue in self.chosen.queue_of.items():
            owner.setdefault(queue, name)
        treatment = {c.name: c.treatment for c in self.request.classes}
        suffix = _TEN if port_family.startswith("Ten") else ""
        queues = []
        for number, value in enumerate(self.shares):
            class_name = owner.get(number)
            wred = red_wanted and class_name is not None and treatment[class_name].wred is not None
            queues.append(
                Queue(
                    number=number,
                    name=self._policy_name(number, class_name) + suffix,
                    priority=number == self.chosen.strict,
                    share=Share(unit=ShareUnit.PERCENT, value=value),
                    limit_packets=queue_limit(),
                    red=red({k: predefined_wred()[v] for k, v in default_wred(port_family).items()})
                    if wred
                    else None,
                )
            )
        return Scheduler(discipline=Discipline.WFQ, queues=tuple(queues))

    def _policy_name(self, number: int, owner: str | None) -> str:
        if owner is not None:
            return self.names[owner]
        if number not in self.chosen.control:
            return IDLE
        # The two control queues may hold different percentages, and a policy holds one.
        return CONTROL if number == self.chosen.control[0] else CONTROL_2
