"""Differences between two networks: by device, port and link, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from qosforge.inventory.models import Device, Link, Network
from qosforge.units import format_rate

Kind = Literal["added", "gone", "changed"]
What = Literal["device", "port", "link"]


@dataclass(frozen=True)
class InventoryChange:
    """One difference; ``field``, ``known`` and ``found`` are empty where the whole thing was added or is gone.

    ``key`` names the thing by its parts: a device, a device and its port, or the two ends of a link.
    """

    kind: Kind
    what: What
    key: tuple[str, ...]
    field: str = ""
    known: str = ""
    found: str = ""

    @property
    def name(self) -> str:
        """The thing as people name it."""
        if self.what == "link":
            return f"{' '.join(self.key[:2])} – {' '.join(self.key[2:])}"
        return " ".join(self.key)

    def __str__(self) -> str:
        if self.kind != "changed":
            return f"{self.kind} {self.what} {self.name}"
        return f"changed {self.what} {self.name}: {self.field} {self.known} → {self.found}"


@dataclass(frozen=True)
class Fields:
    """The fields that are compared."""

    device: tuple[str, ...]
    reach: tuple[str, ...]
    port: tuple[str, ...]
    link: tuple[str, ...]


DEVICES_TELL = Fields(
    device=("platform", "image"),
    reach=(),
    port=("rate", "encapsulation", "tagged", "member", "lag", "vlans", "voice_vlan", "circuit"),
    link=("rate", "framing", "tagged"),
)
"""What devices tell of themselves: neither guesses (role, tags, driver) nor what only people know (contracts,
delays, stations, startup configurations)."""
EVERY_FIELD = Fields(
    device=("platform", "image", "features", "driver", "role", "site", "tags"),
    reach=("hostname", "port", "username", "transport", "credentials", "jump"),
    port=("rate", "contracted", "tags", *DEVICES_TELL.port[1:]),
    link=DEVICES_TELL.link,
)


def find_changes(known: Network, discovered: Network, fields: Fields = DEVICES_TELL) -> tuple[InventoryChange, ...]:
    """Every difference in these fields: devices first, each with its ports, then links."""
    return (*_devices(known, discovered, fields), *_links(known, discovered, fields))


def _devices(known: Network, discovered: Network, fields: Fields) -> Iterator[InventoryChange]:
    old = {device.name: device for device in known.devices}
    new = {device.name: device for device in discovered.devices}
    yield from (InventoryChange("added", "device", (name,)) for name in new if name not in old)
    yield from (InventoryChange("gone", "device", (name,)) for name in old if name not in new)
    for name, device in old.items():
        if name in new and device != new[name]:
            yield from _device(device, new[name], fields)


def _device(known: Device, discovered: Device, fields: Fields) -> Iterator[InventoryChange]:
    key = (known.name,)
    if known.platform == discovered.platform and same_image(known.image, discovered.image):
        discovered = discovered.model_copy(update={"image": known.image})
    yield from _fields("device", key, known, discovered, fields.device)
    yield from _fields("device", key, known.reach, discovered.reach, fields.reach)
    old = {port.name: port for port in known.interfaces}
    new = {port.name: port for port in discovered.interfaces}
    yield from (InventoryChange("added", "port", (*key, name)) for name in new if name not in old)
    yield from (InventoryChange("gone", "port", (*key, name)) for name in old if name not in new)
    for name, port in old.items():
        if name in new and port != new[name]:
            yield from _fields("port", (*key, name), port, new[name], fields.port)


def _links(known: Network, discovered: Network, fields: Fields) -> Iterator[InventoryChange]:
    old = {frozenset((link.a, link.b)): link for link in known.links}
    new = {frozenset((link.a, link.b)): link for link in discovered.links}
    yield from (InventoryChange("added", "link", link_key(link)) for ends, link in new.items() if ends not in old)
    yield from (InventoryChange("gone", "link", link_key(link)) for ends, link in old.items() if ends not in new)
    for ends, link in old.items():
        if ends in new:
            yield from _fields("link", link_key(link), link, new[ends], fields.link)


def _fields(
    what: What, key: tuple[str, ...], known: Any, found: Any, fields: tuple[str, ...]
) -> Iterator[InventoryChange]:
    for field in fields:
        one, other = getattr(known, field), getattr(found, field)
        # An inventory need not say which VLANs a port carries.
        if one != other and not (field in {"vlans", "voice_vlan"} and not one):
            yield InventoryChange("changed", what, key, field, _shown(field, one), _shown(field, other))


def _shown(field: str, value: object) -> str:
    if isinstance(value, int) and field in {"rate", "contracted"}:
        return format_rate(value)
    if isinstance(value, tuple | frozenset):
        return ", ".join(map(str, sorted(value) if isinstance(value, frozenset) else value)) or "none"
    return "none" if value is None or value == "" else str(value)


def link_key(link: Link) -> tuple[str, ...]:
    """A link by the parts of its two ends."""
    return (*link.a, *link.b)


def same_image(known: str, found: str) -> bool:
    """Whether a device's image is the inventory's, which may name the train alone: ``12.4`` for ``12.4(25)``."""
    plain = re.sub(r"\([^)]*\)", "", found)
    return known in {found, plain} or found.startswith((f"{known}(", f"{known}."))
