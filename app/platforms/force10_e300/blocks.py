"""The configuration objects of an FTOS plan."""

from __future__ import annotations

from app.plan.model import Plan, PortRange, Rule, Term
from app.plan.request import DeviceRequest
from app.platforms.base import Block, Lowered
from app.platforms.force10_e300.capabilities import default_wred, family
from app.templating import render

ACL_PREFIX = "QOSFORGE-"
_PROTOCOLS = {6: "tcp", 17: "udp"}


class _Blocks:
    """Blocks gathered once each, with the class they come from."""

    def __init__(self, lowered: Lowered, request: DeviceRequest) -> None:
        self._classes = lowered.classes
        self._lines = {c.name: c.line for c in request.classes}
        self._found: dict[tuple[str, str], Block] = {}

    def add(self, kind: str, name: str, template: str, /, **values: object) -> None:
        traffic_class = self._classes.get(name)
        if (kind, name) not in self._found:
            text = render(f"force10_e300/{template}.j2", **values)
            line = self._lines.get(traffic_class) if traffic_class else None
            self._found[kind, name] = Block(kind, name, text, traffic_class, line)

    def all(self) -> tuple[Block, ...]:
        return tuple(self._found.values())


def blocks(plan: Plan, lowered: Lowered, request: DeviceRequest) -> tuple[Block, ...]:
    """Access lists, class maps, policies, policy maps, the strict queue and interfaces, in that order."""
    result = _Blocks(lowered, request)
    wanted = {i.name: i for i in request.interfaces}
    touched = [i for i in plan.interfaces if wanted[i.name].recognise or wanted[i.name].trust]
    served = [i for i in plan.interfaces if wanted[i.name].schedule]
    rules = [rule for i in touched for rule in i.ingress.rules]
    for rule in rules:
        if entries := _entries(rule):
            result.add("access-list", rule.name, "access_list", name=ACL_PREFIX + rule.name, entries=entries)
    for rule in rules:
        acl = ACL_PREFIX + rule.name if _entries(rule) else None
        result.add("class-map", rule.name, "class_map", rule=rule, acl=acl)
    for rule in rules:
        if rule.set_dscp is not None:
            result.add("qos-policy-input", rule.name, "qos_policy_input", rule=rule)
    for interface in served:
        assert interface.egress.scheduler is not None
        for queue in interface.egress.scheduler.queues:
            wred = default_wred(family(interface.name)) if queue.red else {}
            result.add("qos-policy-output", queue.name or "", "qos_policy_output", queue=queue, wred=wred)
    for interface in touched:
        result.add(
            "policy-map-input", interface.ingress.policy or "", "policy_map_input", ingress=interface.ingress
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
            result.add("interface", interface.name, "interface", interface=interface)
    return result.all()


def _entries(rule: Rule) -> tuple[str, ...]:
    """Access-list entries of the alternatives that are no DSCP lists."""
    return tuple(_entry(term) for term in rule.any_of if not term.dscp)


def _entry(term: Term) -> str:
    protocol = "ip" if term.protocol is None else _PROTOCOLS.get(term.protocol, str(term.protocol))
    source = f"any{_ports(term.source_ports)}"
    return f"permit {protocol} {source} any{_ports(term.destination_ports)}"


def _ports(ports: tuple[PortRange, ...]) -> str:
    if not ports:
        return ""
    (only,) = ports
    return f" eq {only.first}" if only.first == only.last else f" range {only.first} {only.last}"
