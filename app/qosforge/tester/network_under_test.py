"""The network under test: the devices that the packets of a measurement pass."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.intent.models import Intent
from qosforge.inventory.models import Network, TrafficScenario
from qosforge.tester.scenario.traffic import scenario_of


def devices_under_test(intent: Intent, network: Network) -> frozenset[str]:
    """The devices on the ways, there and back, of all flows of the scenarios that an intent verifies.

    What lacks a scenario, a station or a way adds none: the tester says so.
    """
    scenarios = {s.name: s for check in intent.verify if (s := scenario_of(network, check)) is not None}
    pairs = {pair for scenario in scenarios.values() for pair in _pairs(scenario)}
    return frozenset(device for source, target in pairs for device in _passed(network, source, target))


def network_under_test(intent: Intent, network: Network) -> Network:
    """The network that has to be known for a measurement, which gives the same for it as for the whole."""
    return network.part(devices_under_test(intent, network))


def _pairs(scenario: TrafficScenario) -> Iterator[tuple[str, str]]:
    for source, target in (*scenario.between, *((flow.from_, flow.to) for flow in scenario.flows)):
        yield source, target
        yield target, source


def _passed(network: Network, source: str, target: str) -> Iterator[str]:
    try:
        yield from (device for device, _ in network.path(source, target))
    except (KeyError, ValueError):  # what the tester says of them is to be the same
        yield from (station.attach[0] for station in network.stations if station.name in (source, target))
