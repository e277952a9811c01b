"""Summaries of a network's devices: stored by all that they were made of, so that a page makes only what is new."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
import structlog

from qosforge.artifacts.store import ArtifactCorrupt, ArtifactMissing, Artifacts
from qosforge.compute import Compute
from qosforge.database.connections import Database
from qosforge.database.upsert import insert_into
from qosforge.device_state.summary import DeviceSummary, summarize_devices
from qosforge.device_state.tables import DEVICE_SUMMARIES
from qosforge.errors import QosforgeError
from qosforge.inventory.models import Device, Network
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.release import release
from qosforge.runs.record.baselines import read_baselines
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import BASELINES, READINGS

AT_ONCE = 16
"""Devices that are summarized while somebody waits; more are left to a thread, in parts of `_PART`."""
_PART = 50
_PART_SECONDS = 120.0
_MOST_FAILED = 4_096
_MOST_THREADS = 4

_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LastReading:
    """When a device was last read, and by which run; ``None`` where a person asked.

    ``not_saved``: whether it had lines then that it had not saved.
    """

    artifact: str
    run_id: str | None
    at: datetime
    not_saved: bool = False


@dataclass(frozen=True)
class KnownDevices:
    """What is known of a network's devices, by their names; ``pending`` are being summarized."""

    readings: Mapping[str, LastReading] = field(default_factory=dict)
    summaries: Mapping[str, DeviceSummary] = field(default_factory=dict)
    pending: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KnownDrift:
    """The devices of a network that drifted by their last reading, and those that are as the last run left them.

    Those that are ``pending`` are being compared, of which those ``settled_before`` had not drifted the last time,
    or were not read since a run left them. A device that was never read or that no run settled is in none.
    """

    drifted: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    settled_before: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Missing:
    """A summary that has to be made: its key, and the artifacts of the reading and of what a run settled."""

    key: str
    reading: str
    baseline: str | None


class DeviceSummaries:
    """Summaries of devices, stored and made; thread-safe."""

    def __init__(self, store: RunStore, artifacts: Artifacts, compute: Compute) -> None:
        self._store = store
        self._artifacts = artifacts
        self._compute = compute
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self._failed: set[str] = set()
        self._closing = threading.Event()

    def of(self, network: Network) -> KnownDevices:
        """What is known of a network's devices. Few new summaries are made at once, many in the background.

        Raises:
            StoreError: the store is away.
        """
        database = self._store.database
        rows = database.query(lambda connection: list(connection.execute(_query(network.name))))
        settled = database.query(lambda connection: read_baselines(connection, network.name))
        devices = {device.name: device for device in network.devices}
        readings: dict[str, LastReading] = {}
        summaries: dict[str, DeviceSummary] = {}
        missing: dict[str, _Missing] = {}
        for row in rows:
            device = devices.get(row.device)
            if device is None:
                continue
            readings[row.device] = LastReading(row.artifact, row.run_id, row.at, bool(row.unsaved))
            baseline = settled[row.device][1] if row.device in settled else None
            key = _key(device, row.artifact, baseline)
            if row.key == key:
                summaries[row.device] = DeviceSummary.parse(row.summary)
            elif key not in self._failed:
                missing[row.device] = _Missing(key, row.artifact, baseline)
        if len(missing) <= AT_ONCE:
            summaries |= self._make_now(network, missing)
            return KnownDevices(readings, summaries)
        self._make_later(network, missing)
        return KnownDevices(readings, summaries, frozenset(missing))

    def drift(self, networks: Sequence[Network]) -> dict[str, KnownDrift]:
        """Which devices of networks drifted, by the networks' names: of what is stored, without a wait.

        What is not stored is made in the background, so that a later call has it.

        Raises:
            StoreError: the store is away.
        """
        devices = {network.name: {one.name: one for one in network.devices} for network in networks}
        rows = self._store.database.query(lambda connection: list(connection.execute(_drift_query(devices))))
        drifted: dict[str, dict[str, bool | None]] = {name: {} for name in devices}
        before: dict[str, set[str]] = {name: set() for name in devices}
        missing: dict[str, dict[str, _Missing]] = {}
        for row in rows:
            device = devices[row.network].get(row.device)
            if device is None:
                continue
            key = _key(device, row.artifact, row.baseline)
            if row.key == key:
                drifted[row.network][row.device] = row.drifted
            elif key not in self._failed:
                missing.setdefault(row.network, {})[row.device] = _Missing(key, row.artifact, row.baseline)
                # What a run left and what was read last are the same text where nobody read the device since.
                if row.artifact == row.baseline or row.drifted is False:
                    before[row.network].add(row.device)
        for network in networks:
            if network.name in missing:
                self._make_later(network, missing[network.name])
        return {
            name: KnownDrift(
                tuple(sorted(device for device, has_drift in found.items() if has_drift)),
                tuple(sorted(device for device, has_drift in found.items() if has_drift is False)),
                tuple(sorted(device for device, one in missing.get(name, {}).items() if one.baseline is not None)),
                tuple(sorted(before[name])),
            )
            for name, found in drifted.items()
        }

    def close(self) -> None:
        """Make no more; what is being made ends first."""
        self._closing.set()
        for thread in list(self._threads.values()):
            thread.join()

    def _make_now(self, network: Network, missing: Mapping[str, _Missing]) -> dict[str, DeviceSummary]:
        if not missing:
            return {}
        texts, unreadable = self._read(network, missing)
        return self._keep(network, missing, summarize_devices(network, texts) | unreadable)

    def _make_later(self, network: Network, missing: Mapping[str, _Missing]) -> None:
        with self._lock:
            at_work = self._threads.get(network.name)
            if self._closing.is_set() or (at_work is not None and at_work.is_alive()):
                return
            if sum(thread.is_alive() for thread in self._threads.values()) >= _MOST_THREADS:
                return  # the next look at the page begins it
            thread = threading.Thread(
                target=self._make, args=(network, missing), name=f"summaries-{network.name}", daemon=True
            )
            self._threads[network.name] = thread
            thread.start()

    def _make(self, network: Network, missing: Mapping[str, _Missing]) -> None:
        names = list(missing)
        for first in range(0, len(names), _PART):
            if self._closing.is_set():
                return
            part = {name: missing[name] for name in names[first : first + _PART]}
            try:
                texts, unreadable = self._read(network, part)
                made = self._compute.call(
                    summarize_devices, network.part(part), texts, timeout=_PART_SECONDS, caller="device summaries"
                )
                self._keep(network, part, made | unreadable)
            except QosforgeError as error:  # the next look at the page begins again
                _LOG.warning("devices could not be summarized", network=network.name, error=str(error))
                return
            except Exception:  # noqa: BLE001 - the thread's last word; the next look at the page begins again
                _LOG.exception("devices could not be summarized", network=network.name)
                return

    def _read(
        self, network: Network, missing: Mapping[str, _Missing]
    ) -> tuple[dict[str, tuple[DeviceText, DeviceText | None]], dict[str, QosforgeError]]:
        """The texts that devices are summarized of, and why there are none of the others."""
        texts: dict[str, tuple[DeviceText, DeviceText | None]] = {}
        unreadable: dict[str, QosforgeError] = {}
        for name, one in missing.items():
            try:
                texts[name] = self._texts(network, name, one)
            except (ArtifactMissing, ArtifactCorrupt) as error:
                unreadable[name] = error
        return texts, unreadable

    def _texts(self, network: Network, name: str, one: _Missing) -> tuple[DeviceText, DeviceText | None]:
        words = DeviceWords(name, network.device(name).platform)
        text = self._artifacts.get_configuration(one.reading, words)
        if one.baseline is None:
            return text, None
        return text, text if one.baseline == one.reading else self._artifacts.get_configuration(one.baseline, words)

    def _keep(
        self, network: Network, missing: Mapping[str, _Missing], made: Mapping[str, DeviceSummary | QosforgeError]
    ) -> dict[str, DeviceSummary]:
        """Store what could be made; a device that could not is not tried again while this process lives."""
        good = {name: one for name, one in made.items() if isinstance(one, DeviceSummary)}
        for name, error in made.items():
            if isinstance(error, QosforgeError):
                _LOG.warning(
                    "a device could not be summarized", network=network.name, device=name, error=str(error)
                )
                with self._lock:
                    if len(self._failed) >= _MOST_FAILED:
                        self._failed.clear()
                    self._failed.add(missing[name].key)
        rows = [
            {"network": network.name, "device": name, "key": missing[name].key, "summary": one.document()}
            for name, one in sorted(good.items())
        ]
        if rows:
            _write(self._store.database, network.name, rows)
        return good


def _query(network: str) -> sa.Select[Any]:
    same = (DEVICE_SUMMARIES.c.network == READINGS.c.network) & (DEVICE_SUMMARIES.c.device == READINGS.c.device)
    known = READINGS.outerjoin(DEVICE_SUMMARIES, same)
    columns = [READINGS.c[name] for name in ("device", "artifact", "run_id", "at", "unsaved")]
    return (
        sa.select(*columns, DEVICE_SUMMARIES.c.key, DEVICE_SUMMARIES.c.summary)
        .select_from(known)
        .where(READINGS.c.network == network)
        .order_by(READINGS.c.device)
    )


def _drift_query(networks: Collection[str]) -> sa.Select[Any]:
    def same(table: sa.Table) -> sa.ColumnElement[bool]:
        return (table.c.network == READINGS.c.network) & (table.c.device == READINGS.c.device)

    known = READINGS.outerjoin(DEVICE_SUMMARIES, same(DEVICE_SUMMARIES)).outerjoin(BASELINES, same(BASELINES))
    return (
        sa.select(
            READINGS.c.network,
            READINGS.c.device,
            READINGS.c.artifact,
            BASELINES.c.artifact.label("baseline"),
            DEVICE_SUMMARIES.c.key,
            DEVICE_SUMMARIES.c.summary["drifted"].as_boolean().label("drifted"),
        )
        .select_from(known)
        .where(READINGS.c.network.in_(networks))
    )


def _write(database: Database, network: str, rows: list[dict[str, Any]]) -> None:
    def write(connection: sa.Connection) -> None:
        row = insert_into(connection, DEVICE_SUMMARIES)
        changed = {name: row.excluded[name] for name in ("key", "summary")}
        keys = [DEVICE_SUMMARIES.c.network, DEVICE_SUMMARIES.c.device]
        connection.execute(row.on_conflict_do_update(index_elements=keys, set_=changed), rows)

    database.transact(write)


def _key(device: Device, reading: str, baseline: str | None) -> str:
    """A hash of everything that a summary is made of."""
    ports = (interface.name for interface in device.interfaces)
    # Another release may read other things in a configuration.
    parts = (release(), device.platform, device.image, reading, baseline or "", *ports)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
