"""Devices that could not be read when a network was last read as a whole, by the cause of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.database.connections import Database
from qosforge.device_names import natural_order
from qosforge.device_state.drift_watch import DriftWatch
from qosforge.runs.record.readings import read_since


@dataclass(frozen=True)
class UnreadCause:
    """Why devices could not be read, and what to do about it; ``hint`` is empty where nothing is known."""

    devices: tuple[str, ...]
    message: str
    hint: str = ""


def still_unread(database: Database, watch: DriftWatch) -> Mapping[str, str]:
    """What the last look at a network could not read, and why, without devices that were read since.

    Raises:
        StoreError: the store is away.
    """
    if not watch.unread or watch.looked is None:
        return watch.unread
    since = read_since(database, watch.network, watch.looked)
    return {device: why for device, why in watch.unread.items() if device not in since}


def unread_causes(unread: Mapping[str, str]) -> tuple[UnreadCause, ...]:
    """The causes of what could not be read (a text by device): those of most devices first."""
    found: dict[tuple[str, str], list[str]] = {}
    for device in sorted(unread, key=natural_order):
        found.setdefault(_parts(device, unread[device]), []).append(device)
    causes = (UnreadCause(tuple(devices), *parts) for parts, devices in found.items())
    return tuple(sorted(causes, key=lambda one: -len(one.devices)))


def _parts(device: str, text: str) -> tuple[str, str]:
    """Message and hint of an error as it was stored: ``DEVICE: MESSAGE (HINT)``, see `QosforgeError.__str__`."""
    said = text.removeprefix(f"{device}: ")
    depth = 0
    for at in range(len(said) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(said[at], 0)
        if depth == 0:  # at the bracket that the last one closes; elsewhere the text has no hint
            has_hint = said[at] == "(" and said[at - 1] == " "
            return (said[: at - 1], said[at + 1 : -1]) if has_hint else (said, "")
    return said, ""
