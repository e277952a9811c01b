"""Configurations that devices gave, measured with the twin and judged. Nothing is changed or recorded."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.compiler.running_plans import running_plans
from qosforge.deltaq.error_spending import LOOKS
from qosforge.deltaq.objective import Outcome
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import Configuration
from qosforge.tester.measurement.document import Measurement, Side
from qosforge.tester.measurement.judging import (
    ClassVerdict,
    open_scenarios,
    overall_outcome,
    verdicts,
)
from qosforge.tester.network_under_test import network_under_test
from qosforge.tester.replications import next_look_seconds
from qosforge.tester.twin import TwinTester


@dataclass(frozen=True)
class JudgedMeasurement:
    """A measurement, the verdicts on it, what they come to together, and the seconds of processor time it took."""

    measurement: Measurement
    verdicts: tuple[ClassVerdict, ...]
    outcome: Outcome
    cpu_seconds: float


def measure(
    intent: Intent,
    network: Network,
    texts: Mapping[str, Configuration],
    *,
    seed: int,
    when: Side = "before",
    look: int = 1,
    earlier: Measurement | None = None,
) -> JudgedMeasurement:
    """Run the tester on configurations that devices gave, and judge; a later ``look`` adds to those scenarios that
    what was ``earlier`` seen leaves open.

    Raises:
        TesterError: the tester cannot measure this.
    """
    begun = time.process_time()
    part = network_under_test(intent, network)
    named = {device.name for device in part.devices}
    plans = running_plans(part, {name: text for name, text in texts.items() if name in named})
    extend = open_scenarios(verdicts(intent, network, earlier)) if earlier else None
    measurement = TwinTester(part, plans, seed).measure(intent, when, look=look, earlier=earlier, extend=extend)
    found = verdicts(intent, network, measurement)
    return JudgedMeasurement(measurement, found, overall_outcome(found), time.process_time() - begun)


def measure_until_conclusive(
    intent: Intent,
    network: Network,
    texts: Mapping[str, Configuration],
    *,
    seed: int,
    at_most_seconds: float = math.inf,
) -> JudgedMeasurement:
    """Measure, and go on while verdicts are inconclusive, as often as a run would.

    A further look is not begun that would end later than ``at_most_seconds`` from now.

    Raises:
        TesterError: the tester cannot measure this.
    """
    begun = time.monotonic()
    judged = measure(intent, network, texts, seed=seed)
    for look in range(2, LOOKS + 1):
        further = next_look_seconds(look - 1, judged.cpu_seconds) or 0.0
        if judged.outcome != "inconclusive" or time.monotonic() - begun + further > at_most_seconds:
            break
        judged = measure(intent, network, texts, seed=seed, look=look, earlier=judged.measurement)
    return judged
