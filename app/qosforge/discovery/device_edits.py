"""Update one device's entry in ``hosts.yaml`` with discovered values; the rest of the entry stays."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from qosforge.discovery.difference import InventoryChange
from qosforge.discovery.documents import Words, host_words, interface_words, interfaces_words
from qosforge.discovery.yaml_comments import lines_below, remove_entry
from qosforge.inventory.models import Device, Interface
from qosforge.inventory.port_ranges import port_names, range_names

_BESIDE = frozenset({"hostname", "port", "username"})
"""Fields that stand beside ``data``."""
_LISTS = frozenset({"tags", "features"})


def edit_device(entry: Any, known: Device, discovered: Device, changes: Collection[InventoryChange]) -> None:
    """Make the entry of a known device say what was found, as far as these changes of it and its ports go."""
    data = entry.get("data")
    if data is None:
        data = entry["data"] = CommentedMap()
    words = host_words(discovered)
    for change in changes:
        if change.what != "device":
            continue
        name = change.field
        if name == "platform":
            _edit_platform(entry, known.platform, discovered.platform)
        elif name in _BESIDE:
            _put(entry, name, words.get(name))
        else:
            # What a group may say is outweighed by an empty value, not by a missing one.
            nothing: Any = [] if name in _LISTS else ""
            _put(data, name, words["data"].get(name, nothing))
    ports = _PortChanges.of(change for change in changes if change.what == "port")
    if ports:
        _edit_ports(data, discovered, ports)


def _edit_platform(entry: Any, known: str, found: str) -> None:
    groups = entry.get("groups") or []
    if "platform" in entry or known not in groups:
        entry["platform"] = found
    else:
        groups[groups.index(known)] = found


@dataclass
class _PortChanges:
    """What changes of a device's ports, by their names."""

    added: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    fields: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, changes: Iterable[InventoryChange]) -> _PortChanges:
        ports = cls()
        for change in changes:
            name = change.key[1]
            if change.kind == "added":
                ports.added.append(name)
            elif change.kind == "gone":
                ports.gone.add(name)
            else:
                ports.fields.setdefault(name, []).append(change.field)
        return ports

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.fields)


def _edit_ports(data: Any, discovered: Device, changes: _PortChanges) -> None:
    interfaces = data.get("interfaces")
    if not interfaces:
        # Ports of its own replace those that a group describes: all of them have to be written.
        data["interfaces"] = _block(interfaces_words(discovered.interfaces, discovered.role))
        return
    ports = {port.name: port for port in discovered.interfaces}
    for name in list(interfaces):
        names = port_names(str(name))
        if any(port in changes.gone or port in changes.fields for port in names):
            _edit_range(interfaces, name, _parts(names, discovered, ports, changes))
    added = [ports[name] for name in changes.added]
    interfaces.update(_block(interfaces_words(added, discovered.role)))


@dataclass
class _Part:
    """Ports of one name that change alike: ``words`` by field, ``None`` where one is taken away."""

    words: Words
    ports: list[str] = field(default_factory=list)


def _parts(
    names: Iterable[str], discovered: Device, ports: Mapping[str, Interface], changes: _PortChanges
) -> list[_Part]:
    parts: dict[str, _Part] = {}
    for name in names:
        if name in changes.gone:
            continue
        fields = changes.fields.get(name, ())
        written = interface_words(ports[name], discovered.role) if fields else {}
        words = {key: written.get(key) for key in fields}
        parts.setdefault(repr(words), _Part(words)).ports.append(name)
    return list(parts.values())


def _edit_range(interfaces: Any, name: Any, parts: list[_Part]) -> None:
    """Give the ports of one name what is found of them: the name is split where they differ from now on."""
    if len(parts) == 1 and len(parts[0].ports) == len(port_names(str(name))):
        for key, value in parts[0].words.items():
            _put(interfaces[name], key, value)
        return
    if not parts:
        remove_entry(interfaces, name)
        return
    position = list(interfaces).index(name)
    comment = interfaces.ca.items.pop(name, None)
    entry = interfaces.pop(name)
    if comment is not None and isinstance(entry, CommentedMap):
        entry.ca.comment = None  # the same one, which every copy would write again
    names = [(part_name, part.words) for part in parts for part_name in range_names(part.ports)]
    for offset, (part_name, words) in enumerate(names):
        body = copy.deepcopy(entry)
        for key, value in words.items():
            _put(body, key, value)
        interfaces.insert(position + offset, part_name, body)
    if comment is not None:
        # What stands behind a name is about it; lines below that are about what follows.
        interfaces.ca.items[names[-1 if lines_below(comment) else 0][0]] = comment


def _put(mapping: Any, key: str, value: Any) -> None:
    if value is None:
        mapping.pop(key, None)
    elif key in _BESIDE and key not in mapping:
        mapping.insert(0, key, value)
    else:
        mapping[key] = _flow(value)


def _block(interfaces: Words) -> CommentedMap:
    return CommentedMap({name: _flow(words) for name, words in interfaces.items()})


def _flow(value: Any) -> Any:
    """A value on one line."""
    if isinstance(value, dict):
        value = CommentedMap({key: _flow(inner) for key, inner in value.items()})
    elif isinstance(value, list):
        value = CommentedSeq(value)
    else:
        return value
    value.fa.set_flow_style()
    return value
