"""Lower a device request onto a Linux router: classes told by nft, queues in trees of HTB."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from napalm_linux_tc.schedulers import SCHEDULERS

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import DROP, Egress, Ingress, InterfacePlan, Plan, Policer, Rule, Scheduler, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import requested_shares
from qosforge.plan.shares import expected_shares
from qosforge.platforms.base import ClassFidelity, Direction, LoweredDevice
from qosforge.platforms.linux_tc.bands import ETS, HTB, TBF, has_bands, is_strict
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES
from qosforge.platforms.linux_tc.early_drops import GRED, RED
from qosforge.platforms.linux_tc.fair import FAIR
from qosforge.platforms.linux_tc.kinds import is_uncapped
from qosforge.platforms.linux_tc.matching import check_match, class_terms, terms_at_output
from qosforge.platforms.linux_tc.sharing import HFSC, greatest_part
from qosforge.platforms.linux_tc.trees import Tree, lower_tree
from qosforge.platforms.recognition import dscp_of, ports_only
from qosforge.platforms.share_fidelity import EXACT, ClassShare, fidelity, share_findings
from qosforge.units import format_rate


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of a Linux router for a request."""
    told = running.schedulers if running else ()
    # What the device tells goes before what the inventory says of it; what it has in use it has.
    had = frozenset(told) or request.features | {HTB} | (_in_use(running) if running else frozenset())
    request = request.model_copy(update={"features": had})
    findings: list[Finding] = []
    if running is not None and not told and any(each.schedule for each in request.interfaces):
        findings.append(note("schedulers-untold", Place(device=request.device), applied=_words(had)))
    for c in request.classes:
        findings.extend(check_match(request, c))
        findings.extend(ports_only(request, c))
        findings.extend(_check_mark(request, c))
        findings.extend(_check_policer(request, c))
    nearness: list[ClassFidelity] = []
    interfaces = [_interface(request, each, running, findings, nearness) for each in request.interfaces]
    return LoweredDevice(
        plan=Plan(
            device=request.device,
            platform=request.platform,
            interfaces=tuple(interfaces),
            foreign_lists=running.foreign_lists if running else (),
            schedulers=told,
        ),
        findings=tuple(dict.fromkeys(findings)),
        fidelity=tuple(nearness),
        classes={c.name: c.name for c in request.classes},
        held=running,
    )


def _in_use(running: Plan) -> frozenset[str]:
    """The schedulers of the queues that a router has, those beside HTB and FIFOs.

    Where one class takes what priority leaves its bands may be those of ``ets`` or of ``prio``: then none is known.
    """
    scheduled = [each.egress.scheduler for each in running.interfaces if each.egress.scheduler is not None]
    queues = [queue for each in scheduled for queue in each.queues]
    used = {
        RED: any(queue.red is not None and not queue.red.by_dscp for queue in queues),
        GRED: any(queue.red is not None and queue.red.by_dscp for queue in queues),
        FAIR: any(queue.fair for queue in queues),
        HFSC: any(each.decoupled for each in scheduled),
        ETS: any(has_bands(each) and sum(not q.priority for q in each.queues) > 1 for each in scheduled),
    }
    return frozenset(name for name, there in used.items() if there)


def _words(schedulers: Collection[str]) -> str:
    return ", ".join(sorted({*SCHEDULERS} & {*schedulers}))


def _interface(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    running: Plan | None,
    findings: list[Finding],
    nearness: list[ClassFidelity],
) -> InterfacePlan:
    egress, tree = Egress(), None
    if interface_request.schedule:
        tree = lower_tree(request, interface_request, findings)
    if tree is not None:
        egress = _egress(request, interface_request, tree.scheduler, tree.rate)
        shares = _shares(request, interface_request, tree)
        nearness.extend(fidelity(shares))
        findings.extend(share_findings(request, shares))
        findings.extend(_excess_findings(request, shares, tree))
        if tree.rate != interface_request.rate:
            place = Place(device=request.device, interface=interface_request.name, direction="output")
            findings.append(
                note(
                    "port-shaped",
                    place,
                    requested=format_rate(interface_request.usable),
                    applied=f"{HTB if HTB in request.features else TBF} rate {format_rate(tree.rate)}",
                )
            )
    elif not interface_request.schedule:
        there = running.interface(interface_request.name) if running else None
        if there is not None and there.egress.scheduler is not None and not there.egress.rules:
            # The rules of our table choose the queues of our trees: this one is somebody else's.
            egress = there.egress
            place = Place(device=request.device, interface=interface_request.name, direction="output")
            findings.append(note("policy-left", place, variant="lines", lines="queues"))
    ingress = Ingress(rules=_marking(request)) if interface_request.recognise else Ingress()
    return InterfacePlan(name=interface_request.name, ingress=ingress, egress=egress)


def _shares(request: DeviceRequest, interface_request: InterfaceRequest, tree: Tree) -> tuple[ClassShare, ...]:
    """What classes ask for and what they get when all have traffic, a priority class at most.

    Priority that nothing caps is taken to send what the intent caps it to, and nothing where it does not.
    """
    requested, scheduler = requested_shares(request.classes, tree.rate), tree.scheduler
    uncapped = [queue.name for queue in scheduler.queues if is_strict(queue)]
    load = sum(requested[name or ""] for name in uncapped) / max(len(uncapped), 1)
    applied = expected_shares(scheduler, tree.rate, priority_load=load)
    parts = {queue.name: part for queue, part in zip(scheduler.queues, applied, strict=True)}
    return tuple(
        ClassShare(
            c,
            interface_request.name,
            1.0 if is_uncapped(c) else requested[c.name],
            _greatest(c, tree) or parts[c.name],
        )
        for c in request.classes
    )


def _greatest(class_request: ClassRequest, tree: Tree) -> float | None:
    """The part of the link that a priority class gets at most while others wait; None where its rate bounds it.

    A policer of the output bounds it here. Those of inputs do not: packets may come in where there is none.
    """
    queues = tree.scheduler.queues
    queue = next(each for each in queues if each.name == class_request.name)
    if is_uncapped(class_request):
        return 1.0
    if not queue.priority or not (tree.scheduler.decoupled or is_strict(queue)):
        return None
    others = [each for each in queues if each is not queue]
    most = greatest_part(queue, others, tree.rate) if tree.scheduler.decoupled else 1.0
    police = policer(class_request, "output")
    return most if police is None else min(most, police.rate / tree.rate)


def _excess_findings(request: DeviceRequest, shares: Iterable[ClassShare], tree: Tree) -> Iterator[Finding]:
    """``priority-cap-not-enforced``: priority that takes its share of what others leave, or all that there is."""
    for share in shares:
        if share.traffic_class.treatment.priority is None or share.applied - share.requested < EXACT:
            continue
        most = format_rate(round(share.applied * tree.rate))
        yield note(
            "priority-cap-not-enforced",
            class_place(request, share.traffic_class, interface=share.interface, direction="output"),
            variant="borrows" if tree.scheduler.decoupled else "band",
            requested=f"at most {format_rate(round(share.requested * tree.rate))} while others wait",
            applied=f"up to {most} while one of them waits" if tree.scheduler.decoupled else f"up to {most}",
        )


def _egress(request: DeviceRequest, interface_request: InterfaceRequest, scheduler: Scheduler, rate: int) -> Egress:
    numbers, rules = {queue.name: queue.number for queue in scheduler.queues}, []
    for c in request.classes:
        police = policer(c, "output")
        if c.is_default:
            terms: tuple[Term, ...] = (Term(),) if police else ()
        else:
            terms = terms_at_output(request, c, by_mark=interface_request.by_mark)
        if terms:
            rules.append(Rule(name=c.name, any_of=terms, police=police, queue=numbers[c.name]))
    return Egress(
        rules=tuple(rules),
        default_queue=numbers[request.classes[-1].name],
        scheduler=scheduler,
        shape_rate=rate,
    )


def _marking(request: DeviceRequest) -> tuple[Rule, ...]:
    """What an input does with the classes: those to which nothing is done still take their packets from others."""
    rules = [
        Rule(
            name=c.name,
            any_of=(Term(),) if c.is_default else class_terms(request, c),
            set_dscp=dscp_of(c),
            police=policer(c, "input"),
        )
        for c in request.classes
    ]
    rules = [rule for rule in rules if rule.any_of]
    while rules and not (rules[-1].writes or rules[-1].police):
        rules.pop()
    return tuple(rules)


def policer(class_request: ClassRequest, side: Direction) -> Policer | None:
    """The policer of a class on one side; None where none is asked for, or none that nft has."""
    requested = class_request.treatment.police
    if requested is None or requested.direction != side or requested.exceed != "drop":
        return None
    rates, bursts = CAPABILITIES.police_rate, CAPABILITIES.police_burst
    return Policer(
        rate=max(requested.committed_rate // rates.step * rates.step, rates.minimum),
        burst=min(max(requested.burst_bytes, bursts.minimum), bursts.maximum),
        exceed=DROP,
    )


def _check_policer(request: DeviceRequest, class_request: ClassRequest) -> Iterator[Finding]:
    requested = class_request.treatment.police
    if requested is not None and requested.exceed == "transmit":
        yield note(
            "police-unsupported",
            class_place(request, class_request, direction=requested.direction),
            variant="exceed-sent",
            preferred=requested.prefer,
        )


def _check_mark(request: DeviceRequest, class_request: ClassRequest) -> Iterator[Finding]:
    """``cos-not-written``: a mark in the tag of a frame, which a router takes off."""
    mark = class_request.mark
    if mark is not None and mark.cos is not None and any(i.recognise for i in request.interfaces):
        place = class_place(request, class_request, direction="output")
        yield note("cos-not-written", place, variant="routed", classes=class_request.name)
