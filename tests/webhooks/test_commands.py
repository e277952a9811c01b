"""`qosforge webhook`, as on the host of the database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qosforge.access.audit_log import calls_page
from qosforge.database.connections import Database
from qosforge.settings import Settings
from qosforge.webhooks.sender import Sender
from tests.cli.conftest import Command, qosforge
from tests.runs.support import wait_for
from tests.webhooks.receiver import receiving
from tests.webhooks.test_sender import signed_by

__all__ = ["qosforge"]

URL = "https://chat.example.net/hooks/PATHSECRET"


@pytest.fixture(autouse=True)
def _hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_WEBHOOK_HOSTS", "chat.example.net,127.0.0.1")


def test_a_webhook_comes_changes_and_goes(qosforge: Command) -> None:
    made = qosforge("webhook", "add", "chat", URL, "--event", "run.ended", "-n", "campus")
    assert made.code == 0
    assert made.stdout.startswith("whsec_")
    assert "PATHSECRET" not in made.stderr
    listed = qosforge("webhook", "list").stdout
    for shown in ("chat", "https://chat.example.net", "run.ended", "campus"):
        assert shown in listed
    assert "PATHSECRET" not in listed
    assert qosforge("webhook", "disable", "chat").code == 0
    assert "disabled" in qosforge("webhook", "list").stdout
    refused = qosforge("webhook", "test", "chat")
    assert (refused.code, "enable it first" in refused.stderr) == (2, True)
    assert qosforge("webhook", "enable", "chat").code == 0
    assert qosforge("webhook", "change", "chat", "https://chat.example.net/other").code == 0
    (document,) = json.loads(qosforge("webhook", "list", "--json").stdout)
    assert (document["url"], document["events"], document["networks"]) == (
        "https://chat.example.net/other",
        None,
        None,
    )
    assert "secret" not in document
    assert qosforge("webhook", "remove", "chat").code == 0
    assert qosforge("webhook", "log", "chat").code == 2


def test_what_is_wrong_is_reported_with_the_way_on(qosforge: Command) -> None:
    for url, told in (
        ("https://169.254.169.254/", "QOSFORGE_WEBHOOK_HOSTS"),
        ("http://chat.example.net/", "https"),
        ("nothing", "https://host/path"),
    ):
        ended = qosforge("webhook", "add", "chat", url)
        assert (ended.code, told in ended.stderr) == (2, True), ended.stderr


def test_the_doctor_sees_what_would_keep_a_webhook_from_being_sent(
    qosforge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> dict[str, tuple[str, str]]:
        entries = json.loads(qosforge("doctor", "webhooks", "--json").stdout)
        return {entry["name"]: (entry["state"], f"{entry['message']} {entry['hint']}") for entry in entries}

    assert told() == {"webhooks": ("good", "none ")}
    assert not (tmp_path / "var" / "webhook.key").exists()
    qosforge("webhook", "add", "chat", URL)
    assert told()["webhooks"][0] == "good"
    monkeypatch.setenv("QOSFORGE_WEBHOOK_HOSTS", "other.example.net")
    state, text = told()["webhook chat"]
    assert (state, "QOSFORGE_WEBHOOK_HOSTS" in text) == ("failed", True)
    monkeypatch.setenv("QOSFORGE_WEBHOOK_HOSTS", "chat.example.net")
    monkeypatch.setenv("QOSFORGE_WEBHOOK_KEY", "another-key-of-more-than-thirty-two-characters")
    state, text = told()["webhook chat"]
    assert (state, "qosforge webhook secret chat" in text) == ("failed", True)
    monkeypatch.delenv("QOSFORGE_WEBHOOK_KEY")
    (tmp_path / "var" / "webhook.key").unlink()
    assert "there is no key" in told()["webhook chat"][1]
    assert not (tmp_path / "var" / "webhook.key").exists()
    qosforge("webhook", "disable", "chat")
    assert told()["webhook chat"][0] == "warning"


def test_a_test_is_sent_by_the_service_and_told_by_the_log(qosforge: Command, tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path / "var", webhook_hosts=("127.0.0.1",))
    with receiving() as receiver:
        first = qosforge("webhook", "add", "chat", receiver.url()).stdout.strip()
        secret = json.loads(qosforge("webhook", "secret", "chat", "--json").stdout)["secret"]
        assert qosforge("webhook", "test", "chat").code == 0
        database = Database(settings.database_url)
        sender = Sender(database, settings)
        for count in (1, 2):
            sender.tick()
            wait_for(lambda: not sender._busy, "the test to be sent")
            assert len(receiver.requests) == count
            (entry,) = json.loads(qosforge("webhook", "log", "chat", "--json").stdout)
            assert (entry["state"], entry["status"], entry["attempts"]) == ("delivered", 200, 1)
            qosforge("webhook", "redeliver", "chat", entry["id"])
        assert "webhook.test" in qosforge("webhook", "log", "chat").stdout
        assert signed_by(receiver.requests[0], secret) == [True, False]
        assert signed_by(receiver.requests[0], first) == [False, True]
        told = str([call.document() for call in calls_page(database, None)])
        database.close()
    assert "qosforge webhook secret" in told
    for hidden in (first, secret, receiver.url()):
        assert hidden not in told
