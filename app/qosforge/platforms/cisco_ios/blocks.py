"""The configuration objects of an IOS plan: class-maps, policy-maps and interfaces as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.inventory.models import Framing
from qosforge.memoise import memoise
from qosforge.plan.model import CircuitPlan, Egress, Ingress, InterfacePlan, InterfacePolicer, Plan, Queue, Rule
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.cisco_ios.applications import protocol_words
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.circuits import MapClass, main_interface, map_class
from qosforge.platforms.cisco_ios.class_maps import class_map
from qosforge.platforms.cisco_ios.efficiency import compresses_tcp
from qosforge.platforms.cisco_ios.trains import has, hqf
from qosforge.platforms.cisco_ios.wred import RedLines, red_lines
from qosforge.platforms.class_trees import every_class
from qosforge.platforms.mqc.access_lists import ip_entries
from qosforge.platforms.mqc.blocks import every_policy, every_rule
from qosforge.platforms.mqc.lines import ACL_PREFIX, CLASS_DEFAULT
from qosforge.platforms.mqc.policers import PoliceLines, action_words, police_lines
from qosforge.templating import render


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Class-maps, policy-maps and interfaces, in the order people read them."""
    lines = {c.name: c.line for c in every_class(request.classes)}
    result: list[Block] = []
    seen: dict[tuple[str, str], None] = {}

    def add(kind: str, name: str, text: str, traffic_class: str | None = None) -> None:
        if (kind, name) not in seen:
            seen[kind, name] = None
            result.append(Block(kind, name, text, traffic_class, lines.get(traffic_class or "")))

    for interface in plan.interfaces:
        for rule in (*interface.ingress.rules, *every_rule(interface.egress)):
            if rule.name == CLASS_DEFAULT or ("class-map", rule.name) in seen:
                continue
            made = class_map(request, rule)
            for listed in made.access_lists:
                kind = "ipv6" if listed.version == 6 else "ip"
                text = render("mqc/access_list.j2", kind=kind, name=listed.name, entries=listed.entries)
                add("access-list", listed.name, text, lowered.classes.get(rule.name))
            text = render("cisco_ios/class_map.j2", class_map=made, protocol=protocol_words)
            add("class-map", rule.name, text, lowered.classes.get(rule.name))
    for interface in plan.interfaces:
        for policer in (*interface.ingress.policers, *interface.egress.policers):
            if policer.access_list:
                traffic_class = lowered.classes.get(policer.access_list)
                text = render(
                    "cisco_ios/numbered_list.j2",
                    number=policer.access_list,
                    remark=f"{ACL_PREFIX}{traffic_class}",
                    entries=ip_entries(policer.any_of),
                )
                add("access-list", policer.access_list, text, traffic_class)
    for interface in plan.interfaces:
        if interface.ingress.policy and ("policy-map", interface.ingress.policy) not in seen:
            add("policy-map", interface.ingress.policy, _marking_policy(request, interface.ingress))
        # A name stands for one content on the whole device, with the policies inside it.
        if ("policy-map", interface.egress.policy) not in seen:
            for policy in every_policy(interface.egress):
                add("policy-map", policy.policy or "", _queueing_policy(request, policy))
    for name, text in _map_classes(plan):
        add("map-class", name, text)
    for name, text in _interfaces(plan, request):
        add("interface", name, text)
    return tuple(result)


# -- policy-maps ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _ClassLines:
    """One class of an output policy as it is entered; ``limit`` is None where it is the device's own."""

    queue: Queue
    red: RedLines | None
    limit: str | None
    police: PoliceLines | None
    rule: Rule | None


@memoise
def _spelling(request: DeviceRequest) -> tuple[str, bool, bool]:
    """How a device enters policies: what stands before the marks that are set, where it is in IPv4 alone; whether
    actions stand below the line of their policer; and whether limits have their unit.
    """
    ip = "" if has(request, "marking_both_versions") else "ip "
    return ip, has(request, "police_actions_below"), hqf(request)


def _marking_policy(request: DeviceRequest, ingress: Ingress) -> str:
    """The policy-map of an input."""
    ip, below, _ = _spelling(request)
    policers = {r.name: police_lines(r.police, below=below) for r in ingress.rules if r.police}
    return render("mqc/marking_policy.j2", name=ingress.policy, rules=ingress.rules, ip=ip, policers=policers)


def _queueing_policy(request: DeviceRequest, egress: Egress) -> str:
    """The policy-map of an output, without those inside its classes."""
    ip, below, units = _spelling(request)
    lines = _class_lines(egress, below, units)
    return render("cisco_ios/queueing_policy.j2", name=egress.policy, classes=lines, ip=ip)


@memoise
def _class_lines(egress: Egress, below: bool, units: bool) -> tuple[_ClassLines, ...]:
    """The classes of an output policy that have something to say."""
    assert egress.scheduler is not None
    rules = {rule.queue: rule for rule in egress.rules}
    lines = []
    for queue in egress.scheduler.queues:
        rule = rules.get(queue.number)
        police = rule.police if rule else None
        entry = _ClassLines(
            queue=queue,
            red=red_lines(queue.red) if queue.red else None,
            limit=_limit(queue, units=units),
            police=police_lines(police, below=below) if police else None,
            rule=rule,
        )
        nothing = (queue.share, queue.red, queue.shape_rate, entry.limit, rule) == (None,) * 5 and not queue.fair
        # The device has the class of everything else of itself.
        if queue.number != egress.default_queue or not nothing:
            lines.append(entry)
    return tuple(lines)


def _limit(queue: Queue, *, units: bool) -> str | None:
    if queue.limit_bytes is not None:
        return f"{queue.limit_bytes} bytes"
    if queue.limit_ms is not None:
        return f"{queue.limit_ms} ms"
    if queue.limit_packets in (None, CAPABILITIES.class_queue_limit.value):
        return None
    return f"{queue.limit_packets} packets" if units else str(queue.limit_packets)


# -- interfaces ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _RateLimit:
    """A ``rate-limit`` line; ``most`` is the extended burst, the same as the normal one where there is none."""

    side: str
    access_list: str | None
    rate: int
    burst: int
    most: int
    conform: str
    exceed: str


def _map_classes(plan: Plan) -> Iterator[tuple[str, str]]:
    """Names and texts of the Frame Relay map classes of a plan."""
    for interface in plan.interfaces:
        found_class = map_class(interface)
        if found_class is not None:
            yield found_class.name, render("cisco_ios/map_class.j2", map_class=found_class)


def _interfaces(plan: Plan, request: DeviceRequest) -> Iterator[tuple[str, str]]:
    """Names and texts of the interfaces of a plan, and of those whose circuits have to be shaped."""
    shaped = {i.name: found_class for i in plan.interfaces if (found_class := map_class(i)) is not None}
    shaping = dict.fromkeys(main_interface(name) for name in shaped)
    framings = {i.name: i.framing for i in request.interfaces}
    inside = plan.system.inside_tunnels or ()
    for interface in plan.interfaces:
        yield (
            interface.name,
            _interface(
                request,
                interface,
                framings.get(interface.name),
                shaped.get(interface.name),
                interface.name in shaping,
                inside=interface.name in inside,
            ),
        )
    # Circuits without a class are shaped to the device's own rate: theirs come first.
    for name in shaping:
        if plan.interface(name) is None:
            yield name, render("cisco_ios/main_interface.j2", name=name)
    for name in inside:
        if plan.interface(name) is None:
            yield name, render("cisco_ios/tunnel.j2", name=name)


def _interface(
    request: DeviceRequest,
    interface: InterfacePlan,
    framing: Framing | None,
    shaped: MapClass | None,
    shaping: bool,
    *,
    inside: bool,
) -> str:
    circuit = interface.circuit or CircuitPlan()
    policers = (("input", interface.ingress.policers), ("output", interface.egress.policers))
    relayed = framing is Framing.FRAME_RELAY
    return render(
        "cisco_ios/interface.j2",
        interface=interface,
        inside=inside,
        kind=" point-to-point" if interface.circuit and "." in interface.name else "",
        shaping=shaping,
        dlci=circuit.dlci,
        map_class=shaped,
        pvc=None if circuit.vci is None else f"{circuit.vpi}/{circuit.vci}",
        contract=_contract(circuit),
        rate_limits=[_rate_limit(side, policer) for side, held in policers for policer in held],
        fragment_delay="fragment delay" if has(request, "multilink_fragment_delay") else "fragment-delay",
        compression="frame-relay ip rtp" if relayed else "ip rtp",
        iphc=compresses_tcp(request, framing),
    )


def _contract(circuit: CircuitPlan) -> str | None:
    """The service category of a PVC; None where it is not known whole, and stays as it is."""
    if circuit.vci is None or None in (circuit.peak, circuit.sustained, circuit.burst):
        return None
    assert circuit.peak is not None
    assert circuit.sustained is not None
    return f"vbr-nrt {circuit.peak // 1000} {circuit.sustained // 1000} {circuit.burst}"


def _rate_limit(side: str, policer: InterfacePolicer) -> _RateLimit:
    police = policer.police
    return _RateLimit(
        side=side,
        access_list=policer.access_list,
        rate=police.rate,
        burst=police.burst,
        most=police.excess_burst or police.burst,
        conform=action_words(police.conform, str),
        exceed=action_words(police.exceed, str),
    )
