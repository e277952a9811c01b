"""Trade-offs of a run for the classes without an objective, from the measurements that are kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qosforge.artifacts.store import Artifacts
from qosforge.errors import InputError
from qosforge.intent.loader import parse_intent
from qosforge.intent.models import TrafficClass, every_class
from qosforge.memoise import memoise_at_most
from qosforge.reports.unjudged_trade_offs import (
    Before,
    FiguresByClass,
    TradeOffFigure,
    UnjudgedTradeOff,
    before_by_today,
    figures_by_class,
    unjudged_trade_offs,
    worse_beside_objective,
)
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.summaries import MeasurementSummary, PredictionSummary
from qosforge.tester.measurement.document import Measurement, When


def run_trade_offs(
    artifacts: Artifacts, resolved: ResolvedRun, sides: Mapping[When, MeasurementSummary | None]
) -> tuple[UnjudgedTradeOff, ...]:
    """The classes that fare worse than before the change, in the order of the policy, on the last of the ``sides``.

    What they got before was measured; until then it is what the twin of today's configurations gave beside the
    prediction.

    Raises:
        StoreError: a measurement is damaged or gone.
    """
    last = sides.get("after") or sides.get("predicted")
    if last is None or not last.measurement:
        return ()
    classes = policy_classes(artifacts, resolved)
    if all(each.objective for each in every_class(classes)):
        return ()
    return unjudged_trade_offs(classes, _before(artifacts, sides), _figures(artifacts, last.measurement))


def worse_beside_objectives(
    artifacts: Artifacts, resolved: ResolvedRun, stages: Sequence[Stage]
) -> Mapping[str, tuple[TradeOffFigure, ...]]:
    """What classes with an objective fare worse in, after the change against before it, that it does not bound.

    By class; empty until both sides are measured.

    Raises:
        StoreError: a measurement is damaged or gone.
    """
    measured = _measured(stages)
    before, after = measured.get("measure-before"), measured.get("measure-after")
    if not before or not after:
        return {}
    found = {
        each.name: worse_beside_objective(
            each, _figures(artifacts, before).get(each.name, {}), _figures(artifacts, after).get(each.name, {})
        )
        for each in every_class(policy_classes(artifacts, resolved))
    }
    return {name: figures for name, figures in found.items() if figures}


def losing_classes(
    artifacts: Artifacts, resolved: ResolvedRun, stages: Sequence[Stage]
) -> tuple[UnjudgedTradeOff, ...]:
    """The classes without an objective that lose notably, of a run that found nothing to change.

    Raises:
        StoreError: a measurement is damaged or gone.
    """
    measured = _measured(stages).get("measure-before")
    if not measured:
        return ()
    return unjudged_trade_offs(policy_classes(artifacts, resolved), Before(), _figures(artifacts, measured))


def _measured(stages: Sequence[Stage]) -> Mapping[str, str]:
    """The measurements of the last attempt, by the name of their stage."""
    shown = max((stage.run_attempt for stage in stages), default=1)
    return {
        stage.name.partition("-look-")[0]: stage.summary.measurement
        for stage in stages
        if stage.run_attempt == shown and stage.outcome and isinstance(stage.summary, MeasurementSummary)
    }


def policy_classes(artifacts: Artifacts, resolved: ResolvedRun) -> tuple[TrafficClass, ...]:
    """The classes of a run's policy; none where its language is that of a release which this one does not read."""
    if not resolved.intent_artifact:
        return ()
    included = tuple(sorted(resolved.intent_included.items()))
    return _classes(artifacts, resolved.intent_artifact, resolved.intent_file, resolved.intent_parameters, included)


@memoise_at_most(64)
def _classes(
    artifacts: Artifacts,
    artifact: str,
    file: str,
    parameters: tuple[str, ...],
    included: tuple[tuple[str, str], ...],
) -> tuple[TrafficClass, ...]:
    texts = {name: artifacts.get_text(kept) for name, kept in included}
    try:
        loaded = parse_intent(artifacts.get_text(artifact), file, parameters, texts)
    except InputError:
        return ()
    return tuple(loaded.intent.classes)


def _before(artifacts: Artifacts, sides: Mapping[When, MeasurementSummary | None]) -> Before:
    measured = sides.get("before")
    if measured is not None and measured.measurement:
        return Before(_figures(artifacts, measured.measurement), "measured")
    predicted = sides.get("predicted")
    if isinstance(predicted, PredictionSummary) and predicted.today:
        return before_by_today(predicted.today)
    return Before()


@memoise_at_most(64)
def _figures(artifacts: Artifacts, artifact: str) -> FiguresByClass:
    """The figures of a measurement, which has megabytes: its page is asked for again and again."""
    return figures_by_class(Measurement.parse_stored(artifacts.get_text(artifact)))
