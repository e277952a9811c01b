"""The effect of a change on every class that is judged: the difference of each bound, with its limits."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from qosforge.deltaq.difference import BoundDifference, differences
from qosforge.deltaq.error_spending import confidence_at
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network
from qosforge.tester.measurement.document import Measurement, ScenarioResult
from qosforge.tester.measurement.judging import judged_sample, path_delay_of
from qosforge.tester.scenario.traffic import scenario_of


class ClassChange(BaseModel):
    """How one class on one path stands after a change against before it, in the order of its objective's bounds.

    ``confidence`` is that of each limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    traffic_class: str
    path: str | None = None
    confidence: float
    bounds: tuple[BoundDifference, ...]


def class_changes(
    intent: Intent, network: Network, before: Measurement, after: Measurement
) -> tuple[ClassChange, ...]:
    """The changes of every class that a check judges, where both measurements have it.

    Raises:
        TesterError: the tester kept no samples of a flow that is judged.
    """
    found = []
    for check in intent.verify:
        scenario = scenario_of(network, check)
        if scenario is None or not all(_has_scenario(side, scenario.name) for side in (before, after)):
            continue
        confidence = confidence_at(check.confidence, after.look_of(scenario.name, check.path), after.looks)
        paired = _are_paired(before, after, scenario.name, check.path)
        for name in check.classes:
            spec = intent.objective_of(check, name)
            if spec is None:
                continue
            first, second = (judged_sample(side, scenario, intent, check, name) for side in (before, after))
            ways = [path_delay_of(side, scenario.name, name, check.path) for side in (before, after)]
            bounds = differences(
                spec.bounds(),
                first,
                second,
                confidence=confidence,
                paired=paired,
                episodes=(ways[0].burst_packets if ways[0] else None, ways[1].burst_packets if ways[1] else None),
            )
            found.append(
                ClassChange(
                    scenario=scenario.name,
                    traffic_class=name,
                    path=check.path,
                    confidence=confidence,
                    bounds=bounds,
                )
            )
    return tuple(found)


def _has_scenario(measurement: Measurement, scenario: str) -> bool:
    return any(each.name == scenario for each in measurement.scenarios)


def _are_paired(before: Measurement, after: Measurement, scenario: str, path: str) -> bool:
    """Whether replications with the same number drew the same, for as long, on both sides."""
    sides = [(side, side.scenario(scenario, path)) for side in (before, after)]
    if "measured" in {side.evidence_of(result) for side, result in sides} or before.seed != after.seed:
        return False
    return len({_length(result) for _, result in sides}) == 1


def _length(result: ScenarioResult) -> tuple[float | None, float | None]:
    return result.seconds, result.warm_up_seconds
