from __future__ import annotations

import csv
import io
import json

import pytest
import sqlalchemy as sa

from qosforge.access.audit_log import Call, CallFilter, as_csv, as_json_lines, calls_page, latest_calls
from qosforge.access.authentication import Access
from qosforge.access.tables import CALLS
from qosforge.database.connections import Database
from qosforge.errors import StoreError
from tests.access.conftest import HandClock
from tests.sqlite_steps import counted_steps

FREQUENT = {
    **dict.fromkeys(("actor", "credential", "network", "resource", "request_id"), ""),
    "action": "POST /runs",
    "kind": "runs",
    "status": 200,
    "detail": {},
}
"""A row as there are many."""


def log(access: Access, *networks: str) -> None:
    for number, network in enumerate(networks):
        access.record(
            Call("POST /api/v1/runs", 201, "ann", "session", network, f"run-{number}", "r", {"ticket": "CHG1"})
        )


def test_calls_are_read_in_pages(access: Access, database: Database) -> None:
    log(access, "campus", "lab", "campus", "")
    first = calls_page(database, None, limit=3)
    rest = calls_page(database, None, after=first[-1].seq)
    assert [call.resource for call in (*first, *rest)] == ["run-0", "run-1", "run-2", "run-3"]
    assert (first[0].actor, first[0].at, first[0].detail) == ("ann", access.now(), {"ticket": "CHG1"})
    assert [call.resource for call in calls_page(database, ["campus"])] == ["run-0", "run-2"]
    assert calls_page(database, []) == []


@pytest.mark.parametrize("change", [sa.text("UPDATE calls SET actor = 'bob'"), sa.text("DELETE FROM calls")])
def test_the_database_refuses_to_change_the_log(access: Access, database: Database, change: sa.TextClause) -> None:
    log(access, "campus")
    before = calls_page(database, None)
    with pytest.raises((StoreError, sa.exc.IntegrityError), match="append-only"), database.write() as connection:
        connection.execute(change)
    assert calls_page(database, None) == before


def test_a_rare_kind_is_found_without_going_through_the_log(access: Access, database: Database) -> None:
    access.record(Call("POST /webhooks", 200, actor="ann"))
    steps = []
    for count in (2_000, 20_000):
        rows = [{**FREQUENT, "at": access.now()} for _ in range(count)]
        database.transact(lambda connection, rows=rows: connection.execute(sa.insert(CALLS), rows))
        with counted_steps(database, 10) as counted:
            found = latest_calls(database, None, CallFilter(kind="webhooks"))
        assert [call.action for call in found] == ["POST /webhooks"]
        steps += counted
    assert steps[1] < 1.5 * steps[0] + 10, steps


def test_the_log_is_exported_as_json_lines(access: Access, database: Database) -> None:
    log(access, "campus", "lab")
    lines = "".join(as_json_lines(calls_page(database, None))).splitlines()
    assert [json.loads(line) for line in lines] == [call.document() for call in calls_page(database, None)]


def test_the_log_is_exported_as_csv_that_no_spreadsheet_computes(access: Access, database: Database) -> None:
    access.record(Call('POST /"x",\n', 401, resource="=cmd|' /C calc'!A0", detail={"a": [1, "ä"]}))
    (row,) = csv.DictReader(io.StringIO("".join(as_csv(calls_page(database, None)))))
    assert row["action"] == 'POST /"x",\n'
    assert row["resource"] == "'=cmd|' /C calc'!A0"
    assert json.loads(row["detail"]) == {"a": [1, "ä"]}
    assert row["at"] == access.now().isoformat()


def test_what_callers_send_is_cut_to_what_a_row_holds(access: Access, database: Database) -> None:
    access.record(
        Call(
            "POST " + "x" * 500,
            404,
            actor="y" * 500,
            resource="z\0" * 500,
            request_id="i" * 500,
            reason="w\0" * 500,
        )
    )
    (call,) = calls_page(database, None)
    texts = (call.action, call.actor, call.resource, call.request_id, call.reason)
    assert [len(text) for text in texts] == [64, 128, 255, 64, 255]
    assert "\0" not in call.resource + call.reason


def test_from_where_a_login_failed_is_kept_for_a_month(
    access: Access, database: Database, clock: HandClock
) -> None:
    """The rows of the log stay for good; what tells of people beside them does not."""

    def addresses() -> list[str]:
        return [call.address for call in calls_page(database, None)]

    access.record(Call("POST /login", 401, address="192.0.2.7"))
    access.record(Call("POST /login", 303, "ann"))
    assert addresses() == ["192.0.2.7", ""]
    assert [call.address for call in latest_calls(database, None, CallFilter(), 9)] == ["", "192.0.2.7"]
    clock.pass_(days=29)
    access.record(Call("POST /login", 401, address="2001:db8::1"))
    assert addresses() == ["192.0.2.7", "", "2001:db8::1"]
    clock.pass_(days=1)
    access.record(Call("POST /login", 401, address="2001:db8::1"))
    assert addresses() == ["", "", "2001:db8::1", "2001:db8::1"]
    assert "2001:db8::1" in "".join(as_csv(calls_page(database, None)))
