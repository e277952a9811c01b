"""Webhooks on the pages: an administrator makes, tries, changes and removes one."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.audit_log import calls_page
from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.settings import Settings
from qosforge.webhooks.sender import Sender
from tests.runs.support import wait_for
from tests.web.people import Persons
from tests.webhooks.receiver import receiving, status
from tests.webhooks.test_sender import signed_by


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with open_backend(
        Settings(var_dir=tmp_path / "var", compute_processes=1, webhook_hosts=("127.0.0.1",))
    ) as made:
        yield made


def test_a_webhook_is_made_tried_and_removed(client: TestClient, persons: Persons, backend: Backend) -> None:
    session = persons.add("root", Role.ADMIN).log_in(client)
    sender = Sender(backend.database, backend.settings)
    with receiving(status(500), status(200)) as receiver:
        form = {"name": "chat", "url": receiver.url("/PATHSECRET"), "events": ["run.ended"], "networks": ["campus"]}
        made = client.post("/webhooks", data=form, headers=session)
        found = re.search(r'value="(whsec_[^"]+)"', made.text)
        assert found is not None
        secret = html.unescape(found[1])
        assert re.search(r'<div id="webhooks" hx-swap-oob="true">.*href="/webhooks/chat"', made.text, re.S)
        assert "There is no webhook yet." not in made.text
        page = client.get("/webhooks").text
        assert '<div id="webhooks">' in page
        assert "a run has ended" in page
        assert "127.0.0.1" in page
        assert secret not in page
        details = client.get("/webhooks/chat").text
        assert '<a href="/webhooks">Webhooks</a> › chat</p>' in details
        assert secret not in details
        assert re.search(r'value="run.ended" checked', details)
        assert "Nothing was sent yet." in details
        assert "A test is on its way." in client.post("/webhooks/chat/test", headers=session).text
        assert "nothing sent yet" in client.get("/webhooks").text
        for told, health in (("answered 500", "failing since"), ("200", "delivered")):
            sender.tick()
            wait_for(lambda: not sender._busy, "the test to be sent")
            page = client.get("/webhooks/chat").text
            assert told in page
            assert health in page
            assert health in client.get("/webhooks").text
            again = re.search(r'hx-post="(/webhooks/chat/deliveries/[^"]+/redeliver)"', page)
            assert again is not None
            assert "The delivery is sent once more." in client.post(again[1], headers=session).text
        assert "failing since" not in page, "the last delivery counts"
        assert signed_by(receiver.requests[0], secret) == [True]
    changed = client.put("/webhooks/chat", data={"url": "http://127.0.0.1:9/other"}, headers=session)
    assert "The webhook is changed." in changed.text
    assert "checked" not in changed.text
    assert "it sends nothing" in client.post("/webhooks/chat/disable", headers=session).text
    assert "Send again:" not in client.get("/webhooks/chat").text
    assert "what waits goes out" in client.post("/webhooks/chat/enable", headers=session).text
    renewed = client.post("/webhooks/chat/secret", headers=session).text
    assert "whsec_" in renewed
    assert html.escape(secret) not in renewed
    assert client.delete("/webhooks/chat", headers=session).headers["hx-redirect"] == "/webhooks"
    assert "There is no webhook yet." in client.get("/webhooks").text
    log = str([call.document() for call in calls_page(backend.database, None)])
    assert "POST /webhooks/chat/secret" in log
    assert "PATHSECRET" not in log
    assert secret not in log


def test_what_cannot_be_is_reported_in_peoples_words(client: TestClient, persons: Persons) -> None:
    session = persons.add("root", Role.ADMIN).log_in(client)
    for form, told in (
        ({"name": "Chat", "url": "https://chat.example.net/"}, "Name: has a character that cannot stand here"),
        ({"name": "chat", "url": "chat.example.net"}, "URL: has a character that cannot stand here"),
        ({"name": "chat", "url": "https://169.254.169.254/"}, "webhooks to 169.254.169.254 are not allowed here"),
    ):
        refused = client.post("/webhooks", data=form, headers=session)
        assert told in refused.text, refused.text
        assert refused.headers["hx-retarget"] == "#messages"


def test_webhooks_are_for_admins_of_every_network(client: TestClient, persons: Persons) -> None:
    session = persons.add("eve", Role.ADMIN, "campus").log_in(client)
    assert client.get("/webhooks").status_code == 403
    assert client.post("/webhooks", data={"name": "a", "url": "https://a/"}, headers=session).status_code == 403
    assert 'href="/webhooks"' not in client.get("/").text
