"""Resolve an intent against a network: one device request for every box that is in scope."""

from __future__ import annotations

from collections.abc import Iterable

from app.findings import Finding, Severity
from app.intent.loader import LoadedIntent
from app.intent.models import RESERVED_CLASS, Intent, MatchTerm, Scope, TrafficClass, Treatment, fragment_bytes
from app.inventory.models import Device, Interface, Network, Role
from app.plan.request import ClassRequest, DeviceRequest, EfficiencyRequest, InterfaceRequest, Term
from app.units import format_rate, format_seconds

BOUNDARY_TAG = "lan"
"""Interfaces towards hosts: marks are set there; every other interface trusts what arrives."""


def resolve(loaded: LoadedIntent, network: Network) -> tuple[tuple[DeviceRequest, ...], tuple[Finding, ...]]:
    """Device requests in the inventory's order, with findings on the intent as a whole."""
    findings: list[Finding] = []
    requests = []
    for device in network.devices:
        interfaces = tuple(
            request
            for interface in device.interfaces
            if (request := _interface(loaded, device, interface, findings)) is not None
        )
        if interfaces:
            requests.append(_device(loaded, device, interfaces))
    if not requests:
        findings.append(
            Finding(
                code="scope-empty",
                severity=Severity.ERROR,
                message=f"no interface of network {network.name} is in the scope of {loaded.intent.intent}",
                file=loaded.document.file,
                line=loaded.document.place(("apply",)).line,
                mend="check the roles and tags under 'apply' against hosts.yaml",
            )
        )
    return tuple(requests), tuple(findings)


def _device(loaded: LoadedIntent, device: Device, interfaces: tuple[InterfaceRequest, ...]) -> DeviceRequest:
    return DeviceRequest(
        device=device.name,
        platform=device.platform,
        image=device.image,
        role=device.role,
        features=device.features,
        intent=loaded.intent.intent,
        tolerance=loaded.intent.tolerance,
        classes=tuple(_classes(loaded)),
        interfaces=interfaces,
        applications=dict(loaded.catalogue),
    )


def _classes(loaded: LoadedIntent) -> Iterable[ClassRequest]:
    default = TrafficClass(name=RESERVED_CLASS, treatment=Treatment())
    for entry in loaded.intent.classes:
        if entry.name == RESERVED_CLASS:
            default = entry
            continue
        yield ClassRequest(
            name=entry.name,
            line=loaded.class_line(entry.name),
            terms=tuple(_terms(entry.match.alternatives())) if entry.match else (),
            none_of=tuple(_terms(entry.match.none)) if entry.match else (),
            mark=entry.mark,
            treatment=entry.treatment,
        )
    yield ClassRequest(
        name=RESERVED_CLASS,
        line=loaded.class_line(RESERVED_CLASS),
        mark=default.mark,
        treatment=default.treatment,
    )


def _terms(alternatives: Iterable[MatchTerm]) -> Iterable[Term]:
    for term in alternatives:
        fields = {name: getattr(term, name) for name in Term.model_fields if name != "application"}
        for application in term.application or (None,):
            yield Term(application=application, **fields)


def _interface(
    loaded: LoadedIntent, device: Device, interface: Interface, findings: list[Finding]
) -> InterfaceRequest | None:
    mine: list[Scope] = [
        s for s in loaded.intent.apply if interface.role.value in s.role and interface.tags & set(s.interfaces)
    ]
    if not mine:
        return None
    inputs = [s for s in mine if s.direction == "input"]
    outputs = [s for s in mine if s.direction == "output"]
    boundary = BOUNDARY_TAG in interface.tags
    return InterfaceRequest(
        name=interface.name,
        rate=interface.rate,
        usable=interface.usable,
        framing=interface.encapsulation,
        tagged=interface.tagged,
        tags=interface.tags,
        recognise=bool(inputs) and boundary,
        trust=bool(inputs) and not boundary,
        schedule=bool(outputs),
        input_policy=next((s.policy for s in inputs if s.policy), None),
        output_policy=next((s.policy for s in outputs if s.policy), None),
        efficiency=_efficiency(loaded, device, interface, findings) if outputs and _routed(device) else None,
    )


def _routed(device: Device) -> bool:
    return device.role in (Role.EDGE, Role.MIDDLE)


def _efficiency(
    loaded: LoadedIntent, device: Device, interface: Interface, findings: list[Finding]
) -> EfficiencyRequest | None:
    intent: Intent = loaded.intent
    for position, rule in enumerate(intent.link_efficiency):
        line = loaded.document.place(("link_efficiency", position)).line
        blocking = rule.fragment.blocking_delay if rule.fragment else None
        if interface.usable >= rule.when.rate_below:
            full = 1500 * 8 / interface.usable
            findings.append(
                Finding(
                    code="efficiency-not-needed",
                    severity=Severity.INFO,
                    message=f"no fragmentation or header compression: {format_rate(interface.usable)} is not below "
                    f"{format_rate(rule.when.rate_below)}; a 1500-byte packet blocks it for {format_seconds(full)}",
                    device=device.name,
                    interface=interface.name,
                    direction="output",
                    file=loaded.document.file,
                    line=line,
                )
            )
            continue
        size = fragment_bytes(interface.usable, blocking) if blocking else None
        return EfficiencyRequest(
            header_compression=rule.header_compression == "rtp",
            fragment_bytes=size,
            blocking_delay=blocking,
            prefer=rule.prefer,
        )
    return None
