"""Why a run ended without its change, or stopped: what happened, at which step, on which device, and the way on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.tables import RunStatus

REASONED = frozenset(
    {
        RunStatus.FAILED,
        RunStatus.CANCELLED,
        RunStatus.REJECTED,
        RunStatus.ROLLED_BACK,
        RunStatus.NEEDS_RECOVERY,
    }
)
"""No run comes into one of these without a reason: the store refuses it."""

RECOVER = "qosforge recover puts its devices back; a service does it by itself, and again until they answer"

_FINISH = "finish run "
_BECAUSE = "; it was rolled back because of: "

NOT_MET = "see which bound of which class is broken, and change the policy or the objective"
"""The way on where measuring did not show what the policy asks for."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Words for people. ``device`` is empty where no single device is meant; everything else is always said."""

    message: str
    step: str
    hint: str
    device: str = ""

    def __post_init__(self) -> None:
        if not (self.message and self.step and self.hint):
            raise ValueError(f"a reason says what happened, at which step, and the way on: {self}")

    def columns(self) -> dict[str, str]:
        """The reason as columns of a run."""
        return {
            "reason": self.message,
            "reason_step": self.step,
            "reason_hint": self.hint,
            "reason_device": self.device,
        }


def half_way(left: Reason, why: Reason) -> Reason:
    """Why a rollback left a device between two states, and why there was to be one."""
    return Reason(f"{left.message}{_BECAUSE}{why.message}", left.step, RECOVER, left.device)


def because_first(message: str, device: str) -> str:
    """The message of `half_way` once the ``device`` is put back: why it was rolled back, then what hindered it.

    Another message stays as it is.
    """
    left, _, why = message.partition(_BECAUSE)
    return f"{why}; {device or 'a device'} was not put back at first: {left}" if why else message


def settle_first(run_id: str) -> str:
    """The way on where another run left a device between two states."""
    return f"{_FINISH}{run_id} first: qosforge recover; then retry this one"


def run_to_settle(hint: str) -> str:
    """The run that `settle_first` names; empty where the way on is another one."""
    return hint.removeprefix(_FINISH).split()[0] if hint.startswith(_FINISH) else ""


NO_REASON = {"reason": "", "reason_step": "", "reason_hint": "", "reason_device": ""}
"""The columns of a run that has not ended so."""


def retry(run_id: str) -> str:
    """The way on where the same run may well succeed later."""
    return f"qosforge retry {run_id} begins it again"


def reason_of_errors(errors: Sequence[StepError], step: str, hint: str) -> Reason:
    """The reason that errors give: the first, and how many more there are.

    ``hint`` is the way on where the error has none of its own.
    """
    first = errors[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return Reason(
        f"{first.message}{more}",
        step,
        first.hint or hint,
        first.device,
    )
