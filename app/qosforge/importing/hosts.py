"""The part of an inventory that an imported intent needs to compile: devices with the interfaces in its scopes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from qosforge.configtree import ConfigLine
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.importing.catch_all import with_default
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.importing.to_intent import rate
from qosforge.inventory.models import Circuit, Device, Framing, Interface, Network
from qosforge.note import note
from qosforge.plan.model import InterfacePlan
from qosforge.platforms.base import platform

BOUNDARY = "lan"
"""Tag of interfaces where classes are recognised."""
_RATES = (
    ("TenGigabitEthernet", 10 * 10**9),
    ("GigabitEthernet", 10**9),
    ("FastEthernet", 10**8),
    ("Ethernet", 10**7),
    ("ATM", 155_520_000),
    ("Serial", 1_544_000),
)
"""Rates of interfaces by their names, in bits per second."""
_OTHER = 10**9
_FRAMINGS = {"ppp": Framing.PPP, "hdlc": Framing.HDLC, "frame-relay": Framing.FRAME_RELAY}


@dataclass(frozen=True)
class PortSettings:
    """What the text says of an interface beside QoS."""

    framing: Framing | None = None
    speed: int | None = None
    tagged: bool = False
    voice_vlan: int | None = None
    vlans: tuple[int, ...] = ()


@dataclass(frozen=True)
class Host:
    """A device of the inventory, with findings on what had to be assumed."""

    device: Device
    findings: tuple[Finding, ...] = field(default=())


def host(
    configuration: RunningConfiguration, image: str, ports: Collection[str], boundary: Collection[str]
) -> Host:
    """The device of a configuration with these interfaces; those of ``boundary`` recognise classes."""
    said = _ports(configuration)
    findings: list[Finding] = []
    interfaces = []
    for plan in configuration.plan.interfaces:
        if plan.name in ports:
            known = said.get(plan.name, PortSettings())
            try:
                interfaces.append(_interface(configuration, plan, known, plan.name in boundary, findings))
            except ValidationError as error:
                findings.append(_port_refusal(configuration, plan, error))
    if len(configuration.images) > 1:
        findings.append(
            note(
                "import-assumed",
                Place(device=configuration.device, file=configuration.file),
                applied=image,
                variant="image",
            )
        )
    return Host(
        Device(
            name=configuration.device,
            platform=configuration.platform,
            image=image,
            role=configuration.family.role,
            features=frozenset(configuration.plan.schedulers),
            driver=configuration.family.driver,
            interfaces=tuple(interfaces),
        ),
        tuple(findings),
    )


def _port_refusal(configuration: RunningConfiguration, plan: InterfacePlan, error: ValidationError) -> Finding:
    """An interface that an inventory cannot hold."""
    return note(
        "import-not-expressed",
        Place(device=configuration.device, interface=plan.name, file=configuration.file),
        variant="interface",
        reason=error.errors()[0]["msg"],
    )


def _interface(
    configuration: RunningConfiguration,
    plan: InterfacePlan,
    settings: PortSettings,
    boundary: bool,
    findings: list[Finding],
) -> Interface:
    stated = None if plan.bandwidth_kbps is None else plan.bandwidth_kbps * 1000
    speed = stated or settings.speed
    line = next((value for family, value in _RATES if plan.name.startswith(family)), _OTHER)
    contracted, shaped = None, _shaped(plan)
    if stated is not None and shaped is not None and stated <= shaped < line:
        # A port that is shaped to the rate it states, or above, has a contract below what its line carries.
        speed, contracted = line, shaped
    held = None if configuration.family.switches else plan.egress.shape_rate
    if held is not None and speed is None:
        # A router that holds its whole port at a rate has that of the link; what the port itself has is not said.
        line = max(line, held)
        contracted = held if held < line else None
    if speed is None:
        speed = line
        findings.append(
            note(
                "import-assumed",
                Place(device=configuration.device, interface=plan.name, file=configuration.file),
                applied=rate(speed),
                variant="rate",
            )
        )
    return Interface(
        name=plan.name,
        rate=speed,
        contracted=contracted,
        role=configuration.family.role,
        tags=frozenset({BOUNDARY} if boundary else ()),
        encapsulation=_framing(plan, settings),
        tagged=settings.tagged,
        vlans=settings.vlans,
        voice_vlan=settings.voice_vlan,
        circuit=_circuit(plan),
    )


def _shaped(plan: InterfacePlan) -> int | None:
    """The rate in bits per second that a policy shapes a whole port to."""
    scheduler = with_default(plan.egress).scheduler
    queues = scheduler.queues if scheduler else ()
    return queues[0].shape_rate if len(queues) == 1 and queues[0].share is None else None


def _circuit(plan: InterfacePlan) -> Circuit | None:
    circuit = plan.circuit
    if circuit is None or (circuit.dlci is None and circuit.vci is None):
        return None
    return (
        Circuit(dlci=circuit.dlci) if circuit.dlci is not None else Circuit(vpi=circuit.vpi or 0, vci=circuit.vci)
    )


def _framing(plan: InterfacePlan, settings: PortSettings) -> Framing:
    if (circuit := _circuit(plan)) is not None:
        return Framing.ATM if circuit.vci is not None else Framing.FRAME_RELAY
    if plan.efficiency.multilink or plan.name.startswith("Multilink"):
        return Framing.MLPPP
    if settings.framing is not None and settings.framing is not Framing.FRAME_RELAY:
        return settings.framing
    return Framing.HDLC if plan.name.startswith("Serial") else Framing.ETHERNET


def _ports(configuration: RunningConfiguration) -> Mapping[str, PortSettings]:
    tree = platform(configuration.platform).grammar.parse(configuration.text)
    found: dict[str, PortSettings] = {}
    for line in tree:
        if (match := re.fullmatch(r"interface (\S+(?: \d\S*)?)(?: point-to-point)?", line.text)) is not None:
            found[match[1]] = _port(line.children)
    return found


def _port(lines: Iterable[ConfigLine]) -> PortSettings:
    values: dict[str, Any] = {}
    for line in lines:
        match line.text.split():
            case ["encapsulation", name, *_] if name in _FRAMINGS:
                values["framing"] = _FRAMINGS[name]
            case ["speed", "10" | "100" | "1000" as speed]:
                values["speed"] = int(speed) * 10**6
            case ["switchport", "mode", "trunk"]:
                values["tagged"] = True
            case ["switchport", "voice", "vlan", number] if number.isdecimal() and 1 <= int(number) <= 4094:
                values["voice_vlan"] = int(number)
            case ["switchport", "access", "vlan", number] if number.isdecimal() and 1 <= int(number) <= 4094:
                values["vlans"] = (int(number),)
    return PortSettings(**values)


def network(name: str, hosts: Iterable[Host]) -> Network:
    """The devices as a network without links."""
    return Network(name=name, devices=tuple(entry.device for entry in hosts), links=(), stations=())


def host_entry(device: Device) -> dict[str, Any]:
    """A device as ``hosts.yaml`` holds it."""
    return {
        "platform": device.platform,
        "data": {
            "role": device.role.value,
            "image": device.image,
            **({"features": sorted(device.features)} if device.features else {}),
            "driver": device.driver,
            "interfaces": {entry.name: dict(_interface_entry(entry)) for entry in device.interfaces},
        },
    }


def _interface_entry(entry: Interface) -> Iterator[tuple[str, Any]]:
    yield "rate", rate(entry.rate)
    if entry.contracted is not None:
        yield "contracted", rate(entry.contracted)
    if entry.tags:
        yield "tags", sorted(entry.tags)
    if entry.encapsulation is not Framing.ETHERNET:
        yield "encapsulation", entry.encapsulation.value
    if entry.circuit is not None:
        yield "circuit", entry.circuit.model_dump(exclude_none=True)
    if entry.tagged:
        yield "tagged", True
    if entry.vlans:
        yield "vlans", list(entry.vlans)
    if entry.voice_vlan is not None:
        yield "voice_vlan", entry.voice_vlan
