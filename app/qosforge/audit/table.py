"""The running QoS configuration as rows of text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from qosforge.audit.audit import Audit
from qosforge.dscp import dscp_label
from qosforge.inventory.port_ranges import range_names
from qosforge.plan.model import (
    DROP,
    TRANSMIT,
    Action,
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Policer,
    Queue,
    Scheduler,
    ShareUnit,
    System,
    Trust,
)
from qosforge.units import format_rate

HEADINGS = ("device", "interface", "trust", "input", "output", "queues", "efficiency")
NOTHING = "–"
_UNITS = {
    ShareUnit.KBPS: " kb/s",
    ShareUnit.PERCENT: " %",
    ShareUnit.REMAINING_PERCENT: " % of the rest",
    ShareUnit.WEIGHT: "",
}


def joined_rows(audit: Audit) -> Iterator[tuple[str, ...]]:
    """The rows, with ports of a device that are alike and stand together in one."""
    for (device, *cells), alike in groupby(rows(audit), lambda row: (row[0], *row[2:])):
        for name in range_names(row[1] for row in alike):
            yield device, name, *cells


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
    return (
        _trust(interface.ingress),
        _input(interface.ingress),
        _output(interface.egress, scheduler),
        _queues(scheduler),
        _efficiency(interface.efficiency),
    )


def _trust(ingress: Ingress) -> str:
    cos = f", CoS {ingress.port_cos}" if ingress.port_cos else ""
    return (NOTHING if ingress.trust is Trust.KEEP else ingress.trust.value) + cos


def _input(ingress: Ingress) -> str:
    marks = [
        f"{rule.name} → {dscp_label(rule.set_dscp)}" if rule.set_dscp is not None else rule.name
        for rule in ingress.rules
    ]
    policed = [f"{rule.name} {_police(rule.police)}" for rule in ingress.rules if rule.police]
    words = [ingress.policy + (f" ({', '.join(marks)})" if marks else "")] if ingress.policy else []
    return "; ".join((*words, *policed, *_policers(ingress.policers))) or NOTHING


def _output(egress: Egress, scheduler: Scheduler | None) -> str:
    words = [egress.policy or (scheduler.discipline.value if scheduler else NOTHING)]
    words += [f"port at {format_rate(egress.shape_rate)}"] if egress.shape_rate else []
    words += [f"ring of {egress.transmit_ring}"] if egress.transmit_ring is not None else []
    words += [f"{rule.name} {_police(rule.police)}" for rule in egress.rules if rule.police]
    return "; ".join((*words, *_policers(egress.policers)))


def _policers(policers: tuple[InterfacePolicer, ...]) -> Iterator[str]:
    """Policers before any policy (CAR), by the number of their access list."""
    for held in policers:
        yield f"{f'list {held.access_list}' if held.access_list else 'all'} {_police(held.police)}"


def _police(police: Policer) -> str:
    """A policer in few words: its rate, and what it does where that is not to send or to drop."""
    actions = [f"conforms → {_mark(police.conform)}"] if police.conform != TRANSMIT else []
    actions += [f"exceeds → {_mark(police.exceed)}"] if police.exceed != DROP else []
    peak = f" to {format_rate(police.peak_rate)}" if police.peak_rate else ""
    return f"at {format_rate(police.rate)}{peak}" + (f" ({', '.join(actions)})" if actions else "")


def _mark(action: Action) -> str:
    if action.drop:
        return "dropped"
    if action.set_dscp is not None:
        return dscp_label(action.set_dscp)
    if action.set_precedence is not None:
        return f"precedence {action.set_precedence}"
    if action.set_cos is not None:
        return f"CoS {action.set_cos}"
    return "the next policer" if action.proceed else "sent"


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
    if queue.shape_rate or queue.shape_percent is not None:
        words.append(f"at most {format_rate(queue.shape_rate) if queue.shape_rate else f'{queue.shape_percent} %'}")
    words += [f"level {queue.level}"] if queue.level is not None else []
    words += [("WRED with ECN" if queue.red.ecn else "WRED")] if queue.red else []
    words += [f"tail drop at {'/'.join(str(t.percent) for t in queue.thresholds)} %"] if queue.thresholds else []
    words += [f"{queue.buffer_percent} % of the buffers"] if queue.thresholds and queue.buffer_percent else []
    child = queue.child.scheduler if queue.child else None
    words += [f"({', '.join(_queue(below) for below in child.queues)})"] if child else []
    return " ".join(words)


def _efficiency(efficiency: Efficiency) -> str:
    words = ["cRTP"] if efficiency.header_compression else []
    if efficiency.fragment_bytes is not None:
        words.append(f"fragments of {efficiency.fragment_bytes} bytes")
    words += ["interleaved"] if efficiency.interleave else []
    words += [f"ip mtu {efficiency.ip_mtu}"] if efficiency.ip_mtu else []
    return ", ".join(words) or NOTHING
