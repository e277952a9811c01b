"""The log line of a run that ended: its outcome, the reason, and which devices failed."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from qosforge.run_outcome import OutcomeReason
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.tables import RunStatus

if TYPE_CHECKING:
    from qosforge.runs.record.run import Run

_log = logging.getLogger(__name__)
# A command without a log of its own tells the end itself: Python would print errors a second time.
_log.addHandler(logging.NullHandler())

_MOST_TOLD = 5
_CHARACTERS = 2000
_FAILED = frozenset({RunStatus.FAILED, RunStatus.NEEDS_RECOVERY})
_UNKEPT = frozenset({RunStatus.ROLLED_BACK, RunStatus.REJECTED})


def error_texts(stages: Sequence[Stage], told: Collection[OutcomeReason] = ()) -> Iterator[str]:
    """What stages say went wrong, in their order, the same of several devices once; without what is ``told``."""
    known = {(one.device, words) for one in told for words in (one.short, one.message)}
    for stage in stages:
        for one in gather_errors(stage.summary.errors):
            if (one.device, one.beside_device) not in known:
                yield str(one)
        if stage.summary.error and ("", stage.summary.error) not in known:
            yield stage.summary.error


def is_end(status: RunStatus) -> bool:
    """Whether a run that comes to this status has ended, or stopped half-way."""
    return status.final or status is RunStatus.NEEDS_RECOVERY


def log_end(run: Run, stages: Sequence[Stage]) -> None:
    """Write the line of a run that ended: a failure as an error, a change that was not kept as a warning.

    ``stages`` are all of the run's; those of its last attempt say why.
    """
    last = [stage for stage in stages if stage.run_attempt == run.attempt]
    errors = [error for stage in last for error in stage.summary.errors]
    told = list(dict.fromkeys(filter(None, [run.reason, *error_texts(last)])))
    more = [f"and {len(told) - _MOST_TOLD} more"] if len(told) > _MOST_TOLD else []
    failed = run.status in _FAILED or (run.status in _UNKEPT and errors)
    level = logging.ERROR if failed else logging.WARNING if run.status in _UNKEPT else logging.INFO
    fields = {
        "run_id": run.id,
        "network": run.network,
        "policy": run.policy,
        "attempt": run.attempt,
        "outcome": run.status.value,
        "verdict": run.verdict.value if run.verdict else None,
        "reason": "; ".join([*told[:_MOST_TOLD], *more])[:_CHARACTERS],
        "devices": sorted({error.device for error in errors if error.device}),
        "seconds": round((run.updated - run.created).total_seconds(), 3),
    }
    _log.log(level, "run ended", extra=fields)
