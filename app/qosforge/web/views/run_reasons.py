"""Why a run ended without its change, or stopped, as its page tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from qosforge.reports.model import RunReport
from qosforge.run_outcome import AdviceKind, OutcomeReason, RunOutcome
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.views.failure_reasons import failure_reasons
from qosforge.web.views.run_refusal import RunRefusal

_NOT_KEPT = frozenset({RunStatus.ROLLED_BACK, RunStatus.FAILED, RunStatus.REJECTED, RunStatus.NEEDS_RECOVERY})


@dataclass(frozen=True)
class RunReasons:
    """The reasons of a run's outcome, and what its stages and verdicts say beside them."""

    status: RunStatus
    outcome: RunOutcome | None
    stages: Sequence[Stage]
    report: RunReport

    @property
    def every(self) -> tuple[OutcomeReason, ...]:
        """The reasons of its outcome, the weightiest first."""
        return self.outcome.reasons if self.outcome else ()

    @property
    def left(self) -> OutcomeReason | None:
        """What hinders the rollback of a run that stands half-way, where that is a device."""
        first = next(iter(self.every), None)
        return first if self.status is RunStatus.NEEDS_RECOVERY and first and first.device else None

    @property
    def because(self) -> tuple[str, ...]:
        """Why an ended run did not keep its change, as far as its stages and verdicts know."""
        return self._failures()

    @property
    def why(self) -> str:
        """Why it was rolled back, in a sentence."""
        why = [one for one in self.every if one.step == self.every[0].step]
        return "; ".join(f"{one.device}: {one.message}" if one.device else one.message for one in why)

    @property
    def further(self) -> tuple[str, ...]:
        """Those that the first sentence of the page does not give."""
        match self.status:
            case RunStatus.NEEDS_RECOVERY:
                # The objectives one by one say more than that they are not met.
                why = () if self.unmet else tuple(one.message for one in self.every[1:])
                return (*why, *self._failures(self.every))
            case RunStatus.ROLLED_BACK:
                return self.because if self.is_unmet else self._failures(self.every)
            case RunStatus.REJECTED:
                return self.because[1:]
        return self._failures(self.every)

    @cached_property
    def refusal(self) -> RunRefusal | None:
        """The errors that it was rejected for; ``None`` where it was not, or for something else."""
        return RunRefusal.of(self.report.findings) if self.status is RunStatus.REJECTED else None

    @cached_property
    def unmet(self) -> tuple[str, ...]:
        """What is not shown to be met after the push, in sentences."""
        return failure_reasons((), self.report)

    @property
    def is_unmet(self) -> bool:
        """Whether it was rolled back for objectives, which are known one by one."""
        return bool(self.outcome and self.outcome.advice is AdviceKind.CHANGE_POLICY and self.unmet)

    def _failures(self, told: Sequence[OutcomeReason] = ()) -> tuple[str, ...]:
        if self.status not in _NOT_KEPT:
            return ()
        stages = self.stages
        if self.status in (RunStatus.NEEDS_RECOVERY, RunStatus.ROLLED_BACK):  # how it went back is told apart
            stages = [stage for stage in stages if stage.name != "rollback"]
        return failure_reasons(stages, self.report, told)
