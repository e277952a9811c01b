"""Why a run ended without its change, or stopped: what happened, at which step, on which device, and the way on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from qosforge.run_outcome import AdviceKind, OutcomeReason
from qosforge.runs.record.gathered_errors import gather_errors
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


@dataclass(frozen=True, slots=True)
class Advice:
    """The way on: its kind, the words for people, and the run that has to be settled first, where one has."""

    kind: AdviceKind
    text: str
    settle_first: str | None = None


_MOST_TOLD = 3
"""Errors that a reason says; of more it says how many."""

RECOVER = Advice(
    AdviceKind.RECOVER,
    "qosforge recover puts its devices back; a service does it by itself, and again until they are back",
)

NOT_MET = Advice(
    AdviceKind.CHANGE_POLICY,
    "see which bound of which class is broken, and change the policy or the objective",
)
"""The way on where measuring did not show what the policy asks for."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Words for people. ``device`` is empty where no single device is meant; everything else is always said.

    ``hint`` is the way on, in words alone where no kind of advice says it; ``short`` is the message in a line,
    where it is longer. Of several reasons ``parts`` are the single ones, the weightiest first.
    """

    message: str
    step: str
    hint: Advice | str
    device: str = ""
    short: str = ""
    parts: tuple[OutcomeReason, ...] = ()

    def __post_init__(self) -> None:
        if not (self.message and self.step and self.advice.text):
            raise ValueError(f"a reason says what happened, at which step, and the way on: {self}")

    @property
    def advice(self) -> Advice:
        """The way on."""
        return self.hint if isinstance(self.hint, Advice) else Advice(AdviceKind.AS_TOLD, self.hint)

    @property
    def reasons(self) -> tuple[OutcomeReason, ...]:
        """What happened, one by one."""
        return self.parts or (
            OutcomeReason(
                message=self.message, short=self.short or self.message, step=self.step, device=self.device
            ),
        )

    def columns(self) -> dict[str, Any]:
        """The reason as columns of a run."""
        return {
            "reason": self.message,
            "reason_step": self.step,
            "reason_hint": self.advice.text,
            "reason_device": self.device,
            "outcome_reasons": [one.model_dump(mode="json") for one in self.reasons],
            "outcome_advice": self.advice.kind.value,
            "settle_first": self.advice.settle_first,
        }


def half_way(left: Reason, why: Reason) -> Reason:
    """Why a rollback left a device between two states, and why there was to be one."""
    # What hinders it is one reason, whatever it is made of: how it came back is told of the first one.
    return Reason(
        f"{left.message}; it was rolled back because of: {why.message}",
        left.step,
        RECOVER,
        left.device,
        parts=(*replace(left, parts=()).reasons, *why.reasons),
    )


def settle_first(run_id: str) -> Advice:
    """The way on where another run left a device between two states."""
    text = f"finish run {run_id} first: qosforge recover; then retry this one"
    return Advice(AdviceKind.SETTLE_FIRST, text, run_id)


REASON_TEXTS = ("reason", "reason_step", "reason_hint", "reason_device")
"""The columns of a reason in words."""

NO_REASON: dict[str, Any] = {
    **dict.fromkeys(REASON_TEXTS, ""),
    "outcome_reasons": None,
    "outcome_advice": "",
    "settle_first": None,
}
"""The columns of a run that has not ended so."""


def retry(run_id: str) -> Advice:
    """The way on where the same run may well succeed later."""
    return Advice(AdviceKind.RETRY, f"qosforge retry {run_id} begins it again")


def answer_approver(run_id: str) -> Advice:
    """The way on where an approver rejected what a run would do."""
    text = f"change what stands against it and start a new run; or ask again: qosforge retry {run_id}"
    return Advice(AdviceKind.ANSWER_APPROVER, text)


def retry_left_out(run_id: str) -> Advice:
    """The way on where devices were left out of a change that stands."""
    return Advice(AdviceKind.RETRY_LEFT_OUT, f"qosforge retry {run_id} changes just these")


def reason_of_errors(errors: Sequence[StepError], step: str, hint: Advice, total: int = 0) -> Reason:
    """The reason that errors give: what most devices have in common first, each said once with its devices.

    ``hint`` is the way on where the first has none of its own; ``total`` how many devices the step was about, 0
    where that says nothing.
    """
    every = gather_errors(errors)
    first, told = every[0], every[:_MOST_TOLD]
    parts = tuple(
        OutcomeReason(
            message=one.message if one.device else one.told_of(total),
            short=one.beside_device,
            step=step,
            device=one.device,
        )
        for one in told
    )
    advice = settle_first(first.settles) if first.settles else first.hint or hint
    if len(every) == 1:
        return Reason(parts[0].message, step, advice, first.device, parts=parts)
    others = len(every) - len(told)
    more = [f"and {others} more error{'' if others == 1 else 's'}"] if others else []
    return Reason("; ".join([*(one.told_of(total) for one in told), *more]), step, advice, parts=parts)
