"""Which runs stand: a kept one that is rolled back has that written to it as its rollback comes to be kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

import sqlalchemy as sa

from qosforge.runs.record.resolved_run import ROLLBACK_OF
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import IN_FORCE, RUNS, RunStatus


class _Standing(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def policy(self) -> str: ...
    @property
    def updated(self) -> datetime: ...
    @property
    def status(self) -> RunStatus: ...
    @property
    def rollback_of(self) -> str | None: ...
    @property
    def rolled_back_by(self) -> str | None: ...


_R = TypeVar("_R", bound=_Standing)


def standing_runs(runs: Iterable[_R]) -> Iterator[_R]:
    """Of a network's runs, the newest first, those that are still about what its devices hold.

    They were kept, or found nothing to change. What was found between a run and its rollback is gone with that run,
    whatever its policy: where it found nothing to change, it found what that run had entered.
    """
    gone: str | None = None
    for run in runs:
        if run.status not in IN_FORCE or run.rolled_back_by is not None:
            continue
        if gone is not None and run.id >= gone:
            continue
        if run.status is RunStatus.KEPT and run.rollback_of is not None:
            gone = run.rollback_of
        yield run


@dataclass(frozen=True)
class PolicyInForce(Generic[_R]):
    """The policy that the devices of a network hold: ``run`` brought it, or found it there.

    ``entered`` is the run whose lines the devices hold since it was kept, a rollback to before another one, too;
    ``None`` where it is older than the runs that were looked through.
    """

    run: _R
    entered: _R | None

    @property
    def since(self) -> datetime:
        """Since when it is known to be in force."""
        if self.entered is not None and (self.entered.id >= self.run.id or self.entered.policy == self.run.policy):
            return self.entered.updated
        return self.run.updated


def policy_in_force(runs: Iterable[_R]) -> PolicyInForce[_R] | None:
    """The policy that a network's devices hold by its runs, the newest first; ``None`` where none stands.

    A rollback brings no policy of its own: what stands is what was kept before the run that it rolled back.
    """
    standing = list(standing_runs(runs))
    held = next((run for run in standing if run.rollback_of is None), None)
    if held is None:
        return None
    return PolicyInForce(held, next((run for run in standing if run.status is RunStatus.KEPT), None))


def mark_rolled_back(connection: sa.Connection, before: Run, now: Run) -> None:
    """Say on the run that another one rolls back whether it does, where that one comes to be kept or begins again.

    In the transaction that changes the status. Rolling a rollback back lets the run before it stand again.
    """
    kept = now.status is RunStatus.KEPT
    if now.rollback_of is not None and kept != (before.status is RunStatus.KEPT):
        (_set_rolled_back if kept else _set_standing)(connection, now.rollback_of, now.id)


def _set_rolled_back(connection: sa.Connection, run_id: str, by: str) -> None:
    of = _set(connection, run_id, by, sa.true())
    if of is not None:
        _set_standing(connection, of, run_id)


def _set_standing(connection: sa.Connection, run_id: str, by: str) -> None:
    of = _set(connection, run_id, None, RUNS.c.rolled_back_by == by)
    if of is not None:
        _set_rolled_back(connection, of, run_id)


def _set(connection: sa.Connection, run_id: str, by: str | None, where: sa.ColumnElement[bool]) -> Any:
    """Write what rolled a run back, where it is so; the run that this one rolls back itself, if any."""
    update = sa.update(RUNS).where(RUNS.c.id == run_id, where).values(rolled_back_by=by)
    return connection.execute(update.returning(RUNS.c.params[ROLLBACK_OF].as_string())).scalar()
