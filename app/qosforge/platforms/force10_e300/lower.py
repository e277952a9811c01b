"""Lower a device request onto FTOS: class maps on host ports, fixed trust on trunks, one strict queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.models import RESERVED_CLASS
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.core import core
from qosforge.plan.model import (
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
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import requested_shares
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.force10_e300.capabilities import (
    CAPABILITIES,
    default_scheduler,
    default_thresholds,
    dscp_to_queue,
    family,
    has_layer2,
    name_limit,
    red,
)
from qosforge.platforms.force10_e300.class_marks import priorities, trusted_marks, trusted_priorities
from qosforge.platforms.force10_e300.limits import device_findings, mark_findings, match_findings, trust_findings
from qosforge.platforms.force10_e300.mark_queues import written_mark
from qosforge.platforms.force10_e300.matching import expressible, in_box_order, layer2, pieces, sorted_lines
from qosforge.platforms.force10_e300.naming import COS, MARK, Names
from qosforge.platforms.force10_e300.policing import policer, shape_rate
from qosforge.platforms.force10_e300.policing import rate_findings as class_rate_findings
from qosforge.platforms.force10_e300.queues import QueueChoice, assign, percentages, queue_findings
from qosforge.platforms.force10_e300.wred import own_profiles, wred_findings
from qosforge.platforms.names import CONTROL_QUEUES, IDLE_QUEUES, shorten
from qosforge.platforms.recognition import default_marked_down, dscp_of, ipv4_only, ports_only
from qosforge.platforms.share_fidelity import (
    class_shares,
    fidelity,
    priority_findings,
    queue_names,
    rate_findings,
    share_findings,
)

INPUT_POLICY = "QOSFORGE-IN"
TRUST_POLICY = "QOSFORGE-TRUST"
TRUST_POLICY_L2 = "QOSFORGE-TRU-L2"
OUTPUT_POLICY = "QOSFORGE-OUT"
COS_POLICY = "QOSFORGE-COS"
CLEAR_POLICY = "QOSFORGE-NONE"
CLEAR = "QOSFORGE-ALL"
CONTROL_COS = "QOSFORGE-CCOS"
CONTROL, CONTROL_2 = CONTROL_QUEUES
IDLE, IDLE_2 = IDLE_QUEUES
_TEN = "-te"
_L2 = "-L2"


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of an E300 for a request."""
    lowering = _lowering(core(request))
    coloured = lowering.trusts or _trusts_elsewhere(request, running)
    interfaces = tuple(
        _interface(lowering, request, interface_request, running, coloured=coloured)
        for interface_request in request.interfaces
    )
    scheduled = any(interface_request.schedule for interface_request in request.interfaces)
    system = System(
        cos_to_queue=CAPABILITIES.dot1p_to_queue.value,
        dscp_to_queue=dscp_to_queue(),
        queue_on_input=True,
        scheduler=default_scheduler(lowering.chosen.strict) if scheduled else None,
    )
    families = tuple(sorted({family(i.name, request.device) for i in request.interfaces if i.schedule}))
    table = lowering.scheduler("GigabitEthernet", coloured)
    shares = class_shares(request, table, lowering.chosen.queue_of) if scheduled else ()
    return LoweredDevice(
        plan=Plan(device=request.device, platform=request.platform, system=system, interfaces=interfaces),
        findings=(
            *lowering.queueing_findings,
            *(lowering.wred_findings(families, coloured) if scheduled else ()),
            *(device_findings(request, lowering.chosen.strict, running) if scheduled else ()),
            *lowering.matching_findings,
            *mark_findings(request, lowering.chosen.queue_of),
            *trust_findings(request, running, by_map=lowering.chosen.by_map),
            *lowering.rate_findings,
            *share_findings(request, shares),
        ),
        fidelity=fidelity(shares),
        classes=lowering.provenance,
    )


def _interface(
    lowering: _Lowering,
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    running: Plan | None,
    *,
    coloured: bool,
) -> InterfacePlan:
    """The plan of one port; ``coloured`` says that some packets have a colour."""
    port_family = family(interface_request.name, request.device)
    current = running.interface(interface_request.name) if running else None
    ingress = current.ingress if current else Ingress()
    egress = current.egress if current else Egress(default_queue=0)
    if interface_request.recognise:
        ingress = lowering.recognising(interface_request.input_policy)
    elif interface_request.trust:
        ingress = lowering.trusting_ingress(_trust_policy(request, interface_request), interface_request.trust_in)
    if interface_request.schedule:
        egress = lowering.egress(interface_request.output_policy, port_family, coloured)
    return InterfacePlan(name=interface_request.name, ingress=ingress, egress=egress)


def _trusts_dscps(request: DeviceRequest, interface_request: InterfaceRequest) -> bool:
    trusts = interface_request.trust and not interface_request.recognise
    others = ("none", "cos") if has_layer2(request.image) else ("none",)
    return trusts and interface_request.trust_in not in others


def _trusts_elsewhere(request: DeviceRequest, running: Plan | None) -> bool:
    """Whether a port whose input the intent leaves alone trusts DSCPs."""
    changed = {i.name for i in request.interfaces if i.recognise or i.trust}
    ports = running.interfaces if running else ()
    return any(port.ingress.trust is Trust.DSCP for port in ports if port.name not in changed)


def _trust_policy(request: DeviceRequest, interface_request: InterfaceRequest) -> str | None:
    """The name that the intent gives to the policy of an input that trusts marks.

    Inputs that recognise classes, or trust other marks, may have been given the same name: it has an ending then.
    """
    own = interface_request.input_policy
    named = [i for i in request.interfaces if i.input_policy == own and (i.recognise or i.trust)]
    if own is None or len({(i.recognise, i.trust_in) for i in named}) == 1:
        return own
    return f"{own}-{interface_request.trust_in or 'trust'}"


@memoise
def _lowering(request: DeviceRequest) -> _Lowering:
    return _Lowering(request)


class _Lowering:
    """The queues, names and rules chosen for what devices have in common (see `qosforge.plan.core`)."""

    def __init__(self, request: DeviceRequest) -> None:
        self.request = request
        self.limit = name_limit(request.image)
        limit = self.limit - len(_TEN)
        reserved = (CONTROL, CONTROL_2, IDLE, IDLE_2, CLEAR, CONTROL_COS)
        self.names = Names(tuple(c.name for c in request.classes), limit, reserved)
        self.layer2 = layer2(request)
        rate = min(interface_request.usable for interface_request in request.interfaces)
        requested = requested_shares(request.classes, rate)
        self.chosen: QueueChoice = assign(request, requested)
        self.trusts = self.chosen.by_map and any(_trusts_dscps(request, i) for i in request.interfaces)
        """Whether a port trusts DSCPs by the device's fixed map, which gives packets a colour."""
        self.shares = percentages(request.classes, requested, self.chosen)
        self.groups: dict[int, list[ClassRequest]] = {}
        """Classes by queue in the intent's order: a class map has a queue of its own."""
        for c in request.classes:
            self.groups.setdefault(self.chosen.queue_of[c.name], []).append(c)
        self.host_rules = in_box_order(tuple(self._edge_rules()))
        self.provenance = self._provenance()
        self.queueing_findings = tuple(self._queueing_findings())
        self.matching_findings = tuple(self._matching_findings())
        self.rate_findings = (*class_rate_findings(request), *self._shared_policers())

    def _queueing_findings(self) -> Iterator[Finding]:
        request = self.request
        if any(interface_request.schedule for interface_request in request.interfaces):
            yield from rate_findings(request)
            yield from priority_findings(request)
            yield from queue_findings(request, self.chosen)

    @memoise
    def wred_findings(self, families: tuple[str, ...], coloured: bool) -> tuple[Finding, ...]:
        """What early detection is on ports of these families."""
        return (*wred_findings(self.request, families, coloured=coloured), *self._profile_findings())

    def _matching_findings(self) -> Iterator[Finding]:
        request = self.request
        if any(interface_request.recognise for interface_request in request.interfaces):
            for c in request.classes:
                yield from ports_only(request, c)
                if not self.layer2:
                    yield from ipv4_only(request, c)
            if not self.layer2:
                yield from default_marked_down(request)
            yield from match_findings(request, self.chosen.queue_of, self.host_rules, self.provenance)

    def _profile_findings(self) -> Iterator[Finding]:
        requested = sum(len(own_profiles(c)) for c in self.request.classes)
        room = CAPABILITIES.user_wred_profiles.value
        if requested > room:
            yield note(
                "too-many-wred-profiles",
                Place(device=self.request.device, direction="output"),
                requested=f"{requested} profiles",
                applied=f"{room} profiles",
                room=room,
            )

    def _shared_policers(self) -> Iterator[Finding]:
        """Classes of one queue: a queue's policy polices them together."""
        for c in self.request.classes:
            merged = any(c.name in group for group in self.chosen.merged)
            if c.treatment.police is not None and merged:
                yield note(
                    "police-unsupported",
                    class_place(self.request, c, direction=c.treatment.police.direction),
                    applied="not policed",
                    variant="shared-queue",
                    preferred=c.treatment.police.prefer,
                )

    def _provenance(self) -> Mapping[str, str]:
        """What the device calls a class to the class's name."""
        called = self.names.classes()
        called |= {self.names.policy(c.name) + _TEN: c.name for c in self.request.classes}
        return called | queue_names(self.chosen.queue_of)

    @memoise
    def recognising(self, own: str | None) -> Ingress:
        """A port that recognises classes; ``own`` is the policy's name where the intent gives one."""
        policy = shorten((own or INPUT_POLICY) + _L2 * self.layer2, self.limit)
        return Ingress(policy=policy, rules=self.host_rules)

    @memoise
    def egress(self, own: str | None, port_family: str, coloured: bool) -> Egress:
        """The output of a port of this family; ``own`` is the policy's name where the intent gives one."""
        suffix = _TEN if port_family.startswith("Ten") else ""
        policy = shorten(own or OUTPUT_POLICY, self.limit - len(_TEN)) + suffix
        return Egress(policy=policy, default_queue=0, scheduler=self.scheduler(port_family, coloured))

    @memoise
    def trusting_ingress(self, own: str | None, trust_in: str | None) -> Ingress:
        """A port that trusts marks, by a fixed map of the device where that agrees with the queues."""
        if trust_in == "none":
            clear = Rule(name=CLEAR, any_of=(Term(),), set_dscp=0, queue=self.chosen.queue_of[RESERVED_CLASS])
            return Ingress(policy=shorten(own or CLEAR_POLICY, self.limit), rules=(clear,))
        if trust_in == "cos" and has_layer2(self.request.image):
            policy = shorten(own + _L2 if own else COS_POLICY, self.limit)
            return Ingress(policy=policy, rules=in_box_order(self._cos_rules()))
        own = own + _L2 * self.layer2 if own else None
        policy = shorten(own or (TRUST_POLICY_L2 if self.layer2 else TRUST_POLICY), self.limit)
        if self.chosen.by_map:
            return Ingress(policy=policy, trust=Trust.DSCP)
        return Ingress(policy=policy, rules=in_box_order(tuple(self._mark_rules())))

    def _edge_rules(self) -> Iterator[Rule]:
        for queue, group in self.groups.items():
            first = group[0]
            if first.is_default:
                # An explicit last rule: an unknown host's own mark must not pass for one of ours.
                terms: tuple[Term, ...] = (Term(),)
                cos: int | None = (first.mark.cos if first.mark else None) or 0
            else:
                terms = tuple(dict.fromkeys(t for c in group for t in expressible(self.request, c)))
                costs = {c.mark.cos if c.mark else None for c in group}
                cos = costs.pop() if len(costs) == 1 else None
            if terms:
                rule = Rule(
                    name=first.name,
                    any_of=sorted_lines(terms),
                    set_dscp=None if self.layer2 else written_mark(group, queue),
                    set_cos=cos if self.layer2 else None,
                    police=policer(first, "input", self.request.image) if len(group) == 1 else None,
                    queue=queue,
                )
                yield self.names.named(rule, layer2=self.layer2)

    def _mark_rules(self) -> Iterator[Rule]:
        control = tuple(CAPABILITIES.control_dscps.value)
        claimed = {d for dscps in trusted_marks(self.request.classes).values() for d in dscps}
        left = tuple(d for d in control if d not in claimed)
        if left and not self.layer2:
            for queue in self.chosen.control:
                yield Rule(name=CONTROL, any_of=(Term(dscp=left),), queue=queue)
        for queue, group in self.groups.items():
            found = [t for c in group if not c.is_default for t in self._carried(c)]
            if left and not self.layer2 and self.chosen.with_control in {c.name for c in group}:
                found.append(Term(dscp=left))
            if found:
                terms = sorted_lines(tuple(dict.fromkeys(found)))
                rule = Rule(name=group[0].name, any_of=terms, queue=queue)
                yield self.names.named(rule, MARK, layer2=self.layer2)

    def _carried(self, c: ClassRequest) -> tuple[Term, ...]:
        """By what a port that trusts marks tells a class."""
        if self.layer2:
            found = trusted_priorities(self.request.classes)[c.name]
            return (Term(cos=tuple(sorted(found))),) if priorities(c) else expressible(self.request, c)
        if dscp_of(c) is None:
            return expressible(self.request, c)
        return tuple(pieces(Term(dscp=tuple(sorted(trusted_marks(self.request.classes)[c.name])))))

    def _cos_rules(self) -> tuple[Rule, ...]:
        """Rules by 802.1p priority; what none matches goes to queue 0, as everything that is not matched."""
        told = trusted_priorities(self.request.classes)
        claimed = {cos for values in told.values() for cos in values}
        left = tuple(cos for cos in CAPABILITIES.control_cos.value if cos not in claimed)
        control = self.chosen.control[:1] if left else ()
        found = [Rule(name=CONTROL_COS, any_of=(Term(cos=left),), queue=queue) for queue in control]
        for queue, group in self.groups.items():
            values = tuple(sorted({cos for c in group if not c.is_default for cos in told[c.name]}))
            if values:
                rule = Rule(name=group[0].name, any_of=(Term(cos=values),), queue=queue)
                found.append(self.names.named(rule, COS, layer2=True))
        return tuple(found)

    @memoise
    def scheduler(self, port_family: str, coloured: bool) -> Scheduler:
        """The eight queues of a port of this family; ``coloured`` says that some packets have a colour."""
        suffix = _TEN if port_family.startswith("Ten") else ""
        queues = []
        for number, value in enumerate(self.shares):
            mine = self.groups.get(number, [])
            detected = next((c for c in mine if c.treatment.wred is not None), None)
            thresholds = default_thresholds(port_family) | own_profiles(detected) if detected else None
            alone = mine[0] if len(mine) == 1 else None
            queues.append(
                Queue(
                    number=number,
                    name=self._policy_name(number, mine[0].name if mine else None) + suffix,
                    priority=number == self.chosen.strict,
                    share=Share(unit=ShareUnit.PERCENT, value=value),
                    limit_packets=CAPABILITIES.queue_limit.value,
                    red=red(thresholds, coloured=coloured) if thresholds else None,
                    shape_rate=shape_rate(alone) if alone else None,
                    police=policer(alone, "output", self.request.image) if alone else None,
                )
            )
        return Scheduler(discipline=Discipline.WFQ, queues=tuple(queues))

    def _policy_name(self, number: int, owner: str | None) -> str:
        if owner is not None:
            return self.names.policy(owner)
        if number not in self.chosen.control:
            return IDLE if self.shares[number] == CAPABILITIES.idle_percent.value else IDLE_2
        # The two control queues may hold different percentages, and a policy holds one.
        return CONTROL if number == self.chosen.control[0] else CONTROL_2
