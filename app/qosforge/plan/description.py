"""Describe a plan in plain words, for people who do not read configurations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qosforge.dscp import dscp_label
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import (
    Action,
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePolicer,
    Policer,
    PortRange,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
    Trust,
)
from qosforge.units import format_rate

_DISCIPLINES = {
    Discipline.FIFO: "one queue, first come, first served",
    Discipline.FLOW_WFQ: "one queue, shared fairly between conversations",
    Discipline.LLQ_CBWFQ: "priority first, the others by their guaranteed shares",
    Discipline.STRICT: "strict priority: a queue waits until those before it are empty",
    Discipline.WRR: "weighted round robin: queues take turns by their weights",
    Discipline.SRR: "shaped round robin: queues take evenly spaced turns by their weights",
    Discipline.WFQ: "weighted fair queueing: queues share the link by their parts",
    Discipline.DRR: "deficit round robin: queues take turns of their numbers of bytes",
}
_IN_TURN = frozenset({Discipline.WRR, Discipline.SRR, Discipline.WFQ, Discipline.DRR})
"""Disciplines beside which a device may serve a priority queue first."""
_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 47: "GRE", 50: "ESP"}
_TRUST = {
    Trust.KEEP: "marks of packets that no rule names stay as they are",
    Trust.DSCP: "trusts the DSCP of packets that no rule names",
    Trust.COS: "trusts the CoS of packets that no rule names",
    Trust.NONE: "trusts no mark: packets that no rule names count as unmarked",
    Trust.PHONE: "trusts marks while an IP phone is at the port, else none",
}
_LISTED = 12
"""Marks of one kind that are named; of more there are only their number and the first ones."""


def discipline_words(scheduler: Scheduler) -> str:
    """How queues share a port."""
    words = _DISCIPLINES[scheduler.discipline]
    if scheduler.discipline in _IN_TURN and any(queue.priority for queue in scheduler.queues):
        words = f"priority first, then {words}"
    limit = scheduler.limit_percent
    return words + (f"; the port sends at most {limit} % of its rate" if limit else "")


def queue_names(scheduler: Scheduler) -> tuple[str, ...]:
    """What people call the queues, in the scheduler's order: by the class's name where the device has one."""
    named = [queue.name for queue in scheduler.queues]
    return tuple(
        f"queue {queue.number}"
        if queue.name is None
        else queue.name
        if named.count(queue.name) == 1
        else f"{queue.name} (queue {queue.number})"
        for queue in scheduler.queues
    )


def service_words(queue: Queue, scheduler: Scheduler) -> str:
    """When a queue is served and how much of the link is guaranteed to it."""
    words: list[str] = []
    if queue.priority:
        words.append("served first")
    if queue.share is not None:
        kind = "at most" if queue.priority and queue.capped and not scheduler.decoupled else "at least"
        words.append(
            f"{kind} {_share(queue.share)}" if queue.share.unit is not ShareUnit.WEIGHT else _share(queue.share)
        )
    if queue.priority and queue.share is not None and queue.capped:
        words.append(f"what exceeds that {_above_priority(queue, scheduler)}")
    if queue.level is not None:
        words.append(f"level {queue.level} among those within their shares")
    if not words and scheduler.discipline is not Discipline.FIFO and len(scheduler.queues) > 1:
        words.append("takes what the others leave")
    return ", ".join(words)


def _above_priority(queue: Queue, scheduler: Scheduler) -> str:
    if queue.shape_rate is not None:  # the shaper is told among the limits
        return "waits"
    return "has its share of what others leave" if scheduler.decoupled else "is dropped while the link is busy"


def limit_words(queue: Queue) -> tuple[str, ...]:
    """What bounds a queue: its length, thresholds, shaping and policing; not its early drops."""
    return tuple(_limits(queue))


def early_drop_words(red: Red) -> tuple[str, ...]:
    """Random early detection, one sentence a profile."""
    unit = "%" if red.unit == "percent" else red.unit
    marks = " (marked instead where both ends can: ECN)" if red.ecn else ""
    return tuple(
        f"{_profile(profile)}: from {profile.minimum} {unit} on average some are dropped{marks}, "
        f"1 in {profile.denominator} at {profile.maximum}, all above"
        for profile in red.profiles
    )


def rule_words(rule: Rule) -> tuple[str, str]:
    """Which packets a rule is about, and what happens to them."""
    matches = " or ".join(term_words(term) for term in rule.any_of) or "every packet"
    if rule.ipv4:
        matches += " (in IPv4)"
    if rule.none_of:
        matches += f", but not {' or '.join(term_words(term) for term in rule.none_of)}"
    return matches, "; ".join(_done(rule)) or "nothing"


def map_words(system: System, queue: int) -> tuple[str, ...]:
    """Which marks a switch sends through a queue, by its own maps."""
    words = []
    if cos := [mark for mark, to in enumerate(system.cos_to_queue or ()) if to == queue]:
        words.append(f"CoS {listed(cos)}")
    if dscp := [mark for mark, to in enumerate(system.dscp_to_queue or ()) if to == queue]:
        words.append(f"DSCP {_dscps(dscp)}")
    return tuple(words)


def term_words(term: Term) -> str:
    """One alternative of a classifier."""
    words: list[str] = []
    words += [f"DSCP {_dscps(term.dscp)}"] if term.dscp else []
    words += [f"CoS {listed(term.cos)}"] if term.cos else []
    words += [f"precedence {listed(term.precedence)}"] if term.precedence else []
    words += [term.application] if term.application else []
    words += [_PROTOCOLS.get(term.protocol, f"protocol {term.protocol}")] if term.protocol is not None else []
    words += [f"from {term.source}"] if term.source else []
    words += [f"to {term.destination}"] if term.destination else []
    words += [f"from port {_ports(term.source_ports)}"] if term.source_ports else []
    words += [f"to port {_ports(term.destination_ports)}"] if term.destination_ports else []
    words += [f"from MAC {term.source_mac}"] if term.source_mac else []
    words += [f"to MAC {term.destination_mac}"] if term.destination_mac else []
    words += [f"in at {term.input_interface}"] if term.input_interface else []
    words += [f"VLAN {listed(term.vlan)}"] if term.vlan else []
    words += [f"MPLS EXP {listed(term.mpls_experimental)}"] if term.mpls_experimental else []
    words += [f"QoS group {listed(term.qos_group)}"] if term.qos_group else []
    return " ".join(words) or "every packet"


def policer_words(police: Policer) -> str:
    """A policer: what passes, and what becomes of the rest."""
    peak = f", peaks of {format_rate(police.peak_rate)}" if police.peak_rate else ""
    excess = f" and {police.excess_burst} bytes more" if police.excess_burst else ""
    part = f" ({police.percent} % of the rate)" if police.percent is not None else ""
    words = [f"at most {format_rate(police.rate)}{part}{peak}, bursts of {police.burst} bytes{excess}"]
    if _acted(police.conform) != "sent":
        words.append(f"what keeps to it is {_acted(police.conform)}")
    words.append(f"what exceeds it is {_acted(police.exceed)}")
    if police.violate is not None:
        words.append(f"what is far above is {_acted(police.violate)}")
    return ", ".join(words)


def car_words(policer: InterfacePolicer) -> str:
    """A policer that stands before any policy."""
    if policer.any_of:
        about = " or ".join(term_words(term) for term in policer.any_of)
    else:
        about = f"access list {policer.access_list}" if policer.access_list else "every packet"
    return f"{about}: {policer_words(policer.police)}"


def trust_words(ingress: Ingress) -> str:
    """What becomes of the marks of packets that no rule names."""
    cos = f"; untagged packets get CoS {ingress.port_cos}" if ingress.port_cos else ""
    return _TRUST[ingress.trust] + cos


def sending_words(egress: Egress) -> tuple[str, ...]:
    """What bounds a port as a whole: shaping and the ring of the hardware."""
    words: list[str] = []
    if egress.shape_rate:
        burst = f", bursts of {egress.shape_burst} bytes" if egress.shape_burst else ""
        words.append(f"the port sends at most {format_rate(egress.shape_rate)}{burst}; what exceeds waits")
    if egress.transmit_ring is not None:
        words.append(f"the hardware takes {egress.transmit_ring} packets in advance")
    return tuple(words)


def efficiency_words(efficiency: Efficiency) -> tuple[str, ...]:
    """What makes a slow link carry voice: compressed headers, cut and interleaved packets."""
    words: list[str] = []
    words += ["compresses RTP headers"] if efficiency.header_compression else []
    words += ["bundles lines (multilink PPP)"] if efficiency.multilink else []
    if efficiency.fragment_bytes is not None or efficiency.fragment_delay_ms is not None:
        size = f" of {efficiency.fragment_bytes} bytes" if efficiency.fragment_bytes is not None else ""
        delay = f", {efficiency.fragment_delay_ms} ms each" if efficiency.fragment_delay_ms is not None else ""
        words.append(f"cuts long packets into fragments{size}{delay}")
    if efficiency.interleave:
        words.append("lets short packets pass between fragments" + (" by class" if efficiency.multiclass else ""))
    if efficiency.frame_relay_fragment is not None:
        words.append(f"cuts frames into {efficiency.frame_relay_fragment} bytes (FRF.12)")
    if efficiency.ip_mtu is not None:
        words.append(f"sends IP packets of at most {efficiency.ip_mtu} bytes")
    return tuple(words)


def _limits(queue: Queue) -> Iterator[str]:
    if queue.shape_weight:
        yield f"at most 1/{queue.shape_weight} of the link, evenly spaced"
    if queue.shape_rate:
        part = f" ({queue.shape_percent} % of the rate)" if queue.shape_percent is not None else ""
        bursts = f" in bursts of {queue.shape_burst_bits} bits" if queue.shape_burst_bits else ""
        bursts += f" and {queue.shape_excess_bits} more" if queue.shape_excess_bits else ""
        yield f"at most {format_rate(queue.shape_rate)}{part}{bursts}, what exceeds waits"
    elif queue.shape_percent is not None:
        yield f"at most {queue.shape_percent} % of the rate, what exceeds waits"
    if queue.burst:
        yield f"bursts of {queue.burst} bytes"
    if queue.police:
        yield policer_words(queue.police)
    if queue.fair:
        told = f" (so many as {queue.flows} of them)" if queue.flows else ""
        yield f"shared fairly between conversations{told}"
    for value, unit in ((queue.limit_packets, "packets"), (queue.limit_bytes, "bytes"), (queue.limit_ms, "ms")):
        if value is not None:
            yield f"holds up to {value} {unit}"
    if queue.buffer_percent is not None:
        yield f"{queue.buffer_percent} % of the port's buffer"
    for threshold in queue.thresholds:
        marks = [f"DSCP {_dscps(threshold.dscp)}"] if threshold.dscp else []
        marks += [f"CoS {listed(threshold.cos)}"] if threshold.cos else []
        yield f"{' and '.join(marks) or 'packets'} dropped once it is {threshold.percent} % full"


def _profile(profile: RedProfile) -> str:
    if profile.dscp:
        return f"DSCP {_dscps(profile.dscp)}"
    if profile.precedence:
        return f"precedence {listed(profile.precedence)}"
    return f"drop precedence {profile.colour}" if profile.colour else "all packets"


def _share(share: Share) -> str:
    return {
        ShareUnit.KBPS: f"{share.value} kb/s",
        ShareUnit.PERCENT: f"{share.value} % of the link",
        ShareUnit.REMAINING_PERCENT: f"{share.value} % of what priority leaves",
        ShareUnit.WEIGHT: f"weight {share.value}",
    }[share.unit]


def _done(rule: Rule) -> Iterator[str]:
    if rule.set_dscp is not None:
        yield f"marked DSCP {_dscps((rule.set_dscp,))}"
    if rule.set_precedence is not None:
        yield f"marked precedence {rule.set_precedence}"
    if rule.set_cos is not None:
        yield f"marked CoS {rule.set_cos}"
    if rule.set_drop_precedence is not None:
        yield f"drop precedence {rule.set_drop_precedence}"
    if rule.set_qos_group is not None:
        yield f"put into QoS group {rule.set_qos_group}"
    if rule.set_mpls_imposition is not None:
        yield f"labelled with EXP {rule.set_mpls_imposition}"
    if rule.set_mpls_topmost is not None:
        yield f"marked EXP {rule.set_mpls_topmost} in the topmost label"
    if rule.police is not None:
        yield policer_words(rule.police)
    if rule.queue is not None:
        yield f"sent through queue {rule.queue}"


def _acted(action: Action) -> str:
    if action.drop:
        return "dropped"
    if action.set_dscp is not None:
        return f"sent as DSCP {_dscps((action.set_dscp,))}"
    if action.set_precedence is not None:
        return f"sent with precedence {action.set_precedence}"
    if action.set_cos is not None:
        return f"sent with CoS {action.set_cos}"
    return "looked at by the next policer" if action.proceed else "sent"


def _ports(ranges: Sequence[PortRange]) -> str:
    return listed([str(r.first) if r.first == r.last else f"{r.first} to {r.last}" for r in ranges])


def listed(values: Sequence[object]) -> str:
    """Values with commas between them; of many the first ones, and how many more there are."""
    shown = ", ".join(str(value) for value in values[:_LISTED])
    return shown if len(values) <= _LISTED else f"{shown} and {len(values) - _LISTED} more"


def _dscps(values: Sequence[int]) -> str:
    return listed([dscp_label(value) for value in values])
