"""Networks and devices over HTTP, without a device: what the inventory has, and what a policy makes of it."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api import previews
from qosforge.api.backend import Backend
from qosforge.resources import root
from tests.api.conftest import Headers, People

V1 = "/api/v1"
PLAN = f"{V1}/networks/campus/devices/s2950/plan"


@pytest.fixture
def viewer(people: People) -> Headers:
    return people.headers("ana", Role.VIEWER, "campus")


def test_only_networks_that_the_caller_sees(client: TestClient, viewer: Headers, people: People) -> None:
    names = [n["name"] for n in client.get(f"{V1}/networks", headers=viewer).json()["networks"]]
    assert names == ["campus"]
    everybody = client.get(f"{V1}/networks", headers=people.admin()).json()["networks"]
    assert {"campus", "itesm"} <= {network["name"] for network in everybody}
    assert client.get(f"{V1}/networks/itesm", headers=viewer).status_code == 403


def test_a_network_tells_no_place_of_this_machine(client: TestClient, viewer: Headers) -> None:
    answer = client.get(f"{V1}/networks/campus", headers=viewer)
    assert "s2950" in answer.json()["devices"]
    assert str(root()) not in answer.text


@pytest.mark.parametrize("path", ["networks/none", "networks/campus/devices/none", "networks/..%2Fcampus"])
def test_what_is_not_there_is_not_found(client: TestClient, people: People, path: str) -> None:
    assert client.get(f"{V1}/{path}", headers=people.admin()).status_code == 404


def test_devices_are_those_of_the_inventory(client: TestClient, viewer: Headers) -> None:
    devices = client.get(f"{V1}/networks/campus/devices", headers=viewer).json()["devices"]
    one = client.get(f"{V1}/networks/campus/devices/{devices[0]['name']}", headers=viewer).json()
    assert one == devices[0]
    assert one["interfaces"]


@pytest.mark.parametrize("what", ["running", "drift"])
def test_one_call_at_a_time_reads_the_devices_of_a_network(
    client: TestClient, viewer: Headers, backend: Backend, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(previews, "PATIENCE_SECONDS", 0.05)
    path = f"{V1}/networks/campus/devices/s2950/{what}"
    with backend.previews.alone("campus"):
        busy = client.get(path, headers=viewer)
    assert (busy.status_code, busy.json()["type"]) == (503, "urn:qosforge:problem:busy")
    assert "retry-after" in busy.headers
    assert client.get(path, headers=viewer).status_code == 502  # no device has an address here


def test_a_plan_that_is_known_is_not_sent_again(client: TestClient, viewer: Headers) -> None:
    first = client.get(PLAN, headers=viewer, params={"policy": "rfc4594-8"})
    assert first.status_code == 200
    assert [device["name"] for device in first.json()["devices"]] == ["s2950"]
    known = {**viewer, "If-None-Match": first.headers["etag"]}
    again = client.get(PLAN, headers=known, params={"policy": "rfc4594-8"})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(PLAN, headers=known, params={"policy": "rfc4594-4"}).status_code == 200


def test_a_device_out_of_reach_is_reported(client: TestClient, viewer: Headers) -> None:
    for what in ("running", "drift"):
        answer = client.get(f"{V1}/networks/campus/devices/s2950/{what}", headers=viewer)
        assert answer.status_code == 502
        assert answer.json()["errors"][0]["device"] == "s2950"
