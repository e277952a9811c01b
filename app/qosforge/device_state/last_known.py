"""The last known configuration of each device of a network, read by a run or for a person."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.runs.record.readings import touched_since, write_readings
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import READINGS

_FEW = 100
"""Devices that a query names; of more it takes all of the network."""


@dataclass(frozen=True, slots=True)
class LastKnown:
    """The running configuration that a device gave when it was last read, and when that was.

    ``run_id`` is the run that read it; ``None`` where a person asked for it. ``unsaved`` are the lines that were
    not saved and stand in the way of a push, as they may be shown; ``None`` where that is not known.
    """

    device: str
    text: DeviceText
    run_id: str | None
    at: datetime
    unsaved: tuple[str, ...] | None = None


def last_known(
    store: RunStore, artifacts: Artifacts, network: Network, devices: Collection[str] | None = None
) -> dict[str, LastKnown]:
    """What each device said when it was last read: by a run before its change, after it or after a rollback, or
    for a person; of ``devices`` alone where given. A device that was never read is left out.

    Raises:
        StoreError: an artifact is missing or damaged.
    """
    known = {
        device.name: DeviceWords(device.name, device.platform)
        for device in network.devices
        if devices is None or device.name in devices
    }
    query = sa.select(READINGS).where(READINGS.c.network == network.name).order_by(READINGS.c.device)
    if devices is not None and len(devices) <= _FEW:
        query = query.where(READINGS.c.device.in_(sorted(devices)))
    rows = store.database.query(lambda connection: list(connection.execute(query)))
    return {
        row.device: LastKnown(
            row.device,
            artifacts.get_configuration(row.artifact, known[row.device]),
            row.run_id,
            row.at,
            None if row.unsaved is None else tuple(row.unsaved),
        )
        for row in rows
        if row.device in known
    }


def unsaved_lines(known: Mapping[str, LastKnown]) -> dict[str, tuple[str, ...]]:
    """The lines that were not saved when devices were last read, of those of which that is known."""
    return {name: read.unsaved for name, read in known.items() if read.unsaved is not None}


def store_readings(
    store: RunStore,
    artifacts: Artifacts,
    network: Network,
    texts: Mapping[str, DeviceText],
    at: datetime,
    *,
    unsaved: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Keep what devices said to a person who asked them at a moment, by device; ``unsaved`` are the lines that were
    not saved, of the devices of which that is known.

    That is the moment before the first was asked: what a run read meanwhile may be newer, and stays. Of a device
    that a run had between two states meanwhile it is not known what is to be saved: the run does that, or not.

    Raises:
        StoreError: it cannot be written.
    """
    stored = {device: artifacts.put_configuration(text) for device, text in texts.items()}

    def work(connection: sa.Connection) -> None:
        touched = touched_since(connection, network.name, at) if unsaved else ()
        known = {device: lines for device, lines in (unsaved or {}).items() if device not in touched}
        write_readings(connection, network.name, stored, at, unsaved=known)

    if stored:
        store.database.transact(work)
