"""Compile: intent and network to plans, configuration and findings. Pure: the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.compiler.features import refusals, within
from app.compiler.resolve import resolve
from app.findings import Finding, Severity
from app.intent.loader import LoadedIntent
from app.inventory.models import Network
from app.plan.model import Plan
from app.plan.request import DeviceRequest
from app.platforms.base import Block, ClassFidelity, platform


@dataclass(frozen=True)
class CompiledDevice:
    """One device's plan and configuration."""

    request: DeviceRequest
    plan: Plan
    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...]
    fidelity: tuple[ClassFidelity, ...]
    classes: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the device."""
        return self.request.device

    @property
    def text(self) -> str:
        """The whole configuration."""
        return "!\n".join(block.text for block in self.blocks)


@dataclass(frozen=True)
class Compilation:
    """What an intent becomes on a network."""

    intent: LoadedIntent
    network: Network
    devices: tuple[CompiledDevice, ...]
    general: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: of the intent as a whole, then device by device."""
        return (*self.general, *(f for device in self.devices for f in device.findings))


def compile_intent(loaded: LoadedIntent, network: Network, running: Mapping[str, str] | None = None) -> Compilation:
    """Compile an intent for a network.

    ``running`` holds the running configurations that are known, by device: what a box states about itself (the
    bandwidth of an interface, the queue set it booted with) is checked against them.

    Raises:
        InputError: a device's platform is not installed.
    """
    requests, general = resolve(loaded, network)
    return Compilation(
        loaded, network, tuple(_device(loaded, r, (running or {}).get(r.device)) for r in requests), general
    )


def _device(loaded: LoadedIntent, request: DeviceRequest, running: str | None) -> CompiledDevice:
    box = platform(request.platform, request.device)
    held = box.parse(running, request.device, request.image) if running is not None else None
    refused = tuple(refusals(request, box.features))
    request = within(request, box.features)
    lowered = box.lower(request, held)
    unread = () if held is None else (*_missing(request, held), *_unread(held))
    located = tuple(_located(f, loaded) for f in (*refused, *lowered.findings, *unread))
    return CompiledDevice(
        request=request,
        plan=lowered.plan,
        blocks=box.blocks(lowered.plan, lowered, request),
        findings=located,
        fidelity=lowered.fidelity,
        classes=lowered.classes,
    )


def _missing(request: DeviceRequest, held: Plan) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            code="interface-missing",
            severity=Severity.ERROR,
            message=f"the box has no interface {wanted.name}",
            device=request.device,
            interface=wanted.name,
            mend="correct its name in the inventory",
        )
        for wanted in request.interfaces
        if held.interface(wanted.name) is None
    )


def _unread(held: Plan) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            code="line-not-understood",
            severity=Severity.WARNING,
            message=f"the running configuration has a line that is not understood: {line.text!r}",
            device=held.device,
            interface=line.context.removeprefix("interface ") if line.context.startswith("interface ") else None,
            mend="it is kept as it is; check that it does not work against the intent",
        )
        for line in held.unknown
    )


def _located(finding: Finding, loaded: LoadedIntent) -> Finding:
    if finding.file or finding.traffic_class is None:
        return finding
    line = loaded.class_line(finding.traffic_class)
    if line is None:
        return finding
    return finding.model_copy(update={"file": loaded.document.file, "line": line})
