"""Write a network as the files of an inventory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from qosforge.discovery.model import Discovery
from qosforge.importing.document import as_yaml
from qosforge.importing.to_intent import rate
from qosforge.inventory.models import Device, DeviceRole, Framing, Interface, Link
from qosforge.inventory.port_ranges import range_names
from qosforge.inventory.reach import Reach
from qosforge.visible import visible

Words = dict[str, Any]
"""A part of a file as YAML holds it."""
NOTHING: Mapping[str, Any] = MappingProxyType({})


def documents(discovery: Discovery, data: Mapping[str, str] = NOTHING) -> dict[str, str]:
    """The text of each file by its name; guesses stand with their reasons at the head of ``hosts.yaml``.

    ``data`` is what all devices have in common.
    """
    network = discovery.network("discovered")
    hosts = {device.name: host_words(device) for device in network.devices}
    platforms = sorted({device.platform for device in network.devices})
    return {
        "hosts.yaml": as_yaml(hosts, visible("\n".join(_heading(discovery)))),
        "groups.yaml": as_yaml({name: {"platform": name} for name in platforms}),
        "defaults.yaml": as_yaml({"data": dict(data)}),
        "links.yaml": as_yaml(
            {"links": [link_words(link) for link in network.links], "stations": []},
            "No device tells how long a link is, nor which stations there are.",
        ),
    }


def _heading(discovery: Discovery) -> Iterator[str]:
    yield "Discovered. Roles and tags are guesses:"
    for device in discovery.devices:
        yield f"  {device.name}: {device.role.role.value}: {device.role.reason}"
        for one in device.interfaces:
            yield f"    {one.port.name}: {one.tag.tag}: {one.tag.reason}"


def host_words(device: Device, shared: Mapping[str, Any] = NOTHING) -> Words:
    """A device as ``hosts.yaml`` holds it; ``shared`` is the data that it has from the defaults."""
    reach = device.reach
    beside = {"hostname": reach.hostname, "port": reach.port, "username": reach.username}
    return {
        **{key: value for key, value in beside.items() if value is not None},
        "groups": [device.platform],
        "data": {**dict(_reached(reach, shared)), **dict(_described(device))},
    }


def _reached(reach: Reach, shared: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if reach.transport != shared.get("transport", "ssh"):
        yield "transport", reach.transport
    for key in ("credentials", "jump"):
        value = getattr(reach, key)
        if value is not None and value != shared.get(key):
            yield key, value


def _described(device: Device) -> Iterator[tuple[str, Any]]:
    yield "role", device.role.value
    yield "image", device.image
    if device.features:
        yield "features", sorted(device.features)
    yield "driver", device.driver
    if device.site:
        yield "site", device.site
    if device.tags:
        yield "tags", sorted(device.tags)
    yield "interfaces", interfaces_words(device.interfaces, device.role)


def interfaces_words(interfaces: Iterable[Interface], role: DeviceRole) -> Words:
    """Interfaces of a device of this role as ``hosts.yaml`` holds them; those that are alike share a range."""
    alike: list[tuple[Words, list[str]]] = []
    known: dict[Interface, int] = {}
    for entry in interfaces:
        model = entry.model_copy(update={"name": "any"})
        if model not in known:
            known[model] = len(alike)
            alike.append((interface_words(entry, role), []))
        alike[known[model]][1].append(entry.name)
    return {name: dict(words) for words, ports in alike for name in range_names(ports)}


def interface_words(entry: Interface, role: DeviceRole) -> Words:
    """An interface of a device of this role as ``hosts.yaml`` holds it."""
    return dict(_written(entry, role))


def _written(entry: Interface, role: DeviceRole) -> Iterator[tuple[str, Any]]:
    yield "rate", rate(entry.rate)
    if entry.contracted is not None:
        yield "contracted", rate(entry.contracted)
    yield "tags", sorted(entry.tags)
    if entry.role is not role:
        yield "role", entry.role.value
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


def link_words(link: Link) -> Words:
    """A link as ``links.yaml`` holds it."""
    words: Words = {"a": list(link.a), "b": list(link.b), "rate": rate(link.rate)}
    if link.framing is not Framing.ETHERNET:
        words["framing"] = link.framing.value
    if link.tagged:
        words["tagged"] = True
    return words
