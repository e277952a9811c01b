"""Lower a device request onto a Linux router: classes told by nft, queues in trees of HTB."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from napalm_linux_tc.schedulers import SCHEDULERS

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import Reason, note
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.base import ClassFidelity, LoweredDevice
from qosforge.platforms.class_trees import every_class, inside_parents, on_input
from qosforge.platforms.linux_tc.available import available_schedulers
from qosforge.platforms.linux_tc.bands import HTB, TBF
from qosforge.platforms.linux_tc.fidelity import tree_fidelity
from qosforge.platforms.linux_tc.matching import check_match, class_terms, terms_at_output
from qosforge.platforms.linux_tc.policing import policer
from qosforge.platforms.linux_tc.trees import Tree, bucket, lower_tree
from qosforge.platforms.recognition import dscp_of, ports_only
from qosforge.units import format_rate


def lower(request: DeviceRequest, running: Plan | None) -> LoweredDevice:
    """The plan of a Linux router for a request."""
    told = running.schedulers if running else ()
    had = available_schedulers(request.features, running)
    request = request.model_copy(update={"features": had})
    findings: list[Finding] = []
    if running is not None and not told and any(each.schedule for each in request.interfaces):
        findings.append(note("schedulers-untold", Place(device=request.device), applied=_words(had)))
    for c in every_class(request.classes):
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
            mtus=running.mtus if running else (),
        ),
        findings=tuple(dict.fromkeys(findings)),
        fidelity=tuple(nearness),
        classes={c.name: c.name for c in every_class(request.classes)},
        held=running,
    )


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
        taken = running is not None and interface_request.name in running.filtered_inputs
        tree = lower_tree(request, interface_request, findings, filters=not taken)
    if tree is not None:
        mtus = dict(running.mtus) if running else {}
        egress = _egress(request, interface_request, tree, mtus.get(interface_request.name))
        nearer, told = tree_fidelity(request, interface_request, tree)
        nearness.extend(nearer)
        findings.extend(told)
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
    ingress = Ingress(rules=_marking(request, findings)) if interface_request.recognise else Ingress()
    return InterfacePlan(name=interface_request.name, ingress=ingress, egress=egress)


def _egress(request: DeviceRequest, interface_request: InterfaceRequest, tree: Tree, mtu: int | None) -> Egress:
    # HTB sends a packet that is longer than its bucket and waits the longer after it: its bucket is not looked at.
    held = None if HTB in request.features else bucket(tree.rate, mtu)
    whole = Egress(scheduler=tree.scheduler, shape_rate=tree.rate, shape_burst=held)
    return _told_apart(request, interface_request, request.classes, whole)


def _told_apart(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    classes: Sequence[ClassRequest],
    egress: Egress,
    *,
    reached: bool = True,
) -> Egress:
    """An output, or what divides a class, with the rules that choose its queues, and those inside the queues.

    What a class has below it is told apart by rules inside its own: where it has none they are not ``reached``.
    """
    scheduler = egress.scheduler
    assert scheduler is not None
    rules, queues = [], {queue.name: queue for queue in scheduler.queues}
    for c in classes:
        queue, police = queues[c.name], policer(c, "output")
        terms: tuple[Term, ...] = (Term(),) if police or queue.child else ()
        if not c.is_default:
            terms = terms_at_output(request, c, by_mark=interface_request.by_mark)
        if terms and reached:
            rules.append(Rule(name=c.name, any_of=terms, police=police, queue=queue.number))
        if queue.child is not None:
            inside = reached and bool(terms)
            child = _told_apart(request, interface_request, c.children, queue.child, reached=inside)
            queues[c.name] = queue.model_copy(update={"child": child})
    return egress.model_copy(
        update={
            "rules": tuple(rules),
            "default_queue": queues[classes[-1].name].number,
            "scheduler": scheduler.model_copy(update={"queues": tuple(queues.values())}),
        }
    )


def _marking(request: DeviceRequest, findings: list[Finding]) -> tuple[Rule, ...]:
    """What an input does with the classes: those to which nothing is done still take their packets from others.

    Classes below one stand before it, as far as something is done to them.
    """
    whole = dict(inside_parents(request.classes))
    rules = [
        Rule(
            name=c.name,
            any_of=(Term(),) if c.is_default else _terms_on_input(request, c, whole[c.name], findings),
            set_dscp=dscp_of(c),
            police=policer(c, "input"),
        )
        for c in on_input(request)
    ]
    rules = [rule for rule in rules if rule.any_of]
    while rules and not (rules[-1].writes or rules[-1].police):
        rules.pop()
    return tuple(rules)


def _terms_on_input(
    request: DeviceRequest, class_request: ClassRequest, whole: ClassRequest | Reason, findings: list[Finding]
) -> tuple[Term, ...]:
    """What an input looks for, where a class is ``whole`` with what the classes match that it is in."""
    if isinstance(whole, Reason):
        findings.append(whole.note(class_place(request, class_request)))
        return ()
    if not class_request.terms:
        return ()
    findings.extend(check_match(request, whole))
    return class_terms(request, whole)


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
