"""The configuration objects of an FTOS plan."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.intent.scope import OWN_PREFIX
from qosforge.plan.model import Ingress, InterfacePlan, Plan, PortRange, Rule, Term
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.blocks import BlockWriter
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, acl_name_limit, family, name_limit
from qosforge.platforms.force10_e300.matching import entries, is_layer2, mark_lines, orders, together
from qosforge.platforms.force10_e300.policing import meter_text
from qosforge.platforms.force10_e300.wred import own_profiles
from qosforge.platforms.mac_addresses import in_pairs
from qosforge.platforms.names import short_names, shorten

ACL_PREFIX = f"{OWN_PREFIX}-"
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}
_KINDS = (
    "access-list", "class-map", "qos-policy-input", "wred-profile", "qos-policy-output", "policy-map-input",
    "policy-map-output", "strict-priority", "interface",
)  # fmt: skip


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Access lists, class maps, policies, policy maps, the strict queue and interfaces, in that order."""
    result = BlockWriter("force10_e300", lowered, request)
    interface_requests = {i.name: i for i in request.interfaces}
    touched = [
        i for i in plan.interfaces if interface_requests[i.name].recognise or interface_requests[i.name].trust
    ]
    served = [i for i in plan.interfaces if interface_requests[i.name].schedule]
    # Ports alike have the very same input.
    inputs = {id(i.ingress): i.ingress for i in touched}.values()
    lists = [ACL_PREFIX + rule.name for ingress in inputs for rule in ingress.rules if entries(rule)]
    called = short_names(lists, acl_name_limit(request.image))
    for ingress in inputs:
        _input(result, ingress, request.image, called)
    for interface in served:
        _output(result, interface, lowered, request)
    for ingress in inputs:
        rules = sorted(ingress.rules, key=lambda rule: rule.queue or 0)
        result.add_once(
            "policy-map-input",
            ingress.policy or "",
            ingress=ingress,
            rules=rules,
            marked={rule.name for rule in rules if _writes(rule)},
            layer2=is_layer2(ingress.rules, request.image),
        )
    for interface in served:
        egress = interface.egress
        result.add_once("policy-map-output", egress.policy or "", egress=egress)
    strict = (
        next((q.number for q in plan.system.scheduler.queues if q.priority), None)
        if plan.system.scheduler
        else None
    )
    if strict is not None:
        result.add_once("strict-priority", "strict-priority", queue=strict)
    for interface in plan.interfaces:
        if interface.ingress.policy or interface.egress.policy:
            ethernet = is_layer2(interface.ingress.rules, request.image)
            result.add_once("interface", interface.name, interface=interface, layer2=ethernet)
    return tuple(sorted(result.blocks, key=lambda block: _KINDS.index(block.kind)))


def _writes(rule: Rule) -> bool:
    """Whether a rule has a policy of its own."""
    return rule.set_dscp is not None or rule.set_cos is not None or rule.police is not None


def _input(result: BlockWriter, ingress: Ingress, image: str, called: Mapping[str, str]) -> None:
    """Access lists, class maps and policies of an input; ``called`` are the lists' names on the device."""
    ethernet, order = is_layer2(ingress.rules, image), orders(ingress.rules)
    for rule in ingress.rules:
        listed = entries(rule)
        acl = called[ACL_PREFIX + rule.name] if listed else None
        if listed:
            lines = tuple(_entry(term, ethernet, order.get(rule.name)) for term in listed)
            result.add_once("access-list", rule.name, of=rule.name, name=acl, entries=lines, layer2=ethernet)
        values = {
            "rule": rule,
            "acl": acl,
            "lines": mark_lines(rule),
            "mode": "match-all" if together(rule.any_of) else "match-any",
            "layer2": ethernet,
        }
        result.add_once("class-map", rule.name, of=rule.name, **values)
        if _writes(rule):
            police = meter_text(rule.police) if rule.police else None
            values = {"rule": rule, "police": police, "layer2": ethernet}
            result.add_once("qos-policy-input", rule.name, of=rule.name, **values)


def _output(result: BlockWriter, interface: InterfacePlan, lowered: LoweredDevice, request: DeviceRequest) -> None:
    """Drop profiles and policies of an output."""
    assert interface.egress.scheduler is not None
    own = {c.name: own_profiles(c) for c in request.classes}
    for queue in interface.egress.scheduler.queues:
        owner = lowered.classes.get(queue.name or "")
        wred = CAPABILITIES.default_wred.families[family(interface.name)] if queue.red else {}
        for colour, (low, high) in own.get(owner or "", {}).items() if queue.red else ():
            name = shorten(f"{(queue.name or '').removesuffix('-te')}-{colour[0]}", name_limit(request.image))
            result.add_once("wred-profile", name, name=name, minimum=low, maximum=high)
            wred = {**wred, colour: name}
        values = {
            "queue": queue,
            "wred": wred,
            "limit": meter_text(queue.police) if queue.police else None,
            "shape": queue.shape_rate // 1_000_000 if queue.shape_rate else None,
        }
        name = queue.name or ""
        result.add_once("qos-policy-output", name, of=name, **values)


def _entry(term: Term, ethernet: bool, order: int | None) -> str:
    tail = "" if order is None else f" order {order}"
    if ethernet:
        return f"permit {_mac(term.source_mac)} {_mac(term.destination_mac)}{tail}"
    protocol = "ip" if term.protocol is None else _PROTOCOLS.get(term.protocol, str(term.protocol))
    source = f"{_address(term.source)}{_ports(term.source_ports)}"
    return f"permit {protocol} {source} {_address(term.destination)}{_ports(term.destination_ports)}{tail}"


def _address(prefix: str | None) -> str:
    if prefix is None:
        return "any"
    return f"host {prefix.removesuffix('/32')}" if prefix.endswith("/32") else prefix


def _mac(address: str | None) -> str:
    return "any" if address is None else f"host {in_pairs(address)}"


def _ports(ports: tuple[PortRange, ...]) -> str:
    if not ports:
        return ""
    (only,) = ports
    return f" eq {only.first}" if only.first == only.last else f" range {only.first} {only.last}"
