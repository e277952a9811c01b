"""Write differences into an inventory's files; everything else stays as people wrote it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from qosforge.discovery.device_edits import edit_device
from qosforge.discovery.difference import InventoryChange, link_key
from qosforge.discovery.documents import NOTHING, host_words, link_words
from qosforge.discovery.hosts_text import HostsText, round_trip, with_entries
from qosforge.discovery.yaml_comments import remove_entry
from qosforge.importing.document import as_yaml
from qosforge.intent.yaml_source import read_document
from qosforge.inventory.loader import BOUNDS
from qosforge.inventory.models import Link, Network

_GROUPS, _HOSTS, _LINKS = "groups.yaml", "hosts.yaml", "links.yaml"
WRITTEN_FILES = ("defaults.yaml", _GROUPS, _HOSTS, _LINKS)
"""The files that changes are written into, in the order in which each needs those before it."""


def write_changes(
    folder: Path,
    changes: Iterable[InventoryChange],
    known: Network,
    discovered: Network,
    shared: Mapping[str, Any] = NOTHING,
) -> None:
    """Write changes from the known network to the one found into a folder; ``shared`` is the data of its defaults.

    Raises:
        InputError: a file is not laid out so that this can be done.
    """
    of_links = [change for change in changes if change.what == "link"]
    of_devices: dict[str, list[InventoryChange]] = {}
    for change in changes:
        if change.what != "link":
            of_devices.setdefault(change.key[0], []).append(change)
    if of_devices:
        _write_hosts(folder, of_devices, known, discovered, shared)
        _write_groups(
            folder / _GROUPS, {device.platform for device in discovered.devices if device.name in of_devices}
        )
    if of_links:
        _write_links(folder / _LINKS, of_links, discovered)


def _write_hosts(
    folder: Path,
    changes: Mapping[str, list[InventoryChange]],
    known: Network,
    discovered: Network,
    shared: Mapping[str, Any],
) -> None:
    hosts = HostsText(read_document(folder / _HOSTS, bounds=BOUNDS))
    old = {device.name: device for device in known.devices}
    new = {device.name: device for device in discovered.devices}
    for name, of_device in changes.items():
        if name not in old:
            hosts.append(name, host_words(new[name], shared))
        elif any(change.what == "device" and change.kind == "gone" for change in of_device):
            hosts.remove(name)
        else:
            hosts.edit(name, partial(edit_device, known=old[name], discovered=new[name], changes=of_device))
    (folder / _HOSTS).write_text(hosts.text(), encoding="utf-8")


def _write_groups(path: Path, platforms: Iterable[str]) -> None:
    """Give the file a group for each platform that has none."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    groups = round_trip().load(text) or CommentedMap()
    lacking = {name: {"platform": name} for name in sorted(platforms) if name not in groups}
    if not lacking:
        return
    if groups and groups.fa.flow_style():
        groups.update(lacking)
        text = _dumped(groups)
    else:
        text = with_entries(text, as_yaml(lacking))
    path.write_text(text, encoding="utf-8")


def _write_links(path: Path, changes: Iterable[InventoryChange], discovered: Network) -> None:
    document = round_trip().load(path.read_text(encoding="utf-8")) if path.is_file() else None
    if document is None:
        document = CommentedMap()
    entries = document.get("links")
    if not entries:
        entries = document["links"] = CommentedSeq()
    links = {_ends(link_key(link)): link for link in discovered.links}
    gone: set[frozenset[tuple[str, str]]] = set()
    changed: dict[frozenset[tuple[str, str]], list[str]] = {}
    for change in changes:
        ends = _ends(change.key)
        if change.kind == "gone":
            gone.add(ends)
        elif change.kind == "changed":
            changed.setdefault(ends, []).append(change.field)
    for position in range(len(entries) - 1, -1, -1):
        ends = _ends((*entries[position]["a"], *entries[position]["b"]))
        if ends in gone:
            remove_entry(entries, position)
        elif ends in changed:
            _edit_link(entries[position], links[ends], changed[ends])
    for change in changes:
        if change.kind == "added":
            entries.append(_new_link(links[_ends(change.key)]))
    path.write_text(_dumped(document), encoding="utf-8")


def _ends(key: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    return frozenset(((str(key[0]), str(key[1])), (str(key[2]), str(key[3]))))


def _edit_link(entry: Any, link: Link, fields: Iterable[str]) -> None:
    words = link_words(link)
    for field in fields:
        if field in words:
            entry[field] = words[field]
        else:
            entry.pop(field, None)


def _new_link(link: Link) -> CommentedMap:
    entry = CommentedMap(link_words(link))
    for key in ("a", "b"):
        entry[key] = CommentedSeq(entry[key])
        entry[key].fa.set_flow_style()
    entry.fa.set_flow_style()
    return entry


def _dumped(document: Any) -> str:
    stream = io.StringIO()
    round_trip().dump(document, stream)
    return stream.getvalue()
