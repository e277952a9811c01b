"""What may be asked of a run as it stands now, and why the rest may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qosforge.access.roles import NotAllowed
from qosforge.runs.record.invalid_state import InvalidState, require_status, require_stoppable
from qosforge.runs.record.store import Run
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.requests import Desk
from qosforge.runs.requests.retry import STARTS, require_reached
from qosforge.runs.workflow.pause import require_pausable, require_paused
from qosforge.runs.workflow.steps.compare import question

Denial = InvalidState | NotAllowed | None
"""Why something is denied now; ``None`` where nothing stands against it."""

_DECIDED_ON = frozenset({RunStatus.NEEDS_APPROVAL})


@dataclass(frozen=True)
class AllowedActions:
    """What stands against each thing that may be asked of a run. ``starts``: where a retry may begin.

    What is possible now may be refused when it is asked for: the run goes on meanwhile.
    """

    approve: Denial
    reject: Denial
    cancel: Denial
    pause: Denial
    resume: Denial
    retry: Denial
    roll_back: Denial
    starts: tuple[str, ...]


def allowed_actions(desk: Desk, run: Run, who: str) -> AllowedActions:
    """What ``who`` may ask of a run; roles are not looked at."""
    store = desk.store
    waits = None if question(store, run) else _denial(require_status, run, _DECIDED_ON, "waits for no approval")
    retry = _denial(desk.require_retry, run)
    later = (start for start in STARTS[1:] if _denial(require_reached, store, run, start) is None)
    return AllowedActions(
        approve=waits or _denial(desk.require_another, run, who),
        reject=waits,
        cancel=_denial(require_stoppable, run) or _asked_already(run),
        pause=_denial(require_pausable, store, run),
        resume=_denial(require_paused, store, run),
        retry=retry,
        roll_back=_denial(desk.require_roll_back, run),
        starts=(STARTS[0], *later) if retry is None else (),
    )


def _asked_already(run: Run) -> Denial:
    if run.cancelled_by is None:
        return None
    return InvalidState(f"{run.cancelled_by} asked it to stop already", hint="it stops at its next check point")


def _denial(require: Callable[..., Any], *arguments: Any) -> Denial:
    try:
        require(*arguments)
    except (InvalidState, NotAllowed) as error:
        return error
    return None
