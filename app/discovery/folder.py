"""The folder of an inventory: made new from a discovery, or given what it lacks. Nothing is ever overwritten."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ruamel.yaml import YAML

from app.discovery.difference import Change, differences
from app.discovery.documents import documents, host_words, interface_words, link_words
from app.discovery.model import Discovery
from app.errors import InputError, Place
from app.inventory.loader import load_network
from app.inventory.models import Network


def write_new(folder: Path, discovery: Discovery, data: Mapping[str, str] = MappingProxyType({})) -> Network:
    """Write the inventory of a discovery to a folder that must not exist, and load it.

    ``data`` is what all devices have in common, for ``defaults.yaml``.

    Raises:
        InputError: the folder exists or cannot be made, or nothing was found.
        InputErrors: what was found is no consistent network; nothing is left behind.
    """
    if not discovery.devices:
        raise InputError("no device could be read", Place(file=str(folder)), "see the notes, and mend them first")
    if folder.exists():
        raise InputError("there is something already", Place(file=str(folder)), "name a folder that does not exist")
    with _beside(folder) as made:
        made.mkdir()
        for name, text in documents(discovery, data).items():
            (made / name).write_text(text, encoding="utf-8")
        network = load_network(made)
        made.rename(folder)
    return network.model_copy(update={"name": folder.resolve().name})


def compare(folder: Path, discovery: Discovery) -> tuple[Change, ...]:
    """How an inventory's folder differs from what was found; nothing is written.

    Raises:
        InputError, InputErrors: the folder holds no network.
    """
    known = load_network(folder)
    return differences(known, discovery.network(known.name))


def add(folder: Path, discovery: Discovery) -> tuple[Change, ...]:
    """Give an inventory's folder the devices, ports and links that it lacks, and say which.

    What it has stays as it is, comments included: what changed or is gone is for a person to correct.

    Raises:
        InputError, InputErrors: the folder holds no network, or would hold none; nothing is written then.
    """
    added = tuple(change for change in compare(folder, discovery) if change.kind == "added")
    if not added:
        return ()
    with _beside(folder) as made:
        shutil.copytree(folder, made)
        _extend(made, discovery, load_network(folder))
        load_network(made)
        for name in ("hosts.yaml", "groups.yaml", "links.yaml"):
            (made / name).replace(folder / name)
    return added


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A place beside a folder, so that it can take the folder's own in one step."""
    try:
        with tempfile.TemporaryDirectory(prefix=".discovery-", dir=folder.resolve().parent) as place:
            yield Path(place) / folder.resolve().name
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", Place(file=str(folder))) from None


def _extend(folder: Path, discovery: Discovery, known: Network) -> None:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    # As the shipped inventories are written.
    yaml.indent(mapping=2, sequence=4, offset=2)

    def read(name: str) -> Any:
        path = folder / name
        return (yaml.load(path.read_text(encoding="utf-8")) if path.is_file() else None) or {}

    hosts, groups, links = read("hosts.yaml"), read("groups.yaml"), read("links.yaml")
    devices = {device.name: device for device in known.devices}
    found = discovery.network(known.name)
    for shown, device in zip(discovery.devices, found.devices, strict=True):
        if device.name not in devices:
            hosts[device.name] = host_words(shown, device)
            groups.setdefault(device.platform, {"platform": device.platform})
            continue
        has = {port.name for port in devices[device.name].interfaces}
        ports = hosts[device.name].setdefault("data", {}).setdefault("interfaces", {})
        ports.update({port.name: interface_words(port) for port in device.interfaces if port.name not in has})
    ends = {frozenset((link.a, link.b)) for link in known.links}
    lacking = [link_words(link) for link in discovery.links if frozenset((link.a, link.b)) not in ends]
    links.setdefault("links", []).extend(lacking)
    for name, data in (("hosts.yaml", hosts), ("groups.yaml", groups), ("links.yaml", links)):
        with (folder / name).open("w", encoding="utf-8") as stream:
            yaml.dump(data, stream)
