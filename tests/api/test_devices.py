"""Devices of a lab over HTTP: what they hold, a preview against it, and drift since a run that was kept."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.emulation import start_lab
from qosforge.executor.executor import Executor
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.settings import Settings
from qoslab import control
from tests.api.conftest import Headers, People

NETWORK = "infn-fnal"
V1 = f"/api/v1/networks/{NETWORK}/devices"
POLICY = {
    "text": "version: 1\nintent: four\ninclude: [classes/rfc4594-4.yaml]\n"
    "apply: [{interfaces: wan, direction: output}]\n"
}


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    settings = Settings(var_dir=tmp_path_factory.mktemp("devices") / "var", compute_processes=1)
    with open_backend(settings) as made:
        state = state_folder(settings.var_dir, NETWORK)
        start_lab(made.networks.network(NETWORK), root() / "inventories" / NETWORK, state)
        try:
            yield made
        finally:
            control.stop(state)


@pytest.fixture(scope="module")
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_app(backend)) as made:
        yield made


@pytest.fixture(scope="module")
def operator(backend: Backend) -> Headers:
    return People(backend).headers("ana", Role.OPERATOR, NETWORK)


def test_what_a_device_holds_and_how_it_drifts(client: TestClient, backend: Backend, operator: Headers) -> None:
    device = backend.networks.network(NETWORK).devices[0]
    first = client.get(f"{V1}/{device.name}/running", headers=operator)
    assert first.status_code == 200
    assert "secret" not in first.text, "running configurations have passwords"
    untouched = client.get(f"{V1}/{device.name}/drift", headers=operator).json()
    assert (untouched["run"], untouched["drifted"]) == (None, None)

    order = {"network": NETWORK, "policy": POLICY}
    preview = client.post("/api/v1/compile", headers=operator, json={**order, "live": True}).json()
    candidate = next(d["candidate"] for d in preview["devices"] if d["name"] == device.name)
    assert any(line.startswith("policy-map") for line in candidate["delta"])

    executor = Executor(backend.settings, lambda *_: None)
    executor.start()
    try:
        run = client.post("/api/v1/runs", headers=operator, json={**order, "measure": False}).json()["id"]
        deadline = time.monotonic() + 90
        while (status := _status(client, operator, run)) in ("pending", "running") and time.monotonic() < deadline:
            time.sleep(0.3)
    finally:
        executor.stop()
    assert status == "kept"
    holds = client.get(f"{V1}/{device.name}/running", headers=operator).json()["plan"]
    assert holds != first.json()["plan"]
    kept = client.get(f"{V1}/{device.name}/drift", headers=operator).json()
    assert (kept["run"], kept["drifted"], kept["differences"]) == (run, False, [])

    state = state_folder(backend.settings.var_dir, NETWORK)
    control.configure(state, device.name, candidate["inverse"])
    drifted = client.get(f"{V1}/{device.name}/drift", headers=operator).json()
    assert drifted["drifted"] is True
    wan = next(interface.name for interface in device.interfaces if "wan" in interface.tags)
    assert any(wan in said for said in drifted["differences"])


def _status(client: TestClient, headers: Headers, run: str) -> str:
    return str(client.get(f"/api/v1/runs/{run}", headers=headers).json()["status"])
