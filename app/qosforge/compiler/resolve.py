"""Resolve an intent against a network: one device request for every device that is in scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qosforge.compiler.remarks import MarkClaim, claims, remaining_marks, remark_findings
from qosforge.compiler.scope_findings import agree_on, find_unknown_names, find_unrecognised, require_few_selections
from qosforge.compiler.scope_resolution import in_scope, rule_concerns, rule_fits_framing
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.fragments import fragment_size
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import (
    RESERVED_CLASS,
    VOICE_VLAN,
    LinkEfficiencyRule,
    MatchTerm,
    PortShape,
    TrafficClass,
    every_class,
)
from qosforge.intent.ports import merge_ports
from qosforge.intent.yaml_source import Path_
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.request import ClassRequest, DeviceRequest, EfficiencyRequest, InterfaceRequest, TermRequest
from qosforge.units import format_rate, format_seconds

BOUNDARY_TAG = "lan"
"""Interfaces towards hosts: marks are set there; every other interface trusts what arrives."""


def resolve(loaded: LoadedIntent, network: Network) -> tuple[tuple[DeviceRequest, ...], tuple[Finding, ...]]:
    """Device requests in the inventory's order, with findings on the intent as a whole.

    Raises:
        InputError: its scopes select too much on this network.
    """
    require_few_selections(loaded, network)
    findings: list[Finding] = [*find_unknown_names(loaded, network), *remark_findings(loaded)]
    requests = []
    for device in network.devices:
        interfaces = tuple(
            request
            for interface in device.interfaces
            if (request := _interface(loaded, device, interface, findings)) is not None
        )
        if interfaces:
            requests.append(_device(loaded, device, interfaces, findings))
    if not requests:
        findings.append(
            note(
                "scope-empty",
                Place(file=loaded.document.file, line=loaded.document.place(("apply",)).line),
                network=network.name,
                policy=loaded.intent.intent,
            )
        )
    else:
        findings.extend(find_unrecognised(loaded, requests, network))
    return tuple(requests), tuple(findings)


@memoise
def _alike(loaded: LoadedIntent, voice: tuple[int, ...]) -> DeviceRequest:
    """What of the requests of an intent is the same on all devices with these voice VLANs."""
    return DeviceRequest(
        device="",
        platform="",
        image="",
        role=DeviceRole.CORE,
        intent=loaded.intent.intent,
        tolerance=loaded.intent.tolerance,
        classes=_classes(loaded, loaded.intent.classes, voice, tuple(claims(loaded.intent.classes))),
        interfaces=(),
        applications=dict(loaded.catalogue),
        cos_to_dscp=loaded.intent.cos_to_dscp,
    )


def _device(
    loaded: LoadedIntent,
    device: Device,
    interfaces: tuple[InterfaceRequest, ...],
    findings: list[Finding],
) -> DeviceRequest:
    voice = tuple(dict.fromkeys(i.voice_vlan for i in device.interfaces if i.voice_vlan is not None))
    if not voice and any(_names_voice(c) for c in every_class(loaded.intent.classes)):
        findings.append(_no_voice_vlan(loaded, device))
    return _alike(loaded, voice).model_copy(
        update={
            "device": device.name,
            "platform": device.platform,
            "image": device.image,
            "role": device.role,
            "features": device.features,
            "interfaces": interfaces,
        }
    )


def _names_voice(entry: TrafficClass) -> bool:
    match = entry.match
    return match is not None and any(VOICE_VLAN in t.vlan for t in (*match.any, *match.all, *match.none))


def _no_voice_vlan(loaded: LoadedIntent, device: Device) -> Finding:
    named = next(c for c in every_class(loaded.intent.classes) if _names_voice(c))
    where = loaded.class_place(named.name)
    return note(
        "voice-vlan-missing",
        Place(
            device=device.name,
            traffic_class=named.name,
            file=where.file if where else None,
            line=where.line if where else None,
        ),
    )


def _classes(
    loaded: LoadedIntent,
    classes: Sequence[TrafficClass],
    voice: tuple[int, ...],
    claimed: Sequence[MarkClaim],
    base: Path_ = ("classes",),
) -> tuple[ClassRequest, ...]:
    """The classes of one level, which stands at ``base``, ``default`` last, with what they are divided into."""
    written = [(entry, (*base, at)) for at, entry in enumerate(classes)]
    named = [(entry, path) for entry, path in written if entry.name != RESERVED_CLASS]
    rest = [(entry, path) for entry, path in written if entry.name == RESERVED_CLASS]
    return tuple(
        ClassRequest(
            name=entry.name,
            line=loaded.document.place(path).line if path else None,
            terms=tuple(_terms(entry.match.alternatives(), voice)) if entry.match else (),
            none_of=tuple(_terms(entry.match.none, voice)) if entry.match else (),
            mark=None if entry.mark is None or entry.mark.keep else entry.mark,
            keep_mark=entry.mark is not None and entry.mark.keep,
            treatment=entry.treatment.model_copy(update={"children": ()}),
            remarked=remaining_marks(entry.treatment.police, path, claimed).dscps,
            remarked_precedences=remaining_marks(entry.treatment.police, path, claimed).precedences,
            children=_classes(loaded, entry.treatment.children, voice, claimed, (*path, "treatment", "children"))
            if entry.treatment.children
            else (),
        )
        for entry, path in (*named, *(rest or [(TrafficClass(name=RESERVED_CLASS), ())]))
    )


def _terms(alternatives: Iterable[MatchTerm], voice: tuple[int, ...]) -> Iterable[TermRequest]:
    for term in alternatives:
        fields = {name: getattr(term, name) for name in TermRequest.model_fields if name != "application"}
        fields |= {side: merge_ports(getattr(term, side)) for side in ("source_port", "destination_port")}
        if VOICE_VLAN in term.vlan:
            fields["vlan"] = tuple(dict.fromkeys((*(v for v in term.vlan if v != VOICE_VLAN), *voice)))
            if not fields["vlan"]:
                continue  # told as voice-vlan-missing
        for application in term.application or (None,):
            yield TermRequest(application=application, **fields)


def _interface(
    loaded: LoadedIntent, device: Device, interface: Interface, findings: list[Finding]
) -> InterfaceRequest | None:
    mine = [s for s in loaded.intent.apply if in_scope(s, device, interface)]
    if not mine:
        return None
    inputs = [s for s in mine if s.direction == "input"]
    outputs = [s for s in mine if s.direction == "output"]
    said: dict[str, object] = {}
    for side, scopes in (("input", inputs), ("output", outputs)):
        for field in ("policy", "trust", "shape"):
            said[f"{side} {field}"], told = agree_on(loaded, device, interface, scopes, field)
            findings.extend(told)
    trusted = said["input trust"]
    requires_phone = any(s.requires_phone for s in inputs)
    recognised = BOUNDARY_TAG in interface.tags and trusted is None
    if requires_phone and not recognised and trusted is None:
        trusted = "phone"  # nothing is recognised here: the phone's marks are trusted
    shape = said["output shape"]
    shaped = shape.rate_of(interface.usable) if isinstance(shape, PortShape) else None
    if shaped is not None and shaped >= interface.usable:
        findings.append(
            note(
                "port-shape-not-needed",
                Place(device=device.name, interface=interface.name, direction="output"),
                requested=f"shaped to {format_rate(shaped)}",
                applied=f"{format_rate(interface.usable)}",
            )
        )
    return InterfaceRequest.model_validate(
        {
            "name": interface.name,
            "rate": interface.rate,
            "usable": interface.usable if shaped is None else min(interface.usable, shaped),
            "framing": interface.encapsulation,
            "tagged": interface.tagged,
            "voice_vlan": interface.voice_vlan is not None,
            "recognise": bool(inputs) and recognised,
            "requires_phone": recognised and requires_phone,
            "trust": bool(inputs) and not recognised,
            "trust_in": trusted,
            "schedule": bool(outputs),
            "by_mark": any(s.recognise_by == "mark" for s in outputs),
            "shape": _port_shape(interface, shaped) if outputs else None,
            "shaping": shape if isinstance(shape, PortShape) and outputs else None,
            # Nobody asked for what the contract alone makes useful.
            "shape_prefer": shape.prefer if isinstance(shape, PortShape) else True,
            "below_rate": bool(outputs) and interface.usable < interface.rate,
            "member": interface.member,
            "tunnels": tuple(dict.fromkeys(name for s in outputs for name in s.tunnels)),
            "lag": interface.lag,
            "circuit": interface.circuit,
            "input_policy": said["input policy"],
            "output_policy": said["output policy"],
            "efficiency": _efficiency(loaded, device, interface, findings) if outputs else None,
        }
    )


def _port_shape(interface: Interface, requested: int | None) -> int | None:
    """The rate that a port is shaped to: the one asked for, else the contract where it is below the port's own
    rate (without it the queue that the policy serves builds up behind the device, where nobody serves it)."""
    if requested is not None and requested < interface.usable:
        return requested
    return interface.usable if interface.usable < interface.rate else None


def _efficiency(
    loaded: LoadedIntent, device: Device, interface: Interface, findings: list[Finding]
) -> EfficiencyRequest | None:
    """What the first rule that concerns an interface wants; where none does, a router's link is said to be fast."""
    fast: list[Finding] = []
    for position, rule in enumerate(loaded.intent.link_efficiency):
        where = loaded.document.place(("link_efficiency", position))
        if rule_concerns(rule, interface):
            return _wanted_efficiency(rule, interface)
        if (
            rule.when.rate_below is not None
            and interface.usable >= rule.when.rate_below
            and rule_fits_framing(rule, interface)
        ):
            full = 1500 * 8 / interface.usable
            fast.append(
                note(
                    "efficiency-not-needed",
                    Place(
                        device=device.name,
                        interface=interface.name,
                        direction="output",
                        file=where.file,
                        line=where.line,
                    ),
                    applied=f"{format_rate(interface.usable)}, {format_seconds(full)} for 1500 bytes",
                    rate_below=format_rate(rule.when.rate_below),
                )
            )
    if device.role in (DeviceRole.EDGE, DeviceRole.MIDDLE):
        findings.extend(fast)
    return None


def _wanted_efficiency(rule: LinkEfficiencyRule, interface: Interface) -> EfficiencyRequest:
    fragment, ring = rule.fragment, rule.transmit_ring
    size = blocking = None
    if fragment is not None:
        blocking = fragment.blocking
        size = fragment_size(interface.usable, fragment).bytes
    return EfficiencyRequest(
        header_compression=rule.header_compression == "rtp",
        fragment_bytes=size,
        blocking_delay=blocking if size is None or blocking else size * 8 / interface.usable,
        methods=fragment.by if fragment else (),
        transmit_ring=ring.packets if ring else None,
        transmit_ring_prefer=ring.prefer if ring else True,
        prefer=rule.prefer,
    )
