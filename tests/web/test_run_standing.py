"""What the page of a run says of where it stands: its steps, how it ended and why, and what can be done."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from html import unescape

import numpy as np
import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.errors import Place
from qosforge.inventory.loader import load_network
from qosforge.note import note
from qosforge.reports.model import ClassVerdict
from qosforge.resources import root
from qosforge.runs.record.interruption import interrupted_outcome, put_back
from qosforge.runs.record.next_try import set_next_try
from qosforge.runs.record.reason import NOT_MET, RECOVER, Reason, half_way, retry
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import (
    MeasurementSummary,
    PredictionSummary,
    ReadSummary,
    StageSummary,
    ValidateSummary,
)
from qosforge.runs.record.tables import JournalAction, RunStatus, Verdict
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult
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


def measure(
    backend: Backend,
    run: str,
    stage: str,
    delay_ms: float = 177,
    summary_of: type[MeasurementSummary] = MeasurementSummary,
    *,
    measurement: str = "",
) -> None:
    """Let a delay be measured where 30 ms are asked for; the artifact of a ``measurement`` may have more of it."""
    store, put = backend.run_requests.store, backend.artifacts.put_json
    objective = Objective(delay={"p95": 0.03})
    generator = np.random.default_rng(1)
    seen = Sample.of_delays(
        *(delay_ms * 1e9 * generator.uniform(0.9, 1.1, 2_000) for _ in range(24)), independent=True
    )
    verdict = judge(objective, seen, evidence="emulated")
    of = {"scenario": "one", "traffic_class": "voice", "path": "a→b"}
    with store.stage(run, stage, summary_of()) as summary:
        told = ClassVerdict(**of, objective=objective, verdict=verdict)
        summary.verdicts = put([told.model_dump(mode="json")])
        summary.measurement = measurement


def roll_back(backend: Backend, run: str) -> None:
    """Let it be rolled back for what was measured."""
    store = backend.run_requests.store
    measure(backend, run, "measure-after")
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
    page = text(client.get(f"/runs/{run}?tab=events").text)
    assert "attempt" not in page
    assert "2 steps before the approval" in page


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
    assert steps(client, run)["Measure after"] == "done"
    assert steps(client, run)["Roll back"] == "done"
    page = client.get(f"/runs/{run}").text
    assert re.search(r'aria-current="page"[^>]*>\s*Objectives', page)
    progress = text(client.get(f"/runs/{run}/progress").text)
    assert "Evidence: emulated (simulated)" in progress
    assert "Step Measure after the change" in progress
    assert re.search(r"Measure after : done [^:]*1 broken", progress)
    assert progress.count("voice a→b: delay p95 is ") == 1


def test_a_rollback_that_was_done_in_the_end_did_not_fail(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    store = backend.run_requests.store
    refused = StepError(device="e300", message="the table is full")
    with store.stage(run, "rollback", StageSummary(errors=[refused])):
        pass
    assert steps(client, run)["Roll back"] == "failed"
    with store.stage(run, "rollback", StageSummary()):
        pass
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
    assert re.search(r"↩ rolled back voice a→b: delay p95 is [^.]*\S", head)
    assert "more reason" not in head
    assert "Rollback Failed at first: e300: the table is full (tried 2 times). It is back since" in head
    assert "Step Measure after the change" in head
    assert "What to do voice : 0 of 1 met. Give the class more in the policy" in head
    assert "Try again" not in head
    assert steps(client, run)["Measure after"] == "done"


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
    head = text(client.get(f"/runs/{run}/progress").text)
    assert "tried" not in head  # what stands there failed once
    assert "Why it was to be rolled back voice a→b: delay p95 is" in head
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
    assert "Next try within a minute" in said
    assert "Else log in to it and put right what it says" in said
    assert "qosforge recover" not in said
    page = text(client.get(f"/runs/{run}").text)
    assert "It cannot be cancelled while a device stands between two states." in page
    assert "Try now to roll back" in page
    assert not backend.run_requests.store.any_to_begin()
    assert client.post(f"/runs/{run}/try-now", headers=headers).status_code == 204
    assert backend.run_requests.store.any_to_begin(), "a dispatcher looks"
    assert "to be tried now by bob" in text(client.get(f"/runs/{run}?tab=events").text)
    later = datetime.now(UTC) + timedelta(minutes=5)
    set_next_try(backend.database, run, later)
    assert f"Next try {later:%Y-%m-%d %H:%M}" in text(client.get(f"/runs/{run}/progress").text)
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
    assert "What to do voice : 0 of 1 met. Give the class more in the policy, or ask for less" in said
    assert NOT_MET.text not in said


def test_more_for_a_class_is_not_advised_where_its_links_alone_take_too_long(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    of = {"source": "a", "target": "b", "minimum": "31 ms", "bytes": 40}
    found = note("objective-below-minimum", Place(traffic_class="voice"), **of)
    kept = backend.artifacts.put_json([found.model_dump(mode="json")])
    with backend.run_requests.store.stage(run, "validate", ValidateSummary(findings=kept)):
        pass
    roll_back(backend, run)
    said = text(client.get(f"/runs/{run}/progress").text)
    assert "voice : 0 of 1 met. More for voice does not help where the links alone take longer than" in said
    assert "Give the class more" not in said
    assert f'href="/runs/{run}?tab=findings#tabs"' in client.get(f"/runs/{run}/progress").text


BEFORE = {
    177: ("It was broken before the change, too.", "(before: 0 of 1)"),
    10: ("Before the change it was met.", "(before: 1 of 1)"),
}
"""What is said of a broken objective, and at its class, by the delay before the change in ms."""


def test_a_tile_says_how_many_objectives_are_not_judged(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    backend.run_requests.store.set_status(run, RunStatus.RUNNING)
    measure(backend, run, "predict", 30 / 1.09, PredictionSummary)  # its 95th percentile is the bound
    wait_for_approval(backend, run)
    assert "▲ predicted: 0 of 1 met, 1 not judged" in text(client.get(f"/runs/{run}/standing").text)


OBJECTIVE = "objective: {delay: {p95: 30 ms}}"
BESIDE = f"  - {{name: voice, match: {{any: [{{dscp: ef}}]}}, {OBJECTIVE}}}\n  - {{name: default}}\n"
BELOW = (
    f"  - {{name: voice, match: {{any: [{{dscp: ef}}]}}, {OBJECTIVE}}}\n"
    f"  - name: data\n    match: {{any: [{{dscp: [af11, af21]}}]}}\n    {OBJECTIVE}\n"
    "    treatment:\n      bandwidth: {percent: 50}\n      children:\n"
    "        - {name: web, match: {any: [{dscp: af21}]}, treatment: {bandwidth: {percent: 50}}}\n"
    f"  - {{name: default, {OBJECTIVE}}}\n"
)


@pytest.mark.parametrize(("classes", "worse"), [(BESIDE, "default"), (BELOW, "web")], ids=["beside", "below"])
def test_a_class_without_an_objective_that_is_worse_off_by_the_change_has_a_tile(
    client: TestClient, backend: Backend, headers: dict[str, str], classes: str, worse: str
) -> None:
    store, put = backend.run_requests.store, backend.artifacts.put_text
    policy = f"version: 1\nintent: gold\napply: [{{interfaces: lan, direction: output}}]\nclasses:\n{classes}"
    network = put(load_network(root() / "inventories" / NETWORK).model_dump_json())
    document = {"network": network, "intent_text": put(policy), "intent_file": "gold.yaml"}
    run = store.create_run(NETWORK, "gold", "f" * 64, document).id

    def lose(stage: str, lost: int, kind: type[MeasurementSummary] = MeasurementSummary) -> str:
        flows = [
            FlowResult(name=path, traffic_class=worse, path=path, sent=500, delivered=500 - gone, lost=gone)
            for path, gone in (("a→b", 0), ("b→a", lost))
        ]
        scenario = ScenarioResult(name="one", title="one", flows=tuple(flows))
        measured = Measurement(
            when="after", evidence="emulated", tester="twin", seed=1, delay_reference="x", scenarios=(scenario,)
        )
        measure(backend, run, stage, 10, kind, measurement=put(measured.model_dump_json()))
        return text(client.get(f"/runs/{run}/standing").text)

    store.set_status(run, RunStatus.RUNNING)
    assert (
        f"{worse} no objective loss 76 % predicted; not measured before the change, worst of 2 paths : b→a"
        in lose("predict", 380, PredictionSummary)
    )
    lose("measure-before", 154)
    told = lose("measure-after", 384)
    assert (
        f"{worse} no objective loss 30.8 % → before, now 76.8 % a trade-off of the change, worst of 2 paths : b→a"
        in told
    )


def test_where_a_built_in_policy_breaks_its_objectives_the_way_leads_to_a_new_one(
    client: TestClient, backend: Backend, headers: dict[str, str]
) -> None:
    document = {
        "network": backend.artifacts.put_text(load_network(root() / "inventories" / NETWORK).model_dump_json()),
        "policy_name": "impossible",
    }
    for number, told in ((0, "/policies/new?from=impossible&network=campus"), (3, "/policies/impossible/edit?")):
        run = backend.run_requests.store.create_run(
            NETWORK, "impossible", "f" * 64, {**document, "policy_number": number}
        ).id
        roll_back(backend, run)
        assert told in unescape(client.get(f"/runs/{run}/progress").text)


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
    assert f"requested is at most 30 ms. {told} No device" in text(client.get(f"/runs/{run}/progress").text)
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
    assert told in card
    assert ("Predicted:" in card) == (delay_ms > 30)
    head = client.get(f"/runs/{run}/progress").text
    assert ("is-broken head" in head) == (delay_ms > 30)
    if delay_ms > 30:
        assert told in text(head)


def test_a_run_without_changes_whose_objectives_are_broken_says_so_first(
    client: TestClient, backend: Backend, headers: dict[str, str], run: str
) -> None:
    measure(backend, run, "measure-before")
    backend.run_requests.store.set_status(run, RunStatus.NO_CHANGES, Verdict.BROKEN)
    page = client.get(f"/runs/{run}/progress").text
    assert "already held what the policy asks for, and 0 of 1 objectives are met, 1 broken." in text(page)
    assert "What to do voice : 0 of 1 met." in text(page)
    assert 'class="card state-no_changes is-broken head"' in page
    assert "▲ no changes, objectives broken" in text(page)
    assert steps(client, run)["Measure before"] == "done"
    assert re.search(r"Measure before : done [^:]*1 broken", text(page))
    assert "✘ 0 of 1 met" in text(client.get(f"/runs/{run}/standing").text)


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
