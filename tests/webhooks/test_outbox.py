"""Deliveries are written with the event that they tell of, and for whoever wants to hear of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.interruption import put_back
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason, half_way
from qosforge.runs.record.run import Run
from qosforge.runs.record.status_events import ASKS
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.webhooks.messages import DATA, LONGEST_TEXT, EventType
from qosforge.webhooks.registry import remove_webhook, set_enabled
from qosforge.webhooks.tables import DELIVERIES
from tests.webhooks.conftest import Desk

URL = "http://127.0.0.1:9/hook"
WHY = Reason("it was to end so", "push", "nothing: it is a test")


def run_on(desk: Desk, network: str = "campus") -> Run:
    """A run that a process is at."""
    run = desk.store.create_run(network, "gold", "f" * 64, {})
    desk.store.begin_attempt(run.id, 1)
    return run


def told(desk: Desk) -> list[tuple[str, dict[str, Any]]]:
    """Type and data of every delivery, oldest first; the data is as its type says."""
    query = sa.select(DELIVERIES.c.type, DELIVERIES.c.data).order_by(DELIVERIES.c.seq)
    with desk.store.database.read() as connection:
        rows = [(row.type, row.data) for row in connection.execute(query)]
    for type_, data in rows:
        assert (
            DATA[EventType(type_)].model_validate(data, strict=False).model_dump(mode="json").keys() == data.keys()
        )
    return rows


def test_an_end_is_reported_with_its_status_and_verdict(desk: Desk) -> None:
    desk.add("chat", URL)
    run = run_on(desk)
    desk.store.set_status(run.id, RunStatus.KEPT, Verdict.MET)
    ((type_, data),) = told(desk)
    assert type_ == "run.ended"
    assert (data["run"], data["network"], data["policy"]) == (run.id, "campus", "gold")
    assert (data["status"], data["verdict"], data["page"]) == ("kept", "met", f"/runs/{run.id}")


def test_an_end_that_is_said_twice_is_reported_once(desk: Desk) -> None:
    desk.add("chat", URL)
    run = run_on(desk)
    for _ in range(2):
        desk.store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    assert [(type_, data["reason"]) for type_, data in told(desk)] == [("run.ended", WHY.message)]


def test_a_broken_verdict_is_reported_of_its_own(desk: Desk) -> None:
    desk.add("chat", URL)
    desk.store.set_status(run_on(desk).id, RunStatus.ROLLED_BACK, Verdict.BROKEN, reason=WHY)
    assert [type_ for type_, _ in told(desk)] == ["run.verdict_broken", "run.ended"]


def test_why_a_run_was_rolled_back_is_told_before_what_hindered_it(desk: Desk) -> None:
    desk.add("chat", URL)
    run = run_on(desk)
    left = Reason("the table is full", "rollback", RECOVER, "r1")
    why = Reason("x" * 5000, "measure-after", NOT_MET, short="the objectives are not met")
    desk.store.set_status(run.id, RunStatus.NEEDS_RECOVERY, Verdict.BROKEN, reason=half_way(left, why))
    desk.store.set_status(run.id, RunStatus.ROLLED_BACK, reason=put_back(desk.store.get_run(run.id)))
    outcomes = [data["outcome"] for type_, data in told(desk) if type_ != "run.verdict_broken"]
    assert [(one["kind"], one["advice"]) for one in outcomes] == [
        ("half_way", "recover"),
        ("recovered", "change_policy"),
    ]
    shorts = [[(reason["short"], reason["device"]) for reason in one["reasons"]] for one in outcomes]
    first = [("the table is full", "r1"), ("the objectives are not met", "")]
    assert shorts == [first, first[::-1]]
    assert all(len(reason["message"]) <= LONGEST_TEXT for one in outcomes for reason in one["reasons"])


def test_a_run_between_two_states_is_reported_before_its_end(desk: Desk) -> None:
    desk.add("chat", URL)
    run = run_on(desk)
    desk.store.set_status(run.id, RunStatus.NEEDS_RECOVERY, reason=WHY)
    desk.store.set_status(run.id, RunStatus.ROLLED_BACK, reason=WHY)
    assert [type_ for type_, _ in told(desk)] == ["run.needs_recovery", "run.ended"]


def test_an_approval_is_wanted_for_a_push_and_for_keeping(desk: Desk) -> None:
    desk.add("chat", URL)
    first, second = run_on(desk), run_on(desk)
    waits_for = "approval of candidate abc by an approver"
    desk.store.set_status(first.id, RunStatus.NEEDS_APPROVAL, waits_for=waits_for)
    until = desk.store.now() + timedelta(minutes=10)
    for _ in range(2):  # as a step that is done again says it
        desk.store.change(second.id, lambda _run, _connection: {"waits_for": ASKS, "due": until})
    assert [(type_, data["run"], data["asks"], data["waits_for"], data["until"]) for type_, data in told(desk)] == [
        ("run.approval_wanted", first.id, "push", waits_for, None),
        ("run.approval_wanted", second.id, "keep", ASKS, until.isoformat()),
    ]


def test_what_only_goes_on_is_not_told(desk: Desk) -> None:
    desk.add("chat", URL)
    run = run_on(desk)
    desk.store.change(run.id, lambda _run, _connection: {"waits_for": "a device"})
    desk.store.set_status(run.id, RunStatus.SCHEDULED, waits_for="the night", due=desk.store.now())
    desk.store.next_attempt(desk.store.get_run(run.id))
    assert told(desk) == []


def test_a_webhook_hears_of_its_events_and_networks_alone(desk: Desk) -> None:
    desk.add("broken-on-campus", URL, events=[EventType.RUN_VERDICT_BROKEN], networks=["campus"])
    desk.add("all", URL)
    for network in ("campus", "itesm"):
        desk.store.set_status(run_on(desk, network).id, RunStatus.KEPT, Verdict.BROKEN)
    heard = {
        name: [(one.type, one.state) for one in reversed(desk.log(name))] for name in ("broken-on-campus", "all")
    }
    assert heard["broken-on-campus"] == [("run.verdict_broken", "waiting")]
    assert [type_ for type_, _ in heard["all"]] == ["run.verdict_broken", "run.ended"] * 2
    assert desk.log("broken-on-campus")[0].message == desk.log("all")[-1].message


def test_a_disabled_webhook_hears_nothing(desk: Desk) -> None:
    desk.add("chat", URL)
    desk.change(lambda connection: set_enabled(connection, "chat", False))
    desk.store.set_status(run_on(desk).id, RunStatus.KEPT)
    assert told(desk) == []


def test_an_event_that_is_rolled_back_is_not_told(desk: Desk) -> None:
    desk.add("chat", URL)
    run = run_on(desk)

    class Lost(Exception):
        pass

    def transaction() -> None:
        with desk.store.database.write() as connection:
            from qosforge.runs.record.webhook_notices import write_webhook_notices  # noqa: PLC0415

            kept = desk.store.get_run(run.id)
            object.__setattr__(kept, "status", RunStatus.KEPT)
            write_webhook_notices(connection, run, kept)
            raise Lost

    with pytest.raises(Lost):
        transaction()
    assert told(desk) == []


def test_removing_a_webhook_takes_its_log_and_stops_no_run(desk: Desk) -> None:
    desk.add("chat", URL)
    desk.store.set_status(run_on(desk).id, RunStatus.KEPT)
    run = run_on(desk)
    desk.change(lambda connection: remove_webhook(connection, "chat"))
    desk.store.set_status(run.id, RunStatus.KEPT)
    assert told(desk) == []


def test_a_webhook_that_is_removed_meanwhile_breaks_no_end_of_a_run(desk: Desk, store_url: str) -> None:
    """The end of a run and the removal wait for each other; neither fails."""
    import threading  # noqa: PLC0415

    desk.add("chat", URL)
    failed: list[BaseException] = []

    def ends() -> None:
        try:
            for _ in range(20):
                desk.store.set_status(run_on(desk).id, RunStatus.KEPT)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    thread = threading.Thread(target=ends)
    thread.start()
    other = Database(store_url)
    for number in range(10):
        other.transact(lambda connection: remove_webhook(connection, "chat"))
        desk.add("chat", f"{URL}/{number}")
    thread.join()
    other.close()
    assert failed == []
