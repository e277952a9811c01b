"""The outcome of a run whose process died before it recorded one, by what the journal says of its devices."""

from __future__ import annotations

from dataclasses import replace

from qosforge.runs.record.reason import NOT_MET, Reason, retry
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus, Verdict

_NOT_MET = frozenset({Verdict.BROKEN, Verdict.INCONCLUSIVE})


def put_back(run: Run) -> Reason:
    """Why a run did not keep its change that stopped between two states, and whose devices are put back by now.

    That a device refused its rollback at first is no reason to try the same change again where its objectives were
    not met.
    """
    reasons = run.outcome.reasons if run.outcome else ()
    if not reasons:
        return Reason("it was cut short", "rollback", retry(run.id))
    left, *why = reasons
    if why:
        first = why[0]
        back = f"{left.device} was" if left.device else "devices were"
        told = f"{first.message}; {back} not put back at first: {left.message}"
    else:
        first, told = left, left.message
    unmet = run.verdict in _NOT_MET
    return Reason(
        told,
        "measure-after" if unmet else first.step or "rollback",  # earlier releases kept none
        NOT_MET if unmet else retry(run.id),
        "" if unmet else first.device,
        short=first.short,
        parts=(*why, left),
    )


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
        told = _adding(why, "its change had been saved on every device")
        return RunStatus.KEPT, replace(told, hint=f"qosforge rollback {run_id} rolls it back")
    names = ", ".join(sorted(saved))
    return RunStatus.FAILED, _adding(why, f"its change is saved on {names}, its other devices are put back")


def adding_put_back(why: Reason) -> Reason:
    """The reason of a run all of whose devices are put back, saying so."""
    return replace(why, message=f"{why.message}; its devices are put back")


def _adding(why: Reason, more: str) -> Reason:
    first, *others = why.reasons
    # Its short form stays: by it errors of the stages are known as told already.
    told = first.model_copy(update={"message": f"{first.message}; {more}"})
    return replace(why, message=f"{why.message}; {more}", parts=(told, *others))
