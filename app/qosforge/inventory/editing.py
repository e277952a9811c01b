"""Add networks and devices to an inventory's files; every other byte stays, and nothing is overwritten."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qosforge.errors import InputError, Place
from qosforge.intent.yaml_source import YamlDocument, parse_document, read_document
from qosforge.inventory.drafts import beside, located
from qosforge.inventory.loader import BOUNDS, load_network
from qosforge.inventory.models import Network, is_name

HOSTS = "hosts.yaml"
CHANGES = "changes.yaml"
EMPTY_FILES = {
    HOSTS: "# The devices: see docs/devices.md and docs/reaching.md; qosforge device add writes here.\n{}\n",
    "groups.yaml": "# What devices have in common, by the names that their groups have in hosts.yaml.\n{}\n",
    "defaults.yaml": "# What all devices have in common.\ndata: {}\n",
    "links.yaml": "# Cables between devices, and end hosts.\nlinks: []\nstations: []\n",
}
"""The files of a network without devices. Their comments have no backticks: the fast reader of YAML takes none."""
_EMPTY = re.compile(r"^\{[ \t]*\}[ \t]*$", re.MULTILINE)
_WRITABLE = re.compile(r"^(writable[ \t]*:[ \t]*)[A-Za-z]+", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""What YAML takes for something else than text."""


def add_network(folder: Path) -> Network:
    """Make the folder of a network without devices; it is read-only, as no rules say otherwise.

    Raises:
        InputError: its name cannot be a network's, something is there already, or it cannot be written.
    """
    place = Place(file=str(folder))
    if not is_name(folder.name):
        raise InputError(f"{folder.name!r} cannot be a network's name", place, "letters, digits, '.', '-' and '_'")
    if folder.exists():
        raise InputError("there is something already", place, "name a network that does not exist")
    if not folder.resolve().parent.is_dir():
        raise InputError("there is no such folder", Place(file=str(folder.parent)), "make it, or name another one")
    with beside(folder) as made:
        made.mkdir()
        for name, text in EMPTY_FILES.items():
            (made / name).write_text(text, encoding="utf-8")
        network = load_network(made)
        made.rename(folder)
    return network.model_copy(update={"name": folder.resolve().name})


def add_device(folder: Path, name: str, body: Mapping[str, Any]) -> Network:
    """Give a network one more device, at the end of ``hosts.yaml``; the network as it is then.

    ``body`` is what stands below its name, as Nornir has it.

    Raises:
        InputError: the network has the device already, or its file cannot be added to.
        InputErrors: it would not be a network any more; nothing is written then.
    """
    hosts = _hosts(folder)
    place = Place(file=hosts.file, path=name)
    if not is_name(name):
        raise InputError(f"{name!r} cannot be a device's name", place, "letters, digits, '.', '-' and '_'")
    if name in hosts.data:
        raise InputError("the network has this device already", hosts.key_place((name,)), "choose another name")
    entry = "".join(f"{line}\n" for line in (f"{_scalar(name)}:", *_lines(body, 1)))
    if hosts.data:
        text = hosts.text if hosts.text.endswith("\n") else f"{hosts.text}\n"
        text += entry
    else:
        text = _EMPTY.sub(lambda _: entry.rstrip("\n"), hosts.text, count=1)
    return _hosts_replaced(folder, hosts, text, {**hosts.data, name: body})


def remove_device(folder: Path, name: str) -> Network:
    """Take a device out of ``hosts.yaml``; comments above it stay. The network as it is then.

    Raises:
        InputError: the network has no such device, or it cannot be cut out of the file.
        InputErrors: it would not be a network any more (links end at the device); nothing is written then.
    """
    hosts = _hosts(folder)
    if name not in hosts.data:
        known = ", ".join(hosts.data) or "none"
        raise InputError("the network has no such device", Place(file=hosts.file, path=name), f"it has {known}")
    lines = hosts.text.splitlines(keepends=True)
    starts = sorted(hosts.keys[key,][0] - 1 for key in hosts.data)
    first = hosts.keys[name,][0] - 1
    end = next((start for start in starts if start > first), len(lines))
    while end > first + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1  # what stands there is about the next one, or about the file
    rest = "".join([*lines[:first], *([] if len(hosts.data) > 1 else ["{}\n"]), *lines[end:]])
    return _hosts_replaced(folder, hosts, rest, {key: body for key, body in hosts.data.items() if key != name})


def set_writable(folder: Path, writable: bool) -> Network:
    """Say in ``changes.yaml`` whether changes may be pushed to a network's devices; the network as it is then.

    Raises:
        InputError: the file cannot be changed so.
        InputErrors: the inventory has other problems; nothing is written then.
    """
    load_network(folder)
    word = "true" if writable else "false"
    if not (folder / CHANGES).exists():
        return replace_file(
            folder, FileBefore(folder / CHANGES, None, {}), f"writable: {word}\n", {"writable": writable}
        )
    document = read_document(folder / CHANGES)
    was = FileBefore(folder / CHANGES, document.text, document.data or {})
    if "writable" in was.data:
        text = _WRITABLE.sub(lambda found: f"{found[1]}{word}", was.text or "", count=1)
    elif was.data:
        first = min(place[0] for key, place in document.keys.items() if len(key) == 1) - 1
        lines = (was.text or "").splitlines(keepends=True)
        text = "".join([*lines[:first], f"writable: {word}\n", *lines[first:]])
    else:
        text = f"{_EMPTY.sub('', was.text or '').rstrip()}\nwritable: {word}\n".lstrip()
    return replace_file(folder, was, text, {**was.data, "writable": writable})


@dataclass(frozen=True)
class FileBefore:
    """A file as it is before it is written; ``text`` is ``None`` where there is none."""

    path: Path
    text: str | None
    data: Mapping[str, Any]


def _hosts(folder: Path) -> YamlDocument:
    load_network(folder)  # what is wrong already is told as it is
    return read_document(folder / HOSTS)


def _hosts_replaced(folder: Path, hosts: YamlDocument, text: str, expected: Mapping[str, Any]) -> Network:
    return replace_file(folder, FileBefore(folder / HOSTS, hosts.text, hosts.data), text, expected)


def replace_file(folder: Path, was: FileBefore, text: str, expected: Mapping[str, Any]) -> Network:
    """Write a file in one step, after a copy of the network with it was read; the network as it is then.

    ``expected`` is what the text must say.

    Raises:
        InputError: the text says something else, or the file was changed meanwhile or cannot be written.
        InputErrors: it would not be a network any more; nothing is written then.
    """
    place, name = Place(file=str(was.path)), was.path.name
    by_hand = InputError("is not laid out so that this can be done", place, "change it by hand")
    try:
        if parse_document(text, str(was.path), bounds=BOUNDS).data != expected:
            raise by_hand
    except InputError:
        raise by_hand from None
    with beside(folder) as made:
        shutil.copytree(folder, made)
        (made / name).write_text(text, encoding="utf-8")
        try:
            network = load_network(made)
        except InputError as error:
            raise located(error, made, folder) from None
        now = read_document(was.path, bounds=BOUNDS).text if was.path.exists() else None
        if now != was.text:
            raise InputError("was changed meanwhile", place, "try again")
        (made / name).replace(was.path)
    return network.model_copy(update={"name": folder.resolve().name})


def _lines(body: Mapping[str, Any], depth: int) -> Iterator[str]:
    for key, value in body.items():
        start = f"{'  ' * depth}{_scalar(key)}:"
        if isinstance(value, Mapping) and depth < 3:
            yield f"{start} {{}}" if not value else start
            yield from _lines(value, depth + 1)
        else:
            yield f"{start} {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
