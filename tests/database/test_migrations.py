"""What of earlier releases is where after an upgrade."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.access.audit_log import CallFilter, latest_calls
from qosforge.access.call_kinds import KINDS, Kind
from qosforge.access.roles import Role
from qosforge.access.users import add_user, grant
from qosforge.artifacts.store import FileArtifacts
from qosforge.errors import StoreError
from qosforge.intent.policy_source import PolicySource
from qosforge.policy_library.library import PolicyLibrary
from qosforge.runs.record.lineage import contributors
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.webhooks.tables import DELIVERIES
from tests.database.migrating import bring_up, take_back
from tests.principals import somebody

GOLD = (
    "version: 1\nintent: gold\ninclude: [classes/rfc4594-4.yaml]\napply: [{interfaces: wan, direction: output}]\n"
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_WEBHOOK = (
    "INSERT INTO webhooks (id, name, url, enabled, created, secret_number, secret_since, key)"
    " VALUES ('w1', 'chat', 'https://chat.example.net', :yes, :at, 1, :at, 'k')"
)
_DELIVERY = (
    "INSERT INTO webhook_deliveries (id, webhook_id, message, type, data, at, state, attempts)"
    " VALUES ('d1', 'w1', 'm1', 'run.ended', :data, :at, 'waiting', 0)"
)


def test_policies_of_before_belong_to_all_and_are_trusted_where_their_author_is_operator(
    store_url: str, tmp_path: Path
) -> None:
    artifacts = FileArtifacts(tmp_path / "artifacts")
    with RunStore(store_url) as store:

        def people(connection: sa.Connection) -> None:
            add_user(connection, "ann", NOW)
            grant(connection, "ann", "campus", Role.OPERATOR)

        store.database.transact(people)
        ann = PolicyLibrary(store.database, artifacts).seen_by(somebody("ann", Role.OPERATOR, "campus"))
        ann.store("gold", PolicySource(GOLD), network="campus")
        take_back(store.database, "0003")
    bring_up(store_url)
    with RunStore(store_url) as newer:
        about = PolicyLibrary(newer.database, artifacts).seen_by(somebody("root")).get("gold").about
    assert (about.network, about.trusted_on) == ("*", ("campus",))


def test_who_asked_cancelled_and_retried_is_known_of_runs_of_before(store_url: str) -> None:
    insert = (
        "INSERT INTO runs (id, network, policy, policy_version, status, created, updated, params, schema_version,"
        " requested_by, cancelled_by, reason) VALUES (:id, 'campus', 'gold', :version, :status, :at, :at, '{}', 1,"
        " :asked, :cancelled, :reason)"
    )
    event = "INSERT INTO events (run_id, kind, data, at) VALUES ('a1', 'status', :data, :at)"
    at = {"at": "2026-01-01T00:00:00.000000+00:00"}
    with RunStore(store_url) as store:
        take_back(store.database, "0003")
        with store.database.write() as connection:
            for run, asked, cancelled, reason in (
                ("a1", "ann", None, ""),
                ("a2", "", "ben", "cancelled by ben"),
                ("a3", "zoe", "cat", "refused by cat"),
            ):
                row = {"id": run, "version": "f" * 64, "asked": asked, "cancelled": cancelled, "reason": reason}
                connection.execute(
                    sa.text(insert), {**row, **at, "status": "failed" if run == "a1" else "cancelled"}
                )
            for data in ('{"status": "pending", "attempt": 1, "by": "ann"}', '{"status": "kept", "attempt": 2}'):
                connection.execute(sa.text(event), {"data": data, **at})
            retried = '{"status": "pending", "attempt": 2, "by": "dan"}'
            connection.execute(sa.text(event), {"data": retried, **at})
    bring_up(store_url)
    with RunStore(store_url) as newer:
        hands = contributors(newer.database, "a1", "")
        assert hands.keys() == {"ann", "ben", "zoe", "dan"}
        assert hands["dan"] == "retried the run"
        run = newer.get_run("a1")
        assert (run.reason, run.reason_step) == ("it ended under a release that did not record why", "unknown")
        assert newer.get_run("a2").reason == "cancelled by ben"


def test_calls_of_before_are_found_by_what_they_are_about(store_url: str) -> None:
    call = (
        "INSERT INTO calls (at, actor, credential, action, network, resource, status, request_id, detail)"
        " VALUES ('2026-01-01T00:00:00.000000+00:00', 'ann', 'local', :action, '', '', 200, '', '{}')"
    )
    about: dict[str, Kind] = {
        "POST /api/v1/runs": "runs",
        "PUT /me/password": "people",
        "qosforge user add": "people",
        "POST /login": "sessions",
    }
    with RunStore(store_url) as store:
        take_back(store.database, "0015")
        with store.database.write() as connection:
            for action in (*about, "of old"):
                connection.execute(sa.text(call), {"action": action})
    bring_up(store_url)
    with RunStore(store_url) as newer:
        for kind in KINDS:
            found = [one.action for one in latest_calls(newer.database, None, CallFilter(kind=kind))]
            assert found == [action for action, of in reversed(about.items()) if of == kind]
        others = latest_calls(newer.database, None, CallFilter(other_than="sessions"))
        assert [one.action for one in others] == ["of old", *list(about)[2::-1]]
        with (
            pytest.raises((StoreError, sa.exc.DBAPIError), match="append-only"),
            newer.database.write() as connection,
        ):
            connection.execute(sa.text("UPDATE calls SET kind = ''"))


def test_runs_of_before_are_found_by_todays_words(store_url: str) -> None:
    at = "2026-01-01T00:00:00.000000+00:00"
    run = (
        "INSERT INTO runs (id, network, policy, policy_version, status, created, updated, params, schema_version,"
        " reason, reason_step) VALUES (:id, 'campus', 'gold', 'v', :status, :at, :at, :params, 1, :reason, :step)"
    )
    stage = "INSERT INTO stages (run_id, name, attempt, started, summary) VALUES ('a1', 'roll-back', 1, :at, '{}')"
    event = "INSERT INTO events (run_id, kind, data, at) VALUES ('a1', :kind, :data, :at)"
    told = [
        ("status", {"status": "nothing_to_do", "reason_step": "roll-back", "by": "refused"}),
        ("progress", {"stage": "roll-back", "text": "roll-back"}),
        ("device", {"device": "refused", "action": "read"}),
    ]
    with RunStore(store_url) as store:
        take_back(store.database, "0010")
        with store.database.write() as connection:
            for row in (
                ("a1", "nothing_to_do", "", ""),
                ("a2", "refused", "qosforge roll-back a2 settles it", "roll-back"),
            ):
                values = dict(zip(("id", "status", "reason", "step"), row, strict=True))
                connection.execute(sa.text(run), {**values, "at": at, "params": '{"tester": "outside"}'})
            connection.execute(sa.text(stage), {"at": at})
            for kind, data in told:
                connection.execute(sa.text(event), {"kind": kind, "data": json.dumps(data), "at": at})
            connection.execute(sa.text(_WEBHOOK), {"at": at, "yes": True})
            waiting = {"status": "refused", "requested_by": "ann", "run": "a2"}
            connection.execute(sa.text(_DELIVERY), {"at": at, "data": json.dumps(waiting)})
    bring_up(store_url)
    with RunStore(store_url) as newer:
        assert [run.id for run in newer.list_runs(status=RunStatus.NO_CHANGES)] == ["a1"]
        with newer.database.read() as connection:
            (waiting,) = connection.execute(sa.select(DELIVERIES.c.data)).scalars()
        assert waiting == {"status": "rejected", "created_by": "ann", "run": "a2"}
        rejected = newer.get_run("a2")
        assert rejected.reason == "qosforge rollback a2 settles it"
        assert (rejected.status, rejected.reason_step) == (RunStatus.REJECTED, "rollback")
        assert rejected.params == {"tester": "external"}
        assert [one.name for one in newer.stages("a1")] == ["rollback"]
        assert [one.data for one in newer.events.after("a1")] == [
            {"status": "no_changes", "reason_step": "rollback", "by": "refused"},
            {"stage": "rollback", "text": "roll-back"},
            {"device": "refused", "action": "read"},
        ]
        take_back(newer.database, "0010")
        with newer.database.read() as connection:
            assert connection.execute(sa.text("SELECT status FROM runs ORDER BY id")).scalars().all() == [
                "nothing_to_do",
                "refused",
            ]
