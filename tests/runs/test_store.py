from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from qosforge.errors import InputError, StoreError
from qosforge.runs.record.reason import REASONED, Reason
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import CompileSummary, PushSummary, StageSummary, ValidateSummary
from qosforge.runs.record.tables import RunStatus, StageOutcome, Verdict
from qosforge.runs.workflow.external_tester import received

from .support import WHY, Clock


def test_a_run_is_recorded_as_it_was_asked(store: RunStore, clock: Clock) -> None:
    params = {"devices": ["r1"], "require_batfish": False, "name": "línea"}
    made = store.create_run("campus", "itesm-paper", "f" * 64, params)
    assert (made.network, made.policy, made.policy_version) == ("campus", "itesm-paper", "f" * 64)
    assert (made.status, made.verdict, made.params) == (RunStatus.PENDING, None, params)
    assert made.created == made.updated == clock.moment
    assert store.get_run(made.id) == made


def test_a_run_is_found_by_the_beginning_of_its_id(store: RunStore, run: Run) -> None:
    assert store.get_run(run.id[:13].upper()) == run


def test_an_ambiguous_beginning_is_refused(store: RunStore, run: Run) -> None:
    store.create_run("campus", "itesm-paper", "f" * 64, {})
    with pytest.raises(InputError, match="several runs"):
        store.get_run(run.id[:6])


@pytest.mark.parametrize("text", ["", "%", "_", "ffffffff"])
def test_an_unknown_run_is_refused(store: RunStore, run: Run, text: str) -> None:
    with pytest.raises(InputError, match=r"there is no run|several runs"):
        store.get_run(text)


def test_runs_are_listed_newest_first_and_bounded(store: RunStore) -> None:
    made = [store.create_run("campus" if n % 2 else "cern", "p", "v", {}) for n in range(6)]
    assert store.list_runs(limit=4) == made[:1:-1]
    assert store.list_runs(networks=["cern"]) == [made[4], made[2], made[0]]


def test_unfinished_runs_are_those_that_are_not_over(store: RunStore) -> None:
    for status in RunStatus:
        made = store.create_run("campus", status.value, "v", {})
        store.set_status(made.id, status, reason=WHY)
    unfinished = ["pending", "running", "needs_approval", "scheduled", "needs_recovery"]
    assert [made.policy for made in store.unfinished_runs()] == unfinished


def test_a_status_carries_its_verdict_on(store: RunStore, run: Run, clock: Clock) -> None:
    store.set_status(run.id, RunStatus.RUNNING, Verdict.BROKEN)
    clock.forward(30)
    over = store.set_status(run.id, RunStatus.ROLLED_BACK, reason=WHY)
    assert (over.status, over.verdict) == (RunStatus.ROLLED_BACK, Verdict.BROKEN)
    assert (over.updated - over.created).total_seconds() == 30
    assert store.get_run(run.id) == over


def test_a_run_that_is_over_stays_as_it_is(store: RunStore, run: Run, clock: Clock) -> None:
    over = store.set_status(run.id, RunStatus.KEPT, Verdict.MET)
    clock.forward(1)
    assert store.set_status(run.id, RunStatus.KEPT, Verdict.MET) == over, "a repeated step may say it again"
    assert store.set_status(run.id, RunStatus.KEPT) == over
    with pytest.raises(StoreError, match="cannot become running"):
        store.set_status(run.id, RunStatus.RUNNING)
    with pytest.raises(StoreError, match="is over"):
        store.set_status(run.id, RunStatus.KEPT, Verdict.BROKEN)
    assert store.get_run(run.id) == over


def test_the_status_of_an_unknown_run_is_refused(store: RunStore) -> None:
    with pytest.raises(InputError, match="there is no run"):
        store.set_status("01890000-0000-7000-8000-000000000000", RunStatus.RUNNING)


def test_a_stage_keeps_its_time_and_summary(store: RunStore, run: Run, clock: Clock) -> None:
    with store.stage(run.id, "validate", ValidateSummary()) as summary:
        clock.forward(2.5)
        summary.findings = "a" * 64
    (stage,) = store.stages(run.id)
    assert stage.ended is not None
    assert (stage.ended - stage.started).total_seconds() == 2.5
    assert (stage.attempt, stage.outcome, stage.summary) == (1, StageOutcome.DONE, summary)
    assert summary.document() == {"findings": "a" * 64}


def test_a_failed_stage_keeps_what_it_had_and_why(store: RunStore, run: Run) -> None:
    def fail_half_way() -> None:
        with store.stage(run.id, "compile", CompileSummary()) as summary:
            summary.devices = ["r1"]
            raise InputError("no such class", hint="name it")

    with pytest.raises(InputError):
        fail_half_way()
    (stage,) = store.stages(run.id)
    assert stage.outcome is StageOutcome.FAILED
    assert stage.summary == CompileSummary(devices=["r1"], error="no such class (name it)")


def test_a_stage_cut_short_is_marked_by_the_next_attempt(store: RunStore, run: Run, clock: Clock) -> None:
    with pytest.raises(KeyboardInterrupt), store.stage(run.id, "push", PushSummary()):
        raise KeyboardInterrupt
    assert store.stages(run.id)[0].outcome is None
    clock.forward(60)
    with store.stage(run.id, "push", PushSummary()) as summary:
        summary.wave = 4
    first, second = store.stages(run.id)
    assert (first.attempt, first.outcome) == (1, StageOutcome.INTERRUPTED)
    assert (second.attempt, second.outcome) == (2, StageOutcome.DONE)


def test_an_attempt_is_closed_once(store: RunStore, run: Run) -> None:
    attempt = store.begin_stage(run.id, "measure")
    store.end_stage(attempt, StageOutcome.DONE, StageSummary())
    with pytest.raises(StoreError, match="is not open"):
        store.end_stage(attempt, StageOutcome.FAILED, StageSummary())


def test_stages_belong_to_a_run(store: RunStore) -> None:
    with pytest.raises(sa.exc.IntegrityError):
        store.begin_stage("01890000-0000-7000-8000-000000000000", "compile")


def test_moments_need_a_time_zone(store_url: str, clock: Clock) -> None:
    with (
        RunStore(store_url, now=lambda: clock.moment.replace(tzinfo=None)) as naive,
        pytest.raises(sa.exc.StatementError, match="time zone"),
    ):
        naive.create_run("campus", "p", "v", {})


def test_params_that_are_no_json_are_refused(store: RunStore) -> None:
    unfit: dict[str, Any] = {"path": object()}
    with pytest.raises((sa.exc.StatementError, TypeError), match="JSON"):
        store.create_run("campus", "p", "v", unfit)
    assert store.list_runs() == []


def test_attempts_are_counted_per_stage_and_run(store: RunStore, run: Run, clock: Clock) -> None:
    other = store.create_run("campus", "p", "v", {})
    made = []
    for run_id, name in [(run.id, "push"), (run.id, "push"), (run.id, "measure"), (other.id, "push")]:
        made.append(store.begin_stage(run_id, name).attempt)
        clock.forward(1)
    assert made == [1, 2, 1, 1]
    assert [(stage.name, stage.outcome) for stage in store.stages(run.id)] == [
        ("push", StageOutcome.INTERRUPTED),
        ("push", None),
        ("measure", None),
    ]
    assert [stage.outcome for stage in store.stages(other.id)] == [None]


def test_what_is_read_outlives_a_connection(postgres_url: str) -> None:
    with RunStore(postgres_url) as store:
        run = store.create_run("campus", "policy", "f" * 64, {})
        killer = sa.create_engine(store.database.url)
        reads: list[Callable[[], object]] = [
            lambda: store.get_run(run.id).id,
            lambda: [r.id for r in store.runs_in({RunStatus.PENDING})],
            store.due_runs,
            store.list_runs,
            lambda: store.stages(run.id),
            lambda: store.decisions.on(run.id),
            lambda: received(store, run.id, "after", run.created),
        ]
        killed: list[int] = []

        def kill(connection: sa.Connection, *_: object) -> None:
            pid = connection.connection.driver_connection.info.backend_pid
            if connection.engine.url == store.database.url and not killed:
                killed.append(pid)
                with killer.connect() as other:
                    other.exec_driver_sql(f"SELECT pg_terminate_backend({pid}, 5000)")

        for read in reads:
            expected = read()
            killed.clear()
            sa.event.listen(sa.Engine, "before_cursor_execute", kill)
            try:
                assert read() == expected
            finally:
                sa.event.remove(sa.Engine, "before_cursor_execute", kill)
            assert killed
        killer.dispose()


@pytest.mark.parametrize("status", sorted(REASONED))
def test_no_run_ends_without_its_change_and_without_a_reason(store: RunStore, run: Run, status: RunStatus) -> None:
    store.set_status(run.id, RunStatus.RUNNING)
    with pytest.raises(ValueError, match="without a reason"):
        store.set_status(run.id, status)
    with pytest.raises(ValueError, match="without a reason"):
        store.change(run.id, lambda *_: {"status": status.value})
    assert store.get_run(run.id).status is RunStatus.RUNNING
    reason = Reason("r1 refused a line", "push", "look at r1", "r1")
    over = store.set_status(run.id, status, reason=reason)
    assert (over.reason, over.reason_step, over.reason_device, over.reason_hint) == (
        "r1 refused a line",
        "push",
        "r1",
        "look at r1",
    )


@pytest.mark.parametrize("said", [("", "push", "look"), ("broken", "", "look"), ("broken", "push", "")])
def test_a_reason_says_what_where_and_the_way_on(said: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match="the way on"):
        Reason(*said)
