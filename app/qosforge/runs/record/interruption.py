"""The outcome of a run whose process died before it recorded one, by what the journal says of its devices."""

from __future__ import annotations

from dataclasses import replace

from qosforge.runs.record.reason import NOT_MET, Reason, because_first, retry
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus, Verdict

_NOT_MET = frozenset({Verdict.BROKEN, Verdict.INCONCLUSIVE})


def put_back(run: Run) -> Reason:
    """Why a run did not keep its change that stopped between two states, and whose devices are put back by now.

    That a device refused its rollback at first is no reason to try the same change again where its objectives were
    not met.
    """
    told = because_first(run.reason, run.reason_device) or "it was cut short"
    if run.verdict in _NOT_MET:
        return Reason(told, "measure-after", NOT_MET)
    # Of two errors the device is that of the rollback, which is over.
    device = run.reason_device if told == run.reason else ""
    return Reason(told, run.reason_step or "rollback", retry(run.id), device)


def interrupted_outcome(
    run_id: str, saved: set[str], touched: set[str], why: Reason, unsaved: RunStatus
) -> tuple[RunStatus, Reason]:
    """The status and the reason of a run that is over, none of whose devices is between two states.

    ``saved``: devices that hold its change, which is saved there; ``touched``: devices that it began to change.
    A run that had saved its change on all of them is kept, whatever ended it. One that had saved it on some has
    failed, and names them. ``unsaved`` is how it ended where no device holds its change.
    """
    if not saved:
        return unsaved, why
    if saved == touched:
        told = f"{why.message}; its change had been saved on every device"
        return RunStatus.KEPT, replace(why, message=told, hint=f"qosforge rollback {run_id} rolls it back")
    told = f"{why.message}; its change is saved on {', '.join(sorted(saved))}, its other devices are put back"
    return RunStatus.FAILED, replace(why, message=told)
