"""Whole runs on two emulated routers, with the real engine: what waits, stops, begins again and goes back."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qosforge import errors
from qosforge.access.roles import NotAllowed
from qosforge.deploy.fleet import Outcome
from qosforge.emulation import start_lab
from qosforge.executor.service import RunEnd, Service, open_service
from qosforge.intent.loader import parse_intent
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.changes import ChangeRules, Freeze
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.prediction.record import SimulatedTime
from qosforge.reports.run_metadata import run_metadata
from qosforge.resources import root
from qosforge.runs.engine.dispatch import RUNS_QUEUE
from qosforge.runs.engine.workflow_ids import SETTLE, settling_id
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.run import Run
from qosforge.runs.record.status_events import ASKS
from qosforge.runs.record.stop_signal import StopSignal
from qosforge.runs.record.summaries import PlannedWave
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.views.artifact_list import list_artifacts
from qosforge.runs.workflow import external_tester as outside
from qosforge.runs.workflow import run_attempt
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import WaveResult
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.steps import compare, measure, predict, prepare, push
from qosforge.settings import Settings
from qosforge.sweeps.sweeps import NewSweep
from qosforge.tester.replications import next_look_seconds
from qoslab import control
from tests.run_requests import request_run

from .measurements import MILLISECOND, measured
from .support import WHY, wait_for

NETWORK = "infn-fnal"
INVENTORY = root() / "inventories" / NETWORK
POLICY = """\
version: 1
intent: remote-control
classes:
  - name: robin
    match: {any: [{destination: 192.190.218.1/32}]}
    treatment: {priority: {rate: 400 kb/s}}
    objective: {delay: {p95: 200 ms}, loss: 1 %}
  - name: default
    treatment: {bandwidth: {remaining_percent: 50}}
apply: [{role: edge, interfaces: wan, direction: output}]
verify: [{from: infn, to: vme, classes: [robin], beside: [default], seconds: 5}]
"""
BOXES = ("router1", "router3")


class Site:
    """Two routers, a service over them, and an order for both."""

    def __init__(self, service: Service, state: Path) -> None:
        self.service = service
        self.changes = service.settings.inventories_dir / NETWORK / "changes.yaml"
        self.run_requests = service.run_requests
        self.store = service.store
        self.state = state
        self.network = load_network(INVENTORY)
        self.order = request_run(self.network, parse_intent(POLICY, "remote-control.yaml"), measure=False)

    def running(self) -> dict[str, str]:
        return {name: control.request(self.state, {"op": "running", "box": name})["running"] for name in BOXES}

    def startup(self) -> dict[str, str]:
        return {name: (self.state / name / "startup-config").read_text() for name in BOXES}

    def reset(self) -> None:
        for name in BOXES:
            folder = self.state / name
            (folder / "startup-config").write_text((folder / "factory-config").read_text())
            control.request(self.state, {"op": "reboot", "box": name})
        self.changes.unlink(missing_ok=True)

    def freeze(self) -> None:
        """Declare a freeze for the network, from now on."""
        begins = datetime.now(UTC).isoformat()
        self.changes.write_text(f"freezes: [{{from: {begins}, to: 2199-01-01, reason: exams}}]\n")

    def type(self, *lines: str, box: str = "router1") -> None:
        assert control.configure(self.state, box, lines) == []

    def place(self, rules: ChangeRules | None = None, **changed: Any) -> Run:
        network = self.network.model_copy(update={"changes": rules or ChangeRules()})
        return self.run_requests.submit(*self.order.having(network=network, **changed), "ada")[0]

    def go(self, run: Run) -> Run:
        """Carry out the run's present attempt."""
        self.service.execute(run.id)
        return self.run_requests.run(run.id)

    @contextmanager
    def beside(self, run: Run) -> Iterator[None]:
        """Carry the run out beside the block, and to its end."""
        worker = threading.Thread(target=self.service.execute, args=(run.id,))
        worker.start()
        try:
            yield
        finally:
            worker.join(60)
            assert not worker.is_alive()

    def waits(self, run: Run, words: str) -> None:
        wait_for(lambda: words in self.run_requests.run(run.id).waits_for, f"a run that waits for {words}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    var = tmp_path_factory.mktemp("loop") / "var"
    state = state_folder(var, "infn-fnal")
    start_lab(load_network(INVENTORY), INVENTORY, state)
    try:
        inventories = shutil.copytree(INVENTORY, var.parent / "inventories" / NETWORK).parent
        with open_service(Settings(var_dir=var, inventories_dir=inventories), lambda *_: None) as service:
            yield Site(service, state)
    finally:
        control.stop(state)


@pytest.fixture
def site(whole: Site) -> Iterator[Site]:
    whole.reset()
    yield whole
    assert whole.store.leases.active() == []
    assert whole.store.journal.open_touches() == []


def test_a_run_is_not_worse_for_a_report_that_cannot_be_written(site: Site) -> None:
    reports = site.service.settings.var_dir / "reports"
    aside = reports.with_name("aside")
    if reports.exists():
        reports.rename(aside)
    reports.write_text("a file where the folder would be")
    try:
        ended = site.service.execute(site.place().id)
        assert isinstance(ended.page, errors.ServiceError)
        assert f"{ended.run_id}.html: the report cannot be written: " in str(ended.page)
        assert ended.result.status is RunStatus.KEPT
    finally:
        reports.unlink()
        if aside.exists():
            aside.rename(reports)


def test_a_run_waits_for_somebody_else_and_is_rolled_back_whole(site: Site) -> None:
    before = site.running(), site.startup()
    waiting = site.go(site.place(ChangeRules(approval="four_eyes")))
    assert waiting.status is RunStatus.NEEDS_APPROVAL
    assert site.store.leases.active() == []
    assert (site.running(), site.startup()) == before
    listed = site.run_requests.candidate(waiting.id)
    assert listed is not None
    assert sorted(listed.devices) == list(BOXES)
    assert "policy-map" in listed.devices["router1"]
    assert {device.outcome for device in site.run_requests.detail(waiting.id).devices} == {"not touched"}
    with pytest.raises(NotAllowed):
        site.run_requests.approve(waiting.id, "ada", listed.id)
    kept = site.go(site.run_requests.approve(waiting.id, "grace", listed.id))
    assert (kept.status, kept.attempt) == (RunStatus.KEPT, 2)
    assert all("policy-map" in text for text in (*site.running().values(), *site.startup().values()))

    undoing = site.run_requests.roll_back(kept.id, "grace")
    assert site.go(undoing).status is RunStatus.KEPT
    assert site.running() == before[0]
    assert not any("policy-map" in text for text in site.startup().values())
    assert site.run_requests.run(kept.id).status is RunStatus.KEPT
    assert {device.name for device in site.run_requests.detail(undoing.id).devices} == set(BOXES)


def test_what_a_change_would_do_is_predicted_before_it_is_approved(site: Site) -> None:
    waiting = site.go(site.place(ChangeRules(approval="any"), measure=True))
    assert waiting.status is RunStatus.NEEDS_APPROVAL
    told = site.run_requests.detail(waiting.id)
    assert told.predicted is not None
    assert (told.predicted.when, told.predicted.evidence) == ("predicted", "predicted")
    assert (told.outcome_before(), told.outcome_predicted()) == (None, "met")
    # What the change costs the class that nothing judges, by the same packets through what the routers hold now.
    assert told.prediction is not None
    assert told.prediction.simulated == (SimulatedTime("one-way", 24, 5),)
    (paid,) = told.unjudged_trade_offs
    (figure,) = paid.figures
    assert (paid.name, paid.known, figure.label, figure.path) == ("default", "simulated", "loss", "infn→fnal")
    assert figure.before is not None
    assert 0.2 < figure.before < figure.after - 0.02

    listed = site.run_requests.candidate(waiting.id)
    assert listed is not None
    kept = site.go(site.run_requests.approve(waiting.id, "grace", listed.id))
    assert kept.status is RunStatus.KEPT
    again = site.run_requests.detail(waiting.id)
    assert again.predicted == told.predicted
    assert again.prediction == told.prediction
    (measured_later,) = again.unjudged_trade_offs
    assert measured_later.known == "measured"
    # It is the same but for how long a simulation runs before it counts.
    assert measured_later.figures[0].before == pytest.approx(figure.before, abs=0.01)
    assert measured_later.figures[0].after == figure.after
    assert [s.summary for s in again.stages if s.name == "predict"] == ["", "the same as in an earlier attempt"]
    # No device was read for it, and yet it says what the devices then do.
    assert again.after is not None
    assert again.predicted.scenarios == again.after.scenarios
    named = {content.name for content in list_artifacts(site.store, waiting.id)}
    assert {"measurement/predicted", "verdicts/predicted"} <= named

    idle = site.go(site.place(measure=True))
    assert idle.status is RunStatus.NO_CHANGES
    assert "predict" not in {stage.name for stage in site.store.stages(idle.id)}


def test_the_reason_of_a_rejected_run_tells_no_secret_that_a_finding_quotes(site: Site) -> None:
    startup = site.state / "router1" / "startup-config"
    secret = "snmp-server community PLANTED01 RO\n"
    unknown = "class-map match-any other\n match not access-group name PLANTED01\n"
    startup.write_text(secret + unknown + startup.read_text())
    control.request(site.state, {"op": "reboot", "box": "router1"})
    run = site.go(site.place(strict=True))
    assert run.status is RunStatus.REJECTED
    told = str(run)
    assert "match not access-group name" in told
    assert "PLANTED01" not in told


def refused(*_: object, **__: object) -> None:
    raise errors.TesterError("the twin refuses it: no such queue")


def faulty(*_: object, **__: object) -> None:
    raise ZeroDivisionError("by nothing")


@pytest.mark.parametrize(
    ("fails", "text"),
    [(refused, "the twin refuses it: no such queue"), (faulty, "qosforge has a fault")],
)
def test_a_prediction_that_fails_stops_no_run(
    site: Site, monkeypatch: pytest.MonkeyPatch, fails: Callable[..., None], text: str
) -> None:
    monkeypatch.setattr(predict, "predict_run", fails)
    run = site.go(site.place(measure=True))
    assert (run.status, run.verdict) == (RunStatus.KEPT, "met")
    told = site.run_requests.detail(run.id)
    assert (told.predicted, told.verdicts_predicted, told.outcome_predicted()) == (None, (), None)
    (stage,) = (stage for stage in told.stages if stage.name == "predict")
    assert stage.outcome == "done"
    assert stage.summary.startswith(f"nothing is predicted: {text}")


@pytest.mark.parametrize(
    ("fails", "why"),
    [(refused, "the twin refuses it: no such queue"), (faulty, "qosforge has a fault; the log of its executor")],
)
def test_a_prediction_stands_where_today_cannot_be_simulated(
    site: Site, monkeypatch: pytest.MonkeyPatch, fails: Callable[..., None], why: str
) -> None:
    monkeypatch.setattr(predict, "today_of_run", fails)
    waiting = site.go(site.place(ChangeRules(approval="any"), measure=True))
    told = site.run_requests.detail(waiting.id)
    assert told.outcome_predicted() == "met"
    (paid,) = told.unjudged_trade_offs
    assert (paid.known, paid.figures[0].before) == (None, None)
    assert paid.unknown.startswith(why)


def test_an_approval_does_not_count_for_what_the_boxes_have_become(site: Site) -> None:
    waiting = site.go(site.place(ChangeRules(approval="any")))
    listed = site.run_requests.candidate(waiting.id)
    assert listed is not None
    site.run_requests.approve(waiting.id, "grace", listed.id)
    site.type("class-map QOSFORGE-OUT-robin", " match ip precedence 5")
    site.type("policy-map QOSFORGE-OUT", " class class-default", "  fair-queue")
    (site.state / "router1" / "startup-config").write_text(site.running()["router1"])  # as who typed it would save
    again = site.go(waiting)
    assert (again.status, again.attempt) == (RunStatus.NEEDS_APPROVAL, 2)
    assert "changed since it was approved" in again.waits_for
    now = site.run_requests.candidate(waiting.id)
    assert now is not None
    assert now.id != listed.id
    assert site.run_requests.reject(waiting.id, "grace", "look again").status is RunStatus.CANCELLED


def test_going_back_leaves_what_others_changed(site: Site) -> None:
    before = site.running()
    kept = site.go(site.place())
    site.type("snmp-server location attic")
    held = site.running()
    # The way back on these devices is a reload: it would lose a line that nobody saved.
    refused = site.service.execute(site.run_requests.roll_back(kept.id, "ada").id).result
    assert refused.status == RunStatus.ROLLED_BACK
    assert "running and startup differ" in str(refused.errors)
    assert site.running() == held
    (site.state / "router1" / "startup-config").write_text(held["router1"])
    undoing = site.run_requests.roll_back(kept.id, "ada")
    result = site.service.execute(undoing.id).result
    assert (result.status, result.errors) == (RunStatus.KEPT, [])
    now = site.running()
    assert now["router3"] == before["router3"]
    gone, come = (set(a["router1"].splitlines()) - set(b["router1"].splitlines()) for a, b in
                  ((before, now), (now, before)))  # fmt: skip
    assert (gone, come) == (set(), {"snmp-server location attic"})
    notes = [entry.note for entry in site.store.journal.entries(undoing.id, "router1")]
    assert any("somebody else changed" in note for note in notes)


def test_a_freeze_holds_a_run_until_it_is_over(site: Site) -> None:
    now = datetime.now(UTC)
    freeze = Freeze(from_=now - timedelta(days=1), to=now + timedelta(seconds=4), reason="exams")
    waiting = site.go(site.place(ChangeRules(freezes=(freeze,))))
    assert (waiting.status, waiting.due) == (RunStatus.SCHEDULED, freeze.to)
    assert "a change freeze (exams)" in waiting.waits_for
    assert site.service.recover() == []
    wait_for(lambda: bool(site.store.due_runs()), "the end of the freeze")
    (ended,) = site.service.recover()
    assert ended == RunEnd(run=waiting.id, status=RunStatus.KEPT, errors=[])


def test_a_freeze_that_is_declared_later_holds_a_run_that_waits(site: Site) -> None:
    before = site.running()
    waiting = site.go(site.place(ChangeRules(approval="any")))
    listed = site.run_requests.candidate(waiting.id)
    assert listed is not None
    site.run_requests.approve(waiting.id, "grace", listed.id)
    site.freeze()
    held = site.go(waiting)
    assert (held.status, held.due) == (RunStatus.SCHEDULED, datetime(2199, 1, 2, tzinfo=UTC))
    assert "a change freeze (exams)" in held.waits_for
    assert site.running() == before
    site.run_requests.cancel(held.id, "ada")


def test_a_freeze_that_is_declared_before_the_push_holds_it(site: Site) -> None:
    before = site.running()
    run = site.place(measure=True, tester="external", before=True)
    with site.beside(run):
        site.waits(run, outside.waiting_for("before"))
        site.freeze()
        site.run_requests.receive(run.id, "before", "probe", measured("before", 0))
    held = site.run_requests.run(run.id)
    assert (held.status, "exams" in held.waits_for) == (RunStatus.SCHEDULED, True)
    assert site.running() == before
    site.run_requests.cancel(held.id, "ada")


def test_a_push_that_is_repeated_asks_again_whether_it_may(site: Site) -> None:
    before = site.running()
    run = site.place()
    context = Context(
        run.id,
        run.resolved,
        site.store,
        site.service.artifacts,
        lambda *_: None,
        NetworkRules(site.service.settings),
        site.service.executor.computing,
    )
    site.store.leases.acquire(run.id, BOXES, 600)
    held = prepare.read(context, list(BOXES)).running
    prepared = prepare.prepare_change(context, held)
    names = list(BOXES)
    steps = [[name] for name in names]
    wave = PlannedWave(name="all devices", devices=names, steps=steps, revert_seconds=900)
    numbered = push.NumberedWave(wave, 1, 1)
    push_once = partial(push.push_wave, context, held, prepared.devices, numbered, prepared.candidate)
    try:
        site.freeze()  # while nobody was at the run, between its gate and its push
        hindered = push_once()
        assert (hindered.begun, "exams" in hindered.wait.waits_for) == (False, True)
        assert site.running() == before
        site.changes.unlink()
        assert push_once().errors == []
        site.freeze()
        assert "exams" in push_once().errors[0].message
        site.changes.unlink()
        site.run_requests.cancel(site.store.set_status(run.id, RunStatus.RUNNING).id, "ada")
        cancelled = StopSignal(status=RunStatus.CANCELLED, reason="cancelled by ada")
        assert push_once() == WaveResult(begun=True, stop=cancelled)
    finally:
        push.roll_back(context, held, prepared.devices)
        context.close()
        site.store.leases.release(run.id)
        site.store.set_status(run.id, RunStatus.CANCELLED, reason=WHY)
    assert site.running() == before


def test_what_a_service_left_in_its_queues_is_finished_by_recover(site: Site) -> None:
    run = site.place()
    site.service.engine.enqueue(SETTLE, settling_id(run.id), {"run": run.id}, RUNS_QUEUE)
    sweeps = site.service.executor.sweeps
    sweeps.sweeps.submit(NewSweep(site.network, PolicySource(POLICY, "remote-control.yaml", {}, {}), {}), "ada")
    sweeps.tick()
    ended = [(entry.run, entry.status) for entry in site.service.recover()]
    # The engine may have taken the settling from its queue before anybody looked.
    assert ended in ([(run.id, "pending"), (run.id, "kept")], [(run.id, "kept")])
    assert site.service.engine.unfinished() == []
    assert sweeps.sweeps.open_points() == []


def test_boxes_that_another_run_holds_are_waited_for(site: Site) -> None:
    other, run = site.place(), site.place()
    site.store.leases.acquire(other.id, ["router3"], 600)
    with site.beside(run):
        site.waits(run, f"run {other.id}")
        assert site.run_requests.run(run.id).status is RunStatus.RUNNING
        site.store.leases.release(other.id)
    assert site.run_requests.run(run.id).status is RunStatus.KEPT
    site.run_requests.cancel(other.id, "ada")


def test_a_run_that_waits_for_boxes_can_be_cancelled(site: Site) -> None:
    before = site.running()
    other, run = site.place(), site.place()
    site.store.leases.acquire(other.id, ["router3"], 600)
    with site.beside(run):
        site.waits(run, "devices")
        site.run_requests.cancel(run.id, "grace")
    ended = site.run_requests.run(run.id)
    assert (ended.status, ended.reason) == (RunStatus.CANCELLED, "cancelled by grace")
    assert site.running() == before
    site.store.leases.release(other.id)
    site.run_requests.cancel(other.id, "ada")


def test_a_cancelled_run_is_undone_and_begins_again_at_its_push(site: Site) -> None:
    before = site.running()
    run = site.place(measure=True, tester="external")
    with site.beside(run):
        site.waits(run, outside.waiting_for("after"))
        assert site.running() != before
        site.run_requests.cancel(run.id, "grace")
    assert site.run_requests.run(run.id).status is RunStatus.CANCELLED
    assert site.running() == before

    again = site.run_requests.retry(run.id, "ada", "measure-before")
    with site.beside(again):
        site.waits(run, outside.waiting_for("after"))
        site.run_requests.receive(run.id, "after", "probe", measured("after", 20 * MILLISECOND))
    ended = site.run_requests.run(run.id)
    assert (ended.status, ended.verdict, ended.attempt, ended.start) == ("kept", "met", 2, "measure-before")
    second = [stage for stage in site.store.stages(run.id) if stage.run_attempt == 2]
    assert {"read", "prepare"} <= {s.name for s in second if "taken over" in s.summary.text}
    assert site.run_requests.detail(run.id).outcome_after() == "met"


@pytest.mark.parametrize(
    ("boxes", "status"),
    [
        pytest.param(BOXES[:1], RunStatus.ROLLED_BACK, id="the other was changed and put back"),
        pytest.param(BOXES, RunStatus.FAILED, id="nothing was entered"),
    ],
)
def test_a_retry_does_not_push_to_a_box_that_changed(site: Site, boxes: Sequence[str], status: RunStatus) -> None:
    run = site.place(measure=True, tester="external")
    with site.beside(run):
        site.waits(run, outside.waiting_for("after"))
        site.run_requests.cancel(run.id, "ada")
    for box in boxes:
        site.type("policy-map theirs", " class class-default", "  fair-queue", box=box)
    changed = site.running()
    site.run_requests.retry(run.id, "ada", "push")
    result = site.service.execute(run.id).result
    assert result.status == status
    assert result.errors
    assert {error.device for error in result.errors} <= set(boxes)
    assert all("changed since it was read" in error.message for error in result.errors)
    assert site.running() == changed


def test_a_bad_outside_measurement_takes_the_run_back(site: Site) -> None:
    before = site.running()
    run = site.place(measure=True, tester="external", before=True)
    given: Callable[..., None] = lambda side, document: site.run_requests.receive(run.id, side, "probe", document)  # noqa: E731
    with pytest.raises(InvalidState, match="does not wait"):
        given("before", measured("before", 0))
    with site.beside(run):
        site.waits(run, outside.waiting_for("before"))
        assert site.running() == before
        with pytest.raises(InvalidState, match="does not wait"):
            given("after", measured("after", 0))
        with pytest.raises(Exception, match="was given as before"):
            given("before", measured("after", 0))
        with pytest.raises(Exception, match="is not emulated"):
            given("before", measured("before", 0, evidence="emulated"))
        given("before", measured("before", 300 * MILLISECOND))
        site.waits(run, outside.waiting_for("after"))
        given("after", measured("after", 300 * MILLISECOND))
    ended = site.run_requests.run(run.id)
    assert (ended.status, ended.verdict) == (RunStatus.ROLLED_BACK, "broken")
    assert site.running() == before


def test_no_outside_measurement_in_time_takes_the_run_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    before = site.running()
    monkeypatch.setattr(run_attempt, "EXTERNAL_TESTER_SECONDS", 1.0)
    run = site.place(measure=True, tester="external")
    result = site.service.execute(run.id).result
    assert result.status == RunStatus.ROLLED_BACK
    assert "no outside measurement after the push" in result.errors[0].message
    assert site.running() == before


def test_a_run_that_takes_too_long_is_undone(site: Site) -> None:
    before = site.running()
    run = site.place(measure=True, tester="external", timeout_seconds=3600)
    with site.beside(run):
        site.waits(run, outside.waiting_for("after"))
        site.store.change(run.id, lambda *_: {"deadline": site.store.now()})
    ended = site.run_requests.run(run.id)
    assert (ended.status, ended.reason) == (RunStatus.FAILED, "timed out")
    assert site.running() == before


def for_ever(*_: object, **__: object) -> None:
    threading.Event().wait()


def greedy(*_: object, **__: object) -> None:
    list(range(10**12))


def test_a_cancel_reaches_a_run_that_computes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "compile_run", for_ever)
    run = site.place()
    with site.beside(run):
        at_it = lambda: "compile" in {stage.name for stage in site.store.stages(run.id)}  # noqa: E731
        wait_for(at_it, "a run that compiles")
        site.run_requests.cancel(run.id, "ada")
        wait_for(lambda: site.run_requests.run(run.id).status is RunStatus.CANCELLED, "a run that stops", 8)


def test_a_compile_that_takes_too_much_fails_the_run_with_the_reason(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "compile_run", greedy)
    before = site.running()
    run = site.place()
    with pytest.raises(errors.ServiceError, match="more than 2,048 MB of memory"):
        site.go(run)
    ended = site.run_requests.run(run.id)
    assert (ended.status, "2,048 MB" in ended.reason) == (RunStatus.FAILED, True)
    assert site.running() == before


def policy(asked: str, *, keep: str = "", treatment: str = "priority: {rate: 400 kb/s}") -> Any:
    """The policy with another objective and treatment of its class, and a keep rule."""
    text = POLICY.replace("p95: 200 ms}, loss: 1 %", f"p50: {asked}}}").replace(
        "priority: {rate: 400 kb/s}", treatment
    )
    rule = f"keep: {keep}\n" if keep else ""
    return parse_intent(text.replace("classes:\n", f"{rule}classes:\n"), "remote-control.yaml")


def test_what_is_better_but_not_met_is_kept_where_the_policy_says_so(site: Site) -> None:
    kept = site.go(site.place(measure=True, intent=policy("30 ms", keep="no-worse")))
    told = site.run_requests.detail(kept.id)
    assert (kept.status, told.outcome_before(), told.outcome_after()) == (RunStatus.KEPT, "broken", "broken")
    (change,) = told.changes
    (bound,) = change.bounds
    assert (change.traffic_class, bound.label, bound.change) == ("robin", "delay p50", "better")
    before, after = bound.before.number() or 0, bound.after.number() or 0
    assert bound.high is not None
    assert after - before <= bound.high < -0.02
    (stage,) = [stage for stage in told.stages if stage.name == "compare"]
    assert stage.summary == (
        "objectives compared with before the change: 1 better; nothing unmet is worse than before"
    )
    (measuring,) = [stage for stage in told.stages if stage.name == "measure-after"]
    assert re.fullmatch(r"12 simulations, \d+\.\d s of processor time", measuring.summary)


def test_what_would_take_too_long_to_look_at_again_stays_open_and_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "next_look_seconds", lambda look, spent: next_look_seconds(look, spent * 1e6))
    # One packet in a million: no number of simulations decides it.
    run = site.go(site.place(measure=True, intent=policy("200 ms, p99.9999: 201 ms")))
    told = site.run_requests.detail(run.id)
    assert (run.status, told.outcome_after()) == (RunStatus.ROLLED_BACK, "inconclusive")
    (stage,) = [stage for stage in told.stages if stage.name.startswith("measure-after")]
    assert re.fullmatch(
        r"12 simulations of up to 48, \d+\.\d s of processor time, and more would take longer than the "
        r"3,600 s that a computation may",
        stage.summary,
    )


def test_without_that_rule_it_goes_back_and_says_what_is_worse_again(site: Site) -> None:
    before = site.running()
    back = site.go(site.place(measure=True, intent=policy("30 ms")))
    assert (back.status, back.reason_step) == (RunStatus.ROLLED_BACK, "measure-after")
    assert "after the push the objectives are not met. What the change made better is lost again:" in back.reason
    assert "robin infn→vme delay p50" in back.reason
    assert site.running() == before


def test_what_is_worse_is_not_kept_by_that_rule(site: Site) -> None:
    starving = policy("30 ms", keep="no-worse", treatment="bandwidth: {remaining_percent: 1}")
    back = site.go(site.place(measure=True, intent=starving))
    assert back.status is RunStatus.ROLLED_BACK
    assert "nor is it shown that nothing is worse than before: robin infn→vme delay p50" in back.reason
    assert "What is restored" not in back.reason


def test_a_network_may_have_a_stricter_rule_than_the_policy(site: Site) -> None:
    run = site.place(ChangeRules(keep="met"), measure=True, intent=policy("30 ms", keep="no-worse"))
    assert site.go(run).status is RunStatus.ROLLED_BACK
    site.changes.write_text("keep: met\n")
    run = site.place(measure=True, intent=policy("30 ms", keep="no-worse"))
    assert site.run_requests.detail(run.id).keep == "no-worse"
    assert site.go(run).status is RunStatus.ROLLED_BACK


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_an_approver_is_asked_whether_to_keep_what_is_not_met(site: Site, word: str) -> None:
    before = site.running()
    run = site.place(measure=True, intent=policy("30 ms", keep="ask"))
    with site.beside(run):
        site.waits(run, ASKS)
        asked = site.run_requests.question(run.id)
        assert asked is not None
        assert site.running() != before
        assert site.run_requests.detail(run.id).question == asked
        with pytest.raises(InvalidState, match="not what the run asks"):
            site.run_requests.approve(run.id, "grace", "0" * 64)
        assert site.run_requests.run(run.id).due is not None
        if word == "approve":
            site.run_requests.approve(run.id, "grace", asked, "better than nothing")
        else:
            site.run_requests.reject(run.id, "grace", "not in the exam week")
    ended = site.run_requests.run(run.id)
    if word == "approve":
        assert (ended.status, ended.reason) == (RunStatus.KEPT, "")
    else:
        assert ended.status is RunStatus.ROLLED_BACK
        assert "grace rejected keeping it" in ended.reason
        assert site.running() == before
    assert site.run_requests.question(run.id) is None
    (decision,) = site.run_requests.detail(run.id).decisions
    assert (decision.approved, decision.by, decision.keeping) == (word == "approve", "grace", True)
    told = dict(run_metadata(site.run_requests.detail(run.id)))
    assert "UTC, to keep what is not met" in told["approved by" if word == "approve" else "rejected by"]
    with pytest.raises(InvalidState, match="waits for no approval"):
        site.run_requests.approve(run.id, "grace", asked)


def test_under_four_eyes_nobody_keeps_what_they_asked_for(site: Site) -> None:
    rules = ChangeRules(approval="four_eyes")
    run = site.place(rules, measure=True, intent=policy("30 ms", keep="ask"))
    site.go(run)
    listed = site.run_requests.candidate(run.id)
    assert listed is not None
    site.run_requests.approve(run.id, "hedy", listed.id, "to see what it does")
    with site.beside(run):
        site.waits(run, ASKS)
        asked = site.run_requests.question(run.id) or ""
        with pytest.raises(NotAllowed):
            site.run_requests.approve(run.id, "ada", asked)
        site.run_requests.approve(run.id, "hedy", asked)
    assert site.run_requests.run(run.id).status is RunStatus.KEPT


def test_without_a_word_in_time_it_goes_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "ASK_SECONDS", 0.5)
    before = site.running()
    back = site.go(site.place(measure=True, intent=policy("30 ms", keep="ask")))
    assert back.status is RunStatus.ROLLED_BACK
    assert "nobody said in time to keep it" in back.reason
    assert site.running() == before


def test_what_was_not_measured_before_is_not_shown_to_be_no_worse(site: Site) -> None:
    run = site.place(measure=True, tester="external", intent=policy("30 ms", keep="no-worse"))
    with site.beside(run):
        site.waits(run, outside.waiting_for("after"))
        site.run_requests.receive(run.id, "after", "probe", measured("after", 40 * MILLISECOND))
    ended = site.run_requests.run(run.id)
    assert ended.status is RunStatus.ROLLED_BACK
    assert "robin infn→vme was not measured before" in ended.reason


def test_unconfirmed_lines_are_refused_before_a_device_is_contacted_unless_accepted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A release whose shapers no source attests, on devices that nothing emulates.
    devices = tuple(
        d.model_copy(update={"image": "12.2(15)T", "reach": d.reach.model_copy(update={"hostname": "127.0.0.1"})})
        for d in site.network.devices
    )
    writable = ChangeRules(writable=True)
    elsewhere = site.network.model_copy(update={"name": "elsewhere", "devices": devices, "changes": writable})
    contacted: list[str] = []

    def on_devices(_context: Context, names: list[str], *_: object, **__: object) -> dict[str, Outcome[Any]]:
        contacted.extend(names)
        return {name: Outcome(name, error=errors.DeviceError("it is not there")) for name in names}

    monkeypatch.setattr(Context, "on_devices", on_devices)
    shaped = POLICY.replace("priority: {rate: 400 kb/s}", "shape: {rate: 400 kb/s}")
    order = site.order.having(network=elsewhere, intent=parse_intent(shaped, "shaped.yaml"))
    rejected = site.go(site.run_requests.submit(*order, "ada")[0])
    assert (rejected.status, rejected.reason_step, contacted) == (RunStatus.REJECTED, "read", [])
    assert "nobody has accepted" in rejected.reason
    assert "shape average 400000" in rejected.reason
    assert "--accept-unconfirmed" in rejected.reason_hint

    accepted = site.go(site.run_requests.submit(*order.having(accept_unconfirmed=True), "ada")[0])
    assert (accepted.status, sorted(contacted)) == (RunStatus.FAILED, list(BOXES))
    told = dict(run_metadata(site.run_requests.detail(accepted.id)))
    assert told["accepted"] == "lines that no published source confirms"
    assert "accepted" not in dict(run_metadata(site.run_requests.detail(rejected.id)))


def test_emulated_devices_take_unconfirmed_lines_as_they_are(site: Site) -> None:
    order = site.order.having(strict=True, network=site.network)
    kept = site.go(site.run_requests.submit(*order, "ada")[0])
    assert kept.status is RunStatus.KEPT
