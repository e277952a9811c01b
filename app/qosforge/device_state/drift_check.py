"""Periodic drift checks: an executor reads the networks that are due, one network at a time.

A look only reads. What it found is shown and told; to correct it is for a person, who starts a run.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from qosforge.artifacts.store import Artifacts, canonical_json
from qosforge.database.connections import Database
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.deploy.fleet import Fleet, Outcome
from qosforge.deploy.not_saved import LiveState
from qosforge.deploy.read_devices import DeviceRead, read_each_live_state
from qosforge.deploy.route import Route, route_to
from qosforge.deploy.sessions import ProcessEnding, Sessions
from qosforge.device_state.drift import Baseline, baseline_text, describe_drift, find_baselines
from qosforge.device_state.drift_watch import (
    AGAIN,
    DeviceDrift,
    DriftResult,
    any_check_due,
    claim_check,
    note_read,
    postpone_check,
    record_check,
)
from qosforge.device_state.last_known import store_readings
from qosforge.errors import QosforgeError
from qosforge.inventory.catalogue import Networks
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.engine.computing import Computing
from qosforge.runs.record.readings import last_text
from qosforge.runs.record.run_metrics import count_device_failures
from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings

LONGEST_SECONDS = 600.0
"""How long devices may take to be read; those that take longer are told as not read."""
_STOP_SECONDS = 6.0
_NOTE_SECONDS = 1.0
_LONGEST_ERROR = 500

_log = logging.getLogger(__name__)


class DriftChecks:
    """Looks for drift in this process, in a thread of its own, until :meth:`stop`."""

    def __init__(
        self, store: RunStore, artifacts: Artifacts, settings: Settings, computing: Computing, sessions: Sessions
    ) -> None:
        self._store = store
        self._artifacts = artifacts
        self._settings = settings
        self._computing = computing
        self._sessions = sessions
        self._networks = Networks(settings.inventories_dir)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def any_due(self) -> bool:
        """Whether this process could look at a network that is due."""
        return not self._at_work() and any_check_due(self._store.database)

    def tick(self) -> None:
        """Begin to look where it is due; this returns at once.

        Raises:
            StoreError: the database is away.
        """
        if not self.any_due():
            return
        claimed = claim_check(self._store.database)
        if claimed is not None:
            self._thread = threading.Thread(target=self._look, args=claimed, name="drift", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Leave the devices; a look that was under way is taken again by whoever comes next."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _at_work(self) -> bool:
        return self._stopping.is_set() or (self._thread is not None and self._thread.is_alive())

    def _look(self, network: str, claim: str) -> None:
        database = self._store.database
        try:
            found = self._found(network, claim)
            if found is None:
                self._give_back(claim, timedelta(0) if self._stopping.is_set() else AGAIN)
                return
            told = record_check(database, claim, found)
            fields = {"network": network, "drifted": sorted(found.drifted), "unread": sorted(found.unread)}
            _log.log(
                logging.WARNING if found.drifted or found.unread else logging.INFO,
                "looked for drift",
                extra={**fields, "told": told.value if told else None},
            )
        except ProcessEnding:
            self._give_back(claim, timedelta(0))
        except QosforgeError as error:
            _log.warning("a look for drift failed and is taken again: %s", error)
            self._give_back(claim, AGAIN)
        except Exception:  # noqa: BLE001 - whatever failed, the claim runs out and the next look comes
            _log.exception("a look for drift failed")

    def _give_back(self, claim: str, pause: timedelta) -> None:
        with suppress(QosforgeError):  # else it runs out
            postpone_check(self._store.database, claim, pause)

    def _found(self, name: str, claim: str) -> DriftResult | None:
        """What is found now; ``None`` where runs are at devices of the network, or this process ends."""
        began = self._store.now()
        try:
            network = self._networks.network(name)
            require_installed(network)
            route = route_to(self._settings, network)
        except QosforgeError as error:
            return DriftResult(began, unread={name: str(error)[:_LONGEST_ERROR]})
        before = find_baselines(self._store, network)
        if self._store.leases.active(name):
            return None
        now, errors = self._read(network, route, _ReadCount(self._store.database, claim))
        after = find_baselines(self._store, network)
        # What a run left meanwhile is no drift.
        if self._stopping.is_set() or self._store.leases.active(name) or _runs(before) != _runs(after):
            return None
        count_device_failures(name, "drift", errors)
        texts = now.running
        store_readings(self._store, self._artifacts, network, texts, began, unsaved=now.unsaved)
        return self._compared(network, texts, errors, after, began)

    def _compared(
        self,
        network: Network,
        texts: Mapping[str, DeviceText],
        errors: Mapping[str, QosforgeError],
        last: Mapping[str, Baseline],
        began: datetime,
    ) -> DriftResult:
        unread = {device: str(error)[:_LONGEST_ERROR] for device, error in errors.items()}
        drifted: dict[str, DeviceDrift] = {}
        compared = [device for device in texts if device in last]
        for device in compared:
            was = baseline_text(self._artifacts, network, device, last[device])
            try:
                found = self._computing.run(
                    f"drift of {network.name}", lambda: None, describe_drift, network, device, was, texts[device]
                )
            except QosforgeError as error:
                unread[device] = f"not compared: {error}"[:_LONGEST_ERROR]
                continue
            if found:
                digest = hashlib.sha256(canonical_json(list(found)).encode()).hexdigest()
                drifted[device] = DeviceDrift(len(found), digest)
        uncompared = [device for device in texts if device not in last]
        return DriftResult(began, len(set(compared) - unread.keys()), drifted, unread, uncompared)

    def _read(
        self, network: Network, route: Route, count: _ReadCount
    ) -> tuple[LiveState, dict[str, QosforgeError]]:
        end = time.monotonic() + LONGEST_SECONDS

        def late() -> str | None:
            if self._stopping.is_set():
                return "the process ends"
            return "the look takes too long" if time.monotonic() >= end else None

        known = partial(last_text, self._store.database, self._artifacts, network.name)
        with Fleet(network, route, self._sessions, until=late, earlier=known) as fleet:
            return read_each_live_state(fleet, each=count.add)


class _ReadCount:
    """How many devices a look has read so far, for pages: written at most once in `_NOTE_SECONDS`."""

    def __init__(self, database: Database, claim: str) -> None:
        self._database = database
        self._claim = claim
        self._lock = threading.Lock()
        self._read = 0
        self._noted = -math.inf

    def add(self, outcome: Outcome[DeviceRead]) -> None:
        """Count a device that was read, from any thread."""
        with self._lock:
            self._read += outcome.value is not None
            now = time.monotonic()
            if now - self._noted < _NOTE_SECONDS:
                return
            self._noted = now
            with suppress(QosforgeError):  # a page without the newest count is no reason to leave the devices
                note_read(self._database, self._claim, self._read)


def _runs(last: Mapping[str, Baseline]) -> dict[str, str]:
    return {device: found.run.id for device, found in last.items()}
