"""Which actions on a run are allowed now, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qosforge.access.roles import NotAllowed
from qosforge.runs.record.invalid_state import InvalidState, require_status, require_stoppable
from qosforge.runs.record.keep_question import question
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.requests.retry_conditions import STARTS, require_reached
from qosforge.runs.workflow.pause import require_pausable, require_paused

Denial = InvalidState | NotAllowed
"""Why an action is not allowed now."""

_DECIDED_ON = frozenset({RunStatus.NEEDS_APPROVAL})


@dataclass(frozen=True)
class AllowedActions:
    """For each action on a run why it is denied, ``None`` where it is allowed; ``starts``: where a retry may begin.

    An action that is allowed now may be denied a moment later: the run goes on meanwhile.
    """

    approve: Denial | None
    reject: Denial | None
    cancel: Denial | None
    pause: Denial | None
    resume: Denial | None
    retry: Denial | None
    roll_back: Denial | None
    starts: tuple[str, ...]


def allowed_actions(run_requests: RunRequests, run: Run, who: str) -> AllowedActions:
    """The actions that ``who`` may take on a run by its state; roles are checked elsewhere."""
    store = run_requests.store
    waits = None if question(store, run) else _denial(require_status, run, _DECIDED_ON, "waits for no approval")
    retry = _denial(run_requests.require_retry, run)
    later = (start for start in STARTS[1:] if _denial(require_reached, store, run, start) is None)
    return AllowedActions(
        approve=waits or _denial(run_requests.require_another, run, who),
        reject=waits,
        cancel=_denial(require_stoppable, run) or _already_cancelled(run),
        pause=_denial(require_pausable, store, run),
        resume=_denial(require_paused, store, run),
        retry=retry,
        roll_back=_denial(run_requests.require_roll_back, run),
        starts=(STARTS[0], *later) if retry is None else (),
    )


def _already_cancelled(run: Run) -> Denial | None:
    if run.cancelled_by is None:
        return None
    return InvalidState(f"{run.cancelled_by} asked it to stop already", hint="it stops at its next check point")


def _denial(require: Callable[..., Any], *arguments: Any) -> Denial | None:
    try:
        require(*arguments)
    except (InvalidState, NotAllowed) as error:
        return error
    return None
