"""The last known configuration of each device of a network, read by a run or for a person."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.runs.record.readings import write_readings
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import READINGS

_FEW = 100
"""Devices that a query names; of more it takes all of the network."""


@dataclass(frozen=True, slots=True)
class LastKnown:
    """The running configuration that a device gave when it was last read, and when that was.

    ``run_id`` is the run that read it; ``None`` where a person asked for it.
    """

    device: str
    text: DeviceText
    run_id: str | None
    at: datetime


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
            row.device, artifacts.get_configuration(row.artifact, known[row.device]), row.run_id, row.at
        )
        for row in rows
        if row.device in known
    }


def store_readings(
    store: RunStore, artifacts: Artifacts, network: Network, texts: Mapping[str, DeviceText], at: datetime
) -> None:
    """Keep what devices said to a person who asked them at a moment, by device.

    That is the moment before the first was asked: what a run read meanwhile may be newer, and stays.

    Raises:
        StoreError: it cannot be written.
    """
    stored = {device: artifacts.put_configuration(text) for device, text in texts.items()}
    if stored:
        store.database.transact(lambda connection: write_readings(connection, network.name, stored, at))
