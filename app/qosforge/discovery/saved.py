"""A network from saved configurations: their devices and ports, and links by the subnets that two of them share."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from qosforge.discovery.assemble import assemble
from qosforge.discovery.crawler import Crawl, Visit
from qosforge.discovery.facts import DeviceFacts, Neighbour, Note, PortFacts, Topic
from qosforge.discovery.model import Discovery
from qosforge.discovery.readers.saved_interfaces import SavedInterfaces
from qosforge.errors import InputError, Place
from qosforge.importing.hosts import Host, host
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.platforms.base import platform

_LARGEST_LINK = 29
"""Prefix length of the largest subnet that is taken for a link: a larger one may be a LAN of many."""

_SUBNET = "subnet"
_SPEAKS = frozenset({_SUBNET})

Subnet = ipaddress.IPv4Network


@dataclass(frozen=True)
class _Saved:
    """A configuration, with what its lines say of its interfaces."""

    configuration: RunningConfiguration

    @cached_property
    def interfaces(self) -> SavedInterfaces:
        grammar = platform(self.configuration.platform).grammar
        return SavedInterfaces(grammar.parse(self.configuration.text))

    @cached_property
    def host(self) -> Host:
        """The device with its ports; those that are shut down are left out."""
        names = (one.name for one in self.configuration.plan.interfaces)
        ports = [name for name in names if self.interfaces.is_port(name)]
        return host(self.configuration, self.configuration.images[0], ports, ())


def discover_saved(configurations: Sequence[RunningConfiguration], notes: Iterable[Note] = ()) -> Discovery:
    """The network of saved configurations; nothing is contacted. ``notes`` are of files that were left out.

    Two ports in one subnet of at most six addresses are taken for the ends of a link. A device is looked for at a
    loopback's address, else at that of a VLAN interface, else at any of its own, else by its name.

    Raises:
        InputError: two configurations are of one device.
    """
    saved: dict[str, _Saved] = {}
    for one in configurations:
        if one.device in saved:
            message = (
                f"there is another configuration of {one.device}, beside {saved[one.device].configuration.file}"
            )
            raise InputError(message, Place(file=one.file), "give the newest alone")
        saved[one.device] = _Saved(one)
    ends = _link_ends(saved)
    visits = tuple(_visit(entry, ends) for entry in saved.values())
    return assemble(Crawl(visits, tuple(notes)))


def _visit(saved: _Saved, ends: Mapping[Subnet, list[tuple[str, str, str]]]) -> Visit:
    configuration = saved.configuration
    heard: list[tuple[Neighbour, str | None]] = []
    for found in ends.values():
        for (name, port, _), (far, far_port, far_address) in (found, found[::-1]):
            if name == configuration.device:
                heard.append((Neighbour(_SUBNET, port, far_port, far), far_address))
    own = [str(address.ip) for _, address in saved.interfaces.addresses]
    where = own[0] if own else configuration.device
    facts = DeviceFacts(
        hostname=configuration.device,
        platform=configuration.platform,
        image=configuration.images[0],
        driver=configuration.family.driver,
        names=frozenset({configuration.device}),
        addresses=frozenset(own),
        ports=tuple(_ports(saved)),
        neighbours=tuple(neighbour for neighbour, _ in heard),
        speaks=_SPEAKS,
        notes=tuple(_notes(saved, where)),
    )
    return Visit([where, *own[1:]], facts, heard)


def _ports(saved: _Saved) -> Iterator[PortFacts]:
    for entry in saved.host.device.interfaces:
        yield PortFacts(
            name=entry.name,
            rate=entry.contracted or entry.rate,
            framing=entry.encapsulation,
            tagged=entry.tagged or saved.interfaces.is_tagged(entry.name),
            vlans=entry.vlans,
            voice_vlan=entry.voice_vlan,
            lag=saved.interfaces.lag(entry.name),
            circuit=entry.circuit,
        )


def _notes(saved: _Saved, where: str) -> Iterator[Note]:
    name, configuration = saved.configuration.device, saved.configuration
    if len(configuration.images) > 1:
        message = f"the configuration does not state the image: {configuration.images[0]} is assumed"
        yield Note(Topic.ASSUMED, name, "image", message, "correct it in hosts.yaml")
    yield Note(
        Topic.ASSUMED,
        name,
        "hostname",
        f"{where} is taken for the address at which it is reached",
        "correct it in hosts.yaml before a device is read",
    )
    findings = [one for one in saved.host.findings if one.code == "import-assumed"]
    if assumed := [one.interface for one in findings if one.interface]:
        message = f"the rates of {len(assumed)} ports are those of their kind"
        hint = "correct them in hosts.yaml where lines are slower"
        yield Note(Topic.ASSUMED, name, ", ".join(assumed[:4]), message, hint)


def _link_ends(saved: Mapping[str, _Saved]) -> dict[Subnet, list[tuple[str, str, str]]]:
    """By subnet the two ports in it, each with its device and address."""
    found: dict[Subnet, list[tuple[str, str, str]]] = {}
    for name, entry in saved.items():
        ports = {one.name for one in entry.host.device.interfaces}
        for interface, address in entry.interfaces.addresses:
            if address.network.prefixlen >= _LARGEST_LINK and (port := entry.interfaces.port(interface)) in ports:
                found.setdefault(address.network, []).append((name, port, str(address.ip)))
    return {subnet: ends for subnet, ends in found.items() if len(ends) == 2 and ends[0][0] != ends[1][0]}
