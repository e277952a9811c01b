"""Devices as they are now: read their configurations and measure with the twin. Nothing is changed or recorded."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from qosforge.deltaq.error_spending import LOOKS
from qosforge.deltaq.objective import Outcome
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.not_saved import LiveState
from qosforge.deploy.transaction import running
from qosforge.deploy.unsaved import read_in_the_way
from qosforge.errors import DeviceErrors, QosforgeError
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network
from qosforge.plan.model import Plan
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration, DeviceText
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


def read_running(fleet: Fleet, devices: Collection[str] = ()) -> dict[str, DeviceText]:
    """The running configurations of devices of the network, by device: of all unless ``devices`` are named.

    Raises:
        DeviceErrors: devices cannot be read; carries the error of each.
    """
    texts, errors = read_each(fleet, devices)
    if errors:
        raise DeviceErrors("devices cannot be read", errors=list(errors.values()))
    return texts


def read_each(
    fleet: Fleet, devices: Collection[str] = ()
) -> tuple[dict[str, DeviceText], dict[str, QosforgeError]]:
    """As `read_running`, for who can do with less: the configurations of the devices that can be read, and the
    errors of those that cannot, by device.
    """
    names = [d.name for d in fleet.network.devices if not devices or d.name in devices]
    outcomes = fleet.run(names, lambda _name, driver: running(driver))
    texts = {name: outcome.value for name, outcome in outcomes.items() if outcome.value is not None}
    return texts, {name: outcome.error for name, outcome in outcomes.items() if outcome.error is not None}


def read_live_state(fleet: Fleet, devices: Collection[str] = ()) -> LiveState:
    """What devices hold, for who will change it: as `read_running`, and whether it is saved.

    Raises:
        DeviceErrors: devices cannot be read; carries the error of each.
    """
    names = [d.name for d in fleet.network.devices if not devices or d.name in devices]

    def both(name: str, driver: DeviceDriver) -> tuple[DeviceText, tuple[str, ...]]:
        held = running(driver)
        return held, read_in_the_way(fleet.network.device(name), driver, held)

    outcomes = fleet.run(names, both)
    errors = [outcome.error for outcome in outcomes.values() if outcome.error is not None]
    if errors:
        raise DeviceErrors("devices cannot be read", errors=errors)
    found = {name: outcome.value for name, outcome in outcomes.items() if outcome.value is not None}
    return LiveState(
        {name: held for name, (held, _) in found.items()},
        {name: lines for name, (_, lines) in found.items() if lines},
    )


def running_plans(network: Network, texts: Mapping[str, Configuration]) -> dict[str, Plan]:
    """What devices hold, by the configurations they gave."""
    plans = {}
    for name, text in texts.items():
        device = network.device(name)
        plans[name] = parse_running(device.platform, text, name, device.image)
    return plans


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
