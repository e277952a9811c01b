"""The campus network as a running lab whose devices hold the campus intent, read back over SSH."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.route import lab_route
from qosforge.deploy.transaction import running
from qosforge.emulation import offer_traffic, start_lab
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.plan.model import Plan
from qosforge.platforms.base import QueueCount
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import DeviceText
from qosforge.tester.counters.comparison import CounterNote, compare_counters, read_counters
from qosforge.tester.counters.offered_load import expected_counts
from qoslab import control
from tests.answers import refusals

ROOT = Path(__file__).parents[2]
INVENTORY = ROOT / "inventories" / "campus"


@dataclass
class Campus:
    """A lab on the air; ``plans`` is what its devices held when the tests began."""

    network: Network
    state: Path
    fleet: Fleet
    plans: Mapping[str, Plan]

    def read(self, *names: str) -> dict[str, tuple[QueueCount, ...]]:
        outcomes = self.fleet.run(names, lambda name, driver: read_counters(driver, self.plans[name]))
        for outcome in outcomes.values():
            if outcome.error is not None:
                raise outcome.error
        return {name: outcome.value or () for name, outcome in outcomes.items()}

    def notes(self, *names: str) -> tuple[CounterNote, ...]:
        """Read, offer, read again, compare."""
        first = self.read(*names)
        offers = offer_traffic(self.network, self.state)
        second = self.read(*names)
        return tuple(
            note
            for name in names
            for note in compare_counters(
                self.plans[name], first[name], second[name], expected_counts(self.network, self.plans[name], offers)
            )
        )


@pytest.fixture(scope="session")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    network = load_network(INVENTORY)
    state = tmp_path_factory.mktemp("campus") / "state"
    start_lab(network, INVENTORY, state)
    try:
        with Fleet(network, lab_route(state)) as fleet:
            names = [device.name for device in network.devices]
            texts = _held(fleet, names)
            compilation = compile_intent(
                load_intent(ROOT / "policies" / "campus-collaboration.yaml"), network, texts
            )
            for device in compilation.devices:
                lines = make_candidate(device, texts[device.name]).text.splitlines()
                assert refusals(control.configure(state, device.name, lines)) == []
            texts = _held(fleet, names)
            plans = {d.name: parse_running(d.platform, texts[d.name], d.name, d.image) for d in network.devices}
            for device in compilation.devices:
                assert not find_plan_differences(device.plan, plans[device.name])
            yield Campus(network, state, fleet, plans)
    finally:
        control.stop(state)


def _held(fleet: Fleet, names: list[str]) -> dict[str, DeviceText]:
    outcomes = fleet.run(names, lambda _name, driver: running(driver))
    assert not [outcome.error for outcome in outcomes.values() if outcome.error]
    return {name: outcome.value for name, outcome in outcomes.items() if outcome.value is not None}
