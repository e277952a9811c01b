"""What must hold after the chaos, asked of the devices and of the records, not of the code under test."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.runs.engine.workflow_ids import WORKFLOW
from qosforge.runs.record.journal import JournalEntry
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import (
    EVENTS,
    JOURNAL,
    LEASES,
    RUNS,
    SETTLING,
    STAGES,
    JournalAction,
    RunStatus,
    StageOutcome,
)

from .crowd import Box, Crowd, commands

_GIVEN_UP = "MAX_RECOVERY_ATTEMPTS_EXCEEDED"
_OVER = {"SUCCESS", "ERROR", _GIVEN_UP}
_UNTOUCHED = {RunStatus.NO_CHANGES, RunStatus.REJECTED}


@dataclass(frozen=True)
class Seen:
    """How the runs ended, how many were given up as their process had died, and stages that were cut short."""

    statuses: Mapping[str, int]
    given_up: int
    interrupted: int


def check(
    crowd: Crowd, store: RunStore, artifacts: Artifacts, asked: Iterable[str], first: Mapping[Box, str]
) -> Seen:
    """Every run ended, none twice, no box is left unrecorded; ``first``: what the boxes held before all runs."""
    with store.database.read() as connection:
        rows = connection.execute(sa.select(RUNS.c.id)).scalars().all()
        journal = _journal(connection)
        assert connection.execute(sa.select(LEASES)).all() == []
    assert sorted(rows) == sorted(asked), "one run for each key, and no other"
    runs = {run_id: store.get_run(run_id) for run_id in rows}
    for run in runs.values():
        _ended_once(store, run)
    _carried_once(crowd, store, runs, {entry.run_id for _, entry in journal})
    assert store.journal.open_touches() == []
    for box in crowd.boxes:
        of_box = [entry for network, entry in journal if (network, entry.device) == (box.network, box.name)]
        _one_at_a_time(of_box)
        for run_id in {entry.run_id for entry in of_box}:
            _settled_once(runs[run_id], box, [entry for entry in of_box if entry.run_id == run_id])
        held = _recorded(store, artifacts, of_box, box, first[box])
        assert commands(crowd.running(box)) == commands(held), f"{box} holds what the journal says"
        assert commands(crowd.startup(box)) == commands(held), f"{box} would boot with it"
    assert crowd.timers() == []
    given_up = sum("died under it" in run.reason for run in runs.values())
    return Seen(Counter(run.status.value for run in runs.values()), given_up, _interrupted(store))


def _journal(connection: sa.Connection) -> list[tuple[str, JournalEntry]]:
    query = sa.select(RUNS.c.network, *JOURNAL.c).join(RUNS, RUNS.c.id == JOURNAL.c.run_id).order_by(JOURNAL.c.seq)
    found = []
    for row in connection.execute(query):
        fields = dict(row._mapping)
        network = fields.pop("network")
        found.append((network, JournalEntry(**{**fields, "action": JournalAction(fields["action"])})))
    return found


def _carried_once(crowd: Crowd, store: RunStore, runs: Collection[str], touching: Collection[str]) -> None:
    """The engine has one workflow for a run, and none that goes on; one that was cancelled early may have none.

    Of a run whose process died under it too often it keeps one that was given up: it has failed, was taken back,
    or had saved its change everywhere, which is no reason to tell where the run's own end was written before.
    """
    embedded = store.database.is_embedded
    engine = sa.create_engine(f"sqlite:///{crowd.var / 'engine.sqlite'}" if embedded else store.database.url)
    record = sa.table(
        "workflow_status",
        sa.column("workflow_uuid"),
        sa.column("name"),
        sa.column("status"),
        schema=None if embedded else "dbos",
    )
    deadline = time.monotonic() + 60  # a run's end is written before its workflow's
    while True:
        with engine.connect() as connection:
            known = connection.execute(sa.select(record)).all()
        if all(row.status in _OVER for row in known) or time.monotonic() >= deadline:
            break
        time.sleep(0.2)
    engine.dispose()
    assert {row.status for row in known} <= _OVER, known
    loops = [row.workflow_uuid for row in known if row.name == WORKFLOW]
    for row in known:
        if row.status == _GIVEN_UP and row.name == WORKFLOW:
            run = store.get_run(row.workflow_uuid)
            ends = (RunStatus.FAILED, RunStatus.ROLLED_BACK, RunStatus.KEPT)
            assert run.status in ends, (run.id, run.status)
            assert run.reason, run.id
    assert set(touching) <= set(loops) <= set(runs), (loops, runs)


def _ended_once(store: RunStore, run: Run) -> None:
    assert run.status.final, (run.id, run.status)
    assert run.attempt == 1, (run.id, run.attempt, run.reason)
    query = (
        sa.select(EVENTS.c.data).where(EVENTS.c.run_id == run.id, EVENTS.c.kind == "status").order_by(EVENTS.c.seq)
    )
    told = store.database.query(
        lambda connection: [RunStatus(data["status"]) for data in connection.scalars(query)]
    )
    assert [status for status in told if status.final] == [run.status], (run.id, told)
    assert told[-1] is run.status, (run.id, told)


def _one_at_a_time(entries: list[JournalEntry]) -> None:
    """No run is at a device while another is."""
    order = [entry.run_id for entry in entries]
    changes = [run_id for number, run_id in enumerate(order) if number == 0 or order[number - 1] != run_id]
    assert len(changes) == len(set(changes)), [(entry.run_id[-4:], entry.action.value) for entry in entries]


def _named_as_saved(run: Run) -> list[str]:
    """Devices that hold a failed run's change: its process died too often between saving one and the next."""
    named = re.search("its change is saved on (.*), its other devices are put back", run.reason)
    return named.group(1).split(", ") if named and run.status is RunStatus.FAILED else []


def _settled_once(run: Run, box: Box, entries: list[JournalEntry]) -> None:
    """Once a run has settled a box it does not send its change again, and it left the box as its status says."""
    actions = [entry.action for entry in entries]
    story = (run.id, run.status, box, [action.value for action in actions])
    assert run.status not in _UNTOUCHED, story
    settled = [number for number, action in enumerate(actions) if action in SETTLING]
    if not any(action in (JournalAction.TOUCHING, JournalAction.UNDOING) for action in actions):
        return  # looked at, and found otherwise than it had been read
    assert settled, story
    assert JournalAction.TOUCHING not in actions[settled[0] :], story
    kept = run.status is RunStatus.KEPT or box.name in _named_as_saved(run)
    assert actions[settled[-1]] is (JournalAction.CONFIRMED if kept else JournalAction.UNDONE), story
    assert actions.count(JournalAction.CONFIRMED) <= 1, story


def _recorded(store: RunStore, artifacts: Artifacts, entries: list[JournalEntry], box: Box, first: str) -> str:
    """What a device holds by the records alone: each touch began at what the one before it had left."""
    held = first
    runs = list(dict.fromkeys(entry.run_id for entry in entries))
    for run_id in runs:
        mine = [entry for entry in entries if entry.run_id == run_id]
        for before in {entry.before for entry in mine if entry.before is not None}:
            assert commands(artifacts.get_text(before)) == commands(held), f"{box} was as it had been left"
        last = [entry.action for entry in mine if entry.action in SETTLING][-1:]
        if last == [JournalAction.CONFIRMED]:
            held = artifacts.get_text(_read_back(store, run_id)[box.name])
    return held


def _read_back(store: RunStore, run_id: str) -> dict[str, Any]:
    stages = [
        stage for stage in store.stages(run_id) if (stage.name, stage.outcome) == ("read-back", StageOutcome.DONE)
    ]
    running: dict[str, Any] = stages[-1].summary.running
    return running


def _interrupted(store: RunStore) -> int:
    query = sa.select(sa.func.count()).where(STAGES.c.outcome == StageOutcome.INTERRUPTED.value)
    return int(store.database.query(lambda connection: connection.scalar(query)) or 0)
