"""Where marks are lost: the hop and the direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.audit.running_plans import RunningPlans
from qosforge.dscp import dscp_label
from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.inventory.models import Port
from qosforge.note import note
from qosforge.plan.model import Trust
from qosforge.validation.packets import Packet, matches
from qosforge.validation.paths import hops


@dataclass(frozen=True)
class MarkPath:
    """The path of a mark between two stations, both named in the inventory's traffic.

    ``unread`` are devices on the way of which no configuration is known. ``arrives`` is the DSCP at the far end,
    None where that depends on them; ``lost_at`` the input where it first became another.
    """

    source: str
    target: str
    dscp: int
    arrives: int | None
    lost_at: Port | None
    unread: tuple[str, ...] = ()


def mark_paths(running: RunningPlans) -> tuple[MarkPath, ...]:
    """The path of every mark between the stations of the traffic scenarios, in both directions."""
    pairs = {pair for scenario in running.network.traffic for a, b in scenario.between for pair in ((a, b), (b, a))}
    return tuple(way for source, target in sorted(pairs) for way in _mark_paths(running, source, target))


def _mark_paths(running: RunningPlans, source: str, target: str) -> Iterator[MarkPath]:
    try:
        path = hops(running.network, source, target)
        ends = running.network.station(source).address, running.network.station(target).address
    except (KeyError, ValueError):
        return  # the inventory names stations that no links connect: no packet has a way
    unread = tuple(dict.fromkeys(hop.entry[0] for hop in path if hop.entry[0] not in running.plans))
    for dscp in running.marks:
        packet, lost = Packet(source=ends[0], destination=ends[1], dscp=dscp), None
        for hop in path:
            before = packet.dscp
            packet = running.apply_input(hop.entry, packet)
            if lost is None and before == dscp != packet.dscp:
                lost = hop.entry
        arrives = None if unread else packet.dscp
        yield MarkPath(source, target, dscp, arrives, lost if packet.dscp != dscp else None, unread)


def change_text(way: MarkPath) -> str:
    """A mark that became another, and which one where that is known."""
    return dscp_label(way.dscp) if way.arrives is None else f"{dscp_label(way.dscp)} → {dscp_label(way.arrives)}"


_VARIANTS = {
    (True, False): DEFAULT,
    (False, False): "unknown-sender",
    (True, True): "dscp-kept",
    (False, True): "dscp-kept-of-unknown-sender",
}
"""How an input inside the network is told: by whether its sender is known, and whether the DSCP stays."""


def check_marks(running: RunningPlans) -> Iterator[Finding]:
    """``mark-rewritten`` and ``mark-not-trusted`` at inputs, ``mark-not-served`` at outputs."""
    for device in running.plans:
        for port in running.connected(device):
            yield from _inputs(running, port)
        yield from _outputs(running, device)
        yield from _labels(running, device)


def _inputs(running: RunningPlans, port: Port) -> Iterator[Finding]:
    """What an input makes of marks that come to it."""
    interface = running.interface(port)
    if interface is None:
        return
    changed: dict[tuple[bool, bool], list[str]] = {}
    for dscp in running.marks if running.faces_station(port) else running.travelling:
        packet = running.arriving_packet(port, dscp)
        after = running.apply_input(port, packet)
        # Where an input leaves a DSCP that it does not trust, queues go by a CoS that does not stand for it.
        to_cos = running.plans[port[0]].system.dscp_to_cos
        unread = interface.ingress.trust is Trust.NONE and to_cos is not None and after.cos != to_cos[dscp]
        if after.dscp != dscp or unread:
            kept = after.dscp == dscp
            told = (
                f"{dscp_label(dscp)} by CoS {after.cos}"
                if kept
                else f"{dscp_label(dscp)} → {dscp_label(after.dscp)}"
            )
            by_rule = any(matches(term, packet) for rule in interface.ingress.rules for term in rule.any_of)
            changed.setdefault((by_rule, kept), []).append(told)
    end = running.far(port)
    for (by_rule, kept), marks in changed.items():
        cause = f"policy {interface.ingress.policy}" if by_rule else f"trust {interface.ingress.trust.value}"
        if running.faces_station(port):
            yield note(
                "mark-not-trusted",
                Place(device=port[0], interface=port[1], direction="input"),
                variant="dscp-kept" if kept else DEFAULT,
                cause=cause,
                marks=", ".join(marks),
            )
        else:
            facts = {"sender": f"{end[1][0]} {end[1][1]}"} if end else {}
            yield note(
                "mark-rewritten",
                Place(device=port[0], interface=port[1], direction="input"),
                variant=_VARIANTS[end is not None, kept],
                cause=cause,
                marks=", ".join(marks),
                by_rule=by_rule,
                **facts,
            )


def _labels(running: RunningPlans, device: str) -> Iterator[Finding]:
    """``labels-not-followed``: what is done by the labels of packets, which no path here shows."""
    for interface in running.plans[device].interfaces:
        for direction, rules in (("input", interface.ingress.rules), ("output", interface.egress.dividing.rules)):
            names = [r.name for r in rules if any(t.mpls_experimental for t in (*r.any_of, *r.none_of))]
            if names:
                place = Place(device=device, interface=interface.name, direction=direction)
                yield note("labels-not-followed", place, classes=", ".join(names))


def _outputs(running: RunningPlans, device: str) -> Iterator[Finding]:
    """Outputs whose queues tell packets apart, where a mark that came in whole takes the queue of the unmarked."""
    missed: dict[Port, dict[str, list[str]]] = {}
    for hop in running.hops(device):
        plain = running.queue(hop, running.apply_input(hop.entry, running.arriving_packet(hop.entry, 0)))
        if plain is None:
            continue
        marks = []
        for dscp in running.travelling:
            packet = running.apply_input(hop.entry, running.arriving_packet(hop.entry, dscp))
            if packet.dscp == dscp and running.queue(hop, packet) == plain:
                marks.append(dscp_label(dscp))
        if marks:
            missed.setdefault(hop.exit, {}).setdefault(", ".join(marks), []).append(hop.entry[1])
    for port, entries in missed.items():
        rows = "; ".join(f"{marks} from {', '.join(names)}" for marks, names in entries.items())
        yield note(
            "mark-not-served",
            Place(device=port[0], interface=port[1], direction="output"),
            rows=rows,
        )
