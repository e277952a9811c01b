"""All that is told of ports and devices, by what it is about: two readings differ where these do."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.dscp import dscp_label
from qosforge.plan.description import (
    car_words,
    discipline_words,
    early_drop_words,
    efficiency_words,
    limit_words,
    listed,
    queue_names,
    rule_words,
    sending_words,
    service_words,
    trust_words,
)
from qosforge.plan.model import CircuitPlan, Discipline, Egress, Ingress, InterfacePlan, Scheduler, System
from qosforge.units import format_rate


def port_facts(system: System, interface: InterfacePlan) -> dict[str, str]:
    """All that is told of a port, by what it is about; two readings of a port differ where these do."""
    facts = dict(_in_facts(interface.ingress))
    facts |= dict(_out_facts(interface.egress, interface.egress.scheduler or system.scheduler))
    facts |= {f"link efficiency: {words}": "on" for words in efficiency_words(interface.efficiency)}
    if interface.bandwidth_kbps is not None:
        facts["bandwidth that the device reckons with"] = f"{interface.bandwidth_kbps} kb/s"
    if interface.reservable_percent is not None:
        facts["part that classes may reserve"] = f"{interface.reservable_percent} %"
    if interface.groups:
        facts["tunnels of groups"] = "; ".join(f"{held.group}: {held.egress.policy}" for held in interface.groups)
    if interface.circuit is not None:
        facts["circuit"] = _circuit(interface.circuit)
    return facts


def system_facts(system: System) -> dict[str, str]:
    """All that is told of a device as a whole, by what it is about."""
    facts = dict(_scheduler_facts(system.scheduler, "")) if system.scheduler else {}
    for about, table, mark_words, value_words in (
        ("packets of CoS {} go to queue", system.cos_to_queue, str, str),
        ("packets of DSCP {} go to queue", system.dscp_to_queue, dscp_label, str),
        ("CoS {} stands for DSCP", system.cos_to_dscp, str, dscp_label),
        ("DSCP {} stands for CoS", system.dscp_to_cos, dscp_label, str),
        ("what a policer marks down from DSCP {} gets DSCP", system.policed_dscp, dscp_label, dscp_label),
    ):
        facts |= {about.format(mark_words(mark)): value_words(value) for mark, value in enumerate(table or ())}
    if system.dropped_first is not None:
        facts["dropped before others, DSCP"] = listed(system.dropped_first)
    if system.queue_set is not None:
        facts["queue set of the switch"] = str(system.queue_set)
    if system.queue_on_input is not None:
        facts["queues are chosen on input"] = "yes" if system.queue_on_input else "no"
    if system.untrusted_keeps_dscp:
        facts["inputs that trust no mark"] = "leave the DSCP as it is"
    if system.express_forwarding is not None:
        facts["express forwarding"] = "on" if system.express_forwarding else "off"
    if system.ipv6 is not None:
        facts["IPv6"] = "yes" if system.ipv6 else "no"
    if system.inside_tunnels:
        facts["tells what tunnels carry"] = ", ".join(system.inside_tunnels)
    if system.ietf_circuits:
        facts["circuits of the IETF encapsulation"] = ", ".join(system.ietf_circuits)
    if system.encrypting:
        facts["encrypts before it classifies"] = ", ".join(system.encrypting)
    if (queues := system.input_queues) is not None:
        facts["input queues, weights"] = listed(queues.weights)
        facts["input queues, parts of the buffer"] = f"{listed(queues.buffer_percent)} %"
        if queues.priority_queue is not None:
            facts["input queues, served first"] = f"queue {queues.priority_queue} up to {queues.priority_percent} %"
        for kind, percents in (("CoS", queues.cos_drop_percent), ("DSCP", queues.dscp_drop_percent)):
            facts |= {f"input queues, {kind} {m} dropped at": f"{p} %" for m, p in enumerate(percents) if p != 100}
    return facts


def _in_facts(ingress: Ingress) -> Iterator[tuple[str, str]]:
    yield "in, marks", trust_words(ingress)
    if ingress.policy:
        yield "in, policy", ingress.policy
    for rule in ingress.rules:
        matches, done = rule_words(rule)
        yield f"in, packets of {rule.name}", f"{matches}: {done}"
    for number, policer in enumerate(ingress.policers, 1):
        yield f"in, policer {number}", car_words(policer)


def _out_facts(egress: Egress, scheduler: Scheduler | None) -> Iterator[tuple[str, str]]:
    if egress.policy:
        yield "out, policy", egress.policy
    for rule in egress.rules:
        matches, done = rule_words(rule)
        yield f"out, packets of {rule.name}", f"{matches}: {done}"
    for number, policer in enumerate(egress.policers, 1):
        yield f"out, policer {number}", car_words(policer)
    for number, words in enumerate(sending_words(egress), 1):
        yield f"out, whole port {number}", words
    if scheduler is not None:
        yield from _scheduler_facts(scheduler, "out, ")


def _scheduler_facts(scheduler: Scheduler, about: str) -> Iterator[tuple[str, str]]:
    yield f"{about}scheduler", discipline_words(scheduler)
    names = queue_names(scheduler)
    if scheduler.discipline is Discipline.STRICT:
        yield f"{about}order of service", listed(names)
    for name, queue in zip(names, scheduler.queues, strict=True):
        yield f"{about}{name}", service_words(queue, scheduler) or "has no share of its own"
        if limits := limit_words(queue):
            yield f"{about}{name}, limits", "; ".join(limits)
        if queue.red:
            yield f"{about}{name}, early drop", "; ".join(early_drop_words(queue.red)) or "on"
        inside = queue.child.scheduler if queue.child else None
        if inside is not None:
            yield from _scheduler_facts(inside, f"{about}{name}, ")


def _circuit(circuit: CircuitPlan) -> str:
    name = f"DLCI {circuit.dlci}" if circuit.dlci is not None else f"ATM {circuit.vpi}/{circuit.vci}"
    rate = f", {format_rate(circuit.sustained)}" if circuit.sustained else ""
    return name + rate
