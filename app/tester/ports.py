"""From a plan to the twin's ports: what an interface does to packets, in the twin's scenario language."""

from __future__ import annotations

from typing import Any

from app.inventory.models import Framing, Link
from app.plan.model import (
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Queue,
    Red,
    Rule,
    Scheduler,
    System,
    Term,
    Trust,
)
from app.plan.shares import expected_shares
from app.platforms.profile import DeviceProfile
from app.tester.modelled import check_modelled

Json = dict[str, Any]

DSCPS = range(64)
COSES = range(8)
PRIORITY_BURST_SECONDS = 0.2
"""Burst that a policed priority queue may send (IOS QoS guide: 200 ms of its rate)."""


def port(
    plan: Plan,
    interface: InterfacePlan,
    link: Link | None,
    rate: int,
    profile: DeviceProfile,
    *,
    far: Efficiency | None = None,
) -> Json:
    """One interface as a twin port; ``rate`` is the line's, ``far`` the link efficiency of its other end.

    Raises:
        TesterError: the interface does what the twin does not model.
    """
    efficiency = interface.efficiency
    check_modelled(plan, interface, link)
    egress = _egress(plan, interface, rate)
    egress["tx_fifo_packets"] = interface.egress.transmit_ring or profile.transmit_fifo
    if link is not None:
        egress |= _fragments(efficiency, link.framing)
    # Both ends have to hold the context; where one is not configured they agree on none.
    egress["header_compression"] = efficiency.header_compression and far is not None and far.header_compression
    tagged = link is not None and link.tagged
    return {"name": interface.name, "ingress": _ingress(plan.system, interface.ingress, tagged), "egress": egress}


def framing_name(framing: Framing) -> str:
    """The twin's name of a link's framing."""
    return framing.value.replace("-", "_")


def _fragments(efficiency: Efficiency, framing: Framing) -> Json:
    """How packets are cut: by the link where its framing has fragments, by IP on any."""
    fragments: Json = {"ip_mtu": efficiency.ip_mtu}
    if efficiency.multilink:
        fragments["fragment_bytes"] = efficiency.fragment_bytes
        fragments["interleave"] = efficiency.interleave
        fragments["multiclass"] = efficiency.interleave and efficiency.multiclass
    elif framing is Framing.FRAME_RELAY and efficiency.frame_relay_fragment is not None:
        fragments["fragment_bytes"] = efficiency.frame_relay_fragment
        fragments["interleave"] = True  # FRF.12 is there for nothing else
    return fragments


def _term(term: Term) -> Json:
    fields: Json = {}
    for name in ("dscp", "cos", "precedence"):
        if values := getattr(term, name):
            fields[name] = list(values)
    if term.application:
        fields["application"] = [term.application]
    if term.protocol is not None:
        fields["protocol"] = [term.protocol]
    if term.vlan:
        fields["vlan"] = list(term.vlan)
    if term.source:
        fields["src"] = [term.source]
    if term.destination:
        fields["dst"] = [term.destination]
    if term.source_ports:
        fields["src_ports"] = [[r.first, r.last] for r in term.source_ports]
    if term.destination_ports:
        fields["dst_ports"] = [[r.first, r.last] for r in term.destination_ports]
    return fields


def _match(rule: Rule) -> Json:
    match: Json = {"any": [_term(term) for term in rule.any_of]}
    if rule.none_of:
        match["not"] = {"any": [_term(term) for term in rule.none_of]}
    return match


def _ingress(system: System, ingress: Ingress, tagged: bool) -> Json:
    """Rules of the policy first, then what trust makes of everything else.

    A port that trusts no mark clears what a rule does not set too; one that trusts a phone has one.
    """
    by_cos = ingress.trust in (Trust.COS, Trust.PHONE)
    otherwise: Json = {"dscp": None, "cos": None}
    cleared: Json = {}
    if ingress.trust is Trust.NONE:
        cos = ingress.port_cos
        otherwise = {"dscp": system.cos_to_dscp[cos] if system.cos_to_dscp and cos else 0, "cos": cos}
        cleared = otherwise
    rules = [
        {"match": _match(rule), "set": cleared | _marks(system, rule)} | _police(rule)
        for rule in ingress.rules
        if rule.any_of
    ]
    if by_cos and not tagged:
        cos = ingress.port_cos  # what has no tag has the port's own CoS
        otherwise = {"cos": cos} | _trusted(system, "cos", cos)
    elif by_cos:
        rules += [{"match": {"cos": [cos]}, "set": _trusted(system, "cos", cos)} for cos in COSES]
    elif ingress.trust is Trust.DSCP:
        rules += [{"match": {"dscp": [dscp]}, "set": _trusted(system, "dscp", dscp)} for dscp in DSCPS]
    return {"rules": rules, "otherwise": otherwise}


def _trusted(system: System, field: str, value: int) -> Json:
    """Marks of a packet whose ``field`` is trusted: the other one is derived, and the queue where it is chosen
    on input.
    """
    other, derived, queue = (
        ("dscp", system.cos_to_dscp, system.cos_to_queue)
        if field == "cos"
        else ("cos", system.dscp_to_cos, system.dscp_to_queue)
    )
    marks: Json = {other: derived[value]} if derived else {}
    if system.queue_on_input and queue:
        marks["group"] = queue[value]
    return marks


def _marks(system: System, rule: Rule) -> Json:
    marks: Json = {}
    if rule.set_dscp is not None:
        marks["dscp"] = rule.set_dscp
        if system.dscp_to_cos:
            marks["cos"] = system.dscp_to_cos[rule.set_dscp]
    if rule.set_cos is not None:
        marks["cos"] = rule.set_cos
    if rule.queue is not None:
        marks["group"] = rule.queue
    return marks


def _police(rule: Rule) -> Json:
    if rule.police is None:
        return {}
    police: Json = {"rate_bps": rule.police.rate, "burst_bytes": rule.police.burst}
    exceed = rule.police.exceed
    if not exceed.drop:
        marks = {"dscp": exceed.set_dscp, "cos": exceed.set_cos}
        police["exceed"] = {field: value for field, value in marks.items() if value is not None}
    return {"police": police}


def _egress(plan: Plan, interface: InterfacePlan, rate: int) -> Json:
    scheduler = interface.egress.scheduler or plan.system.scheduler
    if scheduler is None:
        only = _queue(Queue(number=0), "q0")
        return {"rules": [], "otherwise": {"queue": 0}, "queues": [only], "scheduler": _FIFO}
    positions = {queue.number: position for position, queue in enumerate(scheduler.queues)}
    rules, otherwise = _selection(plan, interface.egress, positions)
    served = scheduler.discipline is not Discipline.FLOW_WFQ
    return {
        "rules": rules if served else [],
        "otherwise": {"queue": otherwise if served else 0},
        "queues": [_queue(queue, _called(scheduler, queue)) for queue in scheduler.queues] if served else [],
        # A box takes its percentages of what it believes its rate to be.
        "scheduler": _scheduler(scheduler, interface.bandwidth_kbps * 1000 if interface.bandwidth_kbps else rate),
    }


_FIFO: Json = {"kind": "fifo"}


def _selection(plan: Plan, egress: Egress, positions: dict[int, int]) -> tuple[list[Json], int]:
    """Which queue a packet takes: by the egress policy, by a choice made on input, or by the box's maps."""
    system = plan.system
    default = positions.get(egress.default_queue, 0) if egress.default_queue is not None else 0
    if egress.rules:
        rules = [
            {"match": _match(rule), "queue": positions[rule.queue]} | _police(rule)
            for rule in egress.rules
            if rule.queue is not None and rule.any_of
        ]
        return rules, default
    if system.queue_on_input:
        return [{"match": {"group": [n]}, "queue": position} for n, position in positions.items()], default
    if system.dscp_to_queue:
        return _by_map("dscp", system.dscp_to_queue, positions), default
    if system.cos_to_queue:
        return _by_map("cos", system.cos_to_queue, positions), default
    return [], default


def _by_map(field: str, table: tuple[int, ...], positions: dict[int, int]) -> list[Json]:
    by_queue: dict[int, list[int]] = {}
    for value, queue in enumerate(table):
        by_queue.setdefault(queue, []).append(value)
    return [
        {"match": {field: values}, "queue": positions[queue]}
        for queue, values in sorted(by_queue.items())
        if queue in positions
    ]


def _called(scheduler: Scheduler, queue: Queue) -> str:
    """The queue's name, with its number where several queues share one."""
    same = sum(other.name == queue.name for other in scheduler.queues)
    return queue.name if queue.name and same == 1 else f"{queue.name or 'q'}{queue.number}"


def _queue(queue: Queue, name: str) -> Json:
    return {
        "name": name,
        "limit_packets": queue.limit_packets or DEFAULT_LIMIT,
        "limit_bytes": queue.limit_bytes,
        "red": _red(queue.red) if queue.red else _tail_drop(queue),
    }


def _tail_drop(queue: Queue) -> Json | None:
    """Weighted tail drop as detection that does not average: all of a mark is dropped from its threshold on."""
    limit = queue.limit_packets or DEFAULT_LIMIT
    profiles = [
        {"match_dscp": list(t.dscp), "min": depth, "max": depth, "mark_denominator": 1}
        for t in queue.thresholds
        if t.dscp and (depth := max(1, limit * t.percent // 100)) < limit
    ]
    return {"weight_exponent": 0, "unit": "packets", "profiles": profiles} if profiles else None


DEFAULT_LIMIT = 64
"""Packets of a queue whose length no plan states."""


def _red(red: Red) -> Json:
    profiles = [
        {
            **({"match_dscp": list(p.dscp)} if p.dscp else {"precedence": list(p.precedence)}),
            "min": p.minimum,
            # A profile that drops everything has 0 here; the least the twin takes is one.
            "max": max(1, p.maximum),
            "mark_denominator": p.denominator,
        }
        for p in red.profiles
        if p.dscp or p.precedence
    ]
    rest = next((p for p in red.profiles if not p.dscp and not p.precedence), None)
    result: Json = {"weight_exponent": red.weight_exponent, "unit": red.unit, "profiles": profiles}
    if rest:
        result["default"] = {"min": rest.minimum, "max": max(1, rest.maximum), "mark_denominator": rest.denominator}
    return result


def _scheduler(scheduler: Scheduler, rate: int) -> Json:
    queues = scheduler.queues
    strict = [i for i, q in enumerate(queues) if q.priority]
    shares = expected_shares(scheduler, rate)
    match scheduler.discipline:
        case Discipline.FIFO:
            return _FIFO
        case Discipline.FLOW_WFQ:
            return {"kind": "wfq", "congestive_discard_threshold": queues[0].limit_packets or DEFAULT_LIMIT}
        case Discipline.STRICT:
            return {"kind": "strict", "order": strict or list(range(len(queues)))}
        case Discipline.LLQ_CBWFQ:
            return {
                "kind": "cbwfq",
                "priority": [
                    {
                        "queue": i,
                        "rate_bps": round(shares[i] * rate),
                        "level": queues[i].level or 1,
                        "burst_bytes": queues[i].burst or round(shares[i] * rate * PRIORITY_BURST_SECONDS / 8),
                    }
                    for i in strict
                ],
                "weights": {str(i): max(round(shares[i] * rate), 1) for i in range(len(queues)) if i not in strict},
            }
        case Discipline.SRR if len(strict) <= 1:
            weights = {str(i): max(q.share.value, 1) if q.share else 1 for i, q in enumerate(queues)}
            shape = {str(i): q.shape_weight for i, q in enumerate(queues) if q.shape_weight and i not in strict}
            return {
                "kind": "srr",
                "weights": weights,
                "strict": strict[0] if strict else None,
                "shape": shape or None,
            }
    weights = {str(i): max(q.share.value, 1) if q.share else 1 for i, q in enumerate(queues) if i not in strict}
    mode = "packets" if scheduler.discipline is Discipline.WRR else "bytes"
    return {"kind": "strict_wrr", "strict": strict, "weights": weights, "mode": mode}
