"""Check what FTOS cannot hold of a request, before a device is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from qosforge.dscp import dscp_label
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Plan, Rule
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.terms import disjoint
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, dscp_to_queue, has_layer2
from qosforge.platforms.force10_e300.class_marks import effective_mark, marks, priorities
from qosforge.platforms.force10_e300.mark_queues import written_mark
from qosforge.platforms.force10_e300.matching import cam_entries, expressible, layer2, match_refusals
from qosforge.platforms.recognition import dscp_of, untagged_cos


def match_findings(
    request: DeviceRequest, queue_of: Mapping[str, int], rules: Sequence[Rule], called: Mapping[str, str]
) -> Iterator[Finding]:
    """Alternatives that are left out, classes that the device looks at in another order, and the room they need.

    ``rules`` are those of a host port in the device's order, ``called`` tells the class of each by its name.
    """
    yield from match_refusals(request)
    place = {called[rule.name]: at for at, rule in enumerate(rules)}

    def share_packets(one: str, other: str) -> bool:
        return not disjoint(rules[place[one]].any_of, rules[place[other]].any_of)

    earlier: list[ClassRequest] = []
    for c in request.classes:
        mine = place.get(c.name)
        if c.is_default or mine is None:
            continue
        turned = [e.name for e in earlier if place[e.name] > mine and queue_of[e.name] != queue_of[c.name]]
        before = [name for name in turned if share_packets(name, c.name)]
        if before:
            yield note(
                "match-order-differs",
                class_place(request, c, direction="input"),
                requested=f"after {', '.join(before)}",
                applied=f"before {', '.join(before)}",
            )
        earlier.append(c)
    if any(i.recognise for i in request.interfaces):
        yield note(
            "cam-use", Place(device=request.device, direction="input"), applied=f"{cam_entries(rules)} CAM entries"
        )


def mark_findings(request: DeviceRequest, queue_of: Mapping[str, int]) -> Iterator[Finding]:
    """Marks that a policy of the classes' layer does not write, or writes otherwise."""
    by_ethernet = layer2(request)
    if not by_ethernet and any(i.recognise for i in request.interfaces):
        yield from _rewritten(request, queue_of)
    if by_ethernet:
        ports = [i.name for i in request.interfaces if i.recognise]
        lost = [f"{c.name} DSCP {dscp_label(dscp_of(c) or 0)}" for c in request.classes if dscp_of(c) is not None]
        kept, other = "DSCP", "CoS"
    else:
        ports = [i.name for i in request.interfaces if i.tagged and i.schedule]
        marked = [(c.name, c.mark.cos) for c in request.classes if c.mark and c.mark.cos is not None]
        lost = [f"{name} CoS {cos}" for name, cos in marked]
        kept, other = "CoS", "DSCP"
    # What inputs mark leaves by tagged ports that are in no scope, too.
    if lost and (ports or any(i.recognise for i in request.interfaces)):
        yield note(
            "dscp-not-written" if by_ethernet else "cos-not-written",
            Place(
                device=request.device,
                interface=", ".join(ports) or None,
                direction="input" if by_ethernet else "output",
            ),
            requested=", ".join(lost),
            applied=f"{other} marked, {kept} unchanged",
            other=other,
        )
    for c in request.classes:
        if c.mark and c.mark.precedence is not None and any(i.recognise for i in request.interfaces):
            yield note(
                "precedence-carried-as-dscp",
                class_place(request, c, direction="input"),
                requested=f"precedence {c.mark.precedence}",
                applied=f"DSCP {dscp_label(8 * c.mark.precedence)}",
            )


def _rewritten(request: DeviceRequest, queue_of: Mapping[str, int]) -> Iterator[Finding]:
    """Marks that leave as others, as the queue of the class is not theirs."""
    for c in request.classes:
        group = [other for other in request.classes if queue_of[other.name] == queue_of[c.name]]
        mark, leaving = effective_mark(c), written_mark(group, queue_of[c.name])
        if mark is not None and leaving is not None and leaving != mark:
            queue = dscp_to_queue()[mark]
            with_queue = [n for n, number in queue_of.items() if number == queue]
            yield note(
                "mark-needs-queue",
                class_place(request, c, direction="input"),
                requested=f"DSCP {dscp_label(mark)}",
                applied=f"DSCP {dscp_label(leaving)}",
                mark=dscp_label(mark),
                queue=queue,
                owner=", ".join(with_queue) or "no class",
                own=queue_of[c.name],
            )


def trust_findings(request: DeviceRequest, running: Plan | None, *, by_map: bool) -> Iterator[Finding]:
    """A CoS that no port can trust, ports of layer-2 policies that are not known to be of layer 2, and classes that
    carry nothing by which a port could tell them."""
    trusting = [i for i in request.interfaces if i.trust and i.trust_in != "none"]
    by_cos = [i.name for i in trusting if i.trust_in == "cos"]
    if has_layer2(request.image):
        for interface_request in trusting:
            yield from untagged_cos(request, interface_request, "CoS 0 for every packet")
    else:
        for name in by_cos:
            yield note(
                "trust-unsupported",
                Place(device=request.device, interface=name, direction="input"),
                requested="trust cos",
                applied="trust dscp",
                variant="no-layer2",
                image=request.image,
                since=CAPABILITIES.layer2_since.value,
            )
        by_cos = []
    ports = [i.name for i in request.interfaces if layer2(request) and (i.recognise or i.trust)] or by_cos
    ports = [name for name in ports if not (running and name in running.switched)]
    if ports:
        yield note(
            "layer2-policy",
            Place(device=request.device, interface=", ".join(ports), direction="input"),
            variant="not-switched" if running else "unknown",
        )
    for c in request.classes:
        if c.is_default:
            continue
        bare = not by_map and not layer2(request) and not marks(c) and not expressible(request, c)
        if (by_cos and not priorities(c)) or (bare and len(trusting) > len(by_cos)):
            yield _unmarked(request, c)


def _unmarked(request: DeviceRequest, class_request: ClassRequest) -> Finding:
    """A class that trusting ports cannot tell; newer releases could, where it has anything of layer 2."""
    place = class_place(request, class_request, direction="input")
    ethernet = any({"vlan", "source_mac", "destination_mac"} & set(t.set_fields) for t in class_request.terms)
    if has_layer2(request.image) or not (ethernet or priorities(class_request)):
        return note("unmarked-class", place)
    since = CAPABILITIES.layer2_since.value
    return note("unmarked-class", place, variant="no-layer2", image=request.image, since=since)


def device_findings(request: DeviceRequest, strict: int | None, running: Plan | None) -> Iterator[Finding]:
    """What the device holds already and the request does not mention, and what holds for all of it."""
    scheduler = running.system.scheduler if running else None
    queue = next((q.number for q in scheduler.queues if q.priority), None) if scheduler else None
    if strict is None and queue is not None:
        yield note(
            "strict-queue-held",
            Place(device=request.device, direction="output"),
            requested="no strict queue",
            applied=f"queue {queue} strict",
            queue=queue,
        )
    if strict is not None:
        yield note("scheduler-device-wide", Place(device=request.device), variant="strict", queue=strict)
    for interface_request in request.interfaces:
        port = running.interface(interface_request.name) if running else None
        if port is None or not (
            interface_request.recognise or interface_request.trust or interface_request.schedule
        ):
            continue
        way_in, way_out = port.ingress, port.egress
        held = ["rate police"] * bool(way_in.policers) + ["rate limit"] * bool(way_out.policers)
        held += ["rate shape"] * (way_out.shape_rate is not None)
        held += ["dot1p-priority"] * (way_in.policy is None and bool(way_in.rules))
        if held:
            yield note(
                "policy-in-the-way",
                Place(device=request.device, interface=interface_request.name),
                requested="policies",
                applied="refused by the device",
                variant="port-based",
                held=", ".join(held),
                removal="; ".join(f"enter 'no {what}' on the port" for what in held),
            )
