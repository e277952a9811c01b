"""Check for drift at the devices of a lab, over SSH."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts, open_artifacts
from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.deploy.sessions import Sessions
from qosforge.device_state import drift_check
from qosforge.device_state.drift_check import DriftChecks
from qosforge.device_state.drift_watch import DriftState, DriftWatch, drift_watch, set_drift_interval
from qosforge.device_state.last_known import last_known
from qosforge.device_state.tables import DRIFT_WATCHES
from qosforge.emulation import start_lab
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from qoslab import control
from tests.device_state.test_drift_watch import EARLY
from tests.runs.support import computing, wait_for
from tests.web.recorded import record

NETWORK = "infn-fnal"
INVENTORY = root() / "inventories" / NETWORK
POLICY = root() / "examples" / "policies" / "remote-control.yaml"


@dataclass
class Lab:
    """A lab whose devices hold a policy, as a run left it."""

    store: RunStore
    artifacts: Artifacts
    settings: Settings
    network: Network
    state: Path
    inverse: dict[str, list[str]]
    delta: dict[str, list[str]]

    def running(self) -> dict[str, str]:
        """What the devices hold, from the lab itself."""
        names = [device.name for device in self.network.devices]
        return {name: str(control.request(self.state, {"op": "running", "box": name})["running"]) for name in names}

    def type(self, name: str, *lines: str) -> None:
        """Type lines on a device's console, as somebody else would."""
        assert control.configure(self.state, name, list(lines)) == []

    def work(self) -> DriftChecks:
        """What looks, as in one process."""
        sessions = Sessions(self.settings.device_limits)
        return DriftChecks(self.store, self.artifacts, self.settings, computing(), sessions)

    def look(self) -> DriftWatch:
        """Have the network looked at now."""
        database = self.store.database
        database.transact(lambda c: c.execute(sa.update(DRIFT_WATCHES).values(due=EARLY)))
        work = self.work()
        work.tick()
        wait_for(lambda: work._thread is None or not work._thread.is_alive(), "the look", 60)
        work.stop()
        return drift_watch(database, NETWORK)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("drift")
    shutil.copytree(INVENTORY, folder / "inventories" / NETWORK)
    settings = Settings(var_dir=folder / "var", inventories_dir=folder / "inventories")
    settings.make_var_dir()
    network = load_network(INVENTORY)
    state = state_folder(settings.var_dir, NETWORK)
    start_lab(network, INVENTORY, state)
    try:
        with RunStore(settings.database_url) as store:
            made = Lab(store, open_artifacts(settings, store.database), settings, network, state, {}, {})
            before = made.running()
            for device in compile_intent(load_intent(POLICY), network, before).devices:
                candidate = make_candidate(device, before[device.name])
                made.delta[device.name] = candidate.text.splitlines()
                made.inverse[device.name] = list(candidate.inverse)
                made.type(device.name, *made.delta[device.name])
            record(store, made.artifacts, NETWORK, made.running(), RunStatus.KEPT)
            store.database.transact(lambda c: set_drift_interval(c, NETWORK, 60, store.now()))
            yield made
    finally:
        control.stop(state)


def test_lines_of_others_are_no_drift_and_are_left_alone(lab: Lab) -> None:
    names = [device.name for device in lab.network.devices]
    for name in names:
        lab.type(name, "snmp-server location cellar", "ip access-list extended BY-HAND", "permit ip any any")
        lab.type(name, "class-map NOBODYS", "match access-group name BY-HAND")
    seen = lab.look()
    assert (seen.state, seen.unread, seen.uncompared, seen.compared) == (DriftState.IN_STEP, {}, (), len(names))
    assert all("BY-HAND" in text for text in lab.running().values())


def test_drift_is_found_and_goes_and_nothing_is_mended_by_itself(lab: Lab) -> None:
    name = lab.network.devices[0].name
    lab.type(name, *lab.inverse[name])
    drifted = lab.running()[name]
    seen = lab.look()
    assert (seen.state, list(seen.drifted)) == (DriftState.DRIFTED, [name])
    assert seen.drifted[name].count > 0
    assert lab.running()[name] == drifted
    assert last_known(lab.store, lab.artifacts, lab.network)[name].at == seen.looked
    lab.type(name, *lab.delta[name])
    assert lab.look().state is DriftState.IN_STEP


def test_a_look_counts_the_devices_that_it_has_read(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[int] = []
    monkeypatch.setattr(drift_check, "note_read", lambda _database, _claim, devices: noted.append(devices))
    monkeypatch.setattr(drift_check, "_NOTE_SECONDS", 0.0)
    seen = lab.look()
    assert noted == list(range(1, len(lab.network.devices) + 1))
    assert seen.read_so_far is None, "the look is over"


def test_a_network_that_a_run_is_at_is_looked_at_later(lab: Lab) -> None:
    before = drift_watch(lab.store.database, NETWORK).looked
    run = lab.store.create_run(NETWORK, "gold", "f" * 64, {})
    lab.store.leases.acquire(run.id, [lab.network.devices[0].name], 600)
    seen = lab.look()
    assert seen.looked == before
    assert seen.due is not None
    assert seen.due > lab.store.now()
    lab.store.leases.release(run.id)


def test_a_device_that_cannot_be_read_is_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_PASSWORD", "wrong")
    monkeypatch.setenv("QOSFORGE_USERNAME", "wrong")
    seen = lab.look()
    assert set(seen.unread) == {device.name for device in lab.network.devices}
    assert seen.compared == 0


def test_what_is_not_saved_is_kept_with_the_reading(lab: Lab) -> None:
    """Of each device that shows what it has saved, so that a preview knows it before any run."""
    first, second = (device.name for device in lab.network.devices[:2])
    control.request(lab.state, {"op": "reboot", "box": second})  # so it runs what it has saved
    lab.type(first, "snmp-server location attic", "snmp-server community Xq7-for-us RO")
    lab.look()
    known = last_known(lab.store, lab.artifacts, lab.network)
    assert known[second].unsaved == ()
    assert known[first].unsaved is not None
    assert "+snmp-server location attic" in known[first].unsaved
    assert "+snmp-server community ******** RO" in known[first].unsaved


def test_an_inventory_that_is_gone_is_told(lab: Lab) -> None:
    folder = lab.settings.inventories_dir
    folder.rename(folder.with_name("elsewhere"))
    try:
        seen = lab.look()
    finally:
        folder.with_name("elsewhere").rename(folder)
    assert list(seen.unread) == [NETWORK]
