"""ΔQ of every class on the twin of compiled plans, judged by the policy's own objectives.

A measurement looks at what boxes hold; here no box is asked, so the evidence is ``predicted``: our model of our
configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.compiler.compile import Compilation
from app.deltaq.objective import Outcome
from app.errors import InputError, Place, RefusedError
from app.findings import Severity
from app.intent.models import Intent
from app.prediction.holding import would_hold
from app.tester.judging import ClassVerdict, judges, overall, verdicts
from app.tester.measurement import Measurement
from app.tester.traffic import LONGEST_STRETCH, scenario_of
from app.tester.twin import TwinTester

MOST_SECONDS = 60
"""Simulated seconds of a scenario, unless others are asked for: a campus of nine boxes then takes a few seconds."""


LONGEST_SECONDS = 3600
"""The most that may be asked for: as long as a policy may want a scenario measured."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """How long a scenario was simulated, and how long the policy wants it measured, in seconds."""

    scenario: str
    seconds: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted measurement, the verdicts on it and what they come to together."""

    measurement: Measurement
    verdicts: tuple[ClassVerdict, ...]
    outcome: Outcome
    simulated: tuple[Simulated, ...]


def predict(
    compilation: Compilation,
    running: Mapping[str, str] | None = None,
    *,
    seed: int = 1,
    at_most_seconds: int | None = MOST_SECONDS,
) -> Prediction:
    """Simulate every scenario that the policy verifies, none for more than ``at_most_seconds``, and judge.

    ``running`` has the configurations that it was compiled against, for what it leaves as it is. As a measurement
    does, an inconclusive one is repeated for longer while that is allowed. A scenario that is cut
    short sends fewer packets: its verdicts may be inconclusive where a measurement's are not. ``None`` simulates
    once, as long as the policy says.

    Raises:
        RefusedError: errors stand against the policy, so no box would be given it.
        InputError: the policy verifies nothing.
        TesterError: a verification has no traffic, or the twin does not model what a box would do.
    """
    intent, network = compilation.intent.intent, compilation.network
    errors = tuple(finding for finding in compilation.findings if finding.severity is Severity.ERROR)
    if errors:
        raise RefusedError(
            f"errors stand against {intent.intent} on {network.name}, so there is nothing to predict",
            mend="mend what the findings say",
            findings=errors,
        )
    if not judges(intent):
        raise InputError(
            "no check judges a class with an objective, so there is nothing to predict",
            Place(file=compilation.intent.document.file, path="verify"),
            "add checks under 'verify', and objectives to the classes that they name",
        )
    tester = TwinTester(network, would_hold(compilation, running or {}), seed)
    timed = _timed(intent, at_most_seconds, 1)
    found = _judged(tester, timed)
    stretch = 2
    while at_most_seconds is not None and overall(found[1]) == "inconclusive" and stretch <= LONGEST_STRETCH:
        longer = _timed(intent, at_most_seconds, stretch)
        if longer == timed:
            break
        timed, found = longer, _judged(tester, longer)
        stretch *= 2
    return Prediction(*found, overall(found[1]), _simulated(compilation, timed))


def _judged(tester: TwinTester, intent: Intent) -> tuple[Measurement, tuple[ClassVerdict, ...]]:
    measurement = tester.measure(intent, "predicted")
    return measurement, verdicts(intent, tester.network, measurement)


def _timed(intent: Intent, most: int | None, stretch: int) -> Intent:
    """The intent, verified for ``stretch`` times as long and no longer than allowed."""
    if most is None:
        return intent
    checks = tuple(
        check.model_copy(update={"seconds": min(check.seconds * stretch, most)}) for check in intent.verify
    )
    return intent.model_copy(update={"verify": checks})


def _simulated(compilation: Compilation, timed: Intent) -> tuple[Simulated, ...]:
    """By scenario; checks that share one are measured together, as long as the longest."""
    found: dict[str, Simulated] = {}
    for wanted, check in zip(compilation.intent.intent.verify, timed.verify, strict=True):
        scenario = scenario_of(compilation.network, check)
        if scenario is not None:
            known = found.get(scenario.name, Simulated(scenario.name, 0, 0))
            longest = max(known.seconds, check.seconds), max(known.wanted, wanted.seconds)
            found[scenario.name] = Simulated(scenario.name, *longest)
    return tuple(found.values())
