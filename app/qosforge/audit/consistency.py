"""Consistency of running plans: the ends of links, maps both ways, sides of policies, rates."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.audit.running_plans import ONE_QUEUE, RunningPlans
from qosforge.dscp import dscp_name
from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Link, Port
from qosforge.plan.model import Discipline, Efficiency, InterfacePlan, Plan, Trust
from qosforge.validation.links import one_sided
from qosforge.validation.packets import Packet, marked, queue_of


def check_consistency(running: RunningPlans) -> Iterator[Finding]:
    """Findings of every check of this module, device by device and then link by link."""
    for device in running.network.devices:
        plan = running.plans.get(device.name)
        if plan is None:
            continue
        yield from _maps(running, plan)
        for wanted in device.interfaces:
            port = (device.name, wanted.name)
            interface = running.interface(port)
            if interface is None:
                yield _at(
                    port,
                    "interface-missing",
                    Severity.ERROR,
                    "the device has no interface of this name",
                    "correct the name in the inventory",
                )
                continue
            yield from _sides(port, interface)
            yield from _rate(port, interface, wanted.usable)
    for link in running.network.links:
        yield from _ends(running, link)
        yield from one_sided(link, running.interface, "set it at both ends or at neither")


def _at(
    port: Port, code: str, severity: Severity, message: str, hint: str, *, direction: str | None = None
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=message,
        device=port[0],
        interface=port[1],
        direction=direction,
        hint=hint,
    )


def _maps(running: RunningPlans, plan: Plan) -> Iterator[Finding]:
    """``maps-disagree``: a mark whose CoS becomes another mark. It matters where a port trusts the CoS."""
    to_dscp, to_cos = plan.system.cos_to_dscp, plan.system.dscp_to_cos
    if to_dscp is None or to_cos is None:
        return
    wrong = [dscp for dscp in running.travelling if to_dscp[to_cos[dscp]] != dscp]
    if wrong:
        rows = ", ".join(f"{dscp_name(d)} → CoS {to_cos[d]} → {dscp_name(to_dscp[to_cos[d]])}" for d in wrong)
        matters = any(interface.ingress.trust is Trust.COS for interface in plan.interfaces)
        yield Finding(
            code="maps-disagree",
            severity=Severity.WARNING if matters else Severity.INFO,
            message=f"the maps between CoS and DSCP do not agree both ways: {rows}",
            device=plan.device,
            hint="map the CoS of each mark back to that mark, or trust the DSCP everywhere",
        )


def _sides(port: Port, interface: InterfacePlan) -> Iterator[Finding]:
    """``policy-wrong-side``: a policy that does nothing on the side it is attached to."""
    rules, queues = interface.ingress.rules, interface.egress.scheduler.queues if interface.egress.scheduler else ()
    idle = all(r.set_dscp is None and r.set_cos is None and r.police is None and r.queue is None for r in rules)
    if interface.ingress.policy and rules and idle:
        message = f"policy {interface.ingress.policy} neither marks, polices nor chooses a queue on input"
        yield _at(
            port,
            "policy-wrong-side",
            Severity.WARNING,
            message,
            "attach it to the output of the link it is meant for",
            direction="input",
        )
    plain = all(q.share is None and not q.priority and q.red is None and not q.fair for q in queues)
    if interface.egress.policy and interface.egress.rules and plain:
        message = f"no class of policy {interface.egress.policy} has a queue of its own worth on output"
        yield _at(
            port,
            "policy-wrong-side",
            Severity.WARNING,
            message,
            "mark on the input where the traffic enters, and schedule on output",
            direction="output",
        )


def _rate(port: Port, interface: InterfacePlan, usable: int) -> Iterator[Finding]:
    """``bandwidth-differs``: a device that computes with another rate than the link's."""
    kbps = usable // 1000
    held = interface.bandwidth_kbps
    if held is None or held == kbps or not (interface.egress.policy or interface.efficiency != Efficiency()):
        return
    message = f"the interface's bandwidth is {held} kb/s and the link's rate {kbps} kb/s: every share is wrong"
    yield _at(
        port,
        "bandwidth-differs",
        Severity.ERROR,
        message,
        f"set 'bandwidth {kbps}' on the interface, or correct the rate in the inventory",
        direction="output",
    )


def _ends(running: RunningPlans, link: Link) -> Iterator[Finding]:
    """``ends-treat-marks-differently``: a mark that is served first in one direction and not in the other.

    Information where the other end is a plain FIFO, which is what fast ports have unless told otherwise.
    """
    if running.interface(link.a) is None or running.interface(link.b) is None:
        return
    first = [
        {dscp for dscp in running.travelling if _served_first(running, port, dscp)} for port in (link.a, link.b)
    ]
    for port, other, marks in ((link.a, link.b, first[0] - first[1]), (link.b, link.a, first[1] - first[0])):
        if marks:
            names = ", ".join(dscp_name(dscp) for dscp in sorted(marks))
            beyond = running.scheduler(other)
            plain = beyond is not None and beyond.discipline is Discipline.FIFO
            yield _at(
                port,
                "ends-treat-marks-differently",
                Severity.INFO if plain else Severity.WARNING,
                f"{names} served first here, and not at the other end of the link, {other[0]} {other[1]}",
                "serve the same marks alike in both directions",
                direction="output",
            )


def _served_first(running: RunningPlans, port: Port, dscp: int) -> bool:
    """Whether a port sends a mark before unmarked traffic, given that it came in whole."""
    interface, scheduler = running.interface(port), running.scheduler(port)
    if interface is None or scheduler is None or scheduler.discipline in ONE_QUEUE:
        return False
    system = running.plans[port[0]].system
    packet = Packet(source="0.0.0.0", destination="0.0.0.0")  # noqa: S104 - nobody's address
    taken, plain = (
        queue_of(system, interface.egress, scheduler, marked(system, packet, mark, None)) for mark in (dscp, 0)
    )
    return taken != plain and any(queue.priority for queue in scheduler.queues if queue.number == taken)
