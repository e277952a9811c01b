"""What a run does while others have its devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from qosforge.artifacts.store import FileArtifacts
from qosforge.errors import DeviceError, InputError, InputErrors, Place
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.run_outcome import AdviceKind, OutcomeKind
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason, half_way
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import RUNS, JournalAction, RunStatus, Verdict
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import LockResult
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.run_workflow import RunWorkflow
from qosforge.runs.workflow.steps import lock, status, wait
from qosforge.settings import Settings
from tests.run_requests import Submission, request_run
from tests.runs.support import WHY

from .support import computing


@pytest.fixture
def run_requests(store: RunStore, tmp_path: Path) -> RunRequests:
    return RunRequests(Settings(var_dir=tmp_path), store, FileArtifacts(tmp_path / "artifacts"))


@pytest.fixture
def order() -> Submission:
    policy = root() / "policies" / "campus-collaboration.yaml"
    return request_run(load_network(root() / "inventories" / "campus"), load_intent(policy))


@pytest.fixture(autouse=True)
def concurrency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "TRY_SECONDS", 0.0)


def waits(run_requests: RunRequests, order: Submission) -> Context:
    """A run that is carried out and has no device yet."""
    run, _ = run_requests.submit(*order, "ada")
    run_requests.store.begin_attempt(run.id, 1)
    rules = NetworkRules(run_requests.settings)
    return Context(
        run.id, run.resolved, run_requests.store, run_requests.artifacts, lambda *_: None, rules, computing()
    )


def take(context: Context) -> LockResult:
    return lock.lock(context, context.store.now())


@pytest.fixture
def stopped(run_requests: RunRequests, order: Submission) -> Context:
    """A run that stopped between two states of a device; a service has not seen it yet."""
    found = waits(run_requests, order)
    run_requests.store.journal.append(found.run_id, lock.scope(found)[0], JournalAction.TOUCHING)
    run_requests.store.set_status(found.run_id, RunStatus.NEEDS_RECOVERY, reason=WHY)
    return found


def refused(context: Context) -> bool:
    found = take(context)
    return bool(found.errors) and "between two states" in found.errors[0].message


def test_what_stopped_between_two_states_is_waited_for_while_it_is_about_to_be_settled(
    run_requests: RunRequests, order: Submission, stopped: Context
) -> None:
    behind = waits(run_requests, order)
    assert take(behind) == LockResult()
    assert "between two states" in run_requests.run(behind.run_id).waits_for
    with run_requests.store.stage(stopped.run_id, "rollback", ReadSummary()):
        assert take(behind) == LockResult()
        run_requests.store.journal.append(stopped.run_id, lock.scope(stopped)[0], JournalAction.UNDONE)
    assert take(behind) == LockResult(devices=lock.scope(behind))


@pytest.mark.parametrize(
    ("why", "verdict", "step", "message", "hint"),
    [
        (
            half_way(Reason("the table is full", "rollback", RECOVER, "r1"), Reason("it is slow", "x", "y")),
            Verdict.BROKEN,
            "measure-after",
            "it is slow; r1 was not put back at first: the table is full; its devices are put back",
            NOT_MET.text,
        ),
        (
            half_way(Reason("the table is full", "rollback", RECOVER, "r1"), Reason("r2 is away", "x", "y")),
            None,
            "x",
            "r2 is away; r1 was not put back at first: the table is full; its devices are put back",
            "begins it again",
        ),
        (WHY, None, WHY.step, f"{WHY.message}; its devices are put back", "begins it again"),
    ],
)
def test_why_a_run_was_to_be_rolled_back_stands_first_once_its_devices_are_put_back(
    *,
    run_requests: RunRequests,
    order: Submission,
    why: Reason,
    verdict: Verdict | None,
    step: str,
    message: str,
    hint: str,
) -> None:
    context, store = waits(run_requests, order), run_requests.store
    store.set_status(context.run_id, RunStatus.NEEDS_RECOVERY, verdict, reason=why)
    status.set_settled(context)
    ended = run_requests.run(context.run_id)
    assert (ended.status, ended.reason, ended.reason_step) == (RunStatus.ROLLED_BACK, message, step)
    assert hint in ended.reason_hint
    assert ended.reason_device == (why.device if why is WHY else "")
    assert ended.outcome is not None
    assert ended.outcome.kind is OutcomeKind.RECOVERED
    assert [(one.short, one.device) for one in ended.outcome.reasons] == [
        (one.short, one.device) for one in reversed(why.reasons)
    ]
    unmet = AdviceKind.CHANGE_POLICY if verdict else AdviceKind.RETRY
    assert ended.outcome.advice is unmet


def test_a_run_of_a_release_that_kept_no_step_of_its_reason_is_settled(
    run_requests: RunRequests, order: Submission
) -> None:
    context, store = waits(run_requests, order), run_requests.store
    store.set_status(context.run_id, RunStatus.NEEDS_RECOVERY, reason=WHY)
    words = {"reason": "r1 is away. It answered nothing", "reason_step": "", "outcome_reasons": None}
    store.database.transact(lambda connection: connection.execute(sa.update(RUNS).values(words)))
    before = run_requests.run(context.run_id).outcome
    assert before is not None
    assert before.short == "r1 is away"
    status.set_settled(context)
    ended = run_requests.run(context.run_id)
    assert (ended.status, ended.reason_step) == (RunStatus.ROLLED_BACK, "rollback")
    assert ended.reason.startswith("r1 is away. It answered nothing; ")


def test_a_run_that_was_given_up_is_recovered_once_its_boxes_are_put_back(
    run_requests: RunRequests, order: Submission
) -> None:
    context = waits(run_requests, order)
    run_requests.store.journal.append(context.run_id, lock.scope(context)[0], JournalAction.UNDONE)
    status.set_settled(context)
    ended = run_requests.run(context.run_id).outcome
    assert ended is not None
    assert ended.kind is OutcomeKind.RECOVERED


@pytest.mark.usefixtures("stopped")
def test_what_nobody_settles_is_not_waited_for(
    run_requests: RunRequests, order: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "SETTLING_SECONDS", 0)
    assert refused(waits(run_requests, order))


def test_what_could_not_be_settled_is_not_waited_for(
    run_requests: RunRequests, order: Submission, stopped: Context
) -> None:
    with run_requests.store.stage(stopped.run_id, "rollback", ReadSummary()):
        pass
    assert refused(waits(run_requests, order))


def failures() -> list[StepError]:
    refused = [DeviceError(f"r{n} refused a line", Place(device=f"r{n}"), "mend the line") for n in (1, 2)]
    return [StepError.of(error) for error in refused]


def test_what_errors_stopped_says_all_and_that_boxes_are_put_back_first(
    run_requests: RunRequests, order: Submission
) -> None:
    clean, left = waits(run_requests, order), waits(run_requests, order)
    run_requests.store.journal.append(left.run_id, lock.scope(left)[0], JournalAction.TOUCHING)
    for context in (clean, left):
        status.set_stopped(context, failures())
    ended = [run_requests.run(context.run_id) for context in (clean, left)]
    assert [run.status for run in ended] == [RunStatus.FAILED, RunStatus.NEEDS_RECOVERY]
    assert {run.reason for run in ended} == {"r1: r1 refused a line; r2: r2 refused a line"}
    assert [run.reason_hint for run in ended] == ["mend the line", RECOVER.text]


class Failing:
    """An engine that does every step but the first."""

    run_workflow: RunWorkflow

    def register(self, name: str, workflow: object) -> None:
        """Nothing is taken up again."""

    def run(self, _name: str, workflow_id: str, params: dict[str, object]) -> dict[str, object]:
        return self.run_workflow._workflow(workflow_id, params)

    def run_step(self, name: str, phase: Any, *arguments: Any) -> Any:
        if name == "begin":
            raise InputErrors("two", errors=[InputError(f"r{n} is wrong", hint="mend it") for n in (1, 2)])
        return phase(*arguments)

    wait_step = run_step


def test_every_error_that_stopped_a_run_is_counted(run_requests: RunRequests, order: Submission) -> None:
    engine = Failing()
    rules = NetworkRules(run_requests.settings)
    run_workflow = RunWorkflow(
        run_requests.store, run_requests.artifacts, engine, lambda *_: None, rules, computing()
    )  # type: ignore[arg-type]
    engine.run_workflow = run_workflow
    context = waits(run_requests, order)
    with pytest.raises(InputErrors):
        run_workflow.execute(context.run_id)
    assert run_requests.run(context.run_id).reason == "r1 is wrong; r2 is wrong"
