"""A process that carries out a run and is killed at one of its recorded steps: exactly there, by itself.

A step is recorded when a row is committed: of the journal, of a stage or of the run's status (each is an event in
the same transaction), or of the engine's results of steps. Killed after a step, the row is durable and nothing that
follows has begun; killed before it, what the row is about has happened and nothing tells of it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from qosforge.compute import Compute
from qosforge.executor.service import open_service
from qosforge.runs.record.events import EventKind
from qosforge.runs.record.tables import EVENTS, JournalAction
from qosforge.settings import Settings

from . import command

_ENGINE_STEPS = "operation_outputs"
"""The engine's table of results of steps, which it writes by SQLAlchemy as well."""
_PENDING, _COMMITTED = "steps that are not committed", "steps that are committed"

_OF_THE_CALL = {"timeout", "caller", "unwanted"}
"""Arguments of `Compute.call` that are not the function's."""

LATE = frozenset(JournalAction) - {JournalAction.TOUCHING, JournalAction.UNDOING}
"""What the journal writes behind what it tells of: before these a device may differ from its journal."""


@dataclass(frozen=True)
class Point:
    """A moment of a run: just before or after a recorded step."""

    when: str
    step: str

    @property
    def kind(self) -> str:
        """What the step is recorded as, the first of its words."""
        return self.step.partition(" ")[0]

    def __str__(self) -> str:
        return f"{self.when} {self.step}"


@dataclass
class _Recorder:
    """Writes each step of a run into a file as it is committed, and kills this process at a point."""

    run_id: str
    point: Point | None
    log: Path
    _seen: Counter[str] = field(default_factory=Counter)

    def listen(self) -> None:
        event.listen(sa.Engine, "before_execute", self._written)
        event.listen(sa.Engine, "commit", self._committed)
        event.listen(sa.Engine, "rollback", self._forgotten)
        event.listen(sa.Pool, "checkin", self._given_back)

    def _written(self, connection: sa.Connection, statement: Any, *_: Any) -> None:
        if not isinstance(statement, sa.Insert) or statement.table.name not in (EVENTS.name, _ENGINE_STEPS):
            return
        step = self._step(statement.table.name, statement.compile(dialect=connection.dialect).params)
        if step is None:
            return
        self._seen[step] += 1
        step = f"{step} #{self._seen[step]}" if self._seen[step] > 1 else step
        if self.point == Point("before", step):
            os.kill(os.getpid(), signal.SIGKILL)
        connection.info.setdefault(_PENDING, []).append(step)

    def _step(self, table: str, row: Mapping[str, Any]) -> str | None:
        if table == _ENGINE_STEPS:
            name = row.get("function_name")
            return f"step {name}" if name and self.run_id in row.values() else None
        if row["run_id"] != self.run_id:
            return None
        data = row["data"]
        if row["kind"] == EventKind.STAGE:
            return f"stage {data['stage']} {data['outcome'] or 'begun'}"
        if row["kind"] == EventKind.STATUS:
            return f"status {data['status']}"
        if row["kind"] == EventKind.DEVICE and data["action"] in set(JournalAction):
            return f"journal {data['device']} {data['action']}"
        return None

    def _committed(self, connection: sa.Connection) -> None:
        connection.info[_COMMITTED] = connection.info.pop(_PENDING, [])

    def _forgotten(self, connection: sa.Connection) -> None:
        connection.info.pop(_PENDING, None)

    def _given_back(self, _connection: Any, record: Any) -> None:
        for step in record.info.pop(_COMMITTED, []):
            with self.log.open("a") as file:
                file.write(step + "\n")
            if self.point == Point("after", step):
                os.kill(os.getpid(), signal.SIGKILL)


def carry_out(settings: Settings, run_id: str, point: Point | None, log: Path) -> None:
    """Carry out a recorded run, as a command does, and be killed at ``point``; ``log`` is given the steps.

    Without a point it comes to its end.
    """
    _compute_here()
    sys.stderr = sys.stdout = log.with_suffix(".printed").open("w")
    _Recorder(run_id, point, log).listen()
    with open_service(settings, lambda *_: None) as service:
        service.execute(run_id)


def become(arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
    """Turn this process into a command that goes on with runs."""
    _compute_here()
    command.become(arguments, environment, folder)


def _compute_here() -> None:
    """Compute in this process: beginning another interpreter for it takes longer than all that a cell is about."""

    def call(_self: Compute, function: Callable[..., Any], *args: Any, **more: Any) -> Any:
        return function(*args, **{name: value for name, value in more.items() if name not in _OF_THE_CALL})

    Compute.call = call  # type: ignore[method-assign]
    Compute.start = lambda _self, most=None: None  # type: ignore[method-assign]
