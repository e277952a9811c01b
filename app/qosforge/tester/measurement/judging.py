"""From a measurement to verdicts: every check of the intent against the objective of its classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from qosforge.deltaq.delay_figures import DelayFigures, judge_figures
from qosforge.deltaq.objective import Evidence, Objective, ObjectiveVerdict, Outcome, combine
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge, judge_together, make_inconclusive
from qosforge.deltaq.warm_up import START_DOMINATES, start_effect
from qosforge.intent.models import Intent, Verify
from qosforge.inventory.models import Network, TrafficScenario
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, class_sample, flows_of
from qosforge.tester.measurement.missing_packets import MissingPart, missing_part
from qosforge.tester.measurement.path_delay import PathDelay
from qosforge.tester.scenario.traffic import scenario_of

WHOLE = 0.99
"""Part of the seconds that the policy wants, from which on they were measured."""


class ClassVerdict(BaseModel):
    """The verdict on one class in one scenario on one path.

    ``seconds`` is how long the measurement, or each simulation, was, and ``warm_up_seconds`` what went before and
    was left out; ``None`` where it is not known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    traffic_class: str
    path: str | None = None
    objective: Objective
    verdict: ObjectiveVerdict
    seconds: float | None = None
    warm_up_seconds: float | None = None


def verdicts(intent: Intent, network: Network, measurement: Measurement) -> tuple[ClassVerdict, ...]:
    """Verdicts in the order of the intent's checks; classes without an objective have none.

    Which bounds are broken is decided over all of them together.

    Raises:
        TesterError: the tester kept no samples of a flow that is judged.
    """
    found: list[ClassVerdict] = []
    judged = sum(_has_objective(intent, check, name) for check in intent.verify for name in check.classes)
    for check in intent.verify:
        scenario = scenario_of(network, check)
        if scenario is None:
            continue
        for name in check.classes:
            spec = intent.objective_of(check, name)
            if spec is None:
                continue
            requested = spec.bounds()
            result = measurement.scenario(scenario.name, check.path)
            evidence = measurement.evidence_of(result)
            clock_error_ps = (measurement.clock_error_ps or 0) if evidence == "measured" else 0
            way = path_delay_of(measurement, scenario.name, name, check.path)
            flows = flows_of(measurement, scenario.name, intent.within(name), path=check.path)
            figures = _figures_alone(evidence, flows)
            sample = None if figures else judged_sample(measurement, scenario, intent, check, name)
            verdict = (
                judge(
                    requested,
                    sample,
                    confidence=check.confidence,
                    evidence=evidence,
                    look=measurement.look_of(scenario.name, check.path),
                    looks=measurement.looks,
                    clock_error_ps=clock_error_ps,
                    episode=way.burst_packets if way else None,
                )
                if sample is not None
                else judge_figures(
                    requested,
                    figures,
                    confidence=check.confidence,
                    evidence=evidence,
                    clock_error_ps=clock_error_ps,
                )
            )
            missing = missing_part(measurement, result, flows)
            why = (
                _short_measurement(evidence, result, check, missing)
                or (_start_effect(sample, judged) if sample is not None else "")
                or _unsettled_policers(result, way)
            )
            if why:
                verdict = make_inconclusive(verdict, why)
            lacking = measurement.missing_facts(scenario.name, check.path)
            if figures:
                lacking += ("the delay of each packet, so that all that its figures allow counts",)
            if missing:
                lacking += (f"what was sent in {missing.part}",)
            verdict = verdict.model_copy(update={"lacking": lacking})
            found.append(
                ClassVerdict(
                    scenario=scenario.name,
                    traffic_class=name,
                    path=check.path,
                    objective=requested,
                    verdict=verdict,
                    seconds=result.seconds,
                    warm_up_seconds=result.warm_up_seconds,
                )
            )
    decided = judge_together([entry.verdict for entry in found])
    return tuple(
        entry.model_copy(update={"verdict": verdict}) for entry, verdict in zip(found, decided, strict=True)
    )


def _figures_alone(evidence: Evidence, flows: Iterable[FlowResult]) -> tuple[DelayFigures, ...]:
    """The figures of flows of which a tester of packets keeps no delays, but says the smallest, the mean and the
    largest; nothing where some have samples, or lack one of these.
    """
    sending = [flow for flow in flows if flow.sent]
    if evidence != "measured" or any(flow.samples for flow in sending):
        return ()
    found = []
    for flow in sending:
        said = (flow.min_delay_ps, flow.mean_delay_ps, flow.max_delay_ps)
        if flow.delivered and None in said:
            return ()
        least, mean, most = (value or 0 for value in said)
        found.append(DelayFigures(flow.sent, flow.delivered, least, mean, most))
    return tuple(found)


def open_scenarios(found: Iterable[ClassVerdict]) -> frozenset[str]:
    """The scenarios that a further look adds to: those of which a verdict is inconclusive."""
    return frozenset(entry.scenario for entry in found if entry.verdict.outcome == "inconclusive")


def judged_sample(
    measurement: Measurement, scenario: TrafficScenario, intent: Intent, check: Verify, name: str
) -> Sample:
    """The packets that a check judges of a class.

    Where something was recorded, every replication sends it again: all of them tell of one such recording.

    Raises:
        TesterError: the tester kept no samples of a flow of it.
    """
    sample = class_sample(measurement, scenario.name, intent.within(name), path=check.path)
    simulated = measurement.evidence_of(measurement.scenario(scenario.name, check.path)) != "measured"
    if not simulated or all(flow.source.kind != "trace" for flow in scenario.flows):
        return sample
    return replace(sample, repeats=float(max(1, sample.sent.size)))


def path_delay_of(measurement: Measurement, scenario: str, name: str, path: str) -> PathDelay | None:
    """What the tester recorded of a class's way; ``None`` where it did not."""
    recorded = measurement.scenario(scenario, path).path_delays or ()
    return next((each for each in recorded if (each.traffic_class, each.path) == (name, path)), None)


def _unsettled_policers(result: ScenarioResult, way: PathDelay | None) -> str:
    """That policers still feel how a simulation began, where they do."""
    if way is None or result.warm_up_seconds is None or way.settling_seconds <= result.warm_up_seconds:
        return ""
    return (
        f"policers on the way feel for {way.settling_seconds:.3g} s that their buckets were full, and "
        f"{result.warm_up_seconds:g} s were left out"
    )


def _short_measurement(
    evidence: Evidence, result: ScenarioResult, check: Verify, missing: MissingPart | None
) -> str:
    """That packets on a wire were measured for less than the policy asks, or in part; nothing where not."""
    if evidence == "measured" and result.seconds is not None:
        measured = result.seconds * result.replications
        if measured < check.seconds * WHOLE:
            return f"the measurement was cut short: {measured:g} s of {check.seconds} s"
    return f"the measurement was cut short, it lacks {missing}" if missing else ""


def _start_effect(sample: Sample, judged: int) -> str:
    """That a sample, one of so many ``judged``, still feels how the simulation began, where it does."""
    if sample.has_replications and start_effect(sample, judged) >= START_DOMINATES:
        return "the figures still feel how the simulation began"
    return ""


def has_objectives(intent: Intent) -> bool:
    """Whether a measurement of the intent could end in a verdict: a check judges a class that has an objective."""
    return any(_has_objective(intent, check, name) for check in intent.verify for name in check.classes)


def _has_objective(intent: Intent, check: Verify, name: str) -> bool:
    return intent.objective_of(check, name) is not None


def overall_outcome(found: Iterable[ClassVerdict]) -> Outcome:
    """What all verdicts come to together; without any it is inconclusive."""
    return combine([entry.verdict.outcome for entry in found])
