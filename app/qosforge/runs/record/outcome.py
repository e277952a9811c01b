"""The outcome of a run, as its columns keep it: made once, when the status of the run changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qosforge.run_outcome import AdviceKind, OutcomeKind, OutcomeReason, RunOutcome
from qosforge.runs.record.tables import RunStatus

OUTCOME_COLUMNS = ("outcome_kind", "outcome_reasons", "outcome_advice", "settle_first", "rolled_back_by")
"""The columns of an outcome, beside those of the reason in words."""

_KINDS = {
    RunStatus.KEPT: OutcomeKind.KEPT,
    RunStatus.ROLLED_BACK: OutcomeKind.ROLLED_BACK,
    RunStatus.NEEDS_RECOVERY: OutcomeKind.HALF_WAY,
    RunStatus.NO_CHANGES: OutcomeKind.NO_CHANGES,
    RunStatus.REJECTED: OutcomeKind.REJECTED,
    RunStatus.FAILED: OutcomeKind.FAILED,
    RunStatus.CANCELLED: OutcomeKind.CANCELLED,
}


def read_outcome(columns: Mapping[str, Any]) -> RunOutcome | None:
    """The outcome that columns of a run are; ``None`` while it has none.

    A run of a release that did not keep its reasons apart has its words as the only one, and their first sentence
    as the line that says it in short.
    """
    if not columns["outcome_kind"]:
        return None
    reasons, back, advice = columns["outcome_reasons"], columns["rolled_back_by"], columns["outcome_advice"]
    if reasons is None and columns["reason"]:
        told = {"message": columns["reason"], "short": columns["reason"].partition(". ")[0]}
        reasons = [{**told, "step": columns["reason_step"], "device": columns["reason_device"]}]
    return RunOutcome(
        kind=OutcomeKind.ROLLED_BACK_BY_HAND if back else OutcomeKind(columns["outcome_kind"]),
        reasons=tuple(OutcomeReason.model_validate(one) for one in reasons or ()),
        advice=AdviceKind(advice) if advice else None,
        settle_first=columns["settle_first"],
        rolled_back_by=back,
    )


def outcome_kind(status: RunStatus, advice: str, *, rolls_back: bool, was_half_way: bool) -> OutcomeKind | None:
    """What a run comes to with a status; ``None`` where it goes on.

    ``advice`` is the kind of its way on, ``rolls_back`` says whether it was to roll another run back, and
    ``was_half_way`` whether a device of it stood between two states after its attempt.
    """
    if status is RunStatus.KEPT and advice == AdviceKind.RETRY_LEFT_OUT:
        return OutcomeKind.KEPT_IN_PART
    if status is RunStatus.KEPT and rolls_back:
        return OutcomeKind.RESTORED
    if status is RunStatus.ROLLED_BACK and was_half_way:
        return OutcomeKind.RECOVERED
    if status is RunStatus.CANCELLED and advice == AdviceKind.ANSWER_APPROVER:
        return OutcomeKind.DECLINED
    return _KINDS.get(status)
