"""Derive stations from access ports, by the configurations and neighbours of switches."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Fleet
from qosforge.discovery.facts import DeviceFacts, Note, Topic
from qosforge.discovery.facts import PortFacts as FoundPort
from qosforge.discovery.readers import READERS
from qosforge.discovery.readers.problems import NotAnswered, UnknownPlatform
from qosforge.errors import QosforgeError
from qosforge.inventory.models import Device, Network, Port, Station
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import DeviceText

PLACEHOLDERS = ipaddress.ip_network("198.18.0.0/15")
"""Addresses that no host of the network has: those of benchmarks (RFC 2544, appendix C.2.2; RFC 6890)."""
_LONGEST_NAME = 63
_RUNNING = "show running-config"


@dataclass(frozen=True)
class AccessPort:
    """A port for end hosts: rate in bits per second, access VLAN where the device tells it."""

    port: Port
    rate: int
    vlan: int | None


@dataclass(frozen=True)
class DerivedStation:
    """A station that the inventory lacks, with the access VLAN of its port where the device tells it."""

    station: Station
    vlan: int | None


@dataclass(frozen=True)
class Derivation:
    """Stations against an inventory.

    ``added`` are at access ports without a station. ``changes`` says where a station that is there differs from
    its port. ``unread`` are devices that could not be asked.
    """

    added: tuple[DerivedStation, ...]
    changes: tuple[str, ...]
    access_ports: int
    notes: tuple[Note, ...]
    unread: tuple[str, ...]


def derive_stations(fleet: Fleet) -> Derivation:
    """Read the switches of the fleet's network by show commands alone, and derive a station for each access port.

    A device that cannot be read is a note, never an abort.
    """
    network = fleet.network
    notes: list[Note] = []
    switches = [device for device in network.devices if platform(device.platform, device.name).family.switches]
    readable = [device for device in switches if device.driver in READERS]
    for device in switches:
        if device.driver not in READERS:
            hint = f"describe its stations in links.yaml by hand; read are {', '.join(sorted(READERS))}"
            message = f"a device behind driver {device.driver!r} is not read"
            notes.append(Note(Topic.UNKNOWN_PLATFORM, device.name, device.driver, message, hint))
    outcomes = fleet.run(
        [device.name for device in readable],
        lambda name, driver: _facts(driver, network.device(name)),
    )
    ports: list[AccessPort] = []
    unread: list[str] = []
    for device in readable:
        outcome = outcomes[device.name]
        if isinstance(outcome.value, DeviceFacts):
            found, told = access_ports(network, device, outcome.value)
            ports += found
            notes += told
        else:
            unread.append(device.name)
            notes.append(outcome.value if outcome.value else _unreachable(device.name, outcome.error))
    added = tuple(_added(network, ports, notes))
    return Derivation(added, tuple(_changes(network, ports, unread)), len(ports), tuple(notes), tuple(unread))


def access_ports(
    network: Network, device: Device, facts: DeviceFacts
) -> tuple[tuple[AccessPort, ...], tuple[Note, ...]]:
    """The access ports of a switch: up, switched, without tags, in no link aggregation and without another device.

    Ports with another device are those with a link in the inventory, and those on which a device is heard.
    """
    known = {interface.name: interface for interface in device.interfaces}
    heard = {one.port for one in facts.neighbours if not one.station}
    found: list[AccessPort] = []
    notes = [replace(note, device=device.name) for note in facts.notes]
    for port in facts.ports:
        end = (device.name, port.name)
        if port.tagged or port.routed or port.lag is not None or network.neighbour(end) is not None:
            continue
        if port.name in heard:
            hint = "describe the link in links.yaml, or the station if it is one"
            notes.append(Note(Topic.LEFT_OUT, device.name, port.name, "a device is heard on it: no station", hint))
        elif port.name not in known:
            hint = "give it to hosts.yaml (qosforge network discover --add), then derive again"
            message = f"hosts.yaml has no port {port.name!r}: no station"
            notes.append(Note(Topic.LEFT_OUT, device.name, port.name, message, hint))
        elif known[port.name].tagged:
            hint = "make hosts.yaml and the device agree"
            message = f"hosts.yaml says that {port.name} is tagged, and the device does not: no station"
            notes.append(Note(Topic.LEFT_OUT, device.name, port.name, message, hint))
        else:
            found.append(AccessPort(end, port.rate, _access_vlan(port)))
    return tuple(found), tuple(notes)


def station_name(port: Port) -> str:
    """The name of the station at a port: device and port, such as ``sw1-GigabitEthernet0-1``."""
    text = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{port[0]}-{port[1]}")
    return text[:_LONGEST_NAME]


def _access_vlan(port: FoundPort) -> int | None:
    data = [vlan for vlan in port.vlans if vlan != port.voice_vlan]
    return data[0] if len(data) == 1 else None


def _facts(driver: DeviceDriver, device: Device) -> DeviceFacts | Note:
    """What a device tells; a note where its answers are not those of its driver's command line."""
    answers: list[DeviceText] = []

    def ask(command: str) -> str:
        # Its secrets are known from then on, whatever quotes the answer.
        answers.append(driver.get_config("running") if command == _RUNNING else driver.cli([command])[command])
        return answers[-1].unmasked

    def shown(words: str) -> str:
        return answers[-1].saying(words).in_message() if answers else words

    try:
        facts = READERS[device.driver](ask)
    except (UnknownPlatform, NotAnswered, ValueError, LookupError, TypeError) as error:
        hint = "is it the platform and driver that hosts.yaml names?"
        return Note(
            Topic.NOT_UNDERSTOOD, device.name, shown(str(error)), "its answers cannot be read: no stations", hint
        )
    return replace(facts, notes=tuple(_mask_note(note, shown) for note in facts.notes))


def _mask_note(note: Note, mask: Callable[[str], str]) -> Note:
    return replace(note, line=mask(note.line), message=mask(note.message), hint=mask(note.hint))


def _unreachable(device: str, error: QosforgeError | None) -> Note:
    message = f"cannot be read: {error.message}" if error else "cannot be read"
    hint = (error.hint if error else "") or "check the address, the credentials and the host key"
    return Note(Topic.UNREACHABLE, device, "", message, hint)


def _added(network: Network, ports: list[AccessPort], notes: list[Note]) -> Iterator[DerivedStation]:
    at = {station.attach for station in network.stations}
    names = {station.name for station in network.stations}
    free = _free_addresses(network)
    for access in ports:
        if access.port in at:
            continue
        name = station_name(access.port)
        if name in names:
            hint = "give this port's station a name of its own in links.yaml"
            message = f"another station is called {name}: none is derived for {access.port[1]}"
            notes.append(Note(Topic.SAME_NAME, access.port[0], access.port[1], message, hint))
            continue
        names.add(name)
        station = Station(name=name, address=next(free), attach=access.port, rate=access.rate)
        yield DerivedStation(station, access.vlan)


def _free_addresses(network: Network) -> Iterator[str]:
    used = {station.address for station in network.stations}
    return (str(address) for address in PLACEHOLDERS.hosts() if str(address) not in used)


def _changes(network: Network, ports: list[AccessPort], unread: list[str]) -> Iterator[str]:
    """How stations that are there differ from what their switches say; routers' stations are not looked at."""
    found: Mapping[Port, AccessPort] = {access.port: access for access in ports}
    for station in network.stations:
        device = network.device(station.attach[0])
        if not platform(device.platform, device.name).family.switches or device.name in unread:
            continue
        where = " ".join(station.attach)
        access = found.get(station.attach)
        if access is None:
            yield f"gone     station {station.name}: {where} is no access port that is up"
        elif access.rate != station.rate:
            yield f"changed  station {station.name}: {where} has {access.rate} b/s, links.yaml {station.rate} b/s"
