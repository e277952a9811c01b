from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from qosforge.access.audit_log import UNKNOWN
from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.resources import root as root_folder
from tests.api.conftest import Headers, People
from tests.checkout import PYTHONPATH

CALLS = "/api/v1/calls"


@pytest.fixture
def root(client: TestClient, people: People) -> Headers:
    """An admin; the log has a user made, one refused, a role given and a stranger's attempt."""
    headers = people.admin()
    client.post("/api/v1/users", json={"name": "ann"}, headers=headers)
    client.post("/api/v1/users", json={"name": "ann"}, headers=headers)
    client.put("/api/v1/users/ann/grants/campus", json={"role": "viewer"}, headers=headers)
    client.put("/api/v1/users/ann/grants/lab", json={"role": "viewer"}, headers=headers)
    client.post("/api/v1/users", json={"name": "eve"}, headers={"Authorization": "Bearer qf_"})
    client.get("/api/v1/users", headers=headers)
    return headers


def test_changing_calls_are_logged_also_refused_ones(client: TestClient, root: Headers) -> None:
    page = client.get(CALLS, headers=root).json()
    told = [(call["action"], call["network"], call["status"], call["actor"]) for call in page["calls"]]
    assert told == [
        ("POST /api/v1/users", "", 201, "root"),
        ("POST /api/v1/users", "", 409, "root"),
        ("PUT /api/v1/users/ann/grants/campus", "campus", 200, "root"),
        ("PUT /api/v1/users/ann/grants/lab", "lab", 200, "root"),
        ("POST /api/v1/users", "", 401, ""),
    ]
    assert [call["reason"] for call in page["calls"]] == [
        "",
        "there is a user ann already, or one of this subject",
        "",
        "",
        "this is no token of qosforge",
    ]
    assert page["calls"][0]["resource"] == "users/ann"
    assert page["calls"][2]["detail"] == {"role": "viewer"}
    assert page["calls"][0]["credential"].startswith("token:")
    assert all(call["request_id"] for call in page["calls"])
    assert page["next"] is None


def test_the_log_is_read_in_pages(client: TestClient, root: Headers) -> None:
    numbers: list[int] = []
    after: int | None = 0
    while after is not None:
        page = client.get(CALLS, params={"after": after, "limit": 2}, headers=root).json()
        numbers += [call["seq"] for call in page["calls"]]
        after = page["next"]
    assert len(numbers) == 5
    assert numbers == sorted(numbers)


def test_the_log_is_exported(client: TestClient, root: Headers) -> None:
    calls = client.get(CALLS, headers=root).json()["calls"]
    lines = client.get(f"{CALLS}/export", headers=root)
    assert lines.headers["content-type"] == "application/jsonl"
    assert [json.loads(line)["seq"] for line in lines.text.splitlines()] == [call["seq"] for call in calls]
    table = client.get(f"{CALLS}/export", params={"format": "csv", "limit": 3}, headers=root)
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [int(row["seq"]) for row in rows] == [call["seq"] for call in calls[:3]]
    rest = client.get(table.links["next"]["url"], headers=root)
    assert len(list(csv.DictReader(io.StringIO(rest.text)))) == 2
    assert "next" not in rest.links


def test_an_admin_of_one_network_sees_its_calls_alone(client: TestClient, root: Headers, people: People) -> None:
    local = people.headers("local", Role.ADMIN, "campus")
    page = client.get(CALLS, headers=local).json()
    assert {call["network"] for call in page["calls"]} == {"campus"}
    assert client.get(f"{CALLS}/export", headers=local).text.count("\n") == 1


_CRASH = """
import os, sys
from pathlib import Path
from starlette.testclient import TestClient
from qosforge.api.application import create_app
from qosforge.api.backend import open_backend
from qosforge.runs.requests.requests import RunRequests
from qosforge.settings import Settings

place = RunRequests.submit
def place_and_die(*given):
    place(*given)
    os._exit(9)
RunRequests.submit = place_and_die
with open_backend(Settings(var_dir=Path(sys.argv[1]), compute_processes=1)) as backend:
    with TestClient(create_app(backend)) as client:
        body = {"network": "campus", "policy": {"name": "campus-collaboration"}}
        client.post("/api/v1/runs", json=body, headers={"Authorization": sys.argv[2]})
"""


def test_a_call_whose_process_died_is_in_the_log(
    client: TestClient, people: People, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = people.admin()
    command = [sys.executable, "-c", _CRASH, str(backend.settings.var_dir), headers["Authorization"]]
    ended = subprocess.run(command, cwd=root_folder(), env={**os.environ, "PYTHONPATH": PYTHONPATH}, check=False)
    assert ended.returncode == 9
    assert len(client.get("/api/v1/runs", headers=headers).json()["runs"]) == 1
    assert client.get(CALLS, headers=headers).json()["calls"] == []  # it may be at work still
    now = datetime.now(UTC) + timedelta(seconds=4 * backend.settings.request_seconds)
    monkeypatch.setattr(backend.access, "now", lambda: now)
    for _ in range(2):
        (call,) = client.get(CALLS, headers=headers).json()["calls"]
        assert (call["action"], call["actor"], call["status"]) == ("POST /api/v1/runs", "root", UNKNOWN)


@pytest.mark.parametrize("path", ["/runs", "/measurements", "/sweeps"])
def test_who_manages_a_network_hears_of_what_was_refused_there(
    client: TestClient, people: People, path: str
) -> None:
    body = {"network": "campus", "policy": {"name": "campus-collaboration"}}
    refused = client.post(f"/api/v1{path}", json=body, headers=people.headers("eve", Role.OPERATOR, "lab"))
    assert refused.status_code == 403
    page = client.get(CALLS, headers=people.headers("local", Role.ADMIN, "campus")).json()
    assert [(call["actor"], call["network"], call["status"]) for call in page["calls"]] == [("eve", "campus", 403)]


@pytest.mark.parametrize("path", ["", "/export"])
def test_the_log_is_for_admins(client: TestClient, people: People, path: str) -> None:
    assert client.get(CALLS + path).status_code == 401
    assert client.get(CALLS + path, headers=people.headers("ann", Role.APPROVER)).status_code == 403
