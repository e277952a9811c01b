"""Secrets that boxes hold are found nowhere that a viewer, a log or a file tells, whatever became of the run."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from napalm.base.base import NetworkDriver
from starlette.testclient import TestClient

from app.access.roles import Role
from app.api.backend import open_backend
from app.deploy.fleet import Fleet
from app.emulation import start_lab, state_folder
from app.intent.loader import load_intent
from app.inventory.loader import load_network
from app.inventory.overlay import read_overlay
from app.lab import control
from app.resources import root
from app.runs.contents import contents
from app.runs.desk import Order
from app.runs.service import open_service
from app.settings import Settings
from app.web.site import create_site
from tests.web.people import Persons

pytestmark = pytest.mark.hostile

NETWORK = "infn-fnal"
HELD = """\
enable secret 5 $1$PLANTED01$PLANTEDX1
username ann privilege 15 password 0 PLANTED02
snmp-server community PLANTED03 RW
snmp-server host 192.0.2.1 version 2c PLANTED04
tacacs-server key PLANTED05
radius-server host 192.0.2.2 key 7 PLANTED06
banner motd ^C the community is PLANTED03, ask for PLANTED02 ^C
"""
UNSAVED = "snmp-server community PLANTED07 RW"
PLANTED = b"PLANTED"


@dataclass(frozen=True)
class Told:
    """What became of the runs, and where everything is kept."""

    settings: Settings
    runs: dict[str, str]
    status: dict[str, str]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """A run that is kept, one that rolls it back, and one that a box refuses, on boxes that hold secrets."""
    folder = tmp_path_factory.mktemp("planted")
    settings = Settings(var_dir=folder / "var", compute_processes=1)
    inventory = folder / NETWORK
    shutil.copytree(root() / "inventories" / NETWORK, inventory)
    for startup in (inventory / "startup").iterdir():
        startup.write_text(startup.read_text().replace("ip cef\n", f"ip cef\n{HELD}", 1))
    network = load_network(inventory)
    intent = load_intent(root() / "examples" / "policies" / "remote-control.yaml")
    lab = state_folder(settings.var_dir, network.name)
    start_lab(network, inventory, lab)
    names = [device.name for device in network.devices]

    def saved(_name: str, driver: NetworkDriver) -> None:
        driver.confirm_commit()  # boxes print what they were delivered with in an order of their own

    def unsaved(_name: str, driver: NetworkDriver) -> None:
        driver.load_merge_candidate(config=UNSAVED)
        driver.commit_config()

    def on_each_box(task: Callable[[str, NetworkDriver], None]) -> None:
        with Fleet(network, read_overlay(lab), lab) as fleet:
            outcomes = fleet.run(names, task)
        assert all(outcome.error is None for outcome in outcomes.values()), outcomes

    try:
        on_each_box(saved)
        with open_service(settings, lambda _stage, _text: None) as service:
            order = Order(network, intent, measure=False)
            kept = service.run(order, "ann")
            back = service.carry_out(service.desk.roll_back(kept.run_id, "ann").id)
            on_each_box(unsaved)
            refused = service.run(order, "ann")
    finally:
        control.stop(lab)
    finished = {"kept": kept, "back": back, "refused": refused}
    return Told(
        settings,
        {name: one.run_id for name, one in finished.items()},
        {name: one.result["status"] for name, one in finished.items()},
    )


def test_the_runs_went_as_they_should(told: Told) -> None:
    assert (told.status["kept"], told.status["back"]) == ("kept", "kept")
    assert told.status["refused"] in ("failed", "rolled_back")


@pytest.mark.parametrize("name", ["kept", "back", "refused"])
def test_a_viewer_is_told_no_secret(told: Told, name: str) -> None:
    with open_backend(told.settings) as backend, TestClient(create_site(backend)) as client:
        Persons(backend).add(f"eve-{name}", Role.VIEWER).log_in(client)
        run, here = told.runs[name], f"/api/v1/runs/{told.runs[name]}"
        paths = [here, f"{here}/artifacts", f"/runs/{run}", f"/runs/{run}/progress", f"/runs/{run}/standing"]
        paths += [f"{here}/report?format={form}" for form in ("html", "json", "junit", "sarif", "markdown")]
        listed = client.get(f"{here}/artifacts").json()["artifacts"]
        readable = [entry["link"] for entry in listed if not entry["restricted"]]
        assert len(readable) > 3
        for path in [*paths, *readable]:
            answer = client.get(path)
            assert answer.status_code == 200, (path, answer.text)
            assert PLANTED not in answer.content, path
        for entry in listed:
            if entry["restricted"]:
                assert client.get(entry["link"]).status_code == 403
        with zipfile.ZipFile(io.BytesIO(client.get(f"/runs/{run}/everything.zip").content)) as archive:
            assert archive.namelist()
            for part in archive.namelist():
                assert PLANTED not in archive.read(part), part


def test_an_operator_reads_whole_configurations(told: Told) -> None:
    with open_backend(told.settings) as backend, TestClient(create_site(backend)) as client:
        Persons(backend).add("oda", Role.OPERATOR).log_in(client)
        listed = client.get(f"/api/v1/runs/{told.runs['kept']}/artifacts").json()["artifacts"]
        whole = [client.get(entry["link"]).content for entry in listed if entry["restricted"]]
        assert any(PLANTED in content for content in whole)


def test_no_secret_is_in_databases_logs_and_reports(told: Told) -> None:
    var = told.settings.var_dir
    with open_backend(told.settings) as backend:
        whole = {
            content.id
            for run in told.runs.values()
            for content in contents(backend.desk.store, run)
            if content.kind.restricted
        }
        journal = [entry for run in told.runs.values() for entry in backend.desk.store.journal.entries(run)]
    whole |= {artifact for entry in journal for artifact in (entry.before,) if artifact}
    looked_at = 0
    for path in var.rglob("*"):
        inside = path.relative_to(var)
        if not path.is_file() or inside.parts[0] == "lab":
            continue
        if inside.parts[0] == "artifacts" and "".join(inside.parts[1:]) in whole:
            continue
        looked_at += 1
        # The report that the command line writes is for who ran it, and has what the boxes held at the end.
        content = path.read_bytes()
        assert PLANTED not in content or inside.parts[0] == "reports", inside
    assert looked_at > 10


def test_the_reason_names_no_secret_and_is_still_a_reason(told: Told) -> None:
    with open_backend(told.settings) as backend:
        report = backend.desk.detail(told.runs["refused"])
    words = " ".join(stage.summary for stage in report.stages)
    assert "snmp-server community ******** RW" in words
    assert "differ" in words
