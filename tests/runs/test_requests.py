"""What is asked of runs: rows that bear repetition, races and every wrong moment."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from qosforge.access.roles import NotAllowed, Role
from qosforge.access.users import add_user, disable, grant, revoke
from qosforge.artifacts.store import FileArtifacts
from qosforge.deltaq.objective import Outcome
from qosforge.errors import InputError
from qosforge.intent.loader import load_intent, parse_intent
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.loader import load_network
from qosforge.policy_library.library import PolicyLibrary
from qosforge.policy_library.tables import POLICY_TAKEOVERS
from qosforge.policy_library.trust import take_over
from qosforge.policy_library.versions import PolicyVersion
from qosforge.resources import root
from qosforge.run_outcome import AdviceKind, OutcomeKind
from qosforge.runs.record.events import EventKind
from qosforge.runs.record.idempotency import KeyReused
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore, RunUnknown
from qosforge.runs.record.summaries import PredictionSummary, ReadSummary, parse_summary
from qosforge.runs.record.tables import JournalAction, RunStatus, StageOutcome, Verdict
from qosforge.runs.requests.allowed_actions import allowed_actions
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.requests.retry_conditions import STARTS
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.gate import LOOK_AGAIN
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.steps.hindrance import gate
from qosforge.settings import Settings
from tests.principals import somebody
from tests.run_requests import Submission, request_run

from .support import WHY, Clock, computing

ENDED = [RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.REJECTED, RunStatus.ROLLED_BACK]


@pytest.fixture(scope="module")
def order() -> Submission:
    return request_run(
        load_network(root() / "inventories" / "campus"),
        load_intent(root() / "policies" / "campus-collaboration.yaml"),
    )


@pytest.fixture
def run_requests(store: RunStore, tmp_path: Path) -> RunRequests:
    return RunRequests(Settings(var_dir=tmp_path), store, FileArtifacts(tmp_path / "artifacts"))


def in_status(run_requests: RunRequests, order: Submission, status: RunStatus) -> Run:
    run, _ = run_requests.submit(*order, "ada")
    return run_requests.store.set_status(run.id, status, reason=WHY)


def prepared(run_requests: RunRequests, run: Run, **deltas: str) -> str:
    """Let a run have worked out its candidate, as the loop does."""
    listed = run_requests.artifacts.put_json({"version": 1, "devices": deltas})
    for name in ("read", "prepare", "measure-before"):
        made = {"candidate": listed, "devices": {}} if name == "prepare" else {}
        with run_requests.store.stage(run.id, name, parse_summary(name, made)):
            pass
    return listed


def statuses(run_requests: RunRequests, run: Run) -> list[str]:
    return [event.data["status"] for event in run_requests.events(run.id) if event.kind is EventKind.STATUS]


def test_an_order_is_recorded_as_it_was_given(run_requests: RunRequests, order: Submission, clock: Clock) -> None:
    source = {"repository": "https://git.example/qos", "commit": "a" * 40, "path": "campus.yaml"}
    later = clock.moment + timedelta(hours=1)
    asked = order.having(ticket="CHG1", source=source, not_before=later, timeout_seconds=600)
    run, new = run_requests.submit(*asked, "ada")
    assert new
    assert (run.status, run.requested_by, run.ticket, run.source) == (RunStatus.PENDING, "ada", "CHG1", source)
    assert (run.not_before, run.deadline) == (later, later + timedelta(minutes=10))
    assert (run.attempt, run.start) == (1, "read")
    assert run_requests.run(run.id) == run
    assert statuses(run_requests, run) == ["pending"]


def test_a_canary_of_no_device_is_refused_when_a_run_is_asked_for(
    run_requests: RunRequests, order: Submission
) -> None:
    kept = in_status(run_requests, order, RunStatus.KEPT)
    rules = ChangeRules.model_validate({"rollout": {"canary": {"tag": "pilto"}}})
    mistyped = order.having(network=order.network.model_copy(update={"changes": rules}))
    with pytest.raises(InputError, match="has the tag 'pilto', so there is no canary"):
        run_requests.submit(*mistyped, "ada")
    assert [run.id for run in run_requests.store.list_runs(10)] == [kept.id]


def test_the_same_key_gives_the_same_run(run_requests: RunRequests, order: Submission) -> None:
    first, new = run_requests.submit(*order, "ada", "key")
    again, second = run_requests.submit(*order, "ada", "key")
    assert (new, second, again) == (True, False, first)
    assert run_requests.submit(*order, "grace", "key")[1], "a key is its owner's"
    with pytest.raises(KeyReused, match="another request"):
        run_requests.submit(*order.having(seed=2), "ada", "key")
    assert len(run_requests.store.list_runs()) == 2


def test_the_same_key_at_once_gives_one_run(run_requests: RunRequests, order: Submission) -> None:
    with ThreadPoolExecutor(8) as pool:
        placed = list(pool.map(lambda _: run_requests.submit(*order, "ada", "key"), range(16)))
    assert len({run.id for run, _ in placed}) == 1
    assert sum(new for _, new in placed) == 1
    assert len(run_requests.store.list_runs()) == 1


@pytest.mark.parametrize("key", ["", "k" * 256, "a\nb"])
def test_a_key_that_is_none_is_refused(run_requests: RunRequests, order: Submission, key: str) -> None:
    with pytest.raises(InputError, match="printable"):
        run_requests.submit(*order, "ada", key)
    assert run_requests.store.list_runs() == []


def test_runs_are_listed_in_pages_and_by_what_they_are(
    run_requests: RunRequests, order: Submission, clock: Clock
) -> None:
    made = []
    for number in range(5):
        made.append(run_requests.submit(*order, "ada" if number % 2 else "grace")[0])
        clock.forward(60)
    run_requests.store.set_status(made[0].id, RunStatus.KEPT, Verdict.MET)
    ids = [run.id for run in made]
    page = run_requests.store.list_runs(2, networks=["campus"])
    assert [run.id for run in page] == ids[:2:-1]
    assert [run.id for run in run_requests.store.list_runs(networks=["campus"], before=page[-1].id)] == ids[2::-1]
    assert [run.id for run in run_requests.store.list_runs(verdict=Verdict.MET)] == ids[:1]
    assert [run.id for run in run_requests.store.list_runs(status=RunStatus.KEPT)] == ids[:1]
    assert [run.id for run in run_requests.store.list_runs(requested_by="ada")] == [ids[3], ids[1]]
    assert [run.id for run in run_requests.store.list_runs(since=made[1].created, until=made[3].created)] == [
        ids[2],
        ids[1],
    ]
    assert (
        run_requests.store.list_runs(networks=[])
        == run_requests.store.list_runs(networks=["elsewhere"])
        == run_requests.store.list_runs(policy="other")
        == []
    )


def test_an_unknown_run_is_told(run_requests: RunRequests) -> None:
    for ask in (run_requests.run, run_requests.detail, run_requests.events, run_requests.candidate):
        with pytest.raises(RunUnknown, match="there is no run"):
            ask("0")
    with pytest.raises(RunUnknown):
        run_requests.cancel("\x00", "ada")


def test_an_approval_lets_the_run_begin_again(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.NEEDS_APPROVAL)
    listed = prepared(run_requests, run, r1="policy-map voice\n")
    seen = run_requests.candidate(run.id)
    assert seen is not None
    assert (seen.id, dict(seen.devices)) == (listed, {"r1": "policy-map voice\n"})
    approved = run_requests.approve(run.id, "grace", listed, "looks right")
    assert (approved.status, approved.attempt) == (RunStatus.PENDING, 2)
    (decision,) = run_requests.decisions(run.id)
    assert (decision.by, decision.approved, decision.candidate) == ("grace", True, listed)
    with pytest.raises(InvalidState, match="waits for no approval"):
        run_requests.approve(run.id, "grace", listed)
    assert statuses(run_requests, run) == ["pending", "needs_approval", "pending"]
    assert run_requests.candidate(run.id) is None, "the next attempt has to work it out anew"


def test_only_what_was_looked_at_is_approved(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.NEEDS_APPROVAL)
    with pytest.raises(InvalidState, match="not what the run would do"):
        run_requests.approve(run.id, "grace", "0" * 64)
    prepared(run_requests, run, r1="a\n")
    with pytest.raises(InvalidState, match="not what the run would do"):
        run_requests.approve(run.id, "grace", "0" * 64)
    assert run_requests.decisions(run.id) == []


def test_what_is_predicted_to_break_is_approved_only_with_a_reason(
    run_requests: RunRequests, order: Submission
) -> None:
    run = in_status(run_requests, order, RunStatus.NEEDS_APPROVAL)
    listed = prepared(run_requests, run, r1="a\n")
    with run_requests.store.stage(run.id, "predict", PredictionSummary(outcome="broken")):
        pass
    with pytest.raises(InvalidState, match="not what the run would do"):  # what is out of date needs no reason
        run_requests.approve(run.id, "grace", "0" * 64)
    for comment in ("", "  "):
        with pytest.raises(InputError, match="predicted to break objectives") as refused:
            run_requests.approve(run.id, "grace", listed, comment)
        assert "say in a comment why" in (refused.value.hint or "")
    assert run_requests.decisions(run.id) == []
    assert run_requests.approve(run.id, "grace", listed, "the figures are old").attempt == 2


@pytest.mark.parametrize("outcome", ["met", "inconclusive", None])
def test_what_is_not_predicted_to_break_is_approved_without_a_word(
    run_requests: RunRequests, order: Submission, outcome: Outcome | None
) -> None:
    run = in_status(run_requests, order, RunStatus.NEEDS_APPROVAL)
    listed = prepared(run_requests, run, r1="a\n")
    with run_requests.store.stage(run.id, "predict", PredictionSummary(outcome=outcome)):
        pass
    assert run_requests.approve(run.id, "grace", listed).attempt == 2


def test_two_who_decide_at_once_are_not_both_heard(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.NEEDS_APPROVAL)
    listed = prepared(run_requests, run, r1="a\n")

    def decide(number: int) -> bool:
        try:
            if number % 2:
                run_requests.reject(run.id, "ada", "not now")
            else:
                run_requests.approve(run.id, "ada", listed)
        except InvalidState:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(decide, range(8))) == 1
    assert len(run_requests.decisions(run.id)) == 1


def test_a_refusal_says_why_and_ends_the_run(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.NEEDS_APPROVAL)
    prepared(run_requests, run, r1="a\n")
    with pytest.raises(InputError, match="comment: a rejection says why"):
        run_requests.reject(run.id, "grace", " ")
    assert run_requests.run(run.id).status is RunStatus.NEEDS_APPROVAL
    over = run_requests.reject(run.id, "grace", "not in term time")
    assert (over.status, over.reason) == (RunStatus.CANCELLED, "rejected by grace: not in term time")
    assert over.outcome is not None
    assert (over.outcome.kind, over.outcome.advice) == (OutcomeKind.DECLINED, AdviceKind.ANSWER_APPROVER)


@pytest.mark.parametrize("status", [RunStatus.PENDING, RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED])
def test_a_run_that_nobody_is_at_is_cancelled_at_once(
    run_requests: RunRequests, order: Submission, status: RunStatus
) -> None:
    run = in_status(run_requests, order, status)
    over = run_requests.cancel(run.id, "ada")
    assert (over.status, over.cancelled_by, over.reason) == (RunStatus.CANCELLED, "ada", "cancelled by ada")
    with pytest.raises(InvalidState, match="is over"):
        run_requests.cancel(run.id, "ada")
    assert run_requests.store.begin_attempt(run.id, 1) is None, "a queued attempt finds it over"


def test_a_running_run_is_asked_to_stop(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.RUNNING)
    for _ in range(2):
        asked = run_requests.cancel(run.id, "ada")
        assert (asked.status, asked.cancelled_by) == (RunStatus.RUNNING, "ada")
    assert [event.data for event in run_requests.events(run.id) if event.kind is EventKind.CANCEL] == [
        {"by": "ada"}
    ]


@pytest.mark.parametrize("status", [s for s in RunStatus if s not in ENDED])
def test_what_has_not_ended_or_stands_is_not_tried_again(
    run_requests: RunRequests, order: Submission, status: RunStatus
) -> None:
    run = in_status(run_requests, order, status)
    with pytest.raises(InvalidState, match="cannot be tried again"):
        run_requests.retry(run.id, "ada")


@pytest.mark.parametrize("status", ENDED)
def test_an_ended_run_begins_another_attempt(
    run_requests: RunRequests, order: Submission, clock: Clock, status: RunStatus
) -> None:
    run, _ = run_requests.submit(*order.having(timeout_seconds=300), "ada")
    run_requests.store.set_status(run.id, status, Verdict.BROKEN, reason=WHY)
    clock.forward(3600)
    again = run_requests.retry(run.id, "ada")
    assert (again.status, again.attempt, again.verdict) == (RunStatus.PENDING, 2, None)
    assert again.deadline == clock.moment + timedelta(minutes=5), "its time counts anew"


@pytest.mark.parametrize("start", STARTS[1:])
def test_a_retry_from_a_later_stage_needs_what_came_before(
    run_requests: RunRequests, order: Submission, start: str
) -> None:
    run = in_status(run_requests, order, RunStatus.FAILED)
    with pytest.raises(InvalidState, match="did not finish read"):
        run_requests.retry(run.id, "ada", start)
    prepared(run_requests, run, r1="a\n")
    assert run_requests.retry(run.id, "ada", start).start == start


def test_a_refused_run_can_only_begin_at_its_beginning(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.REJECTED)
    prepared(run_requests, run)
    with pytest.raises(InvalidState, match="can only begin at read"):
        run_requests.retry(run.id, "ada", "push")


@pytest.mark.parametrize("start", ["keep", "", "x" * 1000])
def test_a_retry_begins_nowhere_else(run_requests: RunRequests, order: Submission, start: str) -> None:
    run = in_status(run_requests, order, RunStatus.FAILED)
    with pytest.raises(InputError, match="cannot begin at"):
        run_requests.retry(run.id, "ada", start)


def test_a_run_that_left_a_box_open_is_not_tried_again(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.FAILED)
    run_requests.store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    with pytest.raises(InvalidState, match="between two states"):
        run_requests.retry(run.id, "ada")


def kept(run_requests: RunRequests, order: Submission, *devices: str) -> Run:
    run, _ = run_requests.submit(*order, "ada")
    for device in devices:
        run_requests.store.journal.append(run.id, device, JournalAction.TOUCHING, before="b" * 64)
        run_requests.store.journal.append(run.id, device, JournalAction.CONFIRMED)
    return run_requests.store.set_status(run.id, RunStatus.KEPT)


def test_a_kept_run_is_rolled_back_by_a_new_one(run_requests: RunRequests, order: Submission) -> None:
    run = kept(run_requests, order, "r1")
    undoing = run_requests.roll_back(run.id, "grace", "key")
    assert undoing.id != run.id
    assert (undoing.resolved.rollback_of, undoing.resolved.measure) == (run.id, False)
    assert undoing.requested_by == "grace"
    assert run_requests.roll_back(run.id, "grace", "key") == undoing
    assert run_requests.run(run.id) == run, "history is not rewritten"


def test_what_a_later_run_built_upon_is_not_rolled_back(run_requests: RunRequests, order: Submission) -> None:
    first, second = kept(run_requests, order, "r1", "r3"), kept(run_requests, order, "r3")
    elsewhere = kept(run_requests, order, "r2")
    with pytest.raises(InvalidState, match=f"{second.id} changed r3 since"):
        run_requests.roll_back(first.id, "ada")
    run_requests.store.set_status(run_requests.roll_back(second.id, "ada").id, RunStatus.KEPT)
    assert run_requests.roll_back(first.id, "ada").resolved.rollback_of == first.id
    assert run_requests.roll_back(elsewhere.id, "ada").resolved.rollback_of == elsewhere.id


@pytest.mark.parametrize("status", [s for s in RunStatus if s is not RunStatus.KEPT])
def test_only_what_was_kept_is_rolled_back(run_requests: RunRequests, order: Submission, status: RunStatus) -> None:
    with pytest.raises(InvalidState, match="nothing to roll back"):
        run_requests.roll_back(in_status(run_requests, order, status).id, "ada")


def test_events_are_read_on_from_the_last_one_seen(run_requests: RunRequests, order: Submission) -> None:
    run, _ = run_requests.submit(*order, "ada")
    other, _ = run_requests.submit(*order, "ada")
    with run_requests.store.stage(run.id, "read", ReadSummary()):
        run_requests.store.events.progress(run.id, "read", "5 of the lab's devices")
    run_requests.store.set_status(other.id, RunStatus.RUNNING)
    told = run_requests.events(run.id)
    assert [(event.kind, event.data.get("outcome")) for event in told] == [
        (EventKind.STATUS, None),
        (EventKind.STAGE, None),
        (EventKind.PROGRESS, None),
        (EventKind.STAGE, StageOutcome.DONE),
    ]
    assert run_requests.events(run.id, told[1].seq) == told[2:]
    assert run_requests.events(run.id, limit=1) == told[:1]


def test_who_cancels_withdraws_what_was_approved(run_requests: RunRequests, order: Submission) -> None:
    run = in_status(run_requests, order, RunStatus.NEEDS_APPROVAL)
    listed = prepared(run_requests, run, r1="a\n")
    run_requests.approve(run.id, "grace", listed)
    run_requests.cancel(run.id, "alan")
    assert [(d.by, d.candidate, d.approved) for d in run_requests.decisions(run.id)] == [
        ("grace", listed, True),
        ("alan", listed, False),
    ]
    run_requests.retry(run.id, "ada")
    run_requests.cancel(run.id, "alan")
    assert len(run_requests.decisions(run.id)) == 2, "there is no approval left to withdraw"


def test_a_run_whose_boxes_have_to_be_settled_first_is_not_over_at_once(
    run_requests: RunRequests, order: Submission
) -> None:
    run = in_status(run_requests, order, RunStatus.RUNNING)
    run_requests.store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    assert run_requests.store.next_attempt(run)
    asked = run_requests.cancel(run.id, "ada")
    assert (asked.status, asked.cancelled_by) == (RunStatus.PENDING, "ada")


def test_the_time_of_a_retry_counts_from_its_earliest_moment(
    run_requests: RunRequests, order: Submission, clock: Clock
) -> None:
    later = clock.moment + timedelta(days=1)
    run, _ = run_requests.submit(*order.having(not_before=later, timeout_seconds=300), "ada")
    run_requests.store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    assert run_requests.retry(run.id, "ada").deadline == later + timedelta(minutes=5)


def test_only_going_back_is_let_through_the_gate(run_requests: RunRequests, order: Submission) -> None:
    run = kept(run_requests, order, "r1")
    redoes = []
    for _ in range(3):
        run = run_requests.roll_back(run.id, "ada")
        run_requests.store.journal.append(run.id, "r1", JournalAction.TOUCHING, before="b" * 64)
        run_requests.store.journal.append(run.id, "r1", JournalAction.CONFIRMED)
        run = run_requests.store.set_status(run.id, RunStatus.KEPT)
        redoes.append(run.params["redoes"])
    assert redoes == [False, True, False], "what undoes a rollback brings the change again"


@pytest.fixture
def four_eyes(store: RunStore, tmp_path: Path) -> RunRequests:
    """Where nobody approves a change alone; networks have no rules of their own."""
    return RunRequests(Settings(var_dir=tmp_path, four_eyes=True), store, FileArtifacts(tmp_path / "artifacts"))


def waiting(run_requests: RunRequests, order: Submission, who: str, **deltas: str) -> tuple[Run, str]:
    """A run that waits for an approval of its candidate."""
    run = run_requests.submit(*order, who)[0]
    listed = prepared(run_requests, run, **(deltas or {"r1": "a\n"}))
    return run_requests.store.set_status(run.id, RunStatus.NEEDS_APPROVAL), listed


def test_who_cancelled_or_retried_a_run_does_not_approve_it(four_eyes: RunRequests, order: Submission) -> None:
    run, listed = waiting(four_eyes, order, "ada")
    four_eyes.cancel(run.id, "ada")
    four_eyes.retry(run.id, "grace")
    prepared(four_eyes, run, r1="a\n")
    four_eyes.store.set_status(run.id, RunStatus.NEEDS_APPROVAL)
    for who, did in (("ada", "cancelled the run"), ("grace", "retried the run")):
        with pytest.raises(NotAllowed, match=f"{who} {did} and may not approve it"):
            four_eyes.approve(run.id, who, listed)
    assert four_eyes.approve(run.id, "alan", listed).attempt == 3


def test_four_eyes_look_over_copies_and_rollbacks(four_eyes: RunRequests, order: Submission) -> None:
    first, _ = waiting(four_eyes, order, "ada")
    four_eyes.cancel(first.id, "grace")
    copy, listed = waiting(four_eyes, order, "alan")
    for who, did in (("ada", "created"), ("grace", "cancelled")):
        with pytest.raises(NotAllowed, match=f"{who} {did} run {first.id}, which makes the same change,"):
            four_eyes.approve(copy.id, who, listed)
    renamed = parse_intent(order.intent.document.text.replace("campus-collaboration", "another"), "another.yaml")
    under_another_name, listed = waiting(four_eyes, order.having(intent=renamed), "mary")
    with pytest.raises(NotAllowed, match="alan created run"):
        four_eyes.approve(under_another_name.id, "alan", listed)
    other, listed = waiting(four_eyes, order.having(intent=renamed), "zoe", r1="b\n")
    assert four_eyes.approve(other.id, "alan", listed).attempt == 2, "another change"


def test_who_asked_for_a_change_does_not_approve_that_it_is_made_again(
    four_eyes: RunRequests, order: Submission
) -> None:
    run = kept(four_eyes, order, "r1")
    back = four_eyes.roll_back(run.id, "grace")
    four_eyes.store.journal.append(back.id, "r1", JournalAction.TOUCHING, before="b" * 64)
    four_eyes.store.journal.append(back.id, "r1", JournalAction.CONFIRMED)
    four_eyes.store.set_status(back.id, RunStatus.KEPT)
    again = four_eyes.roll_back(back.id, "alan")
    listed = prepared(four_eyes, again, r1="c\n")
    four_eyes.store.set_status(again.id, RunStatus.NEEDS_APPROVAL)
    for who in ("ada", "grace", "alan"):
        with pytest.raises(NotAllowed):
            four_eyes.approve(again.id, who, listed)
    assert four_eyes.approve(again.id, "mary", listed).attempt == 2


def test_who_wrote_a_policy_or_took_it_over_does_not_approve_it(
    four_eyes: RunRequests, order: Submission, store: RunStore
) -> None:
    library = PolicyLibrary(store.database, four_eyes.artifacts)
    text = PolicySource(order.intent.document.text, "x.yaml", dict(order.intent.included))
    name = order.intent.intent.intent
    library.seen_by(somebody("ada")).store(name, text, network="*", shadow_shipped=True)
    library.seen_by(somebody("grace", Role.OPERATOR, "campus")).take_over(name, 1, "campus")
    run, listed = waiting(four_eyes, order, "alan")
    for who, did in (("ada", "wrote version 1"), ("grace", "took version 1")):
        with pytest.raises(NotAllowed, match=f"{who} {did} of policy {name}"):
            four_eyes.approve(run.id, who, listed)
    assert four_eyes.approve(run.id, "mary", listed).attempt == 2


def test_an_approval_does_not_count_once_its_approver_has_a_hand_in_the_change(
    four_eyes: RunRequests, order: Submission
) -> None:
    run, listed = waiting(four_eyes, order, "ada")
    four_eyes.approve(run.id, "grace", listed)
    four_eyes.store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    four_eyes.retry(run.id, "grace")
    context = Context(
        run.id,
        four_eyes.run(run.id).resolved,
        four_eyes.store,
        four_eyes.artifacts,
        lambda _stage, _text: None,
        NetworkRules(four_eyes.settings),
        3,
    )
    wait = gate(context, listed).wait
    assert wait is not None
    assert wait.status is RunStatus.NEEDS_APPROVAL


@pytest.fixture
def stored(run_requests: RunRequests, order: Submission) -> Submission:
    """An order of what carl, an operator of campus, stored for all networks; grace and mary are operators, too."""
    at = run_requests.store.now()
    with run_requests.store.database.write() as connection:
        for name in ("carl", "grace", "mary"):
            add_user(connection, name, at)
            grant(connection, name, "campus", Role.OPERATOR)
    text = order.intent.document.text.replace("intent: campus-collaboration", "intent: gold")
    policies = PolicyLibrary(run_requests.store.database, run_requests.artifacts).seen_by(somebody("carl"))
    about, _ = policies.store("gold", PolicySource(text, "gold.yaml", dict(order.intent.included)), network="*")
    intent = load_policy(policies.get("gold", about.number).written())
    return order.having(intent=intent, stored=about)


def at_the_gate(run_requests: RunRequests, run: Run) -> Any:
    context = Context(
        run.id,
        run_requests.run(run.id).resolved,
        run_requests.store,
        run_requests.artifacts,
        lambda _stage, _text: None,
        NetworkRules(run_requests.settings),
        computing(),
    )
    return gate(context, "a" * 64).wait


def shut_out(run_requests: RunRequests, name: str) -> None:
    with run_requests.store.database.write() as connection:
        revoke(connection, name, "campus")


def stand_for(run_requests: RunRequests, name: str) -> PolicyVersion:
    library = PolicyLibrary(run_requests.store.database, run_requests.artifacts)
    return library.seen_by(somebody(name, Role.OPERATOR, "campus")).take_over("gold", 1, "campus")


def test_a_policy_is_stood_for_when_it_is_entered(
    run_requests: RunRequests, stored: Submission, clock: Clock
) -> None:
    run, _ = run_requests.submit(*stored, "grace")
    assert at_the_gate(run_requests, run) is None
    with run_requests.store.database.write() as connection:
        add_user(connection, "root", clock())
        grant(connection, "root", "*", Role.ADMIN)
        disable(connection, "carl", clock())
    wait = at_the_gate(run_requests, run)
    assert wait.status is RunStatus.SCHEDULED
    assert "version 1 of policy 'gold' was written by carl, who is no operator of campus" in wait.waits_for
    assert "qosforge take-over gold@1 --network campus" in wait.waits_for
    assert wait.due == clock() + LOOK_AGAIN
    stand_for(run_requests, "grace")
    assert at_the_gate(run_requests, run) is None


def test_a_take_over_is_worth_its_operators_word(run_requests: RunRequests, stored: Submission) -> None:
    run, _ = run_requests.submit(*stored, "grace")
    shut_out(run_requests, "carl")
    assert stand_for(run_requests, "grace").trusted_on == ("campus",)
    shut_out(run_requests, "grace")
    assert "by carl" in at_the_gate(run_requests, run).waits_for
    assert stand_for(run_requests, "mary").trusted_on == ("campus",)
    assert at_the_gate(run_requests, run) is None


def test_taking_over_at_once_is_taking_over(run_requests: RunRequests, stored: Submission) -> None:
    shut_out(run_requests, "carl")
    row = {"name": "gold", "number": 1, "network": "campus", "by": "grace", "at": run_requests.store.now()}
    with ThreadPoolExecutor(1) as pool:
        with run_requests.store.database.write() as connection:
            take_over(connection, row)
            second = pool.submit(stand_for, run_requests, "mary")
            time.sleep(0.5)  # it waits for the first, which it does not see
        assert second.result().trusted_on == ("campus",)


def test_all_who_took_over_stay_recorded(run_requests: RunRequests, stored: Submission) -> None:
    stand_for(run_requests, "grace")
    shut_out(run_requests, "grace")
    stand_for(run_requests, "mary")
    stand_for(run_requests, "mary")
    with run_requests.store.database.read() as connection:
        assert set(connection.scalars(sa.select(POLICY_TAKEOVERS.c.by))) == {"grace", "mary"}


def test_an_intent_that_parameters_named_is_still_its_policys(
    run_requests: RunRequests, stored: Submission
) -> None:
    named = replace(stored.intent, intent=stored.intent.intent.model_copy(update={"intent": "silver"}))
    run, _ = run_requests.submit(*stored.having(intent=named), "grace")
    shut_out(run_requests, "carl")
    assert "policy 'gold' was written by carl" in at_the_gate(run_requests, run).waits_for


def test_a_retry_takes_somebody_who_stands_for_the_policy(run_requests: RunRequests, stored: Submission) -> None:
    run = in_status(run_requests, stored, RunStatus.FAILED)
    shut_out(run_requests, "carl")
    with pytest.raises(NotAllowed, match="written by carl"):
        run_requests.retry(run.id, "grace")
    found = allowed_actions(run_requests, run, "grace")
    assert isinstance(found.retry, NotAllowed)
    assert found.starts == ()
    stand_for(run_requests, "mary")
    assert run_requests.retry(run.id, "grace").attempt == 2


def test_going_back_takes_nobodys_word_and_bringing_it_again_does(
    run_requests: RunRequests, stored: Submission
) -> None:
    run = in_status(run_requests, stored, RunStatus.KEPT)
    shut_out(run_requests, "carl")
    back = run_requests.roll_back(run.id, "grace")
    run_requests.store.set_status(back.id, RunStatus.FAILED, reason=WHY)
    assert run_requests.retry(back.id, "grace").attempt == 2
    run_requests.store.set_status(back.id, RunStatus.KEPT)
    with pytest.raises(NotAllowed, match="written by carl"):
        run_requests.roll_back(back.id, "grace")
    assert isinstance(allowed_actions(run_requests, run_requests.run(back.id), "grace").roll_back, NotAllowed)
    stand_for(run_requests, "grace")
    again = run_requests.roll_back(back.id, "grace")
    shut_out(run_requests, "grace")
    assert "by carl" in at_the_gate(run_requests, again).waits_for
    run_requests.store.set_status(again.id, RunStatus.KEPT)
    assert run_requests.roll_back(again.id, "mary").resolved.reapplies is False
