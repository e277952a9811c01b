"""What the page of a run says of where it stands: its steps, how it ended and why, and what can be done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from html import unescape

import numpy as np
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.deltaq.objective import Objective, combine
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.errors import ChangeRefused, Place
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.note import note
from qosforge.policy_library.library import PolicyLibrary
from qosforge.prediction.record import SimulatedTime, TodayScenario
from qosforge.reports.model import ClassVerdict
from qosforge.resources import root
from qosforge.runs.record.interruption import interrupted_outcome, put_back
from qosforge.runs.record.next_try import set_next_try
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason, half_way, retry
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import (
    MeasurementSummary,
    PredictionSummary,
    PreparedDevice,
    PrepareSummary,
    PushSummary,
    ReadSummary,
    StageSummary,
    ValidateSummary,
)
from qosforge.runs.record.tables import STAGES, JournalAction, RunStatus, Verdict
from qosforge.tester.measurement.class_figures import ClassFigures
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult
from tests.principals import somebody
from tests.web.people import Persons
from tests.web.test_runs import wait_for_approval

NETWORK = "campus"


@pytest.fixture
def run(backend: Backend) -> str:
    """A run that has only begun."""
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    return backend.run_requests.store.create_run(NETWORK, "gold", "f" * 64, {"network": network}).id


@pytest.fixture
def headers(client: TestClient, persons: Persons) -> dict[str, str]:
    return persons.add("bob", Role.APPROVER).log_in(client)


def text(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def steps(client: TestClient, run: str) -> dict[str, str]:
    """The state of each step, by its name."""
    page = client.get(f"/runs/{run}/progress").text
    return {name: state for state, name in re.findall(r'class="step (\w+)".*?class="name">([^<]+)<', page, re.S)}


def judged_voice(path: str, delay_ms: float) -> ClassVerdict:
    """What a delay comes to where 30 ms are asked for."""
    objective = Objective(delay={"p95": 0.03})
    generator = np.random.default_rng(1)
    seen = Sample.of_delays(
        *(delay_ms * 1e9 * generator.uniform(0.9, 1.1, 2_000) for _ in range(24)), independent=True
    )
    verdict = judge(objective, seen, evidence="emulated")
    return ClassVerdict(scenario="one", traffic_class="voice", path=path, objective=objective, verdict=verdict)


def measure(
    backend: Backend,
    run: str,
    stage: str,
    delay_ms: float = 177,
    summary_of: Callable[[], MeasurementSummary] = MeasurementSummary,
    *,
    measurement: str = "",
    told: Sequence[ClassVerdict] = (),
) -> None:
    """Let a delay be measured where 30 ms are asked for, or what is ``told``; the artifact of a ``measurement`` may
    have more of it.
    """
    store, put = backend.run_requests.store, backend.artifacts.put_json
    with store.stage(run, stage, summary_of()) as summary:
        verdicts = told or [judged_voice("a→b", delay_ms)]
        summary.verdicts = put([one.model_dump(mode="json") for one in verdicts])
        summary.outcome = combine([one.verdict.outcome for one in verdicts])
        summary.measurement = measurement


def roll_back(backend: Backend, run: str, told: Sequence[ClassVerdict] = ()) -> None:
    """Let it be rolled back for what was measured."""
    store = backend.run_requests.store
    measure(backend, run, "measure-after", told=told)
    with store.stage(run, "rollback", StageSummary()):
        pass
    why = Reason("after the push the objectives are not met", "measure-after", NOT_MET)
    store.set_status(run, RunStatus.ROLLED_BACK, Verdict.BROKEN, reason=why)


def test_an_approval_that_will_be_needed_is_a_step_from_the_start(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    store.begin_stage(run, "read")
    assert "Approve" not in steps(client, run)
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    strict = store.create_run(NETWORK, "gold", "f" * 64, {"network": network, "approval": "any"}).id
    store.set_status(strict, RunStatus.RUNNING)
    with store.stage(strict, "read", ReadSummary(asked=["r1", "r2"])):
        store.events.device(strict, "r1", "read")
        assert list(steps(client, strict))[:4] == ["Read", "Check", "Approve", "Measure before"]
        assert steps(client, strict)["Approve"] == "open"
        assert "1/2" in client.get(f"/runs/{strict}/progress").text
    store.begin_stage(strict, "measure-before")
    assert "Approve" not in steps(client, strict), "nothing was to be approved: the devices held it all"


def test_who_cannot_approve_reads_who_can(client: TestClient, backend: Backend, persons: Persons, run: str) -> None:
    backend.run_requests.store.set_status(run, RunStatus.RUNNING)
    wait_for_approval(backend, run)
    persons.add("ann", Role.OPERATOR, NETWORK).log_in(client)
    said = text(client.get(f"/runs/{run}").text)
    assert "Approve this change?" not in said
    assert "This change needs an approval" in said
    assert "An approver or administrator of network campus can approve it; you are operator there." in said
    persons.add("vic", Role.VIEWER, NETWORK).log_in(client)
    assert "you are viewer there" in text(client.get(f"/runs/{run}").text)
    persons.add("zoe", Role.APPROVER, NETWORK).log_in(client)
    assert "Approve this change?" in text(client.get(f"/runs/{run}").text)


def test_an_approval_is_not_forgotten_while_the_devices_are_read_again(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    candidate = wait_for_approval(backend, run)
    assert steps(client, run)["Approve"] == "waiting"
    assert client.post(f"/runs/{run}/approve", data={"candidate": candidate}, headers=headers).status_code == 204
    store.begin_stage(run, "read")
    assert steps(client, run)["Approve"] == "done"
    at_once = sa.update(STAGES).where(STAGES.c.ended.is_not(None)).values(ended=STAGES.c.started)
    store.database.transact(lambda connection: connection.execute(at_once))
    page = text(client.get(f"/runs/{run}?tab=events").text)
    assert "attempt" not in page
    told = page[page.index("2 steps before the approval") :]
    order = ("Compile the lines to enter", "Approval ✔ approved", "Read what every device holds ● now")
    assert [told.index(words) for words in order] == sorted(told.index(words) for words in order)
    assert "by bob; what the devices hold may have changed meanwhile: they are read and checked again" in told
    assert "Began UTC" in told
    assert "< 0.1 s" in told


def test_a_run_that_was_tried_again_says_so(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    backend.run_requests.store.set_status(run, RunStatus.RUNNING)
    candidate = wait_for_approval(backend, run)
    client.post(f"/runs/{run}/approve", data={"candidate": candidate}, headers=headers)
    client.post(f"/runs/{run}/cancel", headers=headers)
    assert client.post(f"/runs/{run}/retry", data={"start": "read"}, headers=headers).status_code == 204
    backend.run_requests.store.begin_stage(run, "read")
    page = text(client.get(f"/runs/{run}?tab=events").text)
    assert page.count("tried again once") == 1
    assert "2 steps of earlier attempts" in page


def test_a_run_that_only_waited_for_its_time_was_not_tried_again(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    with store.stage(run, "read", ReadSummary(running={}, errors=[])):
        pass
    store.set_status(run, RunStatus.SCHEDULED, waits_for="the change window")
    assert store.next_attempt(store.get_run(run))
    store.begin_stage(run, "read")
    page = text(client.get(f"/runs/{run}?tab=events").text)
    assert "1 step before it waited for its time" in page
    assert "again" not in page
    assert "attempt" not in page


def test_a_run_that_nothing_carried_on_says_that_it_began_again(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    store.begin_stage(run, "read")
    assert store.next_attempt(store.get_run(run))
    assert "begun again after an interruption" in text(client.get(f"/runs/{run}/progress").text)


def test_broken_objectives_are_seen_at_the_step_that_showed_them(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    roll_back(backend, run)
    assert steps(client, run)["Measure after"] == "broken"
    assert steps(client, run)["Roll back"] == "done"
    page = client.get(f"/runs/{run}").text
    assert re.search(r'aria-current="page"[^>]*>\s*Objectives', page)
    progress = text(client.get(f"/runs/{run}/progress").text)
    assert "Evidence: emulated, no packets on real links" in progress
    assert "Measure after the change" not in progress
    assert re.search(r"Measure after : done [^:]*1 broken", progress)
    assert progress.count("voice a→b: delay p95 is ") == 1


def test_how_much_is_not_met_is_said_first_with_the_worst_of_it(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    measured = [judged_voice(path, delay) for path, delay in (("a→b", 177), ("b→a", 10), ("a→c", 240))]
    roll_back(backend, run, measured)
    page = client.get(f"/runs/{run}/progress").text
    assert "↩ rolled back 2 of 3 objectives are not met (worst: delay p95 261.55 ms, at most 30 ms)." in text(page)
    reasons = text(page[page.index('id="because"') :])
    assert re.search(r"The 2 reasons, the worst first voice a→c: delay p95 is .* voice a→b: delay p95 is ", reasons)


def test_a_step_of_several_stages_counts_from_the_first_of_them(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    measure(backend, run, "measure-after", 10)
    longer = sa.update(STAGES).values(started=store.now() - timedelta(seconds=80))
    backend.database.transact(lambda connection: connection.execute(longer))
    store.begin_stage(run, "compare")
    head = text(client.get(f"/runs/{run}/progress").text)
    assert re.search(r"Measure after : under way 1 min 2\d s", head)


def test_who_approved_and_after_how_long_stands_at_the_step(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    with store.stage(run, "read", ReadSummary()):
        pass
    candidate = wait_for_approval(backend, run)
    assert client.post(f"/runs/{run}/approve", data={"candidate": candidate}, headers=headers).is_success
    head = text(client.get(f"/runs/{run}/progress").text)
    assert re.search(r"Approve : done bob, \d\.\d s", head)
    assert "bob approved it. It goes on as soon as a process is free." in head
    with store.stage(run, "read", ReadSummary()):
        pass
    store.set_status(run, RunStatus.PENDING)  # begun again: what was approved was before that
    assert "It is recorded and begins as soon as" in text(client.get(f"/runs/{run}/progress").text)


def test_while_a_run_pushes_and_rolls_back_it_says_how_far_it_is_and_what_failed(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    def head() -> str:
        return text(client.get(f"/runs/{run}/progress").text)

    store, devices = backend.run_requests.store, [f"d{number}" for number in range(6)]
    lines = backend.artifacts.put_text("mls qos\n")
    store.set_status(run, RunStatus.RUNNING)
    with store.stage(run, "read", ReadSummary(asked=devices, running=dict.fromkeys(devices, lines))):
        store.events.device(run, "d0", "read")
        assert "Reading what every device holds: 1 of 6 devices." in head()
    prepared = PreparedDevice(configuration=lines, delta=lines, inverse=lines, empty=False)
    with store.stage(run, "prepare", PrepareSummary(devices=dict.fromkeys(devices, prepared))):
        pass
    with store.stage(run, "measure-before", StageSummary()):
        assert "Measuring what each class gets before the change; nothing is changed yet." in head()
    refused = ChangeRefused("it is full", Place(device="d0"), "", "% No memory.", "the change")
    with store.stage(run, "push", PushSummary(devices=devices)) as pushed:
        for number, device in enumerate(devices[:4]):
            store.journal.append(run, device, JournalAction.TOUCHING, before=lines, delta=lines, inverse=lines)
            store.journal.append(run, device, JournalAction.FAILED if number < 1 else JournalAction.TOUCHED)
        assert "Pushing the lines: 3 of 6 devices; 1 failed, and it will be rolled back." in head()
        pushed.errors = [StepError.of(refused)]
    with store.stage(run, "rollback", StageSummary()):
        for action in (JournalAction.UNDOING, JournalAction.UNDONE):
            store.journal.append(run, "d1", action)
        assert "Rolling back: 1 of 4 devices; 1 refused the change." in head()


def test_while_a_run_rolls_back_for_its_objectives_it_says_how_many_are_not_met(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    measure(backend, run, "measure-after", told=[judged_voice("a→b", 177), judged_voice("b→a", 10)])
    with store.stage(run, "rollback", StageSummary()):
        head = text(client.get(f"/runs/{run}/progress").text)
    assert "Rolling back; 1 of 2 objectives is not met." in head


def test_a_rollback_that_was_done_in_the_end_did_not_fail(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    refused = StepError(device="e300", message="the table is full")
    with store.stage(run, "rollback", StageSummary(errors=[refused])):
        pass
    assert steps(client, run)["Roll back"] == "failed"
    store.set_status(run, RunStatus.RUNNING)
    with store.stage(run, "rollback", StageSummary()):
        head = text(client.get(f"/runs/{run}/progress").text)
        assert "under way Rolling back." in head
    assert steps(client, run)["Roll back"] == "done"


def test_a_rollback_that_was_refused_at_first_is_no_reason_but_history(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    measure(backend, run, "measure-after")
    refused = StepError(device="e300", message="the table is full.")
    for _ in range(2):
        with store.stage(run, "rollback", StageSummary(errors=[refused])):
            pass
    with store.stage(run, "rollback", StageSummary()):
        pass
    left = Reason("the table is full", "rollback", RECOVER, "e300")
    why = half_way(left, Reason("loss", "measure-after", NOT_MET))
    store.set_status(run, RunStatus.NEEDS_RECOVERY, Verdict.BROKEN, reason=why)
    half = text(client.get(f"/runs/{run}/progress").text)
    assert re.search(r"Measure after : done [^:]*1 broken", half)
    assert half.index("What to do") < half.index("Try now to roll back")
    store.set_status(run, RunStatus.ROLLED_BACK, reason=put_back(store.get_run(run)))
    head = text(client.get(f"/runs/{run}/progress").text)
    assert "↩ rolled back The objective is not met (delay p95 192.89 ms, at most 30 ms)." in head
    assert "more reason" not in head
    assert "Rollback Failed at first: e300: the table is full (tried 2 times). It is back since" in head
    assert "What to do voice : give it more in the policy, or allow delay p95 of 200 ms." in head
    assert "“Try again”" not in head
    assert steps(client, run)["Measure after"] == "broken"


def test_tries_at_rolling_back_that_fail_alike_are_one_row(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    measure(backend, run, "measure-after")
    for message in ("the table is full",) * 3 + ("cannot be reached",):
        with store.stage(run, "rollback", StageSummary(errors=[StepError(device="e300", message=message)])):
            pass
    why = Reason("cannot be reached", "rollback", RECOVER, "e300")
    store.set_status(run, RunStatus.NEEDS_RECOVERY, reason=why)
    page = client.get(f"/runs/{run}?tab=events").text
    steps = text(page[page.index('class="steps"') : page.index('id="events"')])
    assert steps.count("Roll back") == 2
    assert steps.count("the table is full") == 1
    assert "Roll back tried 3 times" in steps
    assert "Roll back try 4" in steps  # told apart from those before it
    assert re.search(r"\d\d:\d\d:\d\d UTC", steps)
    head = text(client.get(f"/runs/{run}/progress").text)
    assert "tried" not in head  # what stands there failed once
    assert "Why it was to be rolled back voice a→b: delay p95 is" in head
    assert re.search(r'<details class="because" id="because"><summary>Why it was', page)  # folded
    assert "the table is full" not in head
    with store.stage(run, "rollback", StageSummary(errors=[StepError(device="e300", message="cannot be reached")])):
        pass
    head = text(client.get(f"/runs/{run}/progress").text)
    assert re.search(r"cannot be reached \(tried 2 times, last 20\d\d-[^)]* UTC \)", head), head


def test_a_device_between_two_states_is_named_with_what_comes_next(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    why = Reason("the table is full", "rollback", RECOVER, "e300")
    backend.run_requests.store.set_status(run, RunStatus.NEEDS_RECOVERY, reason=why)
    said = text(client.get(f"/runs/{run}/progress").text)
    assert "e300 stands between two states" in said
    assert "The service brings it back by itself" in said
    assert "Why the table is full" in said
    soon = backend.run_requests.store.get_run(run).updated + timedelta(minutes=1)
    assert (
        f"What to do Nothing while it comes back by itself; next try at about {soon:%Y-%m-%d %H:%M:%S} UTC ."
        " If it does not: log in" in said
    )
    assert "log in to e300 and put right what it says" in said
    assert "qosforge recover" not in said
    page = text(client.get(f"/runs/{run}").text)
    assert "It cannot be cancelled while a device stands between two states." in page
    assert "Cancel the run" not in page
    assert "Try now to roll back" in page
    assert not backend.run_requests.store.any_to_begin()
    assert client.post(f"/runs/{run}/try-now", headers=headers).status_code == 204
    assert backend.run_requests.store.any_to_begin(), "a dispatcher looks"
    assert "to be tried now by bob" in text(client.get(f"/runs/{run}?tab=events").text)
    later = datetime.now(UTC) + timedelta(minutes=5)
    set_next_try(backend.database, run, later)
    said = client.get(f"/runs/{run}/progress").text
    assert f"next try at {later:%Y-%m-%d %H:%M:%S}" in text(said)
    assert "data-exact" in said  # a script writes it with its seconds, too
    assert "qosforge recover" not in page
    home = text(client.get("/").text)
    assert "gold on campus : e300 stands between two states; the service brings it back by itself" in home
    assert "the table is full" not in home


def test_what_was_said_as_the_reason_is_no_further_reason_where_a_change_stayed_on_a_device(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    with store.stage(run, "push", StageSummary(errors=[StepError(device="e300", message="the table is full")])):
        pass
    why = Reason("the table is full", "push", RECOVER, "e300")
    store.set_status(run, RunStatus.NEEDS_RECOVERY, reason=why)
    back = put_back(store.get_run(run))
    status, reason = interrupted_outcome(run, {"a1"}, {"a1", "e300"}, back, RunStatus.ROLLED_BACK)
    store.set_status(run, status, reason=reason)
    head = text(client.get(f"/runs/{run}/progress").text)
    assert head.count("the table is full") == 1
    assert "more reason" not in head


def test_the_way_on_names_a_button_of_the_page_not_a_command(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    refused = StepError(device="r1", message="cannot be reached")
    with backend.run_requests.store.stage(run, "read", ReadSummary(running={}, errors=[refused])):
        pass
    why = Reason("r1 cannot be reached", "read", retry(run), "r1")
    backend.run_requests.store.set_status(run, RunStatus.FAILED, reason=why)
    said = text(client.get(f"/runs/{run}").text)
    assert "“Try again” begins it again" in said
    assert "qosforge retry" not in said


def test_where_objectives_are_broken_the_class_is_named_and_where_to_change_it(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    roll_back(backend, run)
    said = text(client.get(f"/runs/{run}/progress").text)
    assert "What to do voice : give it more in the policy, or allow delay p95 of 200 ms." in said
    assert NOT_MET.text not in said


BEFORE = {
    177: ("it was broken before, too", "(before: 0 of 1)"),
    10: ("before the change it was met", "(before: 1 of 1)"),
}
"""What is said of a broken objective, and at its class, by the delay before the change in ms."""


def test_a_tile_says_how_many_objectives_are_inconclusive(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    backend.run_requests.store.set_status(run, RunStatus.RUNNING)
    measure(backend, run, "predict", 30 / 1.09, PredictionSummary)  # its 95th percentile is the bound
    wait_for_approval(backend, run)
    assert "▲ predicted: 0 of 1 met, 1 inconclusive" in text(client.get(f"/runs/{run}/standing").text)
    head = text(client.get(f"/runs/{run}/progress").text)
    near = "1 needs a longer run: what was seen lies near what is requested."
    assert f"0 of 1 objectives would be met, {near} No device is touched" in head


@pytest.mark.parametrize("run_decides", [False, True])
def test_the_head_of_a_run_that_waits_says_why_objectives_are_open_and_what_would_do(
    *, client: TestClient, backend: Backend, headers: dict[str, str], run: str, run_decides: bool
) -> None:
    store, put = backend.run_requests.store, backend.artifacts.put_json
    objective = Objective(delay={"p99": 0.03, "p99.9": 0.03})
    sample = Sample.of_delays(*(np.full(20, 10 * 1e9) for _ in range(24)), independent=True)
    verdict = judge(objective, sample, evidence="predicted")
    needs = note(
        "objective-not-decidable",
        Place(traffic_class="voice"),
        variant="longer",
        requested="decided in 64 s",
        applied="about 620 s",
        bound="delay p99.9",
        source="a",
        target="b",
        longest=64,
        packets=480,
        independent=480,
        needed="about 620 s",
        seconds=156,
    )
    store.set_status(run, RunStatus.RUNNING)
    with store.stage(run, "predict", PredictionSummary()) as summary:
        told = ClassVerdict(scenario="one", traffic_class="voice", path="a→b", objective=objective, verdict=verdict)
        summary.verdicts = put([told.model_dump(mode="json")])
        summary.measurement = put({})
        summary.findings = () if run_decides else (needs,)
        summary.outcome = "inconclusive"
        summary.simulated = (SimulatedTime("one", 60, 180), SimulatedTime("two", 180, 180))
    wait_for_approval(backend, run)
    head = text(client.get(f"/runs/{run}/progress").text)
    if run_decides:
        left = "2 are left to the run, which measures 180 s (60 s were simulated)"
        assert f"0 of 2 objectives would be met, {left}." in head
        tab, events = (text(client.get(f"/runs/{run}?tab={name}").text) for name in ("objectives", "events"))
        assert "▲ predicted: 0 of 2 met, 2 left to the run" in tab
        assert "voice ? left to the run 0 of 2 met" in tab
        assert "predicted: 2 left to the run" in events
        assert "inconclusive" not in tab + events
        return
    few = "2 need a longer run: too few packets for 99 %, 99.9 % (seconds: 156 in the policy would do)"
    assert f"0 of 2 objectives would be met, {few}." in head
    assert client.get(f"/api/v1/runs/{run}", headers=headers).json()["prediction"]["needed_seconds"] == 156


OBJECTIVE = "objective: {delay: {p95: 30 ms}}"
BESIDE = f"  - {{name: voice, match: {{any: [{{dscp: ef}}]}}, {OBJECTIVE}}}\n  - {{name: default}}\n"
BELOW = (
    f"  - {{name: voice, match: {{any: [{{dscp: ef}}]}}, {OBJECTIVE}}}\n"
    f"  - name: data\n    match: {{any: [{{dscp: [af11, af21]}}]}}\n    {OBJECTIVE}\n"
    "    treatment:\n      bandwidth: {percent: 50}\n      children:\n"
    "        - {name: web, match: {any: [{dscp: af21}]}, treatment: {bandwidth: {percent: 50}}}\n"
    f"  - {{name: default, {OBJECTIVE}}}\n"
)


def run_of_classes(backend: Backend, classes: str) -> str:
    """A run of a policy with these classes."""
    store, put = backend.run_requests.store, backend.artifacts.put_text
    policy = f"version: 1\nintent: gold\napply: [{{interfaces: lan, direction: output}}]\nclasses:\n{classes}"
    network = put(load_network(root() / "inventories" / NETWORK).model_dump_json())
    document = {"network": network, "intent_text": put(policy), "intent_file": "gold.yaml"}
    return store.create_run(NETWORK, "gold", "f" * 64, document).id


def lost_by(traffic_class: str, lost: int) -> Measurement:
    """What is measured of a class that loses some of 500 packets on one of two paths."""
    flows = [
        FlowResult(name=path, traffic_class=traffic_class, path=path, sent=500, delivered=500 - gone, lost=gone)
        for path, gone in (("a→b", 0), ("b→a", lost))
    ]
    scenario = ScenarioResult(name="one", title="one", flows=tuple(flows))
    return Measurement(
        when="after", evidence="emulated", tester="twin", seed=1, delay_reference="x", scenarios=(scenario,)
    )


@pytest.mark.parametrize(("classes", "worse"), [(BESIDE, "default"), (BELOW, "web")], ids=["beside", "below"])
def test_a_class_without_an_objective_that_is_worse_off_by_the_change_has_a_tile(
    client: TestClient, backend: Backend, headers: dict[str, str], classes: str, worse: str
) -> None:
    store, put = backend.run_requests.store, backend.artifacts.put_text
    run = run_of_classes(backend, classes)

    def lose(stage: str, lost: int, kind: Callable[[], MeasurementSummary] = MeasurementSummary) -> str:
        measure(backend, run, stage, 10, kind, measurement=put(lost_by(worse, lost).model_dump_json()))
        return text(client.get(f"/runs/{run}/standing").text)

    store.set_status(run, RunStatus.RUNNING)
    assert f"{worse} no objective loss b→a 8 % predicted; today: not simulated; worst of 2 paths" in lose(
        "predict", 40, PredictionSummary
    )
    assert f"{worse} no objective loss b→a 76 % ▲ predicted; today: not simulated ; worst of 2 paths" in lose(
        "predict", 380, PredictionSummary
    )
    unread = TodayScenario(scenario="one", unread=("vigo1", "vigo2", "vigo3", "vigo4"))
    assert (
        f"{worse} no objective loss b→a 77 % ▲ predicted; today: not simulated, vigo1 and 3 more were never read"
        in lose("predict", 385, partial(PredictionSummary, today=(unread,)))
    )
    of = {"traffic_class": worse, "mean_ms": 20.0}
    held = TodayScenario(
        scenario="one",
        figures=(ClassFigures(path="a→b", loss=0.31, **of), ClassFigures(path="b→a", loss=0.3, **of)),
    )
    assert (
        f"{worse} no objective loss b→a 30 % today → 78 % predicted ▲ predicted: a trade-off of the "
        "change ; worst of 2 paths" in lose("predict", 390, partial(PredictionSummary, today=(held,)))
    )
    lose("measure-before", 154)
    told = lose("measure-after", 384)
    assert (
        f"{worse} no objective loss b→a 30.8 % → before, now 76.8 % ▲ a trade-off of the change ; worst of 2 paths"
        in told
    )


def test_a_run_without_changes_shows_what_a_class_without_an_objective_loses(
    client: TestClient, backend: Backend, headers: dict[str, str]
) -> None:
    run = run_of_classes(backend, BESIDE)
    measured = backend.artifacts.put_text(lost_by("default", 408).model_dump_json())
    measure(backend, run, "measure-before", 10, measurement=measured)
    backend.run_requests.store.set_status(run, RunStatus.NO_CHANGES, Verdict.MET)
    told = text(client.get(f"/runs/{run}/standing").text)
    assert "default no objective loss b→a 81.6 % ▲ nothing judges it ; worst of 2 paths" in told
    assert "trade-off" not in told, "nothing was changed"


def test_a_figure_of_a_tile_and_what_it_was_before_are_of_one_path(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    measure(backend, run, "measure-before", told=[judged_voice("a→b", 20), judged_voice("b→a", 90)])
    measure(backend, run, "measure-after", told=[judged_voice("a→b", 25), judged_voice("b→a", 15)])
    said = text(client.get(f"/runs/{run}/standing").text)
    assert re.search(r"voice delay p95 a→b 21\.\d+ ms → before, now 27\.\d+ ms ≤ 30 ms ✔ 2 of 2 met", said)
    assert "(before: 1 of 2) ; worst of 2 paths" in said


def test_a_tile_says_what_got_worse_that_its_objective_does_not_bound(
    client: TestClient, backend: Backend, headers: dict[str, str]
) -> None:
    run = run_of_classes(backend, f"  - {{name: voice, match: {{any: [{{dscp: ef}}]}}, {OBJECTIVE}}}\n")
    for side, lost, mean_ms in (("before", 0, 10), ("after", 100, 20)):
        flow = FlowResult(
            name="a",
            traffic_class="voice",
            path="a→b",
            sent=500,
            delivered=500 - lost,
            lost=lost,
            mean_delay_ps=mean_ms * 10**9,
        )
        scenario = ScenarioResult(name="one", title="one", flows=(flow,))
        measured = Measurement(
            when="after", evidence="emulated", tester="twin", seed=1, delay_reference="x", scenarios=(scenario,)
        )
        kept = backend.artifacts.put_text(measured.model_dump_json())
        measure(backend, run, f"measure-{side}", 10, measurement=kept)
    said = text(client.get(f"/runs/{run}/standing").text)
    assert "loss 0 % → before, now 20 % no objective ✔ 1 of 1 met" in said
    assert "mean delay" not in said  # its 95th percentile is judged


def test_what_never_arrives_is_called_lost(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    objective = Objective(delay={"p95": 0.03})
    seen = Sample.of_delays(np.append(np.full(900, 1e10), np.full(100, np.inf)), independent=True)
    verdict = judge(objective, seen, evidence="emulated")
    of = {"scenario": "one", "traffic_class": "voice", "path": "a→b"}
    measure(backend, run, "measure-before", told=[ClassVerdict(**of, objective=objective, verdict=verdict)])
    measure(backend, run, "measure-after", 10)
    said = text(client.get(f"/runs/{run}?tab=objectives").text)
    assert re.search(r"delay p95 lost → before, now 10\.\d+ ms ≤", said)
    assert "? inconclusive lost 0 ms or more" in said
    assert "Lost (∞): so many packets were lost that this share of them never arrives." in said


def test_where_a_built_in_policy_breaks_its_objectives_the_way_leads_to_a_new_one(
    client: TestClient, backend: Backend, headers: dict[str, str]
) -> None:
    document = {
        "network": backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    }
    library = PolicyLibrary(backend.run_requests.store.database, backend.artifacts)
    text_of = (root() / "policies" / "impossible.yaml").read_text().replace("impossible", "mine")
    library.seen_by(somebody("ann")).store("mine", PolicySource(text_of, "mine.yaml"), network=NETWORK)
    ways = (
        ("impossible", 0, "/policies/new?from=impossible&network=campus"),
        ("mine", 1, "/policies/mine/edit?"),
    )
    for name, number, told in ways:
        params = {**document, "policy_name": name, "policy_number": number}
        run = backend.run_requests.store.create_run(NETWORK, name, "f" * 64, params).id
        roll_back(backend, run)
        assert told in unescape(client.get(f"/runs/{run}/progress").text)


def test_after_a_rejection_of_a_built_in_policy_the_way_leads_to_a_new_one(
    client: TestClient, backend: Backend, headers: dict[str, str]
) -> None:
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    document = {"network": network, "policy_name": "impossible", "policy_number": 0}
    run = backend.run_requests.store.create_run(NETWORK, "impossible", "f" * 64, document).id
    candidate = wait_for_approval(backend, run)
    asked = {"candidate": candidate, "comment": "exam week"}
    assert client.post(f"/runs/{run}/reject", data=asked, headers=headers).status_code == 204
    way = '/policies/new?from=impossible&network=campus">Start a new policy from it'
    assert way in unescape(client.get(f"/runs/{run}/progress").text)


PREDICTED = [
    (
        177,
        "met",
        "Predicted: 1 objective broken. By the keep rule the change would be rolled back once it is measured.",
    ),
    (177, "no-worse", "Predicted: 1 objective broken. Kept if what is not shown to be met is shown to be better"),
    (10, "met", "Approve this change?"),
]
"""What the card of the decision, and the head of the page, say by the predicted delay in ms and the keep rule."""


@pytest.mark.parametrize("before_ms", BEFORE)
def test_what_is_broken_is_told_against_what_it_was_before(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str, before_ms: int
) -> None:
    measure(backend, run, "measure-before", before_ms)
    roll_back(backend, run)
    told, tile = BEFORE[before_ms]
    said = text(client.get(f"/runs/{run}/progress").text)
    assert f"The objective is not met (delay p95 192.89 ms, at most 30 ms); {told}. No device was touched." in said
    assert f"✘ 0 of 1 met {tile}" in text(client.get(f"/runs/{run}/standing").text)


@pytest.mark.parametrize(("delay_ms", "keep", "told"), PREDICTED)
def test_who_approves_is_told_beforehand_what_the_prediction_breaks(
    *, client: TestClient, backend: Backend, headers: dict[str, str], delay_ms: int, keep: str, told: str
) -> None:
    store = backend.run_requests.store
    network = backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json())
    run = store.create_run(NETWORK, "gold", "f" * 64, {"network": network, "keep": keep, "measure": True}).id
    store.set_status(run, RunStatus.RUNNING)
    measure(backend, run, "predict", delay_ms, PredictionSummary)
    wait_for_approval(backend, run)
    page = client.get(f"/runs/{run}?tab=changes").text
    card = text(page[page.index('id="decide"') : page.index('id="approve"')])
    short = "Predicted: 1 broken" + ("; would be rolled back" if keep == "met" else "")
    assert (f"✘ {short} " in card) == (delay_ms > 30), card
    assert "Predicted: 1 objective broken" not in card, "the head says it in full"
    assert ("1 objective predicted broken" in text(client.get("/").text)) == (delay_ms > 30)
    head = client.get(f"/runs/{run}/progress").text
    assert ("is-broken head" in head) == (delay_ms > 30)
    assert told in (text(head) if delay_ms > 30 else card)
    candidate = {"candidate": page.partition('name="candidate" value="')[2][:64]}
    answer = client.post(f"/runs/{run}/approve", data=candidate, headers=headers)
    if delay_ms > 30:  # that takes a reason
        assert answer.status_code == 422, answer.text
        assert "the change is predicted to break objectives" in text(answer.text)
        answer = client.post(f"/runs/{run}/approve", data=candidate | {"comment": "for a test"}, headers=headers)
    assert answer.status_code == 204, answer.text


def test_what_was_broken_before_is_nothing_against_a_change(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    measure(backend, run, "measure-before", 80)
    measure(backend, run, "predict", 80, PredictionSummary)
    measure(backend, run, "measure-after", 10)
    backend.run_requests.store.set_status(run, RunStatus.KEPT, Verdict.MET)
    told = text(client.get(f"/runs/{run}?tab=events").text)
    assert re.search(r"Measure before the change .*? before the change: 1 broken", told)
    assert re.search(r"Predict what traffic will get .*? predicted: 1 broken", told)
    assert re.search(r"Measure after the change .*? ✔ met \(1 met\)", told)
    assert "✘ broken" not in told
    page = client.get(f"/runs/{run}?tab=objectives").text
    cells = re.findall(r'data-label="(Before|Predicted|After)">\s*<span class="badge([^"]*)">\s*(\S+ \w+)', page)
    assert [(side, style.strip(), words) for side, style, words in cells] == [
        ("Before", "", "✘ broken"),
        ("Predicted", "", "✘ broken"),
        ("After", "verdict-met", "✔ met"),
    ]


def test_a_run_without_changes_whose_objectives_are_broken_says_so_first(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    measure(backend, run, "measure-before")
    backend.run_requests.store.set_status(run, RunStatus.NO_CHANGES, Verdict.BROKEN)
    assert re.search(r"Measure before the change .*? ✘ broken", text(client.get(f"/runs/{run}?tab=events").text))
    page = client.get(f"/runs/{run}/progress").text
    assert "already held what the policy asks for, and 0 of 1 objectives are met, 1 broken." in text(page)
    assert "What to do voice : give it more in the policy, or allow delay p95 of 200 ms." in text(page)
    assert 'class="card state-no_changes is-broken head"' in page
    assert "▲ no changes, objectives broken" in text(page)
    assert steps(client, run)["Measure"] == "broken"  # nothing comes after it that it would be before of
    assert re.search(r"Measure : done [^:]*1 broken", text(page))
    assert "✘ 0 of 1 met" in text(client.get(f"/runs/{run}/standing").text)


def test_a_run_without_changes_says_what_its_objectives_came_to(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    measure(backend, run, "measure-before", told=[judged_voice("a→b", 10), judged_voice("b→a", 10)])
    backend.run_requests.store.set_status(run, RunStatus.NO_CHANGES, Verdict.MET)
    assert re.search(r'tab=objectives#tabs" aria-current="page"', client.get(f"/runs/{run}").text)
    page = text(client.get(f"/runs/{run}/progress").text)
    assert "Every device already held what the policy asks for, and all 2 objectives are met." in page


def test_why_a_run_cannot_be_rolled_back_is_said_in_the_words_of_the_page(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store, put = backend.run_requests.store, backend.artifacts.put_text
    other = store.create_run(NETWORK, "gold", "f" * 64, dict(store.get_run(run).params)).id
    for each in (run, other):
        store.set_status(each, RunStatus.RUNNING)
        touch = {"before": put("hostname r1"), "delta": put("a"), "inverse": put("no a")}
        store.journal.append(each, "r1", JournalAction.TOUCHING, **touch)
        store.journal.append(each, "r1", JournalAction.CONFIRMED)
        store.set_status(each, RunStatus.KEPT)
    said = text(client.get(f"/runs/{run}").text)
    assert "A later run changed r1 since. Roll that one back first" in said
    assert "qosforge rollback" not in said
    store.begin_stage(run, "retention")
    assert "was dropped, as its retention says: start a new run" in text(client.get(f"/runs/{run}").text)


def test_a_finding_leads_to_its_device_and_line_and_a_proof_is_told_once(
    client: TestClient, backend: Backend, headers: dict[str, str]
) -> None:
    store, put = backend.run_requests.store, backend.artifacts.put_text
    network = load_network(root() / "inventories" / NETWORK)
    policy = f"version: 1\nintent: gold\napply: [{{interfaces: lan, direction: output}}]\nclasses:\n{BESIDE}"
    document = {
        "network": put(network.model_dump_json()),
        "intent_text": put(policy),
        "intent_file": "gold.yaml",
        "policy_name": "gold",
        "policy_number": 3,
    }
    run = store.create_run(NETWORK, "gold", "f" * 64, document).id
    place = Place(device=network.devices[0].name, traffic_class="voice", file="gold.yaml", line=5)
    of = {"source": "a", "target": "b", "minimum": "31 ms", "bytes": 40}
    of |= {"minimum_seconds": 0.031, "requested_seconds": 0.03}
    found = note("objective-below-minimum", place, **of), note("batfish-not-checked", required=False)
    kept = backend.artifacts.put_json([one.model_dump(mode="json") for one in found])
    with store.stage(run, "validate", ValidateSummary(findings=kept)):
        pass
    page = client.get(f"/runs/{run}?tab=findings").text
    name = network.devices[0].name
    assert f'<a href="/networks/{NETWORK}/devices/{name}">{name}</a>' in page
    assert re.search(r'<a href="/policies/gold/edit\?version=3">line 5</a><code[^>]*>objective-below-minimum', page)
    assert re.search(
        r'class="swatch class-1"[^>]*></span><strong>voice</strong>', page[page.index('id="findings"') :]
    )
    assert text(page).count("no Batfish host is configured") == 1
    assert text(page).index("objective-below-minimum") < text(page).index("no Batfish host is configured")
    assert "Findings 1 " in text(page)


def findings_of(client: TestClient, backend: Backend, run: str, ends: Iterable[int]) -> str:
    """The page of a run's findings, of which there is one for each link."""
    found = [note("link-ends-differ", here="100 %", there="30 %", far=f"d{n}") for n in ends]
    kept = backend.artifacts.put_json([finding.model_dump(mode="json") for finding in found])
    with backend.run_requests.store.stage(run, "validate", ValidateSummary(findings=kept)):
        pass
    return client.get(f"/runs/{run}?tab=findings").text


def test_many_findings_of_one_code_stand_folded_under_what_it_means(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    few = findings_of(client, backend, run, range(4))
    assert text(few).count("police the class where it enters") == 4
    assert "give priority different shares" not in few
    many = findings_of(client, backend, run, range(110))
    assert "▲ 110 warnings the ends of a link give priority different shares" in text(many)
    assert text(many).count("police the class where it enters") == 1
    folded = many[many.index('id="fold-link-ends-differ-') : many.index("</details>", many.index('id="fold-'))]
    assert folded.count("at most here, 30 % at d") == 110


def test_the_events_of_a_run_are_told_to_the_second_and_in_plain_words(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    store.set_status(run, RunStatus.RUNNING)
    for action in (JournalAction.UNDOING, JournalAction.INVERSE_APPLIED, JournalAction.UNDONE):
        store.journal.append(run, "e300", action)
    store.events.progress(run, "push", "e300")
    refused = StepError(device="e300", message="the table is full")
    for errors in ([refused], []):
        with store.stage(run, "rollback", StageSummary(errors=errors)):
            pass
    page = client.get(f"/runs/{run}?tab=events").text
    page = page[page.index('id="events"') :]
    told = text(page[: page.index("</details>")])
    for words in (
        "e300: being rolled back",
        "e300: rollback lines entered",
        "e300: rolled back",
        "Push the lines: e300",
    ):
        assert words in told
    newest_first = re.findall(r"Roll back: (\w+)", told)
    assert newest_first == ["done", "begun", "failed", "begun"]
    assert len(re.findall(r"<time [^>]*data-exact>", page)) >= len(newest_first)
