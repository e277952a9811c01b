"""Webhooks over the interface: who may, what is shown, and what is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.api.webhook_docs import MESSAGES
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.settings import Settings
from qosforge.webhooks.messages import EventType
from qosforge.webhooks.sender import Sender
from tests.api.conftest import Headers, People
from tests.runs.support import wait_for
from tests.webhooks.receiver import Receiver, receiving

WEBHOOKS = "/api/v1/webhooks"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(var_dir=tmp_path / "var", compute_processes=1, webhook_hosts=("127.0.0.1", "chat.example.net"))


@pytest.fixture
def root(people: People) -> Headers:
    return people.admin()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def order(url: str = "https://chat.example.net/hooks/PATHSECRET", **more: object) -> dict[str, object]:
    """A request for a webhook."""
    return {"name": "chat", "url": url, **more}


def send(backend: Backend) -> None:
    """Send what is due, as an executor does."""
    sender = Sender(backend.database, backend.settings)
    sender.tick()
    wait_for(lambda: not sender.any_due() and not threading_of_webhooks(), "all to be sent")
    sender.stop()


def threading_of_webhooks() -> list[threading.Thread]:
    """Threads that send."""
    return [thread for thread in threading.enumerate() if thread.name == "webhook"]


def test_a_webhook_is_made_changed_and_removed(client: TestClient, root: Headers) -> None:
    made = client.post(WEBHOOKS, json=order(events=["run.ended"], networks=["campus"]), headers=root)
    assert made.status_code == 201
    assert made.json()["secret"].startswith("whsec_")
    shown = client.get(f"{WEBHOOKS}/chat", headers=root).json()
    assert made.json() == {**shown, "secret": made.json()["secret"]}
    assert (shown["events"], shown["networks"], shown["enabled"]) == (["run.ended"], ["campus"], True)
    assert client.post(WEBHOOKS, json=order(), headers=root).status_code == 409
    put = client.put(f"{WEBHOOKS}/chat", json={"url": "https://chat.example.net/other"}, headers=root)
    assert (put.status_code, put.json()["url"], put.json()["events"]) == (
        200,
        "https://chat.example.net/other",
        None,
    )
    assert client.post(f"{WEBHOOKS}/chat/disable", headers=root).json()["enabled"] is False
    assert client.post(f"{WEBHOOKS}/chat/test", headers=root).status_code == 409
    assert client.post(f"{WEBHOOKS}/chat/enable", headers=root).json()["enabled"] is True
    assert [each["name"] for each in client.get(WEBHOOKS, headers=root).json()] == ["chat"]
    assert client.delete(f"{WEBHOOKS}/chat", headers=root).status_code == 204
    for method, path in (("get", ""), ("put", ""), ("delete", ""), ("post", "/test"), ("get", "/deliveries")):
        body = {"json": {"url": "https://chat.example.net/"}} if method == "put" else {}
        answer = client.request(method, f"{WEBHOOKS}/chat{path}", headers=root, **body)  # type: ignore[arg-type]
        assert answer.status_code == 404, (method, path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Chat"},
        {"name": "a/b"},
        {"url": "http://chat.example.net/"},
        {"url": "https://169.254.169.254/latest/meta-data"},
        {"url": "https://user:hush@chat.example.net/"},
        {"url": "https://chat.example.net/a b"},
        {"events": ["run.begun"]},
        {"networks": []},
        {"networks": ["no such/network"]},
        {"secret": "whsec_mine"},
    ],
)
def test_what_cannot_be_is_refused_with_the_way_on(
    client: TestClient, root: Headers, wrong: dict[str, object]
) -> None:
    answer = client.post(WEBHOOKS, json={**order(), **wrong}, headers=root)
    assert answer.status_code == 422
    assert "hush" not in answer.text
    assert client.get(WEBHOOKS, headers=root).json() == []


@pytest.mark.hostile
def test_the_secret_is_shown_once_and_the_path_of_the_url_to_admins_alone(
    client: TestClient, root: Headers, people: People, backend: Backend
) -> None:
    secret = client.post(WEBHOOKS, json=order(), headers=root).json()["secret"]
    renewed = client.post(f"{WEBHOOKS}/chat/secret", headers=root).json()["secret"]
    assert renewed != secret
    near = people.headers("near", Role.ADMIN, "campus")
    wide = people.headers("ann", Role.APPROVER)
    for path in (WEBHOOKS, f"{WEBHOOKS}/chat", f"{WEBHOOKS}/chat/deliveries"):
        answer = client.get(path, headers=root)
        assert secret not in answer.text
        assert renewed not in answer.text
        for other in (near, wide):
            assert client.get(path, headers=other).status_code == 403
    log = client.get("/api/v1/calls", headers=root).text
    assert "https://chat.example.net" in log
    for hidden in (secret, renewed, "PATHSECRET"):
        assert hidden not in log
    assert (backend.settings.var_dir / "webhook.key").stat().st_mode & 0o777 == 0o600


def test_what_is_sent_is_as_the_document_says(
    client: TestClient, root: Headers, backend: Backend, receiver: Receiver
) -> None:
    client.post(WEBHOOKS, json=order(receiver.url()), headers=root)
    assert client.post(f"{WEBHOOKS}/chat/test", headers=root).json()["state"] == "waiting"
    store = backend.run_requests.store
    for status, waits_for in ((RunStatus.NEEDS_APPROVAL, "an approver"), (RunStatus.KEPT, "")):
        run = store.create_run("campus", "gold", "f" * 64, {})
        store.set_status(run.id, status, Verdict.BROKEN, waits_for=waits_for, due=store.now())
    send(backend)
    log = client.get(f"{WEBHOOKS}/chat/deliveries", headers=root).json()
    assert {entry["state"] for entry in log} == {"delivered"}
    assert len(log) == len(receiver.requests) == 5
    bodies = [json.loads(request.body) for request in receiver.requests]
    for body in bodies:
        told = MESSAGES[EventType(body["type"])].model_validate(body).model_dump(mode="json")
        assert told["data"].keys() == body["data"].keys()
    assert {entry["message"] for entry in log} == {request.headers["webhook-id"] for request in receiver.requests}
    document = client.get("/api/v1/openapi.json").json()
    assert document["webhooks"].keys() == {event.value for event in EventType}
    schemas = document["components"]["schemas"]
    for operations in document["webhooks"].values():
        reference = operations["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        assert schemas[reference.rpartition("/")[2]]["properties"].keys() == bodies[0].keys()


def test_a_delivery_is_sent_once_more(
    client: TestClient, root: Headers, backend: Backend, receiver: Receiver
) -> None:
    client.post(WEBHOOKS, json=order(receiver.url()), headers=root)
    delivery = client.post(f"{WEBHOOKS}/chat/test", headers=root).json()["id"]
    send(backend)
    again = client.post(f"{WEBHOOKS}/chat/deliveries/{delivery}/redeliver", headers=root)
    assert (again.status_code, again.json()["state"], again.json()["attempts"]) == (202, "waiting", 0)
    send(backend)
    assert len(receiver.requests) == 2
    assert client.post(f"{WEBHOOKS}/chat/deliveries/nothing/redeliver", headers=root).status_code == 404


def test_what_waits_and_what_failed_is_counted(client: TestClient, root: Headers) -> None:
    client.post(WEBHOOKS, json=order(), headers=root)
    client.post(f"{WEBHOOKS}/chat/test", headers=root)
    text = client.get("/api/v1/metrics", headers=root).text
    assert 'qosforge_webhook_deliveries{state="waiting"} 1.0' in text
    assert 'qosforge_webhook_deliveries{state="failed"} 0.0' in text
