"""The networks of an installation: the inventories in one folder, by name."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from qosforge.errors import InputError, InputErrors, Place, QosforgeError, StoreError
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Device, Network, is_name
from qosforge.units import listed


def has_namesake(inventories: Path, folder: Path) -> bool:
    """Whether another network of an installation, whose folder ``inventories`` is, is called as this one."""
    other = inventories / folder.resolve().name
    return (other / "hosts.yaml").is_file() and other.resolve() != folder.resolve()


@dataclass(eq=False)
class NetworkUnknown(InputError):
    """No network of this installation has the name."""


@dataclass(eq=False)
class DeviceUnknown(InputError):
    """The network has no such device."""


@dataclass(eq=False)
class InventoryBroken(StoreError):
    """The installation's own files describe no network: nobody who asks for it can correct that."""


NAMES = "letters, digits, '.', '-' and '_', at most 63, and a letter or digit first"

Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, inode, size and time of change of every file of an inventory."""


class Networks:
    """Networks by the names of their folders below one folder; safe to share between threads.

    A name is only ever compared with what the folder lists, never made a path. A network is read again when a file
    of it was changed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._read: dict[str, tuple[Stamp, Network]] = {}

    def names(self) -> tuple[str, ...]:
        """The names, sorted: of the folders that have a ``hosts.yaml``."""
        return tuple(self._list_networks())

    def network(self, name: str) -> Network:
        """The network of this name.

        Raises:
            NetworkUnknown: there is none.
            InventoryBroken: its files describe no network; the message has the problems.
        """
        folder = self._of(name)
        stamp = _stamp(folder)
        with self._lock:
            kept = self._read.get(name)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        try:
            # By the name that rights, leases and rules go by, also where the folder is a link to another one.
            network = load_network(folder).model_copy(update={"name": name})
        except InputError as error:
            raise InventoryBroken(
                f"the inventory of {name} cannot be used: {_explain(error, folder)}",
                hint=f"correct it: qosforge lint POLICY --network …/{name} names every problem",
            ) from error
        with self._lock:
            self._read[name] = (stamp, network)
        return network

    @contextmanager
    def open_for_writing(self, name: str) -> Iterator[Path]:
        """A network's folder, for one writer at a time; errors in the block name its files, not this machine's.

        Raises:
            NetworkUnknown: there is none of this name.
        """
        with self._writing, _by_file(self._of(name)) as folder:
            yield folder

    @contextmanager
    def open_for_reading(self, name: str) -> Iterator[Path]:
        """A network's folder, to be read; errors in the block name its files, not this machine's.

        Raises:
            NetworkUnknown: there is none of this name.
        """
        with _by_file(self._of(name)) as folder:
            yield folder

    @contextmanager
    def new(self, name: str) -> Iterator[Path]:
        """Where a network of this name would be, for one writer at a time; nothing is made.

        Raises:
            InputError: a network cannot be called so.
        """
        if not is_name(name):
            raise InputError(f"{name[:64]!r} cannot be a network's name", Place(path="name"), NAMES)
        with self._writing, _by_file(self._folder / name) as folder:
            yield folder

    def _of(self, name: str) -> Path:
        folder = self._list_networks(name).get(name)
        if folder is None:
            raise NetworkUnknown(
                f"there is no network {name[:64]!r}", Place(path="network"), "GET /api/v1/networks lists them"
            )
        return folder

    def _list_networks(self, wanted: str | None = None) -> dict[str, Path]:
        """The folders by their names; of the one that is wanted alone no other is looked into."""
        try:
            folders = sorted(f for f in self._folder.iterdir() if wanted in (None, f.name) and is_name(f.name))
            return {f.name: f for f in folders if (f / "hosts.yaml").is_file()}
        except OSError as error:
            raise InventoryBroken(
                f"the folder of the networks cannot be read: {error.strerror}",
                hint="let QOSFORGE_INVENTORIES_DIR name the folder of the inventories",
            ) from error


@contextmanager
def _by_file(folder: Path) -> Iterator[Path]:
    """A folder, whose files are told by their names alone."""
    try:
        yield folder
    except QosforgeError as error:
        for problem in {id(one): one for one in (error, *error.problems())}.values():
            problem.message = problem.message.replace(f"{folder}/", "")
            if problem.where.file is not None:
                problem.where = replace(problem.where, file=Path(problem.where.file).name)
        raise


def _stamp(folder: Path) -> Stamp:
    try:
        files = [(path.name, path.stat()) for path in sorted(folder.glob("*.yaml"))]
    except OSError as error:
        raise InventoryBroken(f"the inventory of {folder.name} cannot be read: {error.strerror}") from error
    return tuple((name, found.st_ino, found.st_size, found.st_mtime_ns) for name, found in files)


def _explain(error: InputError, folder: Path) -> str:
    """The problems, by files of the inventory and not by places of this machine."""
    problems = error.errors if isinstance(error, InputErrors) else [error]
    return "; ".join(str(problem) for problem in problems).replace(f"{folder}/", "")


def device_of(network: Network, name: str) -> Device:
    """The device of this name.

    Raises:
        DeviceUnknown: there is none.
    """
    try:
        return network.device(name)
    except KeyError:
        known = listed(device.name for device in network.devices)
        raise DeviceUnknown("no such device", Place(path="device"), f"{network.name} has {known}") from None
