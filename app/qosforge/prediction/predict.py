"""Predict the ΔQ of every class by simulating the compiled plans, and judge it by the policy's objectives.

A measurement looks at what devices hold; here no device is asked, so the evidence is ``predicted``: our model of
our configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.compiler.compile import Compilation
from qosforge.deltaq.error_spending import LOOKS
from qosforge.deltaq.objective import Outcome
from qosforge.errors import InputError, Place, RefusedError
from qosforge.findings import Finding, Severity
from qosforge.intent.models import Intent
from qosforge.platforms.device_text import Configuration
from qosforge.platforms.masked_findings import mask_findings
from qosforge.prediction.decidable import undecidable
from qosforge.prediction.masked_errors import mask_errors
from qosforge.prediction.projected_state import project_state
from qosforge.prediction.record import SimulatedTime
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import (
    ClassVerdict,
    has_objectives,
    open_scenarios,
    overall_outcome,
    verdicts,
)
from qosforge.tester.network_under_test import network_under_test
from qosforge.tester.replications import REPLICATIONS, Timing
from qosforge.tester.scenario.traffic import scenario_of
from qosforge.tester.twin import TwinTester

MOST_SECONDS = 60
"""Simulated seconds of a scenario, unless others are asked for: a campus of nine devices then takes a few seconds.
"""


LONGEST_SECONDS = 3600
"""The most that may be asked for: as long as a policy may want a scenario measured."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted measurement, the verdicts on it and what they come to together.

    ``findings`` say which bounds no measurement would decide either.
    """

    measurement: Measurement
    verdicts: tuple[ClassVerdict, ...]
    outcome: Outcome
    simulated: tuple[SimulatedTime, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def timings(self) -> dict[str, Timing]:
        """How long each replication of a scenario was, and its warm-up."""
        return {s.name: Timing(s.seconds or 0, round(s.warm_up_seconds or 0)) for s in self.measurement.scenarios}


def predict(
    compilation: Compilation,
    running: Mapping[str, Configuration] | None = None,
    *,
    seed: int = 1,
    at_most_seconds: int | None = MOST_SECONDS,
) -> Prediction:
    """Simulate every scenario that the policy verifies, none for more than ``at_most_seconds``, and judge.

    ``running`` has the configurations that it was compiled against, for what it leaves as it is. As a measurement
    does, an inconclusive one goes on with more replications while that is allowed. A scenario that is cut
    short sends fewer packets: its verdicts may be inconclusive where a measurement's are not. ``None`` looks
    once, as long as the policy says.

    Raises:
        RefusedError: errors stand against the policy, so no device would be given it.
        InputError: the policy verifies nothing.
        TesterError: a verification has no traffic, or the twin does not model what a device would do.
    """
    intent, network = compilation.intent.intent, compilation.network
    errors = tuple(finding for finding in compilation.findings if finding.severity is Severity.ERROR)
    if errors:
        raise RefusedError(
            f"errors stand against {intent.intent} on {network.name}, so there is nothing to predict",
            hint="correct what the findings say",
            findings=mask_findings(errors, running or {}, {d.name: d.platform for d in network.devices}),
        )
    if not has_objectives(intent):
        raise InputError(
            "no check judges a class with an objective, so there is nothing to predict",
            Place(file=compilation.intent.document.file, path="verify"),
            "add checks under 'verify', and objectives to the classes that they name",
        )
    with mask_errors(network, running or {}):
        measurement, found = _measure(compilation, running or {}, seed, at_most_seconds)
    open_for_good = tuple(undecidable(compilation, measurement, found))
    return Prediction(
        measurement, found, overall_outcome(found), _simulated(compilation, measurement), open_for_good
    )


def _measure(
    compilation: Compilation, running: Mapping[str, Configuration], seed: int, at_most_seconds: int | None
) -> tuple[Measurement, tuple[ClassVerdict, ...]]:
    intent, network = compilation.intent.intent, compilation.network
    part = network_under_test(intent, network)
    tester = TwinTester(part, project_state(compilation, running, [d.name for d in part.devices]), seed)
    timed = _limit_seconds(intent, at_most_seconds)
    longest = max(check.seconds for check in timed.verify)
    looks = 1 if at_most_seconds is None else LOOKS
    measurement = tester.measure(timed, "predicted", looks=looks)
    found = verdicts(timed, network, measurement)
    for look in range(2, looks + 1):
        more = longest * REPLICATIONS[look - 1] // REPLICATIONS[0]
        if overall_outcome(found) != "inconclusive" or (at_most_seconds is not None and more > at_most_seconds):
            break
        extend = open_scenarios(found)
        measurement = tester.measure(timed, "predicted", look=look, looks=looks, earlier=measurement, extend=extend)
        found = verdicts(timed, network, measurement)
    return measurement, found


def _limit_seconds(intent: Intent, most: int | None) -> Intent:
    """The intent, verified for no longer than allowed."""
    if most is None:
        return intent
    checks = tuple(check.model_copy(update={"seconds": min(check.seconds, most)}) for check in intent.verify)
    return intent.model_copy(update={"verify": checks})


def _simulated(compilation: Compilation, measurement: Measurement) -> tuple[SimulatedTime, ...]:
    """By scenario; checks that share one are measured together, as long as the longest."""
    wanted: dict[str, int] = {}
    for check in compilation.intent.intent.verify:
        scenario = scenario_of(compilation.network, check)
        if scenario is not None:
            wanted[scenario.name] = max(check.seconds, wanted.get(scenario.name, 0))
    return tuple(
        SimulatedTime(each.name, round((each.seconds or 0) * each.replications), wanted[each.name])
        for each in measurement.scenarios
    )
