"""Map a source's platforms, roles and tags to ours, with notes on what has no mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qosforge.discovery.facts import Note, Topic
from qosforge.discovery.model import End
from qosforge.inventory.models import DeviceRole
from qosforge.sources.description import SOURCE, PlatformChoice, SourceDescription
from qosforge.sources.model import SourceDevice, SourceNetwork, SourcePort
from qosforge.units import listed, shortened

_LONGEST_SITE = 63


@dataclass(frozen=True)
class MappedDevice:
    """A device in our words: what the source tells of the ``fields`` of `qosforge.inventory.models.Device` and of
    its ``reach``; ``tags`` are those that its own tags mean.
    """

    name: str
    fields: Mapping[str, Any]
    reach: Mapping[str, Any]
    tags: frozenset[str]
    ports: tuple[SourcePort, ...] | None
    unmanaged: frozenset[str]


@dataclass(frozen=True)
class MappedNetwork:
    """What a source tells, in our words. ``mapped_tags`` are all tags that its own may mean: of these it tells
    where they are and where not. ``undescribed`` are devices that it has and that are left out: they are not gone.
    """

    devices: tuple[MappedDevice, ...]
    links: tuple[tuple[End, End], ...] | None
    mapped_tags: frozenset[str]
    undescribed: frozenset[str]
    notes: tuple[Note, ...]


def map_network(network: SourceNetwork, description: SourceDescription) -> MappedNetwork:
    """The network of a source with the meanings that its description gives."""
    return _Mapping(description).network(network)


class _Mapping:
    def __init__(self, description: SourceDescription) -> None:
        self._description = description
        self._lacking: dict[tuple[str, str], list[str]] = {}
        """Devices by a section of the description and the word that it lacks."""
        self._notes: list[Note] = []

    def network(self, source_network: SourceNetwork) -> MappedNetwork:
        devices, undescribed = [], set()
        for device in source_network.devices:
            mapped = self._device(device)
            if mapped is None:
                undescribed.add(device.name)
            else:
                devices.append(mapped)
        described = {device.name for device in devices}
        links = source_network.links and tuple(
            (a, b) for a, b in source_network.links if a[0] in described and b[0] in described
        )
        return MappedNetwork(
            devices=tuple(devices),
            links=links,
            mapped_tags=frozenset(tag for tag in self._description.tags.values() if tag is not None),
            undescribed=frozenset(undescribed),
            notes=(*source_network.notes, *self._notes, *self._unmapped()),
        )

    def _device(self, device: SourceDevice) -> MappedDevice | None:
        choice = self._platform(device)
        if choice is None:
            return None
        fields: dict[str, Any] = {"platform": choice.platform}
        image = device.image or choice.image
        if image is not None:
            fields["image"] = image
        if choice.driver is not None:
            fields["driver"] = choice.driver
        if choice.features:
            fields["features"] = choice.features
        if (role := self._role(device)) is not None:
            fields["role"] = role
        if device.site is not None and len(device.site) <= _LONGEST_SITE:
            fields["site"] = device.site
        beside = {"hostname": device.hostname, "port": device.port, "username": device.username}
        groups = [group for group in device.groups if group in self._description.tags]
        return MappedDevice(
            name=device.name,
            fields=fields,
            reach={key: value for key, value in beside.items() if value is not None},
            tags=self._tags(device.name, {*device.tags, *groups}),
            ports=None if device.ports is None else tuple(self._ports(device)),
            unmanaged=device.unmanaged,
        )

    def _platform(self, device: SourceDevice) -> PlatformChoice | None:
        if device.platform is None:
            message = "the source gives it no platform: it is left out"
            hint = "give it one there; qosforge has to know what its command line is"
            self._notes.append(Note(Topic.UNKNOWN_PLATFORM, device.name, "platform", message, hint))
            return None
        choice = self._description.platforms.get(device.platform)
        if choice is None:
            self._lacking.setdefault(("platforms", device.platform), []).append(device.name)
        return choice

    def _role(self, device: SourceDevice) -> DeviceRole | None:
        roles = self._description.roles
        if device.role is None:
            return next((roles[group] for group in device.groups if group in roles), None)
        if device.role not in roles:
            self._lacking.setdefault(("roles", device.role), []).append(device.name)
        return roles.get(device.role)

    def _ports(self, device: SourceDevice) -> Iterator[SourcePort]:
        for port in device.ports or ():
            yield SourcePort(port.name, port.fields, self._tags(device.name, port.tags), port.serial)

    def _tags(self, device: str, tags: set[str] | frozenset[str]) -> frozenset[str]:
        found = set()
        for tag in tags:
            if tag not in self._description.tags:
                self._lacking.setdefault(("tags", tag), []).append(device)
            elif (meaning := self._description.tags[tag]) is not None:
                found.add(meaning)
        return frozenset(found)

    def _unmapped(self) -> Iterator[Note]:
        """One note for each word that lacks a meaning, with the devices that it concerns."""
        for (section, word), devices in sorted(self._lacking.items()):
            concerned = listed(dict.fromkeys(devices), 8)
            what, effect, example = _SECTIONS[section]
            message = f"{what} {shortened(word)} has no meaning here: {effect} ({concerned})"
            hint = f"add '{word}: …' to {section} in {SOURCE}, with {example}"
            yield Note(Topic.UNMAPPED, "", f"{SOURCE}: {section}", message, hint)


_SECTIONS = {
    "platforms": ("platform", "its devices are left out", "a platform of ours"),
    "roles": (
        "role",
        "its devices keep theirs, new ones get what their platform mostly is",
        "edge, middle, access or core",
    ),
    "tags": ("tag", "it is left out", "a tag of ours, or null to leave it out without a note"),
}
"""For each section of a description: what its words are, what follows where one is missing, and what to write."""
