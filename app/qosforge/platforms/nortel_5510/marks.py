"""The maps between 802.1p priority, DSCP and queue, and the marks that the device cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qosforge.dscp import dscp_label
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.model import System
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES, factory_dscp_to_cos
from qosforge.platforms.nortel_5510.priorities import dscps, set_dscps, stated_marks
from qosforge.platforms.nortel_5510.queues import Choice
from qosforge.platforms.recognition import dscp_of, untagged_cos


@dataclass(frozen=True)
class Maps:
    """The switch-wide maps; ``cos_of`` is the priority that a class has inside the device.

    ``unnamed`` are DSCPs that no class names, and whose priority as delivered is in another queue than the default
    class's: they get the default class's.
    """

    cos_of: Mapping[str, int]
    cos_to_dscp: tuple[int, ...]
    dscp_to_cos: tuple[int, ...]
    cos_to_queue: tuple[int, ...]
    unnamed: tuple[int, ...]


def maps(request: DeviceRequest, chosen: Choice) -> Maps:
    """The maps with the rows of the classes and of network control, on the factory's or the intent's ground."""
    # A class for which no priority is left goes with the default one, and is told.
    cos_of = {name: values[0] if values else 0 for name, values in chosen.cos_of.items()}
    classes = request.classes
    to_dscp = list(request.cos_to_dscp or CAPABILITIES.factory_cos_to_dscp.value)
    to_cos = list(factory_dscp_to_cos())
    for dscp in CAPABILITIES.control_dscps.value:
        to_cos[dscp] = _control_cos(chosen)
    # A mark belongs to the class that sets it, even if another one lists it too.
    for found in (dscps, set_dscps):
        for c in reversed(classes):
            for dscp in found(c):
                to_cos[dscp] = cos_of[c.name]
    for c in reversed(classes):
        mark = dscp_of(c)
        if mark is not None:
            to_dscp[cos_of[c.name]] = mark
    default = chosen.queue_of[classes[-1].name]
    to_queue = [default] * 8
    for cos in CAPABILITIES.control_cos.value:
        to_queue[cos] = chosen.control
    for c in reversed(classes):
        for cos in chosen.cos_of[c.name]:
            to_queue[cos] = chosen.queue_of[c.name]
    unnamed = tuple(d for d in _unnamed(request) if to_queue[to_cos[d]] != default)
    for dscp in unnamed:
        to_cos[dscp] = cos_of[classes[-1].name]
    return Maps(cos_of, tuple(to_dscp), tuple(to_cos), tuple(to_queue), unnamed)


def _unnamed(request: DeviceRequest) -> Iterator[int]:
    """DSCPs with a row as delivered that neither a class nor network control names, by itself or by its priority.

    None where no output is in scope: the queues are not the intent's then.
    """
    classes = request.classes
    if any(interface_request.schedule for interface_request in request.interfaces):
        named = {dscp for c in classes for dscp in dscps(c)} | set(CAPABILITIES.control_dscps.value)
        by_cos = {cos for c in classes if not dscps(c) for term in c.terms for cos in term.cos}
        for dscp, cos in sorted(CAPABILITIES.factory_dscp_to_cos.value.items()):
            if dscp not in named and cos not in by_cos:
                yield dscp


def _control_cos(chosen: Choice) -> int:
    """The priority of network control: one that no class has, or network control would go with that class."""
    usual = CAPABILITIES.control_dscps.cos
    taken = {cos for values in chosen.cos_of.values() for cos in values}
    return next((cos for cos in (usual, *CAPABILITIES.control_cos.value) if cos not in taken), usual)


@memoise
def egress_rows(classes: tuple[ClassRequest, ...], system: System) -> tuple[int, ...]:
    """DSCPs whose row of the egress map is stated.

    Those of classes and of network control, factory value or not, as the factory's are not published; and what is
    not the factory's.
    """
    rows = {d for c in classes for d in dscps(c)} | set(CAPABILITIES.control_dscps.value)
    factory = enumerate(factory_dscp_to_cos())
    changed = (dscp for dscp, cos in factory if (system.dscp_to_cos or ())[dscp] != cos)
    return tuple(sorted({*rows, *changed}))


@memoise
def ingress_rows(classes: tuple[ClassRequest, ...], system: System) -> tuple[int, ...]:
    """Priorities whose row of the ingress map is stated.

    Those of classes with a DSCP and the default one's, and what is not the factory's.
    """
    to_dscp, to_cos = system.cos_to_dscp or (), system.dscp_to_cos or ()
    default = stated_marks(classes)[classes[-1].name]
    changed = (cos for cos, dscp in enumerate(to_dscp) if dscp != CAPABILITIES.factory_cos_to_dscp.value[cos])
    return tuple(sorted({*default, *changed, *(to_cos[d] for c in classes for d in dscps(c))}))


@memoise
def high_drop(classes: tuple[ClassRequest, ...]) -> frozenset[int]:
    """DSCPs of classes that are dropped before others."""
    return frozenset(
        d for c in classes if c.mark and c.mark.drop_precedence in ("medium", "high") for d in dscps(c)
    )


def unnamed_findings(request: DeviceRequest, table: Maps) -> Iterator[Finding]:
    """That frames with DSCPs which no class names change their priority."""
    factory = factory_dscp_to_cos()
    delivered = {factory[dscp] for dscp in table.unnamed}
    owners = [c.name for c in request.classes if table.cos_of[c.name] in delivered]
    others = {table.cos_to_queue[cos] for cos in delivered} - {table.cos_to_queue[table.cos_of[n]] for n in owners}
    if table.unnamed:
        yield note(
            "unnamed-dscp",
            Place(device=request.device),
            requested=", ".join(f"{dscp_label(dscp)} as CoS {factory[dscp]}" for dscp in table.unnamed),
            applied=f"CoS {table.cos_of[request.classes[-1].name]}",
            classes=", ".join([*owners, *(["network control"] if others else [])]),
        )


def mark_findings(request: DeviceRequest, chosen: Choice) -> Iterator[Finding]:
    """Marks that the device cannot tell apart or would lose."""
    tagged = [i.name for i in request.interfaces if i.trust and i.tagged and i.trust_in in (None, "dscp")]
    if tagged:
        yield note("trust-partial", Place(device=request.device, interface=", ".join(tagged), direction="input"))
    for interface_request in request.interfaces:
        yield from untagged_cos(request, interface_request, "CoS 0 for every packet")
    seen: dict[int, ClassRequest] = {}
    for c in request.classes:
        if not chosen.cos_of[c.name]:
            yield note("cos-exhausted", class_place(request, c))
        for cos in chosen.cos_of[c.name]:
            other = seen.setdefault(cos, c)
            if other is not c and chosen.queue_of[other.name] != chosen.queue_of[c.name]:
                yield note("cos-shared", class_place(request, c), variant="by-cos", other=other.name, cos=cos)
        yield from _unmarked(request, c)


def _unmarked(request: DeviceRequest, c: ClassRequest) -> Iterator[Finding]:
    """A class without a DSCP of its own, where ports trust marks or clear them."""
    if c.is_default or dscp_of(c) is not None:
        return
    by_dscp = any(i.trust and i.trust_in in (None, "dscp") for i in request.interfaces)
    by_cos = any(i.trust_in == "cos" for i in request.interfaces)
    bare = [t for t in c.terms if not (t.dscp or t.precedence)]
    if (by_dscp and bare) or (by_cos and c.name not in stated_marks([c])):
        yield note("unmarked-class", class_place(request, c))
    if bare and any(i.recognise for i in request.interfaces):
        yield note("mark-reset", class_place(request, c))
