"""A discovery as the files of an inventory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from app.discovery.model import Discovery, FoundDevice, FoundLink
from app.importing.document import as_yaml
from app.importing.words import rate
from app.inventory.models import Device, Framing, Interface
from app.visible import visible

Words = dict[str, Any]
"""A part of a file as YAML holds it."""
_SSH = 22


def documents(discovery: Discovery, data: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The text of each file by its name; guesses stand with their reasons at the head of ``hosts.yaml``.

    ``data`` is what all devices have in common.
    """
    network = discovery.network("discovered")
    hosts = {
        found.name: host_words(found, device)
        for found, device in zip(discovery.devices, network.devices, strict=True)
    }
    platforms = sorted({device.platform for device in network.devices})
    return {
        "hosts.yaml": as_yaml(hosts, visible("\n".join(_heading(discovery)))),
        "groups.yaml": as_yaml({name: {"platform": name} for name in platforms}),
        "defaults.yaml": as_yaml({"data": dict(data)}),
        "links.yaml": as_yaml(
            {"links": [link_words(link) for link in discovery.links], "stations": []},
            "No device tells how long a link is, nor which stations there are.",
        ),
    }


def _heading(discovery: Discovery) -> Iterator[str]:
    yield "Discovered. Roles and tags are guesses:"
    for device in discovery.devices:
        yield f"  {device.name}: {device.role.role.value}: {device.role.reason}"
        for one in device.interfaces:
            yield f"    {one.port.name}: {one.tag.tag}: {one.tag.reason}"


def host_words(found: FoundDevice, device: Device) -> Words:
    """A device as ``hosts.yaml`` holds it."""
    host, separator, port = found.address.rpartition(":")
    numbered = bool(separator) and port.isdigit() and ":" not in host
    address: Words = {"hostname": host if numbered else found.address}
    if numbered and int(port) != _SSH:
        address["port"] = int(port)
    return {
        **address,
        "groups": [device.platform],
        "data": {
            "role": device.role.value,
            "image": device.image,
            **({"features": sorted(device.features)} if device.features else {}),
            "driver": device.driver,
            "interfaces": {entry.name: interface_words(entry) for entry in device.interfaces},
        },
    }


def interface_words(entry: Interface) -> Words:
    """An interface as ``hosts.yaml`` holds it."""
    return dict(_told(entry))


def _told(entry: Interface) -> Iterator[tuple[str, Any]]:
    yield "rate", rate(entry.rate)
    yield "tags", sorted(entry.tags)
    if entry.encapsulation is not Framing.ETHERNET:
        yield "encapsulation", entry.encapsulation.value
    if entry.circuit is not None:
        yield "circuit", entry.circuit.model_dump(exclude_none=True)
    if entry.tagged:
        yield "tagged", True
    if entry.member is not None:
        yield "member", entry.member
    if entry.lag is not None:
        yield "lag", entry.lag
    if entry.vlans:
        yield "vlans", list(entry.vlans)
    if entry.voice_vlan is not None:
        yield "voice_vlan", entry.voice_vlan


def link_words(link: FoundLink) -> Words:
    """A link as ``links.yaml`` holds it."""
    words: Words = {"a": list(link.a), "b": list(link.b), "rate": rate(link.rate)}
    if link.framing is not Framing.ETHERNET:
        words["framing"] = link.framing.value
    if link.tagged:
        words["tagged"] = True
    return words
