"""The classes of a run's policy as tiles: those that are judged, and those without an objective that fare badly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from qosforge.artifacts.store import Artifacts
from qosforge.intent.models import TrafficClass
from qosforge.reports.model import RunReport
from qosforge.reports.unjudged_trade_offs import TradeOffFigure, UnjudgedTradeOff
from qosforge.runs.record.run import Run
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.views.trade_offs import losing_classes, policy_classes, worse_beside_objectives
from qosforge.web.views.run_advice import ClassAdvice, class_advice
from qosforge.web.views.run_classes import ClassTile, class_numbers, class_tiles
from qosforge.web.views.run_verdicts import RunVerdicts


@dataclass(frozen=True)
class RunTiles:
    """The tiles of a run; ``stages`` are those that its report is about, none where a retention took them.

    Each attribute raises `StoreError` where a measurement or the policy is damaged.
    """

    artifacts: Artifacts
    run: Run
    report: RunReport
    verdicts: RunVerdicts
    stages: Sequence[Stage]

    @cached_property
    def judged(self) -> tuple[ClassTile, ...]:
        """The judged classes, each with what it gets before and after."""
        return class_tiles(self.verdicts.rows, self.verdicts.sides, self._policy_classes)

    @cached_property
    def unjudged(self) -> tuple[UnjudgedTradeOff, ...]:
        """The classes without an objective that fare worse by the change, or lose notably where there was none."""
        if self.run.status is RunStatus.NO_CHANGES:
            return losing_classes(self.artifacts, self.run.resolved, self.stages)
        return self.report.unjudged_trade_offs

    @cached_property
    def beside_objectives(self) -> Mapping[str, tuple[TradeOffFigure, ...]]:
        """What the judged classes fare worse in that their objectives do not bound."""
        return worse_beside_objectives(self.artifacts, self.run.resolved, self.stages)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The place of each class in the policy, by its name."""
        return class_numbers(self._policy_classes)

    @property
    def objectives(self) -> tuple[int, int, int]:
        """Bounds on the side that was judged last: how many are met, how many inconclusive, how many there are."""
        met, open_, judged = ([getattr(one, of) for one in self.judged] for of in ("met", "open", "judged"))
        return sum(met), sum(open_), sum(judged)

    @property
    def advice(self) -> tuple[ClassAdvice, ...]:
        """What can be done about each class that misses objectives on the side that was judged last."""
        sides = self.verdicts.sides
        return class_advice(self.verdicts.rows, sides[-1], self.report.findings) if sides else ()

    @property
    def _policy_classes(self) -> tuple[TrafficClass, ...]:
        return policy_classes(self.artifacts, self.run.resolved) if self.stages else ()
