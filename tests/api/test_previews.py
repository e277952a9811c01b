"""Previews over HTTP: the documents of the command line, findings and errors by lines, each made once."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.not_saved import LiveState
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.preview.policy_check import check_policy
from qosforge.reports.preview import CompilePreview, ValidatePreview, compile_document
from qosforge.resources import root
from qosforge.settings import Settings
from tests.api.conftest import Headers, People
from tests.batfish.support import hang, midway, peer
from tests.device_texts import said_by

V1 = "/api/v1"
TWELVE: dict[str, Any] = {"network": "campus", "policy": {"name": "rfc4594-12"}}


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """One for the module: a computing process takes a while to begin."""
    with open_backend(Settings(var_dir=tmp_path_factory.mktemp("previews"), compute_processes=1)) as made:
        yield made


@pytest.fixture(scope="module")
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_app(backend)) as made:
        yield made


@pytest.fixture(scope="module")
def viewer(backend: Backend) -> Headers:
    people = People(backend)
    return people.headers("ana", Role.VIEWER, "campus")


def test_a_preview_is_what_the_command_line_compiles(client: TestClient, viewer: Headers) -> None:
    answer = client.post(f"{V1}/compile", headers=viewer, json=TWELVE)
    assert answer.status_code == 200
    loaded = load_intent(root() / "policies" / "rfc4594-12.yaml")
    ours = compile_document(check_policy(loaded, load_network(root() / "inventories" / "campus")))
    theirs = CompilePreview.model_validate_json(answer.content)
    assert theirs.version == ours.version
    assert theirs.devices == ours.devices
    assert [f.code for f in theirs.findings] == [f.code for f in ours.findings]


def test_the_same_is_made_once_and_another_anew(client: TestClient, backend: Backend, viewer: Headers) -> None:
    first = client.post(f"{V1}/compile", headers=viewer, json=TWELVE)
    hits, misses = backend.previews.hits, backend.previews.misses
    again = client.post(f"{V1}/compile", headers=viewer, json=TWELVE)
    assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
    other = {**TWELVE, "policy": {"name": "rfc4594-12", "parameters": {"standard_percent": 15}}}
    changed = client.post(f"{V1}/compile", headers=viewer, json=other)
    assert changed.headers["etag"] != first.headers["etag"]
    assert (backend.previews.hits, backend.previews.misses) == (hits + 1, misses + 1)


def test_only_the_devices_that_are_asked_for(client: TestClient, viewer: Headers) -> None:
    answer = client.post(f"{V1}/compile", headers=viewer, json={**TWELVE, "devices": ["s2950"]}).json()
    assert [device["name"] for device in answer["devices"]] == ["s2950"]
    assert {finding["device"] for finding in answer["findings"]} <= {"s2950", None}
    unknown = client.post(f"{V1}/compile", headers=viewer, json={**TWELVE, "devices": ["s1"]})
    assert unknown.status_code == 422
    assert "s2950" in unknown.json()["errors"][0]["hint"]


def test_an_inline_policy_is_reported_by_its_own_lines(client: TestClient, viewer: Headers) -> None:
    text = (root() / "policies" / "campus-collaboration.yaml").read_text(encoding="utf-8")
    policy = {"text": text, "file": "ci/campus.yaml"}
    answer = client.post(f"{V1}/validate", headers=viewer, json={"network": "campus", "policy": policy})
    assert answer.status_code == 200
    found = ValidatePreview.model_validate_json(answer.content)
    assert {f.file for f in found.findings if f.file} == {"ci/campus.yaml"}
    wrong = {**policy, "text": text.replace("direction: output", "direction: out")}
    refused = client.post(f"{V1}/validate", headers=viewer, json={"network": "campus", "policy": wrong})
    assert refused.status_code == 422
    line = next(n for n, told in enumerate(text.splitlines(), 1) if "direction: output" in told)
    assert next((e["file"], e["line"]) for e in refused.json()["errors"]) == ("ci/campus.yaml", line)


def test_findings_against_a_push_make_it_no_error(client: TestClient, viewer: Headers) -> None:
    scope = "apply: [{interfaces: cable, direction: output}]"
    text = f"version: 1\nintent: nowhere\ninclude: [classes/rfc4594-4.yaml]\n{scope}\n"
    order = {"network": "campus", "policy": {"text": text}}
    answer = client.post(f"{V1}/validate", headers=viewer, json=order)
    assert answer.status_code == 200
    body = answer.json()
    assert body["good"] is False
    assert any(finding["severity"] == "error" for finding in body["findings"])


def test_strictness_weighs_warnings(client: TestClient, viewer: Headers) -> None:
    order = {"network": "campus", "policy": {"name": "campus-collaboration"}}
    mild = client.post(f"{V1}/compile", headers=viewer, json=order).json()
    strict = client.post(f"{V1}/compile", headers=viewer, json={**order, "strict": True}).json()
    assert any(finding["severity"] == "warning" for finding in mild["findings"])
    assert (mild["good"], strict["good"]) == (True, False)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"network": "nowhere"}, 403),
        ({"policy": {"name": "none"}}, 404),
        ({"policy": {"name": "rfc4594-12", "parameters": {"oam_percent": 90}}}, 422),
        ({"policy": {"text": "a: [" * 40}}, 422),
        ({"policy": {"text": "a: &a [x]\nb: [" + "*a, " * 40 + "]"}}, 422),
        ({"policy": {"text": "version: 1\ninclude: [../../etc/passwd.yaml]"}}, 422),
        ({"policy": {"path": "/etc/passwd"}}, 422),
    ],
)
def test_wrong_orders(client: TestClient, viewer: Headers, change: dict[str, Any], status: int) -> None:
    answer = client.post(f"{V1}/compile", headers=viewer, json={**TWELVE, **change})
    assert answer.status_code == status
    assert answer.json()["errors"] != [] or status == 404
    assert "root:" not in json.dumps(answer.json())


def test_devices_that_cannot_be_read_are_named_each(client: TestClient, viewer: Headers) -> None:
    answer = client.post(f"{V1}/compile", headers=viewer, json={**TWELVE, "live": True, "devices": ["r1", "r2"]})
    assert answer.status_code == 502
    assert {error["device"] for error in answer.json()["errors"]} == {"r1", "r2"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{V1}/compile"),
        ("POST", f"{V1}/validate"),
        ("GET", f"{V1}/networks/campus/devices/r1/running"),
        ("GET", f"{V1}/networks/campus/devices/r1/drift"),
    ],
)
def test_a_call_that_opens_sessions_is_in_the_log_of_calls(
    client: TestClient, backend: Backend, viewer: Headers, method: str, path: str
) -> None:
    body = {"json": {**TWELVE, "live": True, "devices": ["r1"]}} if method == "POST" else {}
    before = backend.access.calls(None, after=0, limit=100)
    if method == "POST":
        client.post(path, headers=viewer, json=TWELVE | {"devices": ["r1"]})
    assert backend.access.calls(None, after=0, limit=100) == before, "what reads no device is not"
    assert client.request(method, path, headers=viewer, **body).status_code == 502
    (call,) = backend.access.calls(None, after=0, limit=100)[len(before) :]
    assert (call.action, call.network, call.status) == (f"{method} {path}", "campus", 502)
    assert call.actor


def test_nobody_previews_a_network_that_is_not_theirs(client: TestClient, viewer: Headers) -> None:
    assert client.post(f"{V1}/compile", headers=viewer, json={**TWELVE, "network": "itesm"}).status_code == 403


def test_only_the_devices_in_scope_are_read(
    client: TestClient, viewer: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And to check what is at both ends of a link, those beside them."""
    asked: list[set[str]] = []

    def read(fleet: Fleet, devices: Collection[str] = ()) -> LiveState:
        asked.append(set(devices))
        return LiveState(said_by(dict.fromkeys(devices, "")))

    monkeypatch.setattr("qosforge.api.previews.read_live_state", read)
    text = (
        "version: 1\nintent: few\n"
        "classes: [{name: voice, match: {any: [{dscp: [ef]}]}, treatment: {priority: {percent: 20}}}]\n"
        "apply: [{devices: [s2950], direction: output}]\n"
    )
    body = {"network": "campus", "policy": {"text": text}, "live": True}
    for path in ("compile", "validate"):
        assert client.post(f"{V1}/{path}", headers=viewer, json=body).status_code == 200
    elsewhere = client.post(f"{V1}/compile", headers=viewer, json={**body, "devices": ["r3"]})

    assert asked == [{"s2950"}, {"s2950", "r1", "s2970"}]
    assert elsewhere.json()["devices"] == []


def test_a_batfish_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    """Our own findings come within the request's time, and who compiles does not wait for it."""
    order = {"network": "campus", "policy": {"name": "impossible"}}
    with peer(midway(hang)) as port:
        settings = Settings(
            var_dir=tmp_path, compute_processes=1, batfish_host="127.0.0.1", batfish_port=port, request_seconds=20
        )
        with open_backend(settings) as backend, TestClient(create_app(backend)) as client:
            headers = People(backend).headers("ana", Role.VIEWER, "campus")
            assert client.post(f"{V1}/compile", headers=headers, json=order).status_code == 200
            with ThreadPoolExecutor(2) as pool:
                began = time.monotonic()
                asked = [pool.submit(client.post, f"{V1}/validate", headers=headers, json=order) for _ in range(2)]
                while not (Path(tmp_path, "batfish") / "questions").is_dir():
                    assert time.monotonic() < began + 15
                    time.sleep(0.05)
                assert client.post(f"{V1}/compile", headers=headers, json=TWELVE).status_code == 200
                assert not any(each.done() for each in asked)
                answers = [each.result() for each in asked]
            assert time.monotonic() - began < settings.request_seconds + 5
    for answer in answers:
        assert answer.status_code == 200
        found = ValidatePreview.model_validate_json(answer.content)
        assert {"objective-below-minimum", "batfish-failed"} <= {f.code for f in found.findings}
