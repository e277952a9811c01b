"""A process that is killed, and a box that hangs up, while boxes are being changed: what is left is finished."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import SETTLING, JournalAction, RunStatus, StageOutcome
from qoslab import control

from .campus import IMPOSSIBLE, POLICY, Campus, with_checks
from .command import Command

Texts = Mapping[str, str]


@dataclass(frozen=True)
class States:
    """What every device held as it was delivered, and what it holds once the intent is kept."""

    delivered: Texts
    planned: Texts


@pytest.fixture(scope="module")
def states(campus: Campus) -> States:
    delivered = campus.all_running()
    assert campus.command("push", POLICY).code == 0
    return States(delivered, campus.all_running())


@pytest.fixture
def fresh(campus: Campus, states: States) -> Iterator[Campus]:
    """Devices as they were delivered; no fault outlives the test."""
    del states
    campus.reset()
    yield campus
    campus.reset()


class Watched:
    """A command that changes devices, with its newest run in the store."""

    def __init__(self, campus: Campus, store: RunStore, *arguments: object) -> None:
        self._store = store
        self._older = {run.id for run in store.list_runs()}
        self.command: Command = campus.begin(*arguments)

    @property
    def run_id(self) -> str | None:
        return next((run.id for run in self._store.list_runs() if run.id not in self._older), None)

    def boxes(self, action: JournalAction) -> set[str]:
        """Devices of which the journal says so."""
        run_id = self.run_id
        if run_id is None:
            return set()
        return {row.device for row in self._store.journal.entries(run_id) if row.action is action}

    def doing(self, stage: str) -> bool:
        """Whether it has said that it is at a stage."""
        return f"  {stage} " in self.command.printed().stderr

    def kill_when(self, condition: Callable[[], bool], what: str) -> str:
        """SIGKILL it at that moment; returns its run."""
        self.command.wait_for(condition, what)
        self.command.kill()
        assert self.run_id is not None
        return self.run_id


Watch = Callable[..., Watched]
"""Begins a command with these arguments."""


@pytest.fixture
def watch(fresh: Campus) -> Iterator[Watch]:
    """Begins a command and watches it through one store: to open one for each look would take a core from it."""
    with fresh.store() as store:
        yield partial(Watched, fresh, store)


def slow(campus: Campus, seconds: float, *names: str) -> None:
    for name in names:
        control.plant(campus.state, name, "slow", seconds=seconds)


def quick(campus: Campus) -> None:
    for name in campus.names:
        control.plant(campus.state, name, "clear")


def finish(campus: Campus, way: str, policy: Path, command: str) -> None:
    """What a person does next."""
    quick(campus)
    ended = campus.command("recover") if way == "recover" else campus.command(command, policy)
    assert "Traceback" not in ended.text
    assert ended.code == 0, ended.text


def settled(campus: Campus, states: States, run_id: str, interrupted: str) -> RunStatus:
    """Check that nothing is left half-way, and return how the killed run ended."""
    held = campus.all_running()
    with campus.store() as store:
        run = store.get_run(run_id)
        assert store.unfinished_runs() == []
        assert store.journal.open_touches() == []
        assert store.leases.active() == []
        rows = store.journal.entries(run_id)
        touched = {row.device for row in rows}
        last = {row.device: row.action for row in rows if row.action in SETTLING}
        attempts = [stage for stage in store.stages(run_id) if stage.name == interrupted]
    assert run.status in (RunStatus.KEPT, RunStatus.ROLLED_BACK)
    settling = JournalAction.CONFIRMED if run.status is RunStatus.KEPT else JournalAction.UNDONE
    assert last == dict.fromkeys(touched, settling)
    assert [attempt.outcome for attempt in attempts[:2]] == [StageOutcome.INTERRUPTED, StageOutcome.DONE]
    assert campus.timers() == []
    assert held in (states.delivered, states.planned)
    assert {name: _commands(campus.startup(name)) for name in campus.names} == {
        name: _commands(text) for name, text in held.items()
    }
    return run.status


def _commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("!")]


# -- during the push --------------------------------------------------------------------------------------
def test_killed_before_the_first_line(fresh: Campus, watch: Watch, states: States) -> None:
    slow(fresh, 0.4, *fresh.names)
    watched = watch("push", POLICY)
    run_id = watched.kill_when(lambda: bool(watched.boxes(JournalAction.TOUCHING)), "the first touch")
    finish(fresh, "recover", POLICY, "push")
    settled(fresh, states, run_id, "push")


@pytest.mark.parametrize(("late", "way"), [("s2950", "again"), ("ers5510", "recover"), ("r3", "recover")])
def test_killed_in_the_middle_of_a_box_with_others_done(
    fresh: Campus, watch: Watch, states: States, late: str, way: str
) -> None:
    slow(fresh, 0.2, late)
    watched = watch("push", POLICY)

    def half_way() -> bool:
        done = watched.boxes(JournalAction.TOUCHED)
        return len(done) >= 3 and late not in done and fresh.running(late) != states.delivered[late]

    run_id = watched.kill_when(half_way, f"{late} half-way")
    assert fresh.running(late) not in (states.delivered[late], states.planned[late])
    finish(fresh, way, POLICY, "push")
    # The half-way device is not built upon: this run goes back, and the same command begins anew.
    assert settled(fresh, states, run_id, "push") is RunStatus.ROLLED_BACK
    assert fresh.all_running() == (states.delivered if way == "recover" else states.planned)


# -- after it ---------------------------------------------------------------------------------------------
def test_killed_while_measuring(fresh: Campus, watch: Watch, states: States, tmp_path: Path) -> None:
    policy = with_checks(POLICY, tmp_path / "policy.yaml", ("vigo1", "vigo2"), ("phone56", "vigo1"))
    watched = watch("run", policy)
    run_id = watched.kill_when(lambda: watched.doing("measure-after"), "the measurement")
    assert fresh.timers() != []  # the devices would go back by themselves
    finish(fresh, "recover", policy, "run")
    assert settled(fresh, states, run_id, "measure-after") is RunStatus.KEPT
    assert fresh.all_running() == states.planned


def test_killed_while_keeping(fresh: Campus, watch: Watch, states: States, tmp_path: Path) -> None:
    policy = with_checks(POLICY, tmp_path / "policy.yaml", ("vigo1", "vigo2"))
    watched = watch("run", policy)
    watched.command.wait_for(lambda: watched.doing("measure-after"), "the measurement")
    slow(fresh, 0.3, "r3", "b56", "e300")
    run_id = watched.kill_when(lambda: bool(watched.boxes(JournalAction.CONFIRMED)), "the first device to be kept")
    assert watched.boxes(JournalAction.CONFIRMED) != set(fresh.names)
    finish(fresh, "again", policy, "run")
    assert settled(fresh, states, run_id, "keep") is RunStatus.KEPT
    assert fresh.all_running() == states.planned


def test_killed_while_rolling_back(fresh: Campus, watch: Watch, states: States, tmp_path: Path) -> None:
    policy = with_checks(IMPOSSIBLE, tmp_path / "impossible.yaml", ("vigo1", "vigo2"))
    watched = watch("run", policy)
    watched.command.wait_for(lambda: watched.doing("measure-after"), "the measurement")
    slow(fresh, 0.2, "s2950", "e300")
    run_id = watched.kill_when(
        lambda: watched.doing("rollback") and fresh.running("s2950") != states.planned["s2950"],
        "the first line of the inverse",
    )
    finish(fresh, "recover", policy, "run")
    assert settled(fresh, states, run_id, "rollback") is RunStatus.ROLLED_BACK
    assert fresh.all_running() == states.delivered


# -- the whole machine ------------------------------------------------------------------------------------
@pytest.mark.parametrize("went_on", [False, True])
def test_a_backup_taken_half_way_is_finished_where_it_is_restored(
    fresh: Campus, watch: Watch, states: States, tmp_path: Path, went_on: bool
) -> None:
    slow(fresh, 0.2, "r3")
    watched = watch("push", POLICY)
    watched.command.wait_for(lambda: len(watched.boxes(JournalAction.TOUCHED)) >= 3, "three devices")
    saved = fresh.command("backup", "create", tmp_path / "backup")
    assert saved.code == 0, saved.text
    if went_on:
        quick(fresh)
        assert watched.command.wait().code == 0
    else:
        watched.command.kill()
    place = tmp_path / "restored"
    assert fresh.command("backup", "restore", tmp_path / "backup", "--into", place).code == 0
    quick(fresh)
    ended = fresh.command("recover", environment={"QOSFORGE_VAR_DIR": str(place)})
    assert (ended.code, "Traceback" in ended.text) == (0, False), ended.text
    assert watched.run_id is not None
    with RunStore(f"sqlite:///{place / 'runs.sqlite'}") as store:
        assert store.unfinished_runs() == []
        assert store.journal.open_touches() == []
        status = store.get_run(watched.run_id).status
    # Where the run went on after the backup every device holds the plan, and nothing speaks against it.
    assert status in ((RunStatus.KEPT,) if went_on else (RunStatus.KEPT, RunStatus.ROLLED_BACK)), ended.text
    expected = states.planned if status is RunStatus.KEPT else states.delivered
    assert fresh.all_running() == expected
    assert fresh.timers() == []
    finish(fresh, "recover", POLICY, "push")  # where it was lost: other tests share that store


# -- devices that hang up ----------------------------------------------------------------------------------
def test_boxes_that_hang_up_in_the_middle_are_named_and_all_go_back(fresh: Campus, states: States) -> None:
    broken = ["r1", "r3", "s2970", "ers5510", "e300"]
    control.plant(fresh.state, "r1", "disconnect", pattern=r"^copy flash:\S+ running-config")
    for name in broken[1:]:
        control.plant(fresh.state, name, "disconnect", mode="configuration", lines=9)
    ended = fresh.command("push", POLICY, "--json")
    document: dict[str, Any] = json.loads(ended.stdout)
    assert (ended.code, document["status"]) == (3, "rolled_back")
    assert sorted(error["device"] for error in document["errors"]) == sorted(broken)
    assert fresh.all_running() == states.delivered
    assert fresh.timers() == []
    with fresh.store() as store:
        assert store.journal.open_touches() == []
        assert store.leases.active() == []
