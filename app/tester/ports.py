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
    Rule,
    Scheduler,
    System,
    Trust,
)
from app.plan.shares import expected_shares
from app.platforms.profile import DeviceProfile
from app.tester.modelled import check_modelled
from app.tester.queues import DEFAULT_LIMIT, twin_queue
from app.tester.rules import interface_policers, marks, match, policer

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
        egress |= _fragments(efficiency, link.framing, profile)
    # Both ends have to hold the context; where one is not configured they agree on none.
    egress["header_compression"] = efficiency.header_compression and far is not None and far.header_compression
    tagged = link is not None and link.tagged
    return {"name": interface.name, "ingress": _ingress(plan.system, interface.ingress, tagged), "egress": egress}


def framing_name(framing: Framing) -> str:
    """The twin's name of a link's framing."""
    return framing.value.replace("-", "_")


def _fragments(efficiency: Efficiency, framing: Framing, profile: DeviceProfile) -> Json:
    """How packets are cut: by the link where its framing has fragments, by IP on any."""
    fragments: Json = {"ip_mtu": efficiency.ip_mtu}
    if efficiency.multilink:
        size = efficiency.fragment_bytes
        # The twin's fragments are counted without headers, the box's with them.
        fragments["fragment_bytes"] = None if size is None else max(1, size - profile.fragment_header)
        fragments["interleave"] = efficiency.interleave
        fragments["multiclass"] = efficiency.interleave and efficiency.multiclass
    elif framing is Framing.FRAME_RELAY and efficiency.frame_relay_fragment is not None:
        fragments["fragment_bytes"] = efficiency.frame_relay_fragment
        fragments["interleave"] = True  # FRF.12 is there for nothing else
    return fragments


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
        {"match": match(rule), "set": cleared | marks(system, rule)} | _police(rule)
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
    return {"police": interface_policers(ingress.policers), "rules": rules, "otherwise": otherwise}


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


def _police(rule: Rule) -> Json:
    return {} if rule.police is None else {"police": policer(rule.police)}


def _egress(plan: Plan, interface: InterfacePlan, rate: int) -> Json:
    scheduler = interface.egress.scheduler or plan.system.scheduler
    listed = interface_policers(interface.egress.policers)
    if scheduler is None:
        only = twin_queue(Queue(number=0), "q0")
        return {"police": listed, "rules": [], "otherwise": {"queue": 0}, "queues": [only], "scheduler": _FIFO}
    positions = {queue.number: position for position, queue in enumerate(scheduler.queues)}
    rules, otherwise = _selection(plan, interface.egress, positions)
    served = scheduler.discipline is not Discipline.FLOW_WFQ
    # A box takes its percentages of what it believes its rate to be.
    believed = interface.bandwidth_kbps * 1000 if interface.bandwidth_kbps else rate
    drained = [round(share * believed) for share in expected_shares(scheduler, believed)]
    queues = zip(scheduler.queues, drained, strict=True)
    return {
        "police": listed,
        "rules": rules if served else [],
        "otherwise": {"queue": otherwise if served else 0},
        "queues": [twin_queue(queue, _called(scheduler, queue), drain) for queue, drain in queues]
        if served
        else [],
        "scheduler": _scheduler(scheduler, believed),
    }


_FIFO: Json = {"kind": "fifo"}


def _selection(plan: Plan, egress: Egress, positions: dict[int, int]) -> tuple[list[Json], int]:
    """Which queue a packet takes: by the egress policy, by a choice made on input, or by the box's maps."""
    system = plan.system
    default = positions.get(egress.default_queue, 0) if egress.default_queue is not None else 0
    if egress.rules:
        rules = [
            {"match": match(rule), "queue": positions[rule.queue]} | _police(rule)
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
