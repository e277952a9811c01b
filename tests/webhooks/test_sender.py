"""Sending: signed, again with growing delays, once by one process, and never twice by several."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import time
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from qosforge.errors import QosforgeError
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.webhooks import deliveries as module
from qosforge.webhooks.deliveries import (
    MOST_ATTEMPTS,
    PAUSES,
    AttemptResult,
    DeliveryState,
    claim_next,
    due_webhooks,
    prune,
    redeliver,
    send_test,
    settle,
)
from qosforge.webhooks.posting import Poster
from qosforge.webhooks.registry import WebhookDisabled, WebhookUnknown, renew_secret, set_enabled
from qosforge.webhooks.sender import Sender
from qosforge.webhooks.signing import load_key
from qosforge.webhooks.tables import DELIVERIES
from tests.runs.support import Spawn, wait_for
from tests.stopwatch import Stopwatch
from tests.webhooks.conftest import EARLY, Desk
from tests.webhooks.receiver import OK, Request, receiving, saying, status
from tests.webhooks.test_outbox import run_on


def end_a_run(desk: Desk) -> str:
    """Let a run end; its id."""
    run = run_on(desk)
    desk.store.set_status(run.id, RunStatus.KEPT, Verdict.MET)
    return run.id


def sent(desk: Desk) -> None:
    """Send what is due, to the end of it."""
    wait_for(lambda: not desk.sender._busy, "the sender to be idle")
    while desk.sender.any_due():
        desk.sender.tick()
        wait_for(lambda: not desk.sender._busy, "the sender to be idle")


def signed_by(request: Request, secret: str) -> list[bool]:
    """By each signature of a request, whether it is that of the secret, as a receiver checks it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = b".".join(
        [request.headers["webhook-id"].encode(), request.headers["webhook-timestamp"].encode(), request.body]
    )
    good = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return [each == good for each in request.headers["webhook-signature"].split(" ")]


def test_an_end_of_a_run_reaches_the_receiver_signed(desk: Desk) -> None:
    with receiving() as receiver:
        _, secret = desk.add("chat", receiver.url("/services/T0"))
        run_id = end_a_run(desk)
        sent(desk)
    (request,) = receiver.requests
    assert signed_by(request, secret) == [True]
    assert abs(int(request.headers["webhook-timestamp"]) - time.time()) < 60
    body = json.loads(request.body)
    assert (body["version"], body["type"], body["service"]) == (2, "run.ended", "https://qos.example.net")
    assert body["data"]["run"] == run_id
    assert datetime.fromisoformat(body["timestamp"]) <= datetime.now(UTC)
    (entry,) = desk.log("chat")
    assert (entry.state, entry.attempts, entry.status, entry.error, entry.due) == (
        DeliveryState.DELIVERED,
        1,
        200,
        "",
        None,
    )
    assert entry.message == request.headers["webhook-id"]


def test_a_new_secret_signs_beside_the_old_one_for_a_day(desk: Desk) -> None:
    with receiving() as receiver:
        _, old = desk.add("chat", receiver.url())
        now = desk.store.now()
        _, new = desk.change(lambda connection: renew_secret(connection, "chat", load_key(desk.settings), now))
        end_a_run(desk)
        sent(desk)
        earlier = now - timedelta(hours=25)
        _, newest = desk.change(
            lambda connection: renew_secret(connection, "chat", load_key(desk.settings), earlier)
        )
        end_a_run(desk)
        sent(desk)
    first, second = receiver.requests
    assert [signed_by(first, new), signed_by(first, old)] == [[True, False], [False, True]]
    assert signed_by(second, newest) == [True]


def test_what_fails_is_tried_again_with_the_same_id_and_a_new_timestamp(desk: Desk) -> None:
    with receiving(status(500), saying(OK)) as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        sent(desk)
        (entry,) = desk.log("chat")
        assert (entry.state, entry.attempts, entry.status, entry.error) == (
            DeliveryState.WAITING,
            1,
            500,
            "answered 500",
        )
        assert entry.due is not None
        assert 0 < (entry.due - desk.store.now()).total_seconds() <= PAUSES[0] * 1.1
        desk.hurry()
        sent(desk)
        (entry,) = desk.log("chat")
        assert (entry.state, entry.attempts, entry.status, entry.error) == (DeliveryState.DELIVERED, 2, 200, "")
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body


def test_the_delays_grow_and_end_as_documented(desk: Desk) -> None:
    with receiving(status(503)) as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        waited = []
        for _ in range(MOST_ATTEMPTS):
            desk.hurry()
            sent(desk)
            (entry,) = desk.log("chat")
            assert entry.tried is not None
            waited.append(0.0 if entry.due is None else (entry.due - entry.tried).total_seconds())
        assert (entry.state, entry.attempts, entry.due) == (DeliveryState.FAILED, 10, None)
        desk.hurry()
        sent(desk)
    assert len(receiver.requests) == MOST_ATTEMPTS == 10
    assert all(pause <= each <= pause * 1.1 + 5 for pause, each in zip(PAUSES, waited, strict=False))
    assert sum(PAUSES) == 75 * 3600 + 35 * 60 + 5


def test_a_receiver_may_ask_to_be_left_alone_for_a_while(desk: Desk) -> None:
    with receiving(status(429, "Retry-After: 3600")) as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        sent(desk)
    (entry,) = desk.log("chat")
    assert entry.due is not None
    assert entry.tried is not None
    assert 3590 < (entry.due - entry.tried).total_seconds() < 3700


def test_a_receiver_that_is_gone_disables_its_webhook(desk: Desk) -> None:
    with receiving(status(410)) as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        sent(desk)
        desk.hurry()
        sent(desk)
    assert len(receiver.requests) == 1
    webhook = desk.webhook("chat")
    assert (webhook.enabled, "410" in webhook.disabled_because) == (False, True)


def test_a_disabled_webhook_sends_nothing_and_keeps_what_waits(desk: Desk) -> None:
    with receiving(status(500), saying(OK)) as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        sent(desk)
        desk.change(lambda connection: set_enabled(connection, "chat", False))
        desk.hurry()
        end_a_run(desk)
        assert not desk.sender.any_due()
        sent(desk)
        assert len(receiver.requests) == 1
        for action in (
            lambda connection: send_test(connection, "chat", "root", desk.store.now()),
            lambda connection: redeliver(connection, "chat", desk.log("chat")[0].id, desk.store.now()),
        ):
            with pytest.raises(WebhookDisabled):
                desk.change(action)
        desk.change(lambda connection: set_enabled(connection, "chat", True))
        sent(desk)
        assert len(receiver.requests) == 2
    assert [entry.state for entry in desk.log("chat")] == [DeliveryState.DELIVERED]


def test_a_delivery_is_sent_once_more_on_request(desk: Desk) -> None:
    with receiving() as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        sent(desk)
        (entry,) = desk.log("chat")
        again = desk.change(lambda connection: redeliver(connection, "chat", entry.id, desk.store.now()))
        assert (again.state, again.attempts) == (DeliveryState.WAITING, 0)
        sent(desk)
    assert [request.headers["webhook-id"] for request in receiver.requests] == [entry.message] * 2
    with pytest.raises(WebhookUnknown):
        desk.change(lambda connection: redeliver(connection, "chat", "nothing", desk.store.now()))


def test_a_test_reaches_a_webhook_that_wants_nothing_of_the_kind(desk: Desk) -> None:
    with receiving() as receiver:
        desk.add("chat", receiver.url(), events=[], networks=["campus"])
        desk.change(lambda connection: send_test(connection, "chat", "root", desk.store.now()))
        sent(desk)
    body = json.loads(receiver.requests[0].body)
    assert (body["type"], body["data"]) == ("webhook.test", {"webhook": "chat", "created_by": "root"})


def test_one_slow_receiver_does_not_hold_the_others_up(desk: Desk) -> None:
    with receiving(lambda _connection: time.sleep(1.5)) as slow, receiving() as quick:
        desk.add("slow", slow.url())
        desk.add("quick", quick.url())
        end_a_run(desk)
        watch = Stopwatch()
        desk.sender.tick()
        wait_for(lambda: bool(quick.requests), "the quick one")
        assert watch.seconds < 1.4
        assert not desk.sender.any_due()
    sent(desk)


def test_the_events_of_a_webhook_come_in_their_order(desk: Desk) -> None:
    with receiving() as receiver:
        desk.add("chat", receiver.url())
        runs = [end_a_run(desk) for _ in range(12)]
        sent(desk)
    assert [json.loads(request.body)["data"]["run"] for request in receiver.requests] == runs


def test_several_processes_send_each_message_once(desk: Desk, store_url: str) -> None:
    others = [Sender(desk.store.database, desk.settings, Poster()) for _ in range(3)]
    with receiving() as receiver:
        for name in ("one", "two"):
            desk.add(name, receiver.url(f"/{name}"))
        for _ in range(10):
            end_a_run(desk)
        senders = [desk.sender, *others]

        def over() -> bool:
            for sender in senders:
                sender.tick()
            return all(
                entry.state is DeliveryState.DELIVERED for name in ("one", "two") for entry in desk.log(name)
            )

        wait_for(over, "all to be delivered")
    for sender in others:
        sender.stop()
    seen = [(request.line, request.headers["webhook-id"]) for request in receiver.requests]
    assert len(seen) == 20 == len(set(seen))


SENDING = """
import sys, time
from qosforge.database.connections import Database
from qosforge.settings import Settings
from qosforge.webhooks.sender import Sender
database = Database(sys.argv[1])
Sender(database, Settings(database_url=sys.argv[1], webhook_hosts=("127.0.0.1",))).tick()
time.sleep(60)
"""


def test_a_process_that_is_killed_as_it_sends_loses_nothing(desk: Desk, store_url: str, spawn: Spawn) -> None:
    with receiving(lambda _connection: time.sleep(20), saying(OK)) as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        child = spawn(SENDING, store_url)
        wait_for(lambda: bool(receiver.requests), "the request of the other process", 60)
        assert not desk.sender.any_due()  # it is being sent
        child.kill()
        child.wait()
        past = sa.update(DELIVERIES).values(claimed_until=EARLY)
        desk.change(lambda connection: connection.execute(past))
        sent(desk)
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1
    assert [(entry.state, entry.attempts) for entry in desk.log("chat")] == [(DeliveryState.DELIVERED, 2)]


def test_who_dies_with_a_claim_leaves_it_to_another(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    database = desk.store.database
    with receiving() as receiver:
        webhook, _ = desk.add("chat", receiver.url())
        end_a_run(desk)
        dead = claim_next(database, webhook.id)
        assert dead is not None
        assert dead.attempts == 1
        assert due_webhooks(database) == []
        assert claim_next(database, webhook.id) is None
        past = database.now
        monkeypatch.setattr(database, "now", lambda connection: past(connection) + module.LEASE)
        sent(desk)
        assert settle(database, dead, AttemptResult(error="late")) is None  # it is not its any more
    (entry,) = desk.log("chat")
    assert (entry.state, entry.attempts, entry.message) == (DeliveryState.DELIVERED, 2, dead.message)
    assert [request.headers["webhook-id"] for request in receiver.requests] == [dead.message]


def test_a_message_whose_sender_always_dies_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    database = desk.store.database
    webhook, _ = desk.add("chat", "http://127.0.0.1:9/")
    end_a_run(desk)
    now = database.now
    for died in range(MOST_ATTEMPTS + 1):
        monkeypatch.setattr(database, "now", lambda connection, died=died: now(connection) + died * module.LEASE)
        claimed = claim_next(database, webhook.id)
        assert (claimed is None) == (died == MOST_ATTEMPTS)
    (entry,) = desk.log("chat")
    assert (entry.state, entry.error) == (DeliveryState.FAILED, "the process that sent it ended")


def test_the_log_is_bounded_and_the_oldest_go(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 5)
    with receiving(status(500)) as receiver:
        webhook, _ = desk.add("chat", receiver.url())
        runs = [end_a_run(desk) for _ in range(9)]
        assert prune(desk.store.database, webhook.id) == 4
        sent(desk)
    kept = [entry.state for entry in desk.log("chat")]
    assert kept == [DeliveryState.WAITING] * 5
    assert [json.loads(request.body)["data"]["run"] for request in receiver.requests] == runs[4:]


def test_what_may_not_be_reached_is_an_error_of_the_delivery(desk: Desk) -> None:
    with receiving() as receiver:
        desk.add("chat", receiver.url())
        narrow = desk.settings.model_copy(update={"webhook_hosts": ("chat.example.net",)})
        end_a_run(desk)
        other = Sender(desk.store.database, narrow)
        other.tick()
        wait_for(lambda: not other._busy, "the other to end")
    (entry,) = desk.log("chat")
    assert entry.state is DeliveryState.WAITING
    assert "not among the allowed hosts" in entry.error
    assert "QOSFORGE_WEBHOOK_HOSTS" in entry.error
    assert receiver.connections == 0


def test_another_key_signs_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        monkeypatch.setenv("QOSFORGE_WEBHOOK_KEY", "another" * 8)
        sent(desk)
        (entry,) = desk.log("chat")
        assert "a new secret" in entry.error
        assert receiver.connections == 0
        key = load_key(desk.settings)
        _, secret = desk.change(lambda connection: renew_secret(connection, "chat", key, desk.store.now()))
        desk.hurry()
        sent(desk)
    assert signed_by(receiver.requests[0], secret) == [True]


@pytest.mark.hostile
def test_neither_secret_nor_url_is_in_rows_logs_or_errors(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "qosforge")
    with receiving(status(500), saying(OK)) as receiver:
        webhook, secret = desk.add("chat", receiver.url("/services/PATHSECRET"))
        end_a_run(desk)
        sent(desk)
        desk.hurry()
        sent(desk)
    key = load_key(desk.settings)
    with desk.store.database.read() as connection:
        rows = "".join(
            repr(tuple(row))
            for table in sa.inspect(connection).get_table_names()
            for row in connection.execute(sa.text(f'SELECT * FROM "{table}"'))
        )
        log = "".join(repr(tuple(row)) for row in connection.execute(sa.select(DELIVERIES)))
    written = caplog.text + "".join(repr(vars(record)) for record in caplog.records)
    for hidden in (secret, secret.removeprefix("whsec_"), key.text):
        assert hidden not in rows + written + repr(webhook)
    assert "PATHSECRET" not in log + written + repr(webhook)


def test_the_end_of_the_process_cuts_what_is_under_way_and_it_is_sent_again(desk: Desk) -> None:
    slow = Sender(desk.store.database, desk.settings, Poster())
    with receiving(lambda _connection: time.sleep(20), saying(OK)) as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        slow.tick()
        wait_for(lambda: bool(receiver.requests), "the request")
        watch = Stopwatch()
        slow.stop()
        assert watch.seconds < 6
        assert not slow.any_due()
        desk.hurry()
        sent(desk)
    assert [entry.state for entry in desk.log("chat")] == [DeliveryState.DELIVERED]
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1


def test_a_database_that_is_away_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise QosforgeError("the run store failed")

    with receiving() as receiver:
        desk.add("chat", receiver.url())
        end_a_run(desk)
        with monkeypatch.context() as patched:
            patched.setattr("qosforge.webhooks.sender.claim_next", away)
            desk.sender.tick()
            wait_for(lambda: not desk.sender._busy, "the sender to give up")
        sent(desk)
        assert len(receiver.requests) == 1
