"""What is configured, as rows of text."""

from __future__ import annotations

from app.audit.audit import Audit
from app.dscp import dscp_name
from app.plan.model import (
    Discipline,
    Efficiency,
    Ingress,
    InterfacePlan,
    Queue,
    Scheduler,
    ShareUnit,
    System,
    Trust,
)

HEADINGS = ("device", "interface", "trust", "input", "output", "queues", "efficiency")
NOTHING = "–"
_UNITS = {
    ShareUnit.KBPS: " kb/s",
    ShareUnit.PERCENT: " %",
    ShareUnit.REMAINING_PERCENT: " % of the rest",
    ShareUnit.WEIGHT: "",
}


def rows(audit: Audit) -> tuple[tuple[str, ...], ...]:
    """One row for each interface of the inventory that was read, in the order of `HEADINGS`."""
    found = []
    for device in audit.network.devices:
        plan = audit.plans.get(device.name)
        for wanted in device.interfaces:
            interface = plan.interface(wanted.name) if plan else None
            if plan is not None and interface is not None:
                found.append((device.name, wanted.name, *_cells(plan.system, interface)))
    return tuple(found)


def _cells(system: System, interface: InterfacePlan) -> tuple[str, ...]:
    scheduler = interface.egress.scheduler or system.scheduler
    egress = interface.egress.policy or (scheduler.discipline.value if scheduler else NOTHING)
    return (
        _trust(interface.ingress),
        _input(interface.ingress),
        egress,
        _queues(scheduler),
        _efficiency(interface.efficiency),
    )


def _trust(ingress: Ingress) -> str:
    cos = f", CoS {ingress.port_cos}" if ingress.port_cos else ""
    return (NOTHING if ingress.trust is Trust.KEEP else ingress.trust.value) + cos


def _input(ingress: Ingress) -> str:
    if not ingress.policy:
        return NOTHING
    marks = [
        f"{rule.name} → {dscp_name(rule.set_dscp)}" if rule.set_dscp is not None else rule.name
        for rule in ingress.rules
    ]
    return ingress.policy + (f" ({', '.join(marks)})" if marks else "")


def _queues(scheduler: Scheduler | None) -> str:
    if scheduler is None or not scheduler.queues:
        return NOTHING
    if scheduler.discipline is Discipline.STRICT:
        return " before ".join(queue.name or f"q{queue.number}" for queue in scheduler.queues)
    limit = f"; port at most {scheduler.limit_percent} %" if scheduler.limit_percent is not None else ""
    return ", ".join(_queue(queue) for queue in scheduler.queues) + limit


def _queue(queue: Queue) -> str:
    words = [queue.name or f"q{queue.number}"]
    words += ["first"] if queue.priority else []
    words += [f"{queue.share.value}{_UNITS[queue.share.unit]}"] if queue.share else []
    words += [f"at most 1/{queue.shape_weight}"] if queue.shape_weight else []
    words += ["WRED"] if queue.red else []
    return " ".join(words)


def _efficiency(efficiency: Efficiency) -> str:
    words = ["cRTP"] if efficiency.header_compression else []
    if efficiency.fragment_bytes is not None:
        words.append(f"fragments of {efficiency.fragment_bytes} bytes")
    words += ["interleaved"] if efficiency.interleave else []
    words += [f"ip mtu {efficiency.ip_mtu}"] if efficiency.ip_mtu else []
    return ", ".join(words) or NOTHING
