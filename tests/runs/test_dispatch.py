"""The dispatcher, looking by hand at runs in every state that a death can leave them in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.executor.service import RunEnd, Service
from qosforge.runs.engine.dispatch import Dispatcher
from qosforge.runs.engine.port import JsonObject
from qosforge.runs.engine.workflow_ids import WORKFLOW
from qosforge.runs.record.events import EventKind
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RUNS, JournalAction, RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.settings import Settings

from .executor_process import SmallExecutor
from .support import WHY, wait_for


@pytest.fixture
def executor(tmp_path: Path, sqlite_url: str) -> Iterator[SmallExecutor]:
    made = SmallExecutor(tmp_path, sqlite_url, dispatch=False)
    made.start()
    yield made
    made.stop()


def place(executor: SmallExecutor) -> Run:
    return executor.store.create_run("campus", "itesm-paper", "f" * 64, {})


def await_status(executor: SmallExecutor, run: Run, status: RunStatus, attempt: int) -> None:
    def there() -> bool:
        now = executor.store.get_run(run.id)
        return (now.status, now.attempt) == (status, attempt)

    wait_for(there, f"the run to be {status} in attempt {attempt}")


def log(executor: SmallExecutor) -> list[str]:
    file = executor.folder / "log"
    return file.read_text().splitlines() if file.exists() else []


def test_a_pending_run_is_begun_once(executor: SmallExecutor) -> None:
    run = place(executor)
    for _ in range(3):
        executor.dispatcher.tick()
    await_status(executor, run, RunStatus.KEPT, 1)
    executor.dispatcher.tick()
    assert log(executor).count(f"begin {run.id}") == 1


def test_a_waiting_run_goes_on_when_its_moment_has_come(executor: SmallExecutor) -> None:
    due, later = place(executor), place(executor)
    now = datetime.now(UTC)
    executor.store.set_status(due.id, RunStatus.SCHEDULED, due=now - timedelta(seconds=1))
    executor.store.set_status(later.id, RunStatus.SCHEDULED, due=now + timedelta(hours=1))
    executor.dispatcher.tick()
    await_status(executor, due, RunStatus.KEPT, 2)
    assert executor.store.get_run(later.id).status is RunStatus.SCHEDULED


def test_a_run_that_no_workflow_carries_begins_again_when_its_boxes_are_settled(executor: SmallExecutor) -> None:
    run = place(executor)
    executor.store.begin_attempt(run.id, 1)
    executor.store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    executor.dispatcher.tick()
    executor.dispatcher.tick()
    wait_for(lambda: f"settled {run.id}" in log(executor), "its devices to be settled")
    executor.dispatcher.tick()
    await_status(executor, run, RunStatus.KEPT, 2)
    assert log(executor)[0] == f"settled {run.id}"


def test_the_next_try_at_a_half_way_run_is_told_and_can_be_brought_forward(executor: SmallExecutor) -> None:
    run, store = place(executor), executor.store
    store.begin_attempt(run.id, 1)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    stopped = store.set_status(run.id, RunStatus.NEEDS_RECOVERY, reason=WHY)
    settled = f"settled {run.id}"
    executor.dispatcher.tick()
    wait_for(lambda: log(executor) == [settled], "a first try")
    tried = store.get_run(run.id)
    assert tried.due is not None
    assert timedelta(seconds=30) < tried.due - store.now() <= timedelta(minutes=1)
    assert tried.updated == stopped.updated, "it stands as it did"
    executor.dispatcher._rescued = float("-inf")
    executor.dispatcher.tick()
    assert not store.any_to_begin()
    requests = RunRequests(Settings(var_dir=executor.folder / "var"), store, executor.artifacts)
    requests.try_now(run.id, "ann")
    assert [event.data for event in store.events.after(run.id) if event.kind is EventKind.TRY] == [{"by": "ann"}]
    assert store.any_to_begin()

    def again() -> bool:
        executor.dispatcher.tick()
        return log(executor) == [settled] * 2

    wait_for(again, "a second try")
    assert not store.any_to_begin()
    with pytest.raises(InvalidState, match="has no device to put back"):
        requests.try_now(place(executor).id, "ann")


def test_a_half_way_run_is_tried_after_twice_as_long_each_time_by_whichever_executor(
    executor: SmallExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, store, ahead = place(executor), executor.store, timedelta()
    for clock in ((store, "now"), (store.events, "_now")):
        monkeypatch.setattr(*clock, lambda: datetime.now(UTC) + ahead)
    store.begin_attempt(run.id, 1)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    store.set_status(run.id, RunStatus.NEEDS_RECOVERY, reason=WHY)
    dispatchers = [Dispatcher(store, executor.engine) for _ in range(2)]

    def pause(tries: int) -> int:
        """Minutes until the next try, after so many that either of two executors made; neither tries before."""
        for dispatcher in (dispatchers[tries % 2], *dispatchers):
            dispatcher._rescued = float("-inf")
            dispatcher.tick()
            wait_for(lambda: not executor.engine.unfinished(), "the try to end")
        assert log(executor) == [f"settled {run.id}"] * tries
        assert all(dispatcher.settling_failed(run.id) for dispatcher in dispatchers)
        due = store.get_run(run.id).due
        assert due is not None
        return round((due - store.now()) / timedelta(minutes=1))

    pauses = []
    for tries in range(1, 9):
        pauses.append(pause(tries))
        ahead += timedelta(minutes=pauses[-1])
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]
    ahead -= timedelta(minutes=20)
    RunRequests(Settings(var_dir=executor.folder / "var"), store, executor.artifacts).try_now(run.id, "ann")
    assert pause(9) == 1, "somebody may have mended something"
    ahead += timedelta(minutes=1)
    assert pause(10) == 2


class Refused(SmallExecutor):
    """One whose device refuses to be put back."""

    def settle(self, workflow_id: str, params: JsonObject) -> JsonObject:
        self.engine.run_step("undo", lambda: self.note(f"refused {params['run']}"))
        return {}


def test_a_recovery_by_hand_waits_for_no_pause_and_ends_after_its_try(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = Refused(tmp_path, postgres_url)
    executor.start()
    try:
        run, store = place(executor), executor.store
        store.begin_attempt(run.id, 1)
        store.journal.append(run.id, "r1", JournalAction.TOUCHING)
        store.database.transact(
            lambda connection: connection.execute(
                sa.update(RUNS).values(
                    status=RunStatus.NEEDS_RECOVERY.value, due=store.now() + timedelta(minutes=30)
                )
            )
        )
        service = Service(Settings(var_dir=tmp_path / "var", database_url=postgres_url), executor)
        monkeypatch.setattr(service, "write_report", lambda _run: None)
        ended: list[RunEnd] = []
        asked = threading.Thread(target=lambda: ended.extend(service.recover()), daemon=True)
        asked.start()
        asked.join(30)
        assert [(end.run, end.status) for end in ended] == [(run.id, RunStatus.NEEDS_RECOVERY)]
        assert log(executor) == [f"refused {run.id}"]
    finally:
        executor.stop()


def test_boxes_are_settled_and_their_run_goes_on_though_others_wait_for_them_in_every_place(
    executor: SmallExecutor,
) -> None:
    lost = executor.store.create_run("campus", "itesm-paper", "f" * 64, {"box": "r1"})
    executor.store.begin_attempt(lost.id, 1)
    executor.store.leases.acquire(lost.id, ["r1"], 1800)
    executor.store.journal.append(lost.id, "r1", JournalAction.TOUCHING)
    executor.dispatcher._rescued = float("inf")  # not yet
    others = [executor.store.create_run("campus", "itesm-paper", "f" * 64, {"box": "r1"}) for _ in range(5)]
    executor.dispatcher.tick()
    wait_for(
        lambda: len({line for line in log(executor) if line.startswith("waits ")}) == 4, "every place to be taken"
    )
    executor.dispatcher._rescued = float("-inf")

    def over() -> bool:
        executor.dispatcher.tick()
        return all(executor.store.get_run(run.id).status is RunStatus.KEPT for run in (lost, *others))

    wait_for(over, "every run to end")
    assert log(executor).index(f"settled {lost.id}") < log(executor).index(f"begin {lost.id}:2")


@pytest.mark.parametrize("touched", [False, True])
def test_a_run_whose_workflow_ended_without_a_word_does_not_run_for_ever(
    executor: SmallExecutor, touched: bool
) -> None:
    lost = place(executor)
    executor.store.begin_attempt(lost.id, 1)
    executor.engine.run(WORKFLOW, lost.id, {"silent": True})
    if touched:
        executor.store.journal.append(lost.id, "r1", JournalAction.TOUCHING)
    executor.dispatcher.tick()
    expected = RunStatus.NEEDS_RECOVERY if touched else RunStatus.FAILED
    assert executor.store.get_run(lost.id).status is expected
    assert "without saying how" in executor.store.get_run(lost.id).reason
    if touched:
        wait_for(lambda: not executor.store.journal.open_touches(lost.id), "its devices to be settled")


@pytest.mark.parametrize(
    ("saved", "undone", "expected", "told"),
    [
        (("r1", "r2"), (), RunStatus.KEPT, "had been saved on every device"),
        (("r1",), ("r2",), RunStatus.FAILED, "its change is saved on r1, its other devices are put back"),
        ((), ("r1", "r2"), RunStatus.FAILED, "without saying how"),
        (("r1", "r2"), ("r1", "r2"), RunStatus.FAILED, "without saying how"),
    ],
    ids=["all", "one", "none", "all-and-then-undone"],
)
def test_a_run_that_nobody_ended_is_what_its_devices_hold(
    executor: SmallExecutor, saved: tuple[str, ...], undone: tuple[str, ...], expected: RunStatus, told: str
) -> None:
    lost = place(executor)
    executor.store.begin_attempt(lost.id, 1)
    executor.engine.run(WORKFLOW, lost.id, {"silent": True})
    for action, names in (
        (JournalAction.TOUCHING, ("r1", "r2")),
        (JournalAction.CONFIRMED, saved),
        (JournalAction.UNDONE, undone),
    ):
        for name in names:
            executor.store.journal.append(lost.id, name, action)
    executor.dispatcher.tick()
    run = executor.store.get_run(lost.id)
    assert run.status is expected
    assert told in run.reason
    assert ("rollback" in run.reason_hint) is (expected is RunStatus.KEPT)


def test_an_unfinished_run_is_left_to_its_workflow(executor: SmallExecutor) -> None:
    run = executor.store.create_run("campus", "itesm-paper", "f" * 64, {"wait": True})
    executor.dispatcher.tick()
    wait_for(lambda: any(line.startswith("touch ") for line in log(executor)), "the run to touch its device")
    executor.dispatcher._rescued = float("-inf")
    executor.dispatcher.tick()
    assert executor.store.get_run(run.id).attempt == 1
    (executor.folder / "go").touch()
    await_status(executor, run, RunStatus.KEPT, 1)
    assert not any(line.startswith("settled") for line in log(executor))
