"""Networks and devices added on pages, a network made writable, and its devices checked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.web.people import Persons

R9 = {
    "name": "r9",
    "hostname": "127.0.0.1",
    "platform": "cisco_ios",
    "image": "12.4(15)T",
    "transport": "ssh",
    "interfaces": "Serial0/0 = 2 Mb/s\n\nFastEthernet0/0=100 Mb/s",
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
def site(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        yield made


def test_an_administrator_brings_a_network_in(backend: Backend, site: TestClient, inventories: Path) -> None:
    session = Persons(backend).add("root", Role.ADMIN).log_in(site)
    assert 'hx-post="/networks"' in site.get("/networks").text
    made = site.post("/networks", data={"name": "library"}, headers=session)
    assert (made.status_code, made.headers["hx-redirect"]) == (204, "/networks/library")
    added = site.post("/networks/library/devices", data=R9, headers=session)
    assert added.headers["hx-redirect"] == "/networks/library/devices/r9", added.text
    device = load_network(inventories / "library").device("r9")
    assert [(i.name, i.rate) for i in device.interfaces] == [
        ("Serial0/0", 2e6),
        ("FastEthernet0/0", 1e8),
    ]
    page = site.get("/networks/library?tab=settings").text
    assert "Nothing is pushed until" in page
    assert 'href="/networks/library/devices/r9"' in site.get("/networks/library").text
    writable = site.put("/networks/library/writable", data={"writable": "true"}, headers=session).text
    assert "Changes may be pushed now." in writable
    assert "Make it read-only" in writable
    assert load_network(inventories / "library").changes.writable is True
    gone = site.delete("/networks/library/devices/r9", headers=session)
    assert gone.headers["hx-redirect"] == "/networks/library"
    assert load_network(inventories / "library").devices == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"interfaces": "Serial0/0 2 Mb/s"}, "says no rate"),
        ({"interfaces": "Serial0/0=2 Mb/s\nSerial0/0=1 Mb/s"}, "is there twice"),
        ({"name": "a b"}, "Name: has a character that cannot stand here"),
        ({"image": ""}, "Software: "),
        ({"hostname": "-x"}, "is not a host"),
    ],
)
def test_what_is_wrong_is_reported_by_its_field(
    backend: Backend, site: TestClient, inventories: Path, change: dict[str, str], told: str
) -> None:
    session = Persons(backend).add("root", Role.ADMIN).log_in(site)
    refused = site.post("/networks/infn-fnal/devices", data={**R9, **change}, headers=session)
    assert (refused.status_code, told in refused.text) == (422, True), refused.text
    assert str(inventories) not in refused.text
    assert "r9" not in (inventories / "infn-fnal" / "hosts.yaml").read_text()


def test_a_check_says_of_each_device_what_is_wrong(backend: Backend, site: TestClient, inventories: Path) -> None:
    hosts = inventories / "infn-fnal" / "hosts.yaml"
    assert "hostname:" not in hosts.read_text()
    session = Persons(backend).add("eve", Role.VIEWER, "infn-fnal").log_in(site)
    checked = site.post("/networks/infn-fnal/check", headers=session).text
    assert "2 devices: 0 with nothing wrong, 2 with problems" in checked
    assert checked.count("✖ problem") == 2
    assert "router1, reached:" in checked


def test_others_see_no_such_forms_and_may_not(backend: Backend, site: TestClient) -> None:
    near = Persons(backend).add("near", Role.ADMIN, "infn-fnal").log_in(site)
    page = site.get("/networks/infn-fnal?tab=settings").text
    assert "Make it " in page
    assert 'id="add-device"' not in page
    assert 'id="add-network"' not in site.get("/networks").text
    assert site.post("/networks", data={"name": "library"}, headers=near).status_code == 403
    assert site.post("/networks/infn-fnal/devices", data=R9, headers=near).status_code == 403
    assert "Remove from the inventory" not in site.get("/networks/infn-fnal/devices/router1").text
    Persons(backend).add("eve", Role.OPERATOR, "infn-fnal").log_in(site)
    assert "Make it " not in site.get("/networks/infn-fnal?tab=settings").text
