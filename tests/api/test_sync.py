"""An inventory compared with its source over HTTP, and written: by whom, and what is told where it fails."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.settings import Settings
from tests.api.conftest import Headers, People
from tests.sources.conftest import DESCRIPTION
from tests.sources.netbox_server import TOKEN, NetBoxServer, recorded, serving
from tests.sources.test_sync import interface, remove, texts

NETWORKS = "/api/v1/networks"
SYNC = f"{NETWORKS}/library/sync"
SECRET = TOKEN.partition(".")[2]


@pytest.fixture(scope="module")
def netbox() -> Iterator[NetBoxServer]:
    with pytest.MonkeyPatch.context() as patch, serving(recorded()) as server:
        patch.setenv("NETBOX_TOKEN", TOKEN)
        yield server


@pytest.fixture(autouse=True)
def as_recorded(netbox: NetBoxServer) -> None:
    """Every test begins with the NetBox that was recorded."""
    netbox.records = recorded()
    netbox.answer = lambda _path: None
    netbox.requests.clear()


@pytest.fixture(scope="module")
def backend(netbox: NetBoxServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """One service for all tests: the process that reads sources takes a while to begin."""
    folder = tmp_path_factory.mktemp("sync")
    settings = Settings(
        var_dir=folder / "var", compute_processes=1, inventories_dir=folder / "inventories", request_seconds=60
    )
    shutil.copytree(root() / "inventories" / "infn-fnal", folder / "inventories" / "infn-fnal")
    with open_backend(settings) as made:
        yield made


@pytest.fixture(scope="module")
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_app(backend)) as made:
        yield made


@pytest.fixture(scope="module")
def admin(backend: Backend) -> Headers:
    return People(backend).admin()


@pytest.fixture
def folder(backend: Backend, client: TestClient, admin: Headers, netbox: NetBoxServer) -> Path:
    """The network ``library`` without devices, with NetBox for its source."""
    folder = backend.settings.inventories_dir / "library"
    shutil.rmtree(folder, ignore_errors=True)
    assert client.post(NETWORKS, json={"name": "library"}, headers=admin).status_code == 201
    (folder / "source.yaml").write_text(DESCRIPTION.format(url=netbox.url))
    return folder


@pytest.fixture
def synced(client: TestClient, admin: Headers, folder: Path) -> Path:
    """The same, as NetBox has it."""
    assert write(client, admin)["left"] == []
    return folder


def write(client: TestClient, admin: Headers, *, remove: bool = False) -> dict[str, object]:
    """DriftResult, and write what was shown."""
    shown = client.get(SYNC, params={"remove": remove}, headers=admin)
    assert shown.status_code == 200, shown.text
    done = client.post(SYNC, json={"digest": shown.json()["digest"], "remove": remove}, headers=admin)
    assert done.status_code == 200, done.text
    return dict(done.json())


def test_what_is_written_is_what_was_shown(
    client: TestClient, admin: Headers, folder: Path, netbox: NetBoxServer
) -> None:
    before = texts(folder)
    shown = client.get(SYNC, headers=admin)
    assert shown.status_code == 200, shown.text
    found = shown.json()
    assert found["source"] == {"plugin": "netbox", "location": netbox.url}
    assert (len(found["changes"]), found["gone"], found["remove"]) == (17, [], False)
    added = {"kind": "added", "what": "device", "name": "r1", "field": "", "known": "", "found": ""}
    assert found["changes"][0] == added
    assert {note["topic"] for note in found["notes"]} >= {"assumed"}
    diffs = {file["file"]: file["diff"] for file in found["files"]}
    assert set(diffs) == {"groups.yaml", "hosts.yaml", "links.yaml"}
    assert "\n+r1:" in diffs["hosts.yaml"]
    assert texts(folder) == before
    assert sorted(path.name for path in folder.parent.iterdir()) == ["infn-fnal", "library"]

    done = client.post(SYNC, json={"digest": found["digest"]}, headers=admin)
    assert done.json() == {
        "network": "library",
        "written": ["groups.yaml", "hosts.yaml", "links.yaml"],
        "devices": 11,
        "links": 6,
        "left": [],
    }
    assert len(load_network(folder).devices) == 11
    assert len(client.get(f"{NETWORKS}/library", headers=admin).json()["devices"]) == 11
    again = client.get(SYNC, headers=admin).json()
    assert (again["changes"], again["files"]) == ([], [])
    call = next(
        call for call in client.get("/api/v1/calls", headers=admin).json()["calls"] if call["resource"] == SYNC
    )
    assert (call["network"], call["detail"]["digest"]) == ("library", found["digest"])


def test_a_difference_that_is_another_one_by_now_is_refused(
    client: TestClient, admin: Headers, synced: Path, netbox: NetBoxServer
) -> None:
    interface(netbox, "r1", "FastEthernet0/0")["speed"] = 10_000
    interface(netbox, "s2950", "FastEthernet0/24")["speed"] = 10_000
    shown = client.get(SYNC, headers=admin).json()
    assert "+      FastEthernet0/0: {rate: 10 Mb/s" in next(
        file["diff"] for file in shown["files"] if file["file"] == "hosts.yaml"
    )
    before = texts(synced)
    netbox.records["circuits/circuits"][0]["commit_rate"] = 1000
    stale = client.post(SYNC, json={"digest": shown["digest"]}, headers=admin)
    assert (stale.status_code, stale.json()["type"]) == (409, "urn:qosforge:problem:wrong-state")
    assert "no longer the one that was shown" in stale.json()["detail"]
    assert stale.json()["errors"][0]["hint"] == "look at it again, and write that one"
    netbox.records["circuits/circuits"][0]["commit_rate"] = 2000
    (synced / "hosts.yaml").write_text(before["hosts.yaml"] + "# Ana was here.\n")
    assert client.post(SYNC, json={"digest": shown["digest"]}, headers=admin).status_code == 409
    (synced / "hosts.yaml").write_text(before["hosts.yaml"])
    assert texts(synced) == before
    assert client.post(SYNC, json={"digest": shown["digest"]}, headers=admin).status_code == 200
    assert load_network(synced).device("r1").interface("FastEthernet0/0").rate == 10_000_000


def test_devices_that_went_stay_unless_they_are_to_go(
    client: TestClient, admin: Headers, synced: Path, netbox: NetBoxServer
) -> None:
    remove(netbox, "leaf")
    kept = client.get(SYNC, headers=admin).json()
    assert (kept["gone"], kept["changes"], kept["files"]) == (["leaf"], [], [])
    assert write(client, admin)["left"] == ["leaf"]
    taken = client.get(SYNC, params={"remove": True}, headers=admin).json()
    assert [change["name"] for change in taken["changes"] if change["what"] == "device"] == ["leaf"]
    # What was shown without removals removes nothing, whatever the request says.
    other = client.post(SYNC, json={"digest": kept["digest"], "remove": True}, headers=admin)
    assert other.status_code == 409
    assert load_network(synced).device("leaf")
    assert write(client, admin, remove=True)["left"] == []
    assert "leaf" not in (synced / "hosts.yaml").read_text()


def test_only_an_admin_of_every_network_may(
    backend: Backend, client: TestClient, folder: Path, netbox: NetBoxServer
) -> None:
    people, before = People(backend), texts(folder)
    for name, role, network in (
        ("eve", Role.VIEWER, "*"),
        ("ann", Role.OPERATOR, "*"),
        ("max", Role.APPROVER, "*"),
        ("near", Role.ADMIN, "library"),
    ):
        headers = people.headers(name, role, network)
        assert client.get(SYNC, headers=headers).status_code == 403
        assert client.post(SYNC, json={"digest": "0" * 64}, headers=headers).status_code == 403
    assert (texts(folder), netbox.requests) == (before, [])


@pytest.mark.parametrize(
    ("old", "new", "status", "message", "hint"),
    [
        ("NETBOX_TOKEN", "NOT_SET", 422, "the variable NOT_SET is not set", "set it where qosforge runs"),
        ("url: {url}", "url: http://127.0.0.1:9", 502, "it cannot be reached", "check 'url', and the way there"),
        ("plugin: netbox", "plugin: netbocks", 422, "no plug-in 'netbocks'", "installed: netbox, nornir"),
        ("  url:", "  ca: none.pem\n  url:", 422, "there is no file none.pem", "name the file of certificates"),
        ("role: [wan-edge", "role: [nobody, wan-edge", 422, "NetBox does not take this filter", "correct it"),
        ("token: {env: NETBOX_TOKEN}", f"token: {TOKEN}", 422, "a token does not belong here", ""),
    ],
)
def test_a_source_that_is_wrong_is_reported_with_its_hint(  # noqa: PLR0917  rows of a table
    client: TestClient,
    admin: Headers,
    folder: Path,
    netbox: NetBoxServer,
    caplog: pytest.LogCaptureFixture,
    old: str,
    new: str,
    status: int,
    message: str,
    hint: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    source = folder / "source.yaml"
    old = old.replace("{url}", netbox.url)
    assert old in source.read_text()
    source.write_text(source.read_text().replace(old, new))
    before = texts(folder)
    for answer in (
        client.get(SYNC, headers=admin),
        client.post(SYNC, json={"digest": "0" * 64}, headers=admin),
    ):
        assert answer.status_code == status, answer.text
        (error,) = answer.json()["errors"]
        assert (message in error["message"], hint in error["hint"]) == (True, True), error
        assert error.get("file") == "source.yaml" or error["path"] == "http://127.0.0.1:9"
        assert str(folder.parent) not in answer.text
        assert SECRET not in answer.text + caplog.text
    assert texts(folder) == before


def test_a_token_that_netbox_does_not_take(
    client: TestClient, admin: Headers, folder: Path, netbox: NetBoxServer, caplog: pytest.LogCaptureFixture
) -> None:
    told = json.dumps({"detail": f"no, {TOKEN}"}).encode()
    netbox.answer = lambda path: (403, {"Content-Type": "application/json"}, told) if "dcim" in path else None
    answer = client.get(SYNC, headers=admin)
    assert (answer.status_code, answer.json()["type"]) == (502, "urn:qosforge:problem:source-failed")
    assert "check the token" in answer.json()["errors"][0]["hint"]
    assert SECRET not in answer.text + caplog.text


def test_a_filter_that_leaves_nothing_of_a_network(
    client: TestClient, admin: Headers, synced: Path, netbox: NetBoxServer
) -> None:
    netbox.records["dcim/devices"] = [
        one for one in netbox.records["dcim/devices"] if one["role"]["slug"] == "server"
    ]
    source = synced / "source.yaml"
    text = source.read_text()
    source.write_text(text.replace("{role: [wan-edge, wan-transit, access-switch, core-switch]}", "{name: none}"))
    answer = client.get(SYNC, headers=admin)
    assert answer.status_code == 502
    (error,) = answer.json()["errors"]
    assert (error["file"], "the source has no devices" in error["message"]) == ("source.yaml", True)


def test_a_network_without_a_source_or_none_at_all(client: TestClient, admin: Headers) -> None:
    for address, message in (
        (f"{NETWORKS}/infn-fnal/sync", "the network has no source.yaml"),
        (f"{NETWORKS}/nowhere/sync", "there is no network 'nowhere'"),
    ):
        for answer in (
            client.get(address, headers=admin),
            client.post(address, json={"digest": "0" * 64}, headers=admin),
        ):
            assert (answer.status_code, answer.json()["detail"]) == (404, message)
            assert answer.json()["errors"][0]["hint"]


def test_a_source_that_does_not_answer_in_the_time_of_a_request(netbox: NetBoxServer, tmp_path: Path) -> None:
    folder = tmp_path / "inventories" / "library"
    shutil.copytree(root() / "inventories" / "infn-fnal", folder)
    (folder / "source.yaml").write_text(DESCRIPTION.format(url=netbox.url))

    def silent(_path: str) -> None:
        time.sleep(12)

    netbox.answer = silent
    settings = Settings(
        var_dir=tmp_path / "var", compute_processes=1, inventories_dir=folder.parent, request_seconds=9
    )
    with open_backend(settings) as backend, TestClient(create_app(backend)) as client:
        answer = client.get(SYNC, headers=People(backend).admin())
        assert (answer.status_code, answer.json()["type"]) == (502, "urn:qosforge:problem:source-failed")
        (error,) = answer.json()["errors"]
        assert "was not read within 6 s" in error["message"]
        assert "qosforge network sync" in error["hint"]
