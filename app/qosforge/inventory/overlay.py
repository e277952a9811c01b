"""The overlay: ports and host keys of a lab's devices, merged over an inventory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from qosforge.errors import InputError, Place
from qosforge.intent.yaml_source import read_document


@dataclass(frozen=True)
class Address:
    """Where a device's SSH server listens."""

    hostname: str
    port: int


@dataclass(frozen=True)
class Overlay:
    """Addresses by device, and the file with their host keys."""

    addresses: dict[str, Address]
    known_hosts: Path


def state_folder(var: Path, network: str) -> Path:
    """Where a network's lab keeps its state."""
    return var / "lab" / network


def has_overlay(state: Path) -> bool:
    """Whether a lab left an overlay in its state folder, which takes no look into it."""
    return _file(state).is_file()


def read_overlay(state: Path) -> Overlay | None:
    """The overlay that a lab left in its state folder; none where no lab was started.

    Raises:
        InputError: the file is damaged.
    """
    if not has_overlay(state):
        return None
    path = _file(state)
    document = read_document(path)
    try:
        addresses = {
            name: Address(str(entry["hostname"]), int(entry["port"]))
            for name, entry in document.data["boxes"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError("is not a lab overlay", Place(file=str(path)), "start the lab again") from None
    return Overlay(addresses, state / "known_hosts")


def _file(state: Path) -> Path:
    return state / "overlay.yaml"
