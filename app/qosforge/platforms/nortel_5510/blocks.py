"""The configuration objects of a plan of the 5510."""

from __future__ import annotations

from ipaddress import ip_network

from qosforge.plan.model import Plan, PortRange, Term, Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.blocks import BlockWriter
from qosforge.platforms.mac_addresses import in_pairs
from qosforge.platforms.nortel_5510.filters import SECOND, Filter, FilterPlan, number_filters
from qosforge.platforms.nortel_5510.marks import egress_rows, high_drop, ingress_rows
from qosforge.platforms.nortel_5510.policing import typed

_IPV4 = 4
_CLASSES = {Trust.NONE: "untrusted", Trust.DSCP: "trusted", Trust.KEEP: "unrestricted"}


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Groups, filters, assignments, maps, queues and shapers, in the order people read them."""
    result = BlockWriter("nortel_5510", lowered, request)
    interface_requests = {i.name: i for i in request.interfaces}
    ours = [i for i in plan.interfaces if interface_requests[i.name].recognise or interface_requests[i.name].trust]
    for group, trust in {i.ingress.policy: i.ingress.trust for i in ours}.items():
        result.add("if-group", group or "", group=group, trust=_CLASSES[trust])
    host = next((i.ingress for i in ours if i.ingress.rules), None)
    if host is not None:
        _filters(result, host.policy, number_filters(host.rules))
    for interface in ours:
        result.add("if-assign", interface.name, port=interface.name, group=interface.ingress.policy)
    if plan.system.dscp_to_cos is not None and plan.system.cos_to_dscp is not None:
        table, high = plan.system.dscp_to_cos, high_drop(request.classes)
        rows = [
            (d, table[d], "high-drop" if d in high else "low-drop")
            for d in egress_rows(request.classes, plan.system)
        ]
        result.add("egressmap", "egressmap", rows=rows)
        kept = [(cos, plan.system.cos_to_dscp[cos]) for cos in ingress_rows(request.classes, plan.system)]
        result.add("ingressmap", "ingressmap", rows=kept)
    if plan.system.cos_to_queue is not None:
        queues = list(enumerate(plan.system.cos_to_queue))
        result.add("queue-assignment", "queue-assignment", queue_set=plan.system.queue_set, rows=queues)
    for interface in plan.interfaces:
        rate, bucket = interface.egress.shape_rate, interface.egress.shape_burst
        if interface_requests[interface.name].shape is not None and rate is not None and bucket is not None:
            result.add("if-shaper", interface.name, port=interface.name, shaper=typed(rate, bucket))
    return tuple(result.blocks)


def _filters(result: BlockWriter, group: str | None, filters: FilterPlan) -> None:
    for entry in filters.filters:
        if entry.ip:
            result.add("ip-element", entry.name, of=entry.rule, entry=entry, fields=_ip_fields(entry.term))
        if entry.l2:
            result.add("l2-element", entry.name, of=entry.rule, entry=entry, fields=_l2_fields(entry.term))
    for entry in filters.filters:
        result.add("classifier", entry.name, of=entry.rule, entry=entry, elements=_elements(entry))
    for action in filters.actions:
        result.add("action", action.name, of=action.rule, action=action)
    for meter in filters.meters:
        bucket = typed(meter.police.rate, meter.police.burst)
        result.add("meter", meter.rule, of=meter.rule, meter=meter, typed=bucket)
    for policy in filters.policies:
        for entry in policy.filters if policy.block is not None else ():
            result.add("classifier-block", entry.name, of=entry.rule, entry=entry, policy=policy)
    for policy in filters.policies:
        rules = {entry.rule for entry in policy.filters}
        called = rules.pop() if len(rules) == 1 else ""
        result.add("policy", policy.name, of=called, policy=policy, group=group)


def _elements(entry: Filter) -> tuple[tuple[int, str, str], ...]:
    """Numbers, names and types of the classifiers that make up one set; a set has one name."""
    both = entry.ip and entry.l2
    found = [(entry.number, f" name {entry.name}", "ip")] if entry.ip else []
    if entry.l2:
        found.append((entry.number + SECOND, "", "l2") if both else (entry.number, f" name {entry.name}", "l2"))
    return tuple(found)


def _ip_fields(term: Term) -> tuple[tuple[str, object], ...]:
    """Options of an IP element; IPv6 packets have a next header in place of a protocol."""
    versions = {ip_network(p).version for p in (term.source, term.destination) if p}
    version = versions.pop() if versions else _IPV4
    fields: list[tuple[str, object]] = [("addr-type", f"ipv{version}")]
    fields += [(key, p) for key, p in (("src-ip", term.source), ("dst-ip", term.destination)) if p]
    fields += [("ds-field", dscp) for dscp in term.dscp]
    if term.protocol is not None:
        fields.append(("protocol" if version == _IPV4 else "next-header", term.protocol))
    return (*fields, *_ports("src", term.source_ports), *_ports("dst", term.destination_ports))


def _ports(side: str, ports: tuple[PortRange, ...]) -> tuple[tuple[str, object], ...]:
    return tuple(pair for p in ports for pair in ((f"{side}-port-min", p.first), (f"{side}-port-max", p.last)))


def _l2_fields(term: Term) -> tuple[tuple[str, object], ...]:
    fields: list[tuple[str, object]] = []
    for key, mac in (("src-mac", term.source_mac), ("dst-mac", term.destination_mac)):
        if mac is not None:
            fields += [(key, in_pairs(mac)), (f"{key}-mask", "ff:ff:ff:ff:ff:ff")]
    if term.vlan:
        fields += [("vlan-min", term.vlan[0]), ("vlan-max", term.vlan[-1])]
    return (*fields, *(("priority", cos) for cos in term.cos))
