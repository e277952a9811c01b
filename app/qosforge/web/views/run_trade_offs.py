"""Trade-offs of a run for the classes without an objective, from the measurements that are kept with it."""

from __future__ import annotations

from collections.abc import Sequence

from qosforge.artifacts.store import Artifacts
from qosforge.intent.models import TrafficClass, every_class
from qosforge.memoise import memoise_at_most
from qosforge.reports.unjudged_trade_offs import (
    FiguresByClass,
    UnjudgedTradeOff,
    figures_by_class,
    unjudged_trade_offs,
)
from qosforge.runs.record.stages import Stage
from qosforge.runs.views.report import measured_sides
from qosforge.tester.measurement.document import Measurement, When

UnjudgedTradeOffs = tuple[UnjudgedTradeOff, ...]
"""Of the classes that fare worse, in the order of the policy."""


def run_trade_offs(
    artifacts: Artifacts, stages: Sequence[Stage], judged: Sequence[When], classes: Sequence[TrafficClass]
) -> UnjudgedTradeOffs:
    """The classes that fare worse than before the change on the side that was ``judged`` last.

    Raises:
        ArtifactCorrupt, ArtifactMissing: a measurement is damaged or gone.
    """
    sides = measured_sides(stages, max((stage.run_attempt for stage in stages), default=1))
    last = judged[-1] if judged else "before"
    if last == "before" or last not in sides or all(each.objective for each in every_class(classes)):
        return ()
    before = _figures(artifacts, sides["before"]) if "before" in sides else {}
    return unjudged_trade_offs(classes, before, _figures(artifacts, sides[last]))


@memoise_at_most(64)
def _figures(artifacts: Artifacts, artifact: str) -> FiguresByClass:
    """The figures of a measurement, which has megabytes: its page is asked for again and again."""
    return figures_by_class(Measurement.parse_stored(artifacts.get_text(artifact)))
