"""How the change of a run was, or is being, rolled back: by the run itself, or by a later one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from qosforge.runs.record.next_try import FIRST_PAUSE
from qosforge.runs.record.rollbacks import rollbacks_of
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.views.progress import Progress
from qosforge.web.views.run_steps import StageRow, stage_rows


@dataclass(frozen=True)
class RunRollback:
    """The rollback of a run's change."""

    store: RunStore
    run: Run
    progress: Progress

    @cached_property
    def tries(self) -> list[StageRow]:
        """The run's own tries at it, as they are listed."""
        return [row for row in stage_rows(self.progress.stages) if row.last.name == "rollback"]

    @property
    def last_try(self) -> StageRow | None:
        """Those that failed alike, the newest of them."""
        return self.tries[-1] if self.tries else None

    @property
    def refused(self) -> tuple[StageRow, datetime] | None:
        """The last tries that failed alike, and when it was done; ``None`` where it was not so."""
        failed = [row for row in self.tries if row.last.summary.errors]
        back = self.tries[-1].last.ended if self.tries else None
        return None if not failed or back is None or failed[-1] is self.tries[-1] else (failed[-1], back)

    @property
    def next_try(self) -> datetime:
        """When a run that stands half-way is tried next, where no executor has said it yet: about."""
        return self.run.due or self.run.updated + FIRST_PAUSE

    @cached_property
    def runs(self) -> list[Run]:
        """The runs that were started to roll this one back."""
        return rollbacks_of(self.store, self.run)

    @cached_property
    def by(self) -> Run | None:
        """The run that rolled this one back after it was kept; ``None`` while the change stands."""
        return next((run for run in self.runs if run.id == self.run.rolled_back_by), None)
