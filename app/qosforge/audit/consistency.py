"""Consistency of running plans: the ends of links, maps both ways, sides of policies, rates."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.audit.running_plans import ONE_QUEUE, RunningPlans
from qosforge.dscp import CONTROL_DSCP, dscp_label
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.inventory.models import Link, Port
from qosforge.note import note
from qosforge.plan.model import Discipline, Efficiency, Egress, InterfacePlan, Plan, Trust
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
                yield note("interface-missing", _at(port), name=wanted.name)
                continue
            yield from _sides(port, interface)
            yield from _rate(port, interface, wanted.usable)
    for link in running.network.links:
        yield from _ends(running, link)
        yield from one_sided(link, running.interface, audited=True)


def _at(port: Port, direction: str | None = None) -> Place:
    return Place(device=port[0], interface=port[1], direction=direction)


def _maps(running: RunningPlans, plan: Plan) -> Iterator[Finding]:
    """``maps-disagree``: a mark whose CoS becomes another mark. It matters where a port trusts the CoS."""
    to_dscp, to_cos = plan.system.cos_to_dscp, plan.system.dscp_to_cos
    if to_dscp is None or to_cos is None:
        return
    wrong = [dscp for dscp in running.travelling if to_dscp[to_cos[dscp]] != dscp]
    if wrong:
        rows = ", ".join(f"{dscp_label(d)} → CoS {to_cos[d]} → {dscp_label(to_dscp[to_cos[d]])}" for d in wrong)
        matters = any(interface.ingress.trust is Trust.COS for interface in plan.interfaces)
        yield note("maps-disagree", Place(device=plan.device), rows=rows, trusted=matters)


def _sides(port: Port, interface: InterfacePlan) -> Iterator[Finding]:
    """``policy-wrong-side``: a policy that does nothing on the side it is attached to."""
    rules, sent = interface.ingress.rules, interface.egress.dividing
    queues = sent.scheduler.queues if sent.scheduler else ()
    idle = not any(r.writes or r.police is not None or r.queue is not None for r in rules)
    if interface.ingress.policy and rules and idle:
        yield note("policy-wrong-side", _at(port, "input"), variant="input", policy=interface.ingress.policy)
    plain = all(q.share is None and not q.priority and q.red is None and not q.fair for q in queues)
    if interface.egress.policy and sent.rules and plain:
        yield note("policy-wrong-side", _at(port, "output"), variant="output", policy=interface.egress.policy)


def _rate(port: Port, interface: InterfacePlan, usable: int) -> Iterator[Finding]:
    """``bandwidth-differs``: a device that computes with another rate than the link's.

    Shares inside a port's shaper are parts of its rate, whatever the interface's bandwidth is.
    """
    kbps = usable // 1000
    shaper = _shaped_kbps(interface.egress)
    if shaper is not None:
        if shaper != kbps:
            yield note("bandwidth-differs", _at(port, "output"), variant="shaped", held=shaper, kbps=kbps)
        return
    held = interface.bandwidth_kbps
    if held is None or held == kbps or not (interface.egress.policy or interface.efficiency != Efficiency()):
        return
    yield note("bandwidth-differs", _at(port, "output"), variant="audited", held=held, kbps=kbps)


def _shaped_kbps(egress: Egress) -> int | None:
    """The rate of a shaper whose inside divides it among classes."""
    if egress.dividing is egress or egress.scheduler is None:
        return None
    rate = egress.shape_rate or egress.scheduler.queues[0].shape_rate
    return None if rate is None else round(rate / 1000)


def _ends(running: RunningPlans, link: Link) -> Iterator[Finding]:
    """``ends-treat-marks-differently``: a mark that is served first in one direction and not in the other.

    Of marks that both ends can send: one that every way to an end marks anew is not on the line. Information where
    the other end is a plain FIFO, which is what fast ports have unless told otherwise.
    """
    if running.interface(link.a) is None or running.interface(link.b) is None:
        return
    ends = (link.a, link.b)
    sent = [dscp for dscp in running.travelling if all(_may_leave(running, port, dscp) for port in ends)]
    first = [{dscp for dscp in sent if _served_first(running, port, dscp)} for port in ends]
    for port, other, marks in ((link.a, link.b, first[0] - first[1]), (link.b, link.a, first[1] - first[0])):
        if marks:
            names = ", ".join(dscp_label(dscp) for dscp in sorted(marks))
            beyond = running.scheduler(other)
            plain = beyond is not None and beyond.discipline is Discipline.FIFO
            yield note(
                "ends-treat-marks-differently",
                _at(port, "output"),
                marks=names,
                far=f"{other[0]} {other[1]}",
                plain=plain,
            )


def _may_leave(running: RunningPlans, port: Port, dscp: int) -> bool:
    """Whether a mark comes to a port whole by any way, or from the device itself, as network control does."""
    ways = () if dscp in CONTROL_DSCP else tuple(running.ways_to(port))
    came = (running.apply_input(hop.entry, running.arriving_packet(hop.entry, dscp)) for hop in ways)
    return not ways or any(packet.dscp == dscp for packet in came)


def _served_first(running: RunningPlans, port: Port, dscp: int) -> bool:
    """Whether a port sends a mark before unmarked traffic, given that it came in whole."""
    interface, scheduler = running.interface(port), running.scheduler(port)
    if interface is None or scheduler is None or scheduler.discipline in ONE_QUEUE:
        return False
    system = running.plans[port[0]].system
    strict = {queue.number for queue in scheduler.queues if queue.priority}
    if system.queue_on_input:
        ways = running.ways_to(port)
        came = ((hop, running.apply_input(hop.entry, running.arriving_packet(hop.entry, dscp))) for hop in ways)
        return any(packet.dscp == dscp and running.queue(hop, packet) in strict for hop, packet in came)
    packet = Packet(source="0.0.0.0", destination="0.0.0.0")  # noqa: S104 - nobody's address
    taken, plain = (
        queue_of(system, interface.egress.dividing, scheduler, marked(system, packet, mark, None))
        for mark in (dscp, 0)
    )
    return taken != plain and taken in strict
