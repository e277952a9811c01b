"""What of earlier releases is where after an upgrade."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.access.audit_log import Call, CallFilter, latest_calls, record_call
from qosforge.access.call_kinds import KINDS, Kind
from qosforge.access.roles import Role
from qosforge.access.tokens import create_token, tokens
from qosforge.access.users import add_user, find_user, grant
from qosforge.artifacts.store import FileArtifacts
from qosforge.errors import StoreError
from qosforge.intent.policy_source import PolicySource
from qosforge.policy_library.library import PolicyLibrary
from qosforge.run_outcome import AdviceKind, OutcomeKind
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


def test_of_tokens_of_before_the_log_knows_the_last_use(store_url: str) -> None:
    call = (
        "INSERT INTO calls (at, actor, credential, action, network, resource, status, request_id, detail)"
        " VALUES (:at, 'ann', :credential, 'POST /api/v1/runs', '', '', 200, '', '{}')"
    )
    with RunStore(store_url) as store:
        with store.database.write() as connection:
            add_user(connection, "ann", NOW)
            ann = find_user(connection, "ann")
            busy, idle = (
                create_token(connection, ann, name, Role.VIEWER, None, at=NOW)[0].id for name in ("busy", "idle")
            )
        take_back(store.database, "0020")
        with store.database.write() as connection:
            for day, credential in ((2, f"token:{busy}"), (3, f"token:{busy}"), (4, "session")):
                at = f"2026-01-0{day}T00:00:00.000000+00:00"
                connection.execute(sa.text(call), {"at": at, "credential": credential})
    bring_up(store_url)
    with RunStore(store_url) as newer:
        used = {each.id: each.last_used for each in tokens(newer.database)}
        assert used == {busy: datetime(2026, 1, 3, tzinfo=UTC), idle: None}


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


def test_calls_of_before_have_no_reason_and_those_of_today_do(store_url: str) -> None:
    call = (
        "INSERT INTO calls (at, actor, credential, action, network, resource, status, request_id, detail)"
        " VALUES ('2026-01-01T00:00:00.000000+00:00', 'ann', 'local', 'POST /runs', '', '', 403, '', '{}')"
    )
    with RunStore(store_url) as store:
        take_back(store.database, "0018")
        with store.database.write() as connection:
            connection.execute(sa.text(call))
    bring_up(store_url)
    with RunStore(store_url) as newer:
        refused = Call("POST /runs", 403, reason="ann is no operator of campus")
        newer.database.transact(lambda connection: record_call(connection, refused, NOW))
        told = [one.reason for one in latest_calls(newer.database, None, CallFilter())]
        assert told == ["ann is no operator of campus", ""]
        with (
            pytest.raises((StoreError, sa.exc.DBAPIError), match="append-only"),
            newer.database.write() as connection,
        ):
            connection.execute(sa.text("UPDATE calls SET reason = ''"))


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


_LEFT = "the table is full; it was rolled back because of: "
_RECOVER = "qosforge recover puts its devices back; a service does it by itself, and again until they answer"
_CHANGE = "see which bound of which class is broken, and change the policy or the objective"
OF_BEFORE: dict[str, dict[str, object]] = {
    "01": {"status": "kept", "verdict": "met"},
    "02": {"status": "kept", "params": {"undo_of": "01"}},
    "03": {"status": "kept", "params": {"undo_of": "02"}},
    "04": {"status": "kept", "params": {"undo_of": "01"}},
    "05": {"status": "kept"},
    "06": {"status": "failed", "params": {"undo_of": "05"}, "reason": "r1 is away", "reason_hint": "look at r1"},
    "07": {"status": "failed", "reason": "no power", "reason_hint": "qosforge retry 07 begins it again"},
    "08": {"status": "kept", "reason": "left out: r3", "reason_hint": "qosforge retry 08 changes just these"},
    "09": {"status": "needs_recovery", "reason": f"{_LEFT}r2 is away", "reason_hint": _RECOVER},
    "10": {"status": "failed", "reason": "x", "reason_hint": "finish run 09 first: qosforge recover; then retry"},
    "11": {"status": "failed", "reason": "x", "reason_hint": "finish run gone first: qosforge recover; then retry"},
    "12": {
        "status": "rolled_back",
        "verdict": "broken",
        "reason": f"{_LEFT}the objectives are not met; its devices are put back",
        "reason_hint": "qosforge retry 12 begins it again",
    },
    "13": {
        "status": "rolled_back",
        "reason": "r2 is away; r1 was not put back at first: the table is full; its devices are put back",
        "reason_hint": "qosforge retry 13 begins it again",
        "reason_device": "",
    },
    "14": {"status": "rolled_back", "verdict": "broken", "reason": "not met", "reason_hint": _CHANGE},
    "15": {"status": "rolled_back", "reason": "it was cut short; its devices are put back", "reason_hint": "y"},
    "16": {"status": "running"},
    "17": {"status": "kept", "params": {"undo_of": "05"}},
    "18": {"status": "kept", "params": {"undo_of": "17"}},
}
"""Runs as an earlier release left them."""


def _write_runs_of_before(store: RunStore) -> None:
    usual = {"verdict": None, "params": {}, "reason": "", "reason_hint": "", "reason_device": "r1"}
    with store.database.write() as connection:
        for run, given in OF_BEFORE.items():
            row = {**usual, "id": run, "reason_step": "rollback" if given.get("reason") else "", **given}
            row |= {"params": json.dumps(row["params"]), "at": "2026-01-01T00:00:00.000000+00:00"}
            columns = "status, verdict, params, reason, reason_step, reason_device, reason_hint"
            names = ", ".join(f":{name}" for name in columns.split(", "))
            connection.execute(
                sa.text(
                    "INSERT INTO runs (id, network, policy, policy_version, created, updated, schema_version,"
                    f" {columns}) VALUES (:id, 'campus', 'gold', 'v', :at, :at, 1, {names})"
                ),
                row,
            )


def test_what_runs_of_before_came_to_is_told_as_far_as_their_words_do(store_url: str) -> None:
    with RunStore(store_url) as store:
        take_back(store.database, "0016")
        _write_runs_of_before(store)
    bring_up(store_url)
    with RunStore(store_url) as newer:
        runs = {run.id: run for run in newer.list_runs(limit=100)}
        told = {name: run.outcome for name, run in runs.items()}
        assert {name: one.kind if one else None for name, one in told.items()} == {
            "01": OutcomeKind.ROLLED_BACK_BY_HAND,
            "02": OutcomeKind.ROLLED_BACK_BY_HAND,
            "03": OutcomeKind.RESTORED,
            "04": OutcomeKind.RESTORED,
            "05": OutcomeKind.KEPT,
            "06": OutcomeKind.FAILED,
            "07": OutcomeKind.FAILED,
            "08": OutcomeKind.KEPT_IN_PART,
            "09": OutcomeKind.HALF_WAY,
            "10": OutcomeKind.FAILED,
            "11": OutcomeKind.FAILED,
            "12": OutcomeKind.RECOVERED,
            "13": OutcomeKind.RECOVERED,
            "14": OutcomeKind.ROLLED_BACK,
            "15": OutcomeKind.RECOVERED,
            "16": None,
            "17": OutcomeKind.ROLLED_BACK_BY_HAND,
            "18": OutcomeKind.RESTORED,
        }
        back = {name: run.rolled_back_by for name, run in runs.items() if run.rolled_back_by}
        assert back == {"01": "04", "02": "03", "17": "18"}
        assert {name: one.advice for name, one in told.items() if one and one.advice} == {
            "06": AdviceKind.AS_TOLD,
            "07": AdviceKind.RETRY,
            "08": AdviceKind.RETRY_LEFT_OUT,
            "09": AdviceKind.RECOVER,
            "10": AdviceKind.SETTLE_FIRST,
            "11": AdviceKind.AS_TOLD,
            "12": AdviceKind.CHANGE_POLICY,
            "13": AdviceKind.RETRY,
            "14": AdviceKind.CHANGE_POLICY,
            "15": AdviceKind.AS_TOLD,
        }
        assert (runs["10"].settle_first, runs["11"].settle_first) == ("09", None)
        reasons = {name: [(why.message, why.device) for why in one.reasons] for name, one in told.items() if one}
        assert reasons["07"] == [("no power", "r1")]
        assert reasons["09"] == [("the table is full", "r1"), ("r2 is away", "")]
        assert reasons["12"] == [("the objectives are not met", ""), ("the table is full", "r1")]
        assert reasons["13"] == [(runs["13"].reason, "")]
        assert runs["12"].reason_hint == _CHANGE
        assert "because of" not in runs["12"].reason
        take_back(newer.database, "0016")
    bring_up(store_url)
