"""Today beside a prediction: the same traffic through what the devices hold now, for the classes nothing judges.

Of a class without an objective a prediction tells what it would get, which says little to who decides on the change
without what it gets now. Where every device on the ways of a scenario was read, the twin of what they hold answers
that: with the same packets, for as long as the first look of the prediction.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qosforge.compiler.compile import Compilation
from qosforge.errors import QosforgeError
from qosforge.intent.models import Intent, every_class
from qosforge.inventory.models import Network
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration
from qosforge.prediction.masked_errors import mask_errors
from qosforge.prediction.record import Today, TodayScenario
from qosforge.tester.measurement.pooling import class_figures
from qosforge.tester.network_under_test import devices_under_test, network_under_test
from qosforge.tester.replications import Timing
from qosforge.tester.scenario.traffic import scenario_of
from qosforge.tester.twin import TwinTester

TOO_LONG = "it would take longer than the prediction itself"


def simulate_today(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    timings: Mapping[str, Timing],
    *,
    seed: int = 1,
    took: float = math.inf,
    within: float = math.inf,
) -> Today:
    """Simulate what the devices hold now, by the configurations that were read (``running``).

    ``timings`` are those of the prediction, by scenario, and ``took`` the seconds that it needed: no scenario is
    begun later than that from now, and none at all where both would not be ready ``within`` so many seconds. What
    goes wrong is said of its scenario, not raised.
    """
    intent, network = compilation.intent.intent, compilation.network
    unjudged = frozenset(each.name for each in every_class(intent.classes) if each.objective is None)
    twin = _TodayTwin(network, running, seed, unjudged)
    begun = time.monotonic()
    found = []
    for name, part in _by_scenario(intent, network).items() if unjudged else ():
        passed = devices_under_test(part, network)
        unread = tuple(device.name for device in network.devices if device.name in passed - running.keys())
        if unread:
            found.append(TodayScenario(scenario=name, unread=unread))
        elif 2 * took > within or time.monotonic() - begun > took:
            found.append(TodayScenario(scenario=name, why=TOO_LONG))
        elif name in timings:
            found.append(twin.simulate(name, part, timings[name]))
    return tuple(found)


def not_simulated(scenarios: Iterable[str], why: str) -> Today:
    """That nothing of these scenarios was simulated, and why."""
    return tuple(TodayScenario(scenario=name, why=why) for name in scenarios)


def _by_scenario(intent: Intent, network: Network) -> dict[str, Intent]:
    """The intent with the checks of one scenario alone, by its name."""
    found: dict[str, list[int]] = {}
    for number, check in enumerate(intent.verify):
        scenario = scenario_of(network, check)
        if scenario is not None:
            found.setdefault(scenario.name, []).append(number)
    return {
        name: intent.model_copy(update={"verify": tuple(intent.verify[number] for number in numbers)})
        for name, numbers in found.items()
    }


@dataclass(frozen=True)
class _TodayTwin:
    """The twin of the configurations that were read, for the figures of the classes that nothing judges."""

    network: Network
    running: Mapping[str, Configuration]
    seed: int
    unjudged: frozenset[str]

    def simulate(self, name: str, intent: Intent, timing: Timing) -> TodayScenario:
        """What a scenario gives, by its name and an intent that verifies no other."""
        part, running = network_under_test(intent, self.network), self.running
        try:
            with mask_errors(part, running):
                plans = {
                    device.name: parse_running(device.platform, running[device.name], device.name, device.image)
                    for device in part.devices
                }
                tester = TwinTester(part, plans, self.seed)
                measurement = tester.measure(intent, "before", looks=1, timings={name: timing})
        except QosforgeError as error:
            place = " ".join(filter(None, (error.where.device, error.where.interface)))
            return TodayScenario(scenario=name, why=f"{place}: {error.message}" if place else error.message)
        figures = class_figures(measurement.scenario(name))
        return TodayScenario(
            scenario=name, figures=tuple(one for one in figures if one.traffic_class in self.unjudged)
        )
