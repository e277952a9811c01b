"""How far a run came, device by device, from what its stores say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary, parse_summary
from qosforge.runs.record.tables import JournalAction, RunStatus, StageOutcome
from qosforge.runs.views.progress import DeviceStep, Progress, StepState, progress
from tests.runs.support import WHY

READ = {"running": {"r1": "0" * 64, "r2": "0" * 64}, "errors": []}
TEXTS = dict.fromkeys(("configuration", "delta", "inverse"), "0" * 64)
PREPARED = {"devices": {"r1": {**TEXTS, "empty": False}, "r2": {**TEXTS, "empty": True}}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(f"sqlite:///{tmp_path / 'runs.sqlite'}") as made:
        yield made


@pytest.fixture
def run(store: RunStore) -> Run:
    made = store.create_run("campus", "policy", "0" * 64, {})
    store.begin_attempt(made.id, 1)
    return made


def stage(store: RunStore, run: Run, name: str, summary: dict[str, object]) -> None:
    store.end_stage(store.begin_stage(run.id, name), StageOutcome.DONE, parse_summary(name, summary))


def states(seen: Progress, device: str) -> dict[DeviceStep, StepState]:
    """The steps of a device that were begun."""
    (found,) = (one for one in seen.devices if one.device == device)
    return {step: mark.state for step, mark in found.steps.items() if mark.state is not StepState.OPEN}


def test_a_box_shows_as_soon_as_it_was_read(store: RunStore, run: Run) -> None:
    assert progress(store, run).devices == ()
    reading = store.begin_stage(run.id, "read")
    store.events.device(run.id, "r2", "read")
    seen = progress(store, run)
    assert states(seen, "r2") == {DeviceStep.READ: StepState.DONE}
    assert [one.device for one in seen.devices] == ["r2"]
    assert seen.under_way == reading


def test_boxes_that_are_still_to_be_read_count_from_the_start(store: RunStore, run: Run) -> None:
    with store.stage(run.id, "read", ReadSummary(asked=["r1", "r2", "r3"])):
        store.events.device(run.id, "r2", "read")
        seen = progress(store, run)
    assert [one.device for one in seen.devices] == ["r1", "r2", "r3"]
    assert [states(seen, one.device) for one in seen.devices] == [{}, {DeviceStep.READ: StepState.DONE}, {}]


def test_a_box_that_cannot_be_read_says_why(store: RunStore, run: Run) -> None:
    error = {"device": "r1", "message": "the device refuses the credentials", "hint": "check the password"}
    stage(store, run, "read", {"running": {"r2": "0" * 64}, "errors": [error]})
    (first, second) = progress(store, run).devices
    assert first.steps[DeviceStep.READ].state is StepState.FAILED
    assert first.steps[DeviceStep.READ].note == "the device refuses the credentials (check the password)"
    assert second.steps[DeviceStep.READ].state is StepState.DONE


def test_what_a_push_met_is_no_failure_of_reading_back(store: RunStore, run: Run) -> None:
    gone = {"device": "r1", "message": "went out of reach", "hint": ""}
    stage(store, run, "read", READ)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    stage(store, run, "push", {"devices": ["r1", "r2"], "wave": 1, "errors": [gone]})
    # As earlier releases recorded it, too.
    stage(store, run, "read-back", {"running": {"r2": "0" * 64}, "wave": 1, "errors": [gone]})
    (first, second) = progress(store, run).devices
    assert first.steps[DeviceStep.PUSH].note == "went out of reach"
    assert first.steps[DeviceStep.READ_BACK].state is StepState.OPEN
    assert second.steps[DeviceStep.READ_BACK].state is StepState.DONE


def test_every_touch_shows_when_it_is_written(store: RunStore, run: Run) -> None:
    stage(store, run, "read", READ)
    stage(store, run, "prepare", PREPARED)
    before = {DeviceStep.READ: StepState.DONE, DeviceStep.PREPARE: StepState.DONE}
    assert states(progress(store, run), "r1") == before
    assert states(progress(store, run), "r2") == before | {DeviceStep.PREPARE: StepState.NOTHING}
    expected = [
        (JournalAction.TOUCHING, DeviceStep.PUSH, StepState.BUSY),
        (JournalAction.TOUCHED, DeviceStep.PUSH, StepState.DONE),
        (JournalAction.READ_BACK, DeviceStep.READ_BACK, StepState.DONE),
        (JournalAction.CONFIRMED, DeviceStep.KEEP, StepState.DONE),
    ]
    for action, step, state in expected:
        store.journal.append(run.id, "r1", action)
        assert states(progress(store, run), "r1")[step] is state


def test_a_refused_line_is_the_pushes_failure_and_is_undone(store: RunStore, run: Run) -> None:
    stage(store, run, "read", READ)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    store.journal.append(run.id, "r1", JournalAction.FAILED, note="% Bad line")
    store.journal.append(run.id, "r1", JournalAction.UNDOING)
    assert states(progress(store, run), "r1")[DeviceStep.ROLL_BACK] is StepState.BUSY
    store.journal.append(run.id, "r1", JournalAction.UNDONE)
    (first, _) = progress(store, run).devices
    assert (first.steps[DeviceStep.PUSH].state, first.steps[DeviceStep.PUSH].note) == (
        StepState.FAILED,
        "% Bad line",
    )
    assert first.steps[DeviceStep.ROLL_BACK].state is StepState.DONE


@pytest.mark.parametrize(
    ("stages", "failed"),
    [
        ((), DeviceStep.READ_BACK),
        (("read-back",), DeviceStep.KEEP),
        (("read-back", "counters"), DeviceStep.COUNTERS),
    ],
)
def test_what_fails_after_the_push_is_told_at_its_step(
    store: RunStore, run: Run, stages: tuple[str, ...], failed: DeviceStep
) -> None:
    stage(store, run, "read", READ)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    store.journal.append(run.id, "r1", JournalAction.TOUCHED)
    for name in stages:
        error = {"device": "r1", "message": "counts otherwise", "hint": ""}
        stage(store, run, name, {"running": {"r1": "0" * 64}, "errors": [error] if name == "counters" else []})
    store.journal.append(run.id, "r1", JournalAction.FAILED, note="wrong")
    assert states(progress(store, run), "r1")[failed] is StepState.FAILED


def test_another_attempt_begins_with_a_clean_board(store: RunStore, run: Run) -> None:
    stage(store, run, "read", READ)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING)
    store.journal.append(run.id, "r1", JournalAction.UNDONE)
    store.set_status(run.id, RunStatus.ROLLED_BACK, reason=WHY)
    assert store.next_attempt(store.get_run(run.id))
    store.begin_attempt(run.id, 2)
    stage(store, run, "read", READ)
    seen = progress(store, store.get_run(run.id))
    assert seen.attempt == 2
    assert states(seen, "r1") == {DeviceStep.READ: StepState.DONE}
    assert [one.name for one in seen.earlier] == ["read"]


def test_touches_are_told_to_who_watches(store: RunStore, run: Run) -> None:
    store.events.device(run.id, "r1", "read")
    store.journal.append(run.id, "r1", JournalAction.FAILED, note="no answer")
    told = [event.data for event in store.events.after(run.id) if event.kind == "device"]
    assert told == [
        {"device": "r1", "action": "read"},
        {"device": "r1", "action": "failed", "note": "no answer"},
    ]
    assert store.events.last(run.id) == store.events.after(run.id)[-1].seq


def test_waves_show_how_far_each_came(store: RunStore, run: Run) -> None:
    more = {"revert_seconds": 900}
    waves = [{"name": n, "devices": [n], "steps": [[n]], **more} for n in ("r1", "r2", "r3")]
    assert progress(store, run).waves == ()
    stage(store, run, "rollout", {"waves": waves})
    shown = lambda: [wave.state for wave in progress(store, run).waves]  # noqa: E731
    assert shown() == ["to come"] * 3
    stage(store, run, "push", {"wave": 1, "errors": []})
    assert shown() == ["now", "to come", "to come"]
    stage(store, run, "read-back", {"wave": 1, "running": {"r1": "0" * 64}, "errors": []})
    pushing = store.begin_stage(run.id, "push")
    assert shown() == ["done", "now", "to come"]
    error = {"device": "r2", "message": "refuses", "hint": ""}
    store.end_stage(pushing, StageOutcome.DONE, parse_summary("push", {"wave": 2, "errors": [error]}))
    assert shown() == ["done", "failed", "to come"]
    stage(store, run, "rollback", {"running": {"r1": "0" * 64, "r2": "0" * 64}})
    assert shown() == ["rolled back", "rolled back", "to come"]
