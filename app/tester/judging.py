"""From a measurement to verdicts: every check of the intent against the objective of its classes."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from app.deltaq.objective import Objective, Outcome, Verdict, combine
from app.deltaq.sample import Sample
from app.deltaq.verdict import judge, together, undecided
from app.deltaq.warm_up import STILL_FELT, start_felt
from app.intent.models import Intent, Verify
from app.inventory.models import Network
from app.tester.measurement import Measurement, class_sample
from app.tester.traffic import scenario_of

WHOLE = 0.99
"""Part of the seconds that the policy wants, from which on they were measured."""


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

    Which bounds are broken is decided over all of them together.

    Raises:
        TesterError: the tester kept no samples of a flow that is judged.
    """
    found: list[ClassVerdict] = []
    judged = sum(_judges(intent, check, name) for check in intent.verify for name in check.classes)
    for check in intent.verify:
        scenario = scenario_of(network, check)
        if scenario is None:
            continue
        for name in check.classes:
            spec = intent.objective_of(check, name)
            if spec is None:
                continue
            asked = spec.bounds()
            sample = class_sample(measurement, scenario.name, intent.within(name), path=check.path)
            verdict = judge(
                asked,
                sample,
                confidence=check.confidence,
                evidence=measurement.evidence,
                look=measurement.look,
                looks=measurement.looks,
                clock_error_ps=measurement.clock_error_ps or 0,
            )
            why = _does_not_stand(measurement, scenario.name, check, sample, judged)
            if why:
                verdict = undecided(verdict, why)
            verdict = verdict.model_copy(update={"lacking": measurement.lacking(scenario.name)})
            found.append(
                ClassVerdict(
                    scenario=scenario.name, traffic_class=name, path=check.path, objective=asked, verdict=verdict
                )
            )
    decided = together([entry.verdict for entry in found])
    return tuple(
        entry.model_copy(update={"verdict": verdict}) for entry, verdict in zip(found, decided, strict=True)
    )


def _does_not_stand(measurement: Measurement, scenario: str, check: Verify, sample: Sample, judged: int) -> str:
    """Why a sample, one of so many ``judged``, cannot stand for what the policy asks; nothing where it can."""
    result = measurement.scenario(scenario)
    if measurement.evidence == "measured" and result.seconds is not None:
        measured = result.seconds * result.replications
        if measured < check.seconds * WHOLE:
            return f"the measurement was cut short: {measured:g} s of {check.seconds} s"
    if sample.replicated and start_felt(sample, judged) >= STILL_FELT:
        return "the figures still feel how the simulation began"
    return ""


def judges(intent: Intent) -> bool:
    """Whether a measurement of the intent could end in a verdict: a check judges a class that has an objective."""
    return any(_judges(intent, check, name) for check in intent.verify for name in check.classes)


def _judges(intent: Intent, check: Verify, name: str) -> bool:
    return intent.objective_of(check, name) is not None


def overall(found: Iterable[ClassVerdict]) -> Outcome:
    """What all verdicts come to together; without any it is inconclusive."""
    return combine([entry.verdict.outcome for entry in found])
