"""Percentages of a rate in policies: what they come to at one interface.

A policy stands for one content on a device, and is attached to interfaces of any rate. Percentages of its classes
are of the interface's rate; in a policy inside a class that is shaped they are of what that is shaped to.
"""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.memoise import memoise
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Policer, Queue, Rule

_LEAST_BURST = 1500
_USUAL_PART = 32
"""Of a rate in b/s: 250 ms in bytes."""


def default_burst(rate: int) -> int:
    """Bytes of a bucket that is given no size: 250 ms of its rate, a packet at least."""
    return max(_LEAST_BURST, rate // _USUAL_PART)


def resolved(interface: InterfacePlan, rate: int) -> InterfacePlan:
    """The interface with its percentages as those of ``rate`` (b/s); the same object where it has none."""
    ingress, egress = _ingress(interface.ingress, rate), resolved_output(interface.egress, rate)
    if ingress is interface.ingress and egress is interface.egress:
        return interface
    return interface.model_copy(update={"ingress": ingress, "egress": egress})


def percentage_rules(egress: Egress) -> Iterator[Rule]:
    """The rules of an output whose policers are percentages, those of policies inside its classes too."""
    if _relative(egress):
        yield from (r for r in egress.rules if r.police and r.police.percent is not None)
        for queue in egress.scheduler.queues if egress.scheduler else ():
            if queue.child is not None:
                yield from percentage_rules(queue.child)


def unresolved(egress: Egress) -> Egress:
    """An output whose shapers at a percentage have no rate: one content for interfaces of any rate."""
    if egress.scheduler is None or all(q.shape_percent is None for q in egress.scheduler.queues):
        return egress
    queues = tuple(
        q if q.shape_percent is None else q.model_copy(update={"shape_rate": None}) for q in egress.scheduler.queues
    )
    return egress.model_copy(update={"scheduler": egress.scheduler.model_copy(update={"queues": queues})})


@memoise
def _any_percentage(rules: tuple[Rule, ...]) -> bool:
    return any(r.police is not None and r.police.percent is not None for r in rules)


@memoise
def _relative(egress: Egress) -> bool:
    """Whether an output has a percentage anywhere: many interfaces have the same one."""
    queues = egress.scheduler.queues if egress.scheduler else ()
    return _any_percentage(egress.rules) or any(
        q.shape_percent is not None or (q.child is not None and _relative(q.child)) for q in queues
    )


def _ingress(ingress: Ingress, rate: int) -> Ingress:
    if not ingress.rules or not _any_percentage(ingress.rules):
        return ingress
    return ingress.model_copy(update={"rules": tuple(_rule(rule, rate) for rule in ingress.rules)})


def resolved_output(egress: Egress, rate: int) -> Egress:
    """An output with its percentages as those of ``rate`` (b/s); the same object where it has none."""
    if egress.scheduler is None or not _relative(egress):
        return egress
    queues = tuple(_queue(queue, rate) for queue in egress.scheduler.queues)
    return egress.model_copy(
        update={
            "rules": tuple(_rule(rule, rate) for rule in egress.rules),
            "scheduler": egress.scheduler.model_copy(update={"queues": queues}),
        }
    )


def with_rates(interface: InterfacePlan, rate: int) -> InterfacePlan:
    """The interface with rates of its shapers at a percentage, where the device states no rate that they are of."""
    scheduler = interface.egress.scheduler
    held = scheduler.queues if scheduler else ()
    inside = [q.child.scheduler.queues for q in held if q.child is not None and q.child.scheduler is not None]
    if any(q.shape_percent is not None and q.shape_rate is None for queues in (held, *inside) for q in queues):
        return resolved(interface, rate)
    return interface


def shaped_rate(queue: Queue, rate: float) -> int | None:
    """Bits per second that a queue is shaped to, where a percentage without a rate is of ``rate``."""
    if queue.shape_rate is None and queue.shape_percent is not None:
        return max(1, int(rate) * queue.shape_percent // 100)
    return queue.shape_rate


def _queue(queue: Queue, rate: int) -> Queue:
    values: dict[str, object] = {}
    if queue.shape_percent is not None:
        shaped = max(1, rate * queue.shape_percent // 100)
        values["shape_rate"] = shaped
        times = (("shape_burst_bits", queue.shape_burst_ms), ("shape_excess_bits", queue.shape_excess_ms))
        values |= {name: shaped * time // 1000 for name, time in times if time is not None}
        queue = queue.model_copy(update=values)
    if queue.child is None:
        return queue
    return queue.model_copy(update={"child": resolved_output(queue.child, queue.shape_rate or rate)})


def _rule(rule: Rule, rate: int) -> Rule:
    police = rule.police
    if police is None or police.percent is None:
        return rule
    return rule.model_copy(update={"police": _policer(police, rate)})


def _policer(police: Policer, rate: int) -> Policer:
    assert police.percent is not None
    committed = rate * police.percent // 100
    values: dict[str, int] = {"rate": committed, "burst": _burst(committed, police.burst_ms)}
    peak = None if police.peak_percent is None else rate * police.peak_percent // 100
    if peak is not None:
        values["peak_rate"] = peak
    if peak is not None or police.excess_burst_ms is not None:
        values["excess_burst"] = _burst(committed if peak is None else peak, police.excess_burst_ms)
    return police.model_copy(update=values)


def _burst(rate: int, time: int | None) -> int:
    return default_burst(rate) if time is None else max(1, rate * time // 8000)
