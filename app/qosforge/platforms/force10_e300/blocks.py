"""The configuration objects of an FTOS plan."""

from __future__ import annotations

from qosforge.plan.model import Ingress, InterfacePlan, Plan, PortRange, Rule, Term
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, family, name_limit
from qosforge.platforms.force10_e300.matching import entries, is_layer2, mark_lines, orders, together
from qosforge.platforms.force10_e300.policing import meter_text
from qosforge.platforms.force10_e300.wred import own_profiles
from qosforge.platforms.names import shorten
from qosforge.templating import render

ACL_PREFIX = "QOSFORGE-"
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}
_KINDS = (
    "access-list", "class-map", "qos-policy-input", "wred-profile", "qos-policy-output", "policy-map-input",
    "policy-map-output", "strict-priority", "interface",
)  # fmt: skip


class _Blocks:
    """Blocks gathered once each, with the class they come from."""

    def __init__(self, lowered: LoweredDevice, request: DeviceRequest) -> None:
        self._classes = lowered.classes
        self._lines = {c.name: c.line for c in request.classes}
        self._found: dict[tuple[str, str], Block] = {}

    def add(self, kind: str, name: str, template: str, /, **values: object) -> None:
        traffic_class = self._classes.get(name)
        if (kind, name) not in self._found:
            text = render(f"force10_e300/{template}.j2", **values)
            line = self._lines.get(traffic_class) if traffic_class else None
            self._found[kind, name] = Block(kind, name, text, traffic_class, line)

    def class_of(self, called: str) -> str | None:
        """The class that the device calls so."""
        return self._classes.get(called)

    def ordered(self) -> tuple[Block, ...]:
        """All of them, kind by kind in the order in which one refers to the next."""
        return tuple(sorted(self._found.values(), key=lambda block: _KINDS.index(block.kind)))


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Access lists, class maps, policies, policy maps, the strict queue and interfaces, in that order."""
    result = _Blocks(lowered, request)
    interface_requests = {i.name: i for i in request.interfaces}
    touched = [
        i for i in plan.interfaces if interface_requests[i.name].recognise or interface_requests[i.name].trust
    ]
    served = [i for i in plan.interfaces if interface_requests[i.name].schedule]
    # Ports alike have the very same input.
    inputs = {id(i.ingress): i.ingress for i in touched}.values()
    for ingress in inputs:
        _input(result, ingress, request.image)
    for interface in served:
        _output(result, interface, request)
    for ingress in inputs:
        rules = sorted(ingress.rules, key=lambda rule: rule.queue or 0)
        result.add(
            "policy-map-input",
            ingress.policy or "",
            "policy_map_input",
            ingress=ingress,
            rules=rules,
            marked={rule.name for rule in rules if _writes(rule)},
            layer2=is_layer2(ingress.rules, request.image),
        )
    for interface in served:
        result.add("policy-map-output", interface.egress.policy or "", "policy_map_output", egress=interface.egress)
    strict = (
        next((q.number for q in plan.system.scheduler.queues if q.priority), None)
        if plan.system.scheduler
        else None
    )
    if strict is not None:
        result.add("strict-priority", "strict-priority", "strict_priority", queue=strict)
    for interface in plan.interfaces:
        if interface.ingress.policy or interface.egress.policy:
            ethernet = is_layer2(interface.ingress.rules, request.image)
            result.add("interface", interface.name, "interface", interface=interface, layer2=ethernet)
    return result.ordered()


def _writes(rule: Rule) -> bool:
    """Whether a rule has a policy of its own."""
    return rule.set_dscp is not None or rule.set_cos is not None or rule.police is not None


def _input(result: _Blocks, ingress: Ingress, image: str) -> None:
    """Access lists, class maps and policies of an input."""
    ethernet, order = is_layer2(ingress.rules, image), orders(ingress.rules)
    for rule in ingress.rules:
        listed = entries(rule)
        acl = ACL_PREFIX + rule.name if listed else None
        if listed:
            lines = tuple(_entry(term, ethernet, order.get(rule.name)) for term in listed)
            result.add("access-list", rule.name, "access_list", name=acl, entries=lines, layer2=ethernet)
        values = {
            "rule": rule,
            "acl": acl,
            "lines": mark_lines(rule),
            "mode": "match-all" if together(rule.any_of) else "match-any",
            "layer2": ethernet,
        }
        result.add("class-map", rule.name, "class_map", **values)
        if _writes(rule):
            police = meter_text(rule.police) if rule.police else None
            result.add("qos-policy-input", rule.name, "qos_policy_input", rule=rule, police=police, layer2=ethernet)


def _output(result: _Blocks, interface: InterfacePlan, request: DeviceRequest) -> None:
    """Drop profiles and policies of an output."""
    assert interface.egress.scheduler is not None
    own = {c.name: own_profiles(c) for c in request.classes}
    for queue in interface.egress.scheduler.queues:
        owner = result.class_of(queue.name or "")
        wred = CAPABILITIES.default_wred.families[family(interface.name)] if queue.red else {}
        for colour, (low, high) in own.get(owner or "", {}).items() if queue.red else ():
            name = shorten(f"{(queue.name or '').removesuffix('-te')}-{colour[0]}", name_limit(request.image))
            result.add("wred-profile", name, "wred_profile", name=name, minimum=low, maximum=high)
            wred = {**wred, colour: name}
        values = {
            "queue": queue,
            "wred": wred,
            "limit": meter_text(queue.police) if queue.police else None,
            "shape": queue.shape_rate // 1_000_000 if queue.shape_rate else None,
        }
        result.add("qos-policy-output", queue.name or "", "qos_policy_output", **values)


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
    if address is None:
        return "any"
    digits = address.replace(".", "")
    return "host " + ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def _ports(ports: tuple[PortRange, ...]) -> str:
    if not ports:
        return ""
    (only,) = ports
    return f" eq {only.first}" if only.first == only.last else f" range {only.first} {only.last}"
