"""A run that was approved, until it goes on: its devices are read and checked again first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from qosforge.runs.record.decisions import Decision
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.views.progress import Progress
from qosforge.web.views.run_steps import is_after_approval

_GOES_ON = frozenset({RunStatus.PENDING, RunStatus.SCHEDULED, RunStatus.RUNNING})


class RunApproved(NamedTuple):
    """Who approved what a run is to do, in which of its attempts that was prepared, and whether it ``has_begun``
    the next one, which reads and checks again.
    """

    by: str
    attempt: int
    has_begun: bool

    @classmethod
    def of(cls, run: Run, progress: Progress, decisions: Sequence[Decision]) -> Self | None:
        """The approval of a run that has not gone on to what follows one; ``None`` where there is none.

        ``decisions`` are all on it, the oldest first; one on keeping its change is none of these, as it was pushed.
        """
        given = decisions[-1] if decisions else None
        if given is None or not given.approved or run.status not in _GOES_ON:
            return None
        stages = (*progress.earlier, *progress.stages)
        prepared = max((stage.run_attempt for stage in stages if stage.started < given.at), default=None)
        if prepared is None:
            return None
        if any(stage.run_attempt >= prepared and is_after_approval(stage.name) for stage in stages):
            return None
        return cls(given.by, prepared, any(stage.started >= given.at for stage in stages))
