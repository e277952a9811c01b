"""From a measurement to verdicts: every check of the intent against the objective of its classes."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import merge

from pydantic import BaseModel, ConfigDict

from app.deltaq.objective import Objective, Outcome, Verdict, combine
from app.deltaq.verdict import judge
from app.intent.models import Intent
from app.inventory.models import Network
from app.tester.measurement import Measurement, class_flows, class_samples
from app.tester.traffic import scenario_of


class ClassVerdict(BaseModel):
    """The verdict on one class in one scenario on one path."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    traffic_class: str
    path: str | None = None
    objective: Objective
    verdict: Verdict


def verdicts(intent: Intent, network: Network, measurement: Measurement) -> tuple[ClassVerdict, ...]:
    """Verdicts in the order of the intent's checks; classes without an objective have none.

    Raises:
        TesterError: the tester kept no samples of a flow that is judged.
    """
    found = []
    for check in intent.verify:
        scenario = scenario_of(network, check)
        if scenario is None:
            continue
        path = f"{check.from_}→{check.to}"
        for name in check.classes:
            spec = intent.objective_of(check, name)
            if spec is None:
                continue
            asked = spec.bounds()
            names = sorted(intent.within(name))
            samples = tuple(merge(*(class_samples(measurement, scenario.name, n, path=path) for n in names)))
            flows = [flow for n in names for flow in class_flows(measurement, scenario.name, n, path=path)]
            verdict = judge(
                asked,
                samples,
                confidence=check.confidence,
                evidence=measurement.evidence,
                sampled=max((flow.sample_every for flow in flows), default=1),
            )
            found.append(
                ClassVerdict(
                    scenario=scenario.name, traffic_class=name, path=path, objective=asked, verdict=verdict
                )
            )
    return tuple(found)


def judges(intent: Intent) -> bool:
    """Whether a measurement of the intent could end in a verdict: a check judges a class that has an objective."""
    return any(intent.objective_of(check, name) for check in intent.verify for name in check.classes)


def overall(found: Iterable[ClassVerdict]) -> Outcome:
    """What all verdicts come to together; without any it is inconclusive."""
    return combine([entry.verdict.outcome for entry in found])
