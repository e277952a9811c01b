"""The target network of a synchronisation: the folder's network updated with what the source has.

What the source does not tell stays: fields that it has no word for, tags that its own do not mean, ports that it
does not describe, links between those, stations, traffic and rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from qosforge.discovery.difference import same_image
from qosforge.discovery.facts import Note, Topic
from qosforge.discovery.model import End
from qosforge.inventory.models import Device, DeviceRole, Framing, Interface, Link, Network
from qosforge.inventory.reach import Reach
from qosforge.platforms.base import platform
from qosforge.sources.mapping import MappedDevice, MappedNetwork
from qosforge.sources.model import SourcePort
from qosforge.units import format_rate

_DELAY = Note(
    Topic.ASSUMED,
    "",
    "links.yaml",
    "the source does not tell how long a link is: new ones have a propagation delay of 0",
    "give long links their 'delay'",
)


@dataclass(frozen=True)
class TargetNetwork:
    """The network to be written, and every note on what of the source is not in it."""

    network: Network
    notes: tuple[Note, ...]


def target_network(known: Network, network: MappedNetwork, reach: Reach) -> TargetNetwork:
    """The known network with what the source tells; ``reach`` is how new devices are reached."""
    return _Merging(known, network, reach).target()


class _Merging:
    def __init__(self, known: Network, network: MappedNetwork, reach: Reach) -> None:
        self._known = known
        self._found = network
        self._reach = reach
        self._notes = list(network.notes)

    def target(self) -> TargetNetwork:
        old = {device.name: device for device in self._known.devices}
        mapped = {device.name: device for device in self._found.devices}
        kept = [
            self._merged(device, mapped[name]) if name in mapped else device
            for name, device in old.items()
            if name in mapped or name in self._found.undescribed
        ]
        new = (self._new(device) for name, device in mapped.items() if name not in old)
        devices = (*kept, *(device for device in new if device is not None))
        links = tuple(self._links({device.name: device for device in devices}))
        network = self._known.model_copy(update={"devices": devices, "links": links})
        return TargetNetwork(network, tuple(self._notes))

    # -- devices -------------------------------------------------------------------------------------------

    def _merged(self, known: Device, mapped: MappedDevice) -> Device:
        fields = dict(mapped.fields)
        if known.platform == fields["platform"] and same_image(known.image, fields.get("image", known.image)):
            fields["image"] = known.image  # which may name the train alone
        role = fields.get("role", known.role)
        # A port without a role of its own has the device's.
        ports = [
            port.model_copy(update={"role": role}) if port.role is known.role else port for port in known.interfaces
        ]
        fields["tags"] = self._tags(known.tags, mapped.tags)
        fields["reach"] = self._reach_of(known.reach, mapped)
        fields["interfaces"] = tuple(self._ports(mapped, role, ports))
        return known.model_copy(update=fields)

    def _new(self, mapped: MappedDevice) -> Device | None:
        if "image" not in mapped.fields:
            message = "nothing tells which release it runs: it is left out"
            hint = "give its platform an 'image' in source.yaml, or let the source tell one"
            self._notes.append(Note(Topic.LEFT_OUT, mapped.name, "image", message, hint))
            return None
        if "hostname" not in mapped.reach:
            message = "the source gives it no address: it cannot be reached"
            hint = "give it a primary IP address there, or a hostname in hosts.yaml"
            self._notes.append(Note(Topic.ASSUMED, mapped.name, "hostname", message, hint))
        family = platform(str(mapped.fields["platform"]), mapped.name).family
        role = mapped.fields.get("role", family.role)
        if "role" not in mapped.fields:
            message = f"its role is taken as {role.value}, which most {mapped.fields['platform']} have"
            self._notes.append(Note(Topic.ASSUMED, mapped.name, "role", message, "correct it in hosts.yaml"))
        return Device(
            **{"driver": family.driver, **mapped.fields, "role": role},
            name=mapped.name,
            tags=mapped.tags,
            reach=self._reach_of(self._reach, mapped),
            interfaces=tuple(self._ports(mapped, role, ())),
        )

    def _reach_of(self, known: Reach, mapped: MappedDevice) -> Reach:
        try:
            return Reach.model_validate({**dict(known), **mapped.reach})
        except ValidationError as error:
            message = f"its address is not taken: {error.errors(include_url=False)[0]['msg']}"
            self._notes.append(Note(Topic.LEFT_OUT, mapped.name, "hostname", message, "correct it in the source"))
            return known

    def _tags(self, known: frozenset[str], tags: frozenset[str]) -> frozenset[str]:
        """Tags that the source may give are where it says, and nowhere else; all others stay where they are."""
        return (known - self._found.mapped_tags) | tags

    # -- ports ---------------------------------------------------------------------------------------------

    def _ports(self, mapped: MappedDevice, role: DeviceRole, known: Any) -> Iterator[Interface]:
        if mapped.ports is None:
            yield from known
            return
        found = {port.name: port for port in mapped.ports}
        for port in known:
            if port.name in found:
                yield self._port(mapped.name, found[port.name], port) or port
            elif port.name in mapped.unmanaged:
                yield port
        has = {port.name for port in known}
        for name, source in found.items():
            if name in has:
                continue
            plain = {"name": name, "role": role}
            port = self._port(mapped.name, source, None, plain)
            if port is None:
                continue
            if source.serial and "encapsulation" not in source.fields:
                message = f"{name} is a serial line, and the source tells no framing: it is taken as ethernet"
                hint = "give it its 'encapsulation' in hosts.yaml, or let the source tell one"
                self._notes.append(Note(Topic.ASSUMED, mapped.name, name, message, hint))
            yield port

    def _port(
        self, device: str, port: SourcePort, known: Interface | None, plain: Mapping[str, Any] | None = None
    ) -> Interface | None:
        """The port with what the source tells; ``None`` where an inventory cannot hold that."""
        fields = dict(port.fields)
        if known is not None and not known.vlans:
            fields.pop("vlans", None)  # an inventory need not say which VLANs a port carries
        before = dict(known) if known is not None else dict(plain or {})
        tags = self._tags(known.tags if known is not None else frozenset(), port.tags)
        try:
            return Interface(**{**before, **fields, "tags": tags})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"]
            message = f"an inventory does not take the port {port.name}: {problem}"
            hint = "correct it in the source, or describe the port in hosts.yaml by hand"
            self._notes.append(Note(Topic.LEFT_OUT, device, port.name, message, hint))
            return None

    # -- links ---------------------------------------------------------------------------------------------

    def _links(self, devices: Mapping[str, Device]) -> Iterator[Link]:
        if self._found.links is None:
            yield from self._known.links
            return
        ports = {(name, port.name): port for name, device in devices.items() for port in device.interfaces}
        told = {frozenset(ends): ends for ends in self._found.links}
        managed = {(device.name, port.name) for device in self._found.devices for port in device.ports or ()}
        had: set[frozenset[End]] = set()
        for link in self._known.links:
            ends = frozenset((link.a, link.b))
            if ends in told:
                had.add(ends)
                yield from self._link(link, ports)
            elif not ends <= managed and all(end[0] in devices for end in ends):
                yield link  # the source does not describe one of its ends, so it cannot know the link
        new = [ends for key, ends in told.items() if key not in had]
        made = [link for a, b in new for link in self._link(Link(a=a, b=b, rate=1), ports)]
        if made:
            self._notes.append(_DELAY)
        yield from made

    def _link(self, link: Link, ports: Mapping[End, Interface]) -> Iterator[Link]:
        """The link as its two ports have it; none where they differ."""
        one, other = ports.get(link.a), ports.get(link.b)
        if one is None or other is None:
            return  # a note says why the port is not there
        for what, left, right in (
            ("rate", format_rate(one.rate), format_rate(other.rate)),
            ("framing", one.encapsulation.value, other.encapsulation.value),
            ("tagging", one.tagged, other.tagged),
        ):
            if left != right:
                near, far = " ".join(link.a), " ".join(link.b)
                message = f"the ends differ in their {what}: {near} has {left}, {far} {right}: left out"
                hint = "correct one of both in the source; or make them alike in hosts.yaml, where it tells nothing"
                self._notes.append(Note(Topic.LEFT_OUT, link.a[0], f"{link.a[1]} – {far}", message, hint))
                return
        framing: Framing = one.encapsulation
        yield link.model_copy(update={"rate": one.rate, "framing": framing, "tagged": one.tagged})
