"""The first screen of a new policy, where what it recommends cannot be known."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.api.jobs.queue import JobProgress
from qosforge.compute import TooBusy
from qosforge.device_state.drift_watch import DriftResult, claim_check, record_check
from qosforge.device_state.last_known import last_known
from qosforge.policy_library.groups import STARTING_POINTS
from qosforge.resources import root
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from qosforge.web.site import create_site
from qosforge.web.views import starting_points
from tests.web.people import Persons
from tests.web.recorded import record, startups

COMPUTED = "are being compiled"
NOT_KNOWN = "How the starting points do on campus is not known"


@pytest.fixture
def inventories(tmp_path: Path) -> Path:
    folder = tmp_path / "inventories"
    for name in ("campus", "itesm-wan"):
        copy = folder / name
        copy.mkdir(parents=True)
        for file in (root() / "inventories" / name).iterdir():
            (copy / file.name).symlink_to(file)
    return folder


@pytest.fixture
def backend(tmp_path: Path, inventories: Path) -> Iterator[Backend]:
    settings = Settings(var_dir=tmp_path / "var", compute_processes=1, inventories_dir=inventories)
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def site(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        Persons(backend).add("ann", Role.OPERATOR).log_in(made)
        yield made


def new_policy(site: TestClient) -> str:
    page = site.get("/policies/new", params={"network": "campus"})
    assert page.status_code == 200
    assert set(re.findall(r'name="from" value="([^"]+)"', page.text)) == set(STARTING_POINTS)
    return page.text


def poll(site: TestClient, network: str = "campus", state: str = "campus computing") -> str:
    """What the starting points become; asked as their part of the page asks."""
    for _ in range(300):
        answer = site.get("/policies/new/starts", params={"network": network, "state": state})
        if answer.status_code == 200 and COMPUTED not in answer.text:
            return answer.text
        time.sleep(0.1)
    raise AssertionError("it is computed for ever")


def test_what_failed_is_told_and_not_begun_again_before_somebody_asks(
    site: TestClient, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting_points, "start_fits", ord)  # with three arguments, it fails in its process
    assert COMPUTED in new_policy(site)
    page = poll(site)
    assert NOT_KNOWN in page
    assert "every 1s" not in page
    assert NOT_KNOWN in poll(site), "a tab that did not hear of it yet"
    monkeypatch.undo()
    assert COMPUTED in new_policy(site)


def refuse(*_: object, **__: object) -> None:
    raise TooBusy("16 computations of yours wait already", hint="come again")


def break_inventory(backend: Backend, _: pytest.MonkeyPatch) -> None:
    hosts = backend.settings.inventories_dir / "campus" / "hosts.yaml"  # type: ignore[operator]
    hosts.unlink()
    hosts.write_text("hosts: 7\n")


def lose_artifacts(backend: Backend, _: pytest.MonkeyPatch) -> None:
    texts = startups(backend.networks.network("campus"))
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.KEPT)
    for path in (backend.settings.var_dir / "artifacts").rglob("*"):
        if path.is_file():
            path.unlink()


def be_busy(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend.jobs, "submit", refuse)


@pytest.mark.parametrize("spoil", [break_inventory, lose_artifacts, be_busy])
def test_a_policy_can_begin_where_it_cannot_be_known_what_fits(
    site: TestClient,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Backend, pytest.MonkeyPatch], None],
) -> None:
    spoil(backend, monkeypatch)
    page = new_policy(site)
    assert NOT_KNOWN in page
    assert "every 1s" not in page


def test_asking_whether_it_is_done_reads_no_configuration(
    site: TestClient, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = startups(backend.networks.network("campus"))
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.KEPT)
    read = []

    def counted(*args: object) -> object:
        read.append(args)
        return last_known(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(starting_points, "last_known", counted)
    new_policy(site)
    poll(site)
    assert len(read) == 1


def test_of_a_network_that_is_not_checked_as_a_whole_no_more_is_promised(
    site: TestClient, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(_: str, function: Callable[..., object], *args: object, **__: object) -> JobProgress:
        return JobProgress("done", function(*args))

    monkeypatch.setattr(backend.jobs, "submit", here)
    monkeypatch.setattr(starting_points, "MAX_WHOLE_DEVICES", 1)
    assert "? no errors found on campus; 9 devices were never read" in re.sub(r"<[^>]+>", "", new_policy(site))
    texts = startups(backend.networks.network("campus"))
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.KEPT)
    page = re.sub(r"<[^>]+>", "", new_policy(site))
    assert "no errors on campus" not in page
    assert "compiles without errors for campus; a run checks the rest" in page


def test_the_starting_points_wait_for_devices_that_are_read_and_say_which_could_not_be(
    site: TestClient, backend: Backend
) -> None:
    headers = Persons(backend).add("olga", Role.OPERATOR).log_in(site)
    assert site.post("/networks/campus/read", headers=headers).status_code == 200
    page = new_policy(site)
    assert "The 9 devices of campus are being read" in page
    assert "every 1s" in page
    asked = {"network": "campus", "state": "campus reading"}
    assert site.get("/policies/new/starts", params=asked).status_code == 204
    claimed = claim_check(backend.database)
    assert claimed is not None
    record_check(backend.database, claimed[1], DriftResult(backend.access.now(), unread={"r1": "no answer"}))
    page = poll(site, state="campus reading")
    assert "The 9 devices of campus were never read." in page
    assert "r1: no answer" in page
    assert "Read the 9 devices" in page
