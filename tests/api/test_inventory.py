"""Networks and devices added, taken away, and made writable over HTTP: in the inventory's own files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.resources import root
from qosforge.settings import Settings
from tests.api.conftest import Headers, People

NETWORKS = "/api/v1/networks"
OWN = f"{NETWORKS}/infn-fnal"
R9: dict[str, Any] = {
    "name": "r9",
    "hostname": "192.0.2.9",
    "platform": "cisco_ios",
    "image": "12.4(15)T",
    "credentials": "tacacs",
    "interfaces": {"Serial0/0": "2 Mb/s"},
}


@pytest.fixture
def inventories(tmp_path: Path) -> Path:
    folder = tmp_path / "inventories"
    shutil.copytree(root() / "inventories" / "infn-fnal", folder / "infn-fnal")
    return folder


@pytest.fixture
def backend(tmp_path: Path, inventories: Path) -> Iterator[Backend]:
    settings = Settings(var_dir=tmp_path / "var", compute_processes=1, inventories_dir=inventories)
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_app(backend)) as made:
        yield made


@pytest.fixture
def admin(backend: Backend) -> Headers:
    return People(backend).admin()


def test_a_network_from_nothing_to_writable(client: TestClient, admin: Headers, inventories: Path) -> None:
    made = client.post(NETWORKS, json={"name": "library"}, headers=admin)
    assert (made.status_code, made.json()["devices"]) == (201, [])
    added = client.post(f"{NETWORKS}/library/devices", json=R9, headers=admin)
    assert added.status_code == 201, added.text
    assert (added.json()["name"], added.json()["driver"]) == ("r9", "ios_legacy")
    assert "192.0.2.9" in (inventories / "library" / "hosts.yaml").read_text()
    said = client.put(f"{NETWORKS}/library/writable", json={"writable": True}, headers=admin)
    assert (said.status_code, said.json()) == (200, {"writable": True})
    assert (inventories / "library" / "changes.yaml").read_text() == "writable: true\n"
    assert client.delete(f"{NETWORKS}/library/devices/r9", headers=admin).status_code == 204
    assert client.get(f"{NETWORKS}/library", headers=admin).json()["devices"] == []
    calls = client.get("/api/v1/calls", headers=admin).json()["calls"]
    assert [call["action"] for call in calls if call["network"] == "library"][-1:] == [
        f"DELETE {NETWORKS}/library/devices/r9"
    ]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("# Rules.\n\n# of the dean\nzone: Europe/Madrid # here\n",
         "# Rules.\n\n# of the dean\nwritable: true\nzone: Europe/Madrid # here\n"),
        ("zone: UTC\nwritable:  false   # for now\n", "zone: UTC\nwritable:  true   # for now\n"),
        ("# none yet\n{}\n", "# none yet\nwritable: true\n"),
    ],
)  # fmt: skip
def test_the_rest_of_the_rules_stays(
    client: TestClient, admin: Headers, inventories: Path, text: str, after: str
) -> None:
    rules = inventories / "infn-fnal" / "changes.yaml"
    rules.write_text(text)
    assert client.put(f"{OWN}/writable", json={"writable": True}, headers=admin).status_code == 200
    assert rules.read_text() == after


def test_rules_of_another_layout_are_left_to_people(client: TestClient, admin: Headers, inventories: Path) -> None:
    rules = inventories / "infn-fnal" / "changes.yaml"
    rules.write_text("{zone: UTC}\n")
    refused = client.put(f"{OWN}/writable", json={"writable": True}, headers=admin)
    assert (refused.status_code, refused.json()["errors"][0]["hint"]) == (422, "change it by hand")
    assert rules.read_text() == "{zone: UTC}\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"platform": "cisco_iosxr"}, "cisco_iosxr"),
        ({"driver": "junos"}, "junos"),
        ({"hostname": "-oProxyCommand=x"}, "is not a host"),
        ({"jump": "-oProxyCommand=x"}, "is not a jump host"),
        ({"interfaces": {"Serial0/0": "fast"}}, "fast"),
        ({"name": "router1"}, "the network has this device already"),
        ({"password": "hunter2"}, "password"),
    ],
)
def test_a_device_that_cannot_be_is_named_and_nothing_written(
    client: TestClient, admin: Headers, inventories: Path, change: dict[str, object], told: str
) -> None:
    hosts = inventories / "infn-fnal" / "hosts.yaml"
    before = hosts.read_text()
    refused = client.post(f"{OWN}/devices", json={**R9, **change}, headers=admin)
    assert refused.status_code == 422
    assert told in refused.text
    assert str(inventories) not in refused.text
    assert "hunter2" not in refused.text
    assert hosts.read_text() == before


def test_a_device_with_a_link_stays(client: TestClient, admin: Headers) -> None:
    refused = client.delete(f"{OWN}/devices/router1", headers=admin)
    assert (refused.status_code, "links.yaml" in refused.text) == (422, True)
    assert client.get(f"{OWN}/devices/router1", headers=admin).status_code == 200


@pytest.mark.parametrize("name", ["infn-fnal", "..", "a/b", "", ".hidden", "x" * 64])
def test_what_cannot_be_a_new_network(client: TestClient, admin: Headers, inventories: Path, name: str) -> None:
    assert client.post(NETWORKS, json={"name": name}, headers=admin).status_code == 422
    assert [path.name for path in inventories.iterdir()] == ["infn-fnal"]


def test_who_may(client: TestClient, backend: Backend, inventories: Path) -> None:
    people = People(backend)
    near = people.headers("near", Role.ADMIN, "infn-fnal")
    assert client.post(NETWORKS, json={"name": "library"}, headers=near).status_code == 403
    # A device may be given the name of any credentials, so that it would learn those of another network.
    assert client.post(f"{OWN}/devices", json=R9, headers=near).status_code == 403
    assert client.delete(f"{OWN}/devices/router1", headers=near).status_code == 403
    assert client.put(f"{OWN}/writable", json={"writable": True}, headers=near).status_code == 200
    approver = people.headers("ann", Role.APPROVER)
    for method, path, body in (
        ("POST", NETWORKS, {"name": "library"}),
        ("POST", f"{OWN}/devices", R9),
        ("DELETE", f"{OWN}/devices/router1", None),
        ("PUT", f"{OWN}/writable", {"writable": False}),
    ):
        assert client.request(method, path, json=body, headers=approver).status_code == 403
    assert (inventories / "infn-fnal" / "changes.yaml").read_text().count("writable: true") == 1
