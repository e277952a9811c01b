"""What a discovery found otherwise than an inventory says: by device, by port, by link.

Only what devices tell is compared: neither guesses (role, tags, driver) nor what only people know (contracts,
delays, stations, startup configurations).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.inventory.models import Device, Interface, Link, Network


@dataclass(frozen=True)
class Change:
    """One difference; ``field``, ``known`` and ``found`` are empty where the whole thing was added or is gone."""

    kind: Literal["added", "gone", "changed"]
    what: Literal["device", "port", "link"]
    name: str
    field: str = ""
    known: str = ""
    found: str = ""

    def __str__(self) -> str:
        if self.kind != "changed":
            return f"{self.kind} {self.what} {self.name}"
        return f"changed {self.what} {self.name}: {self.field} {self.known} → {self.found}"


_PORT_FIELDS = ("rate", "encapsulation", "tagged", "member", "lag", "vlans", "voice_vlan", "circuit")
_LINK_FIELDS = ("rate", "framing", "tagged")


def differences(known: Network, found: Network) -> tuple[Change, ...]:
    """Every difference: devices first, each with its ports, then links."""
    return (*_devices(known, found), *_links(known, found))


def _devices(known: Network, found: Network) -> Iterator[Change]:
    old = {device.name: device for device in known.devices}
    new = {device.name: device for device in found.devices}
    yield from (Change("added", "device", name) for name in new if name not in old)
    yield from (Change("gone", "device", name) for name in old if name not in new)
    for name, device in old.items():
        if name in new:
            yield from _device(device, new[name])


def _device(known: Device, found: Device) -> Iterator[Change]:
    if known.platform != found.platform:
        yield Change("changed", "device", known.name, "platform", known.platform, found.platform)
    elif not same_image(known.image, found.image):
        yield Change("changed", "device", known.name, "image", known.image, found.image)
    old = {port.name: port for port in known.interfaces}
    new = {port.name: port for port in found.interfaces}
    yield from (Change("added", "port", f"{known.name} {name}") for name in new if name not in old)
    yield from (Change("gone", "port", f"{known.name} {name}") for name in old if name not in new)
    for name, port in old.items():
        if name in new:
            yield from _fields("port", f"{known.name} {name}", port, new[name], _PORT_FIELDS)


def _links(known: Network, found: Network) -> Iterator[Change]:
    old = {frozenset((link.a, link.b)): link for link in known.links}
    new = {frozenset((link.a, link.b)): link for link in found.links}
    yield from (Change("added", "link", link_name(link)) for ends, link in new.items() if ends not in old)
    yield from (Change("gone", "link", link_name(link)) for ends, link in old.items() if ends not in new)
    for ends, link in old.items():
        if ends in new:
            yield from _fields("link", link_name(link), link, new[ends], _LINK_FIELDS)


def _fields(
    what: Literal["port", "link"],
    name: str,
    known: Interface | Link,
    found: Interface | Link,
    fields: tuple[str, ...],
) -> Iterator[Change]:
    for field in fields:
        one, other = getattr(known, field), getattr(found, field)
        # An inventory need not say which VLANs a port carries.
        if one != other and not (field in {"vlans", "voice_vlan"} and not one):
            yield Change("changed", what, name, field, _shown(one), _shown(other))


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def link_name(link: Link) -> str:
    """A link by its two ends."""
    return f"{' '.join(link.a)} – {' '.join(link.b)}"


def same_image(known: str, found: str) -> bool:
    """Whether a device's image is the inventory's, which may name the train alone: ``12.4`` for ``12.4(25)``."""
    plain = re.sub(r"\([^)]*\)", "", found)
    return known in {found, plain} or found.startswith((f"{known}(", f"{known}."))
