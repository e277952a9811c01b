"""The campus after a good push, on which faults are typed: what it holds, and what the tester makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from qosforge.compiler.candidate import find_plan_differences, make_candidate, rollback_lines
from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.deltaq.error_spending import LOOKS
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.route import lab_route
from qosforge.deploy.transaction import running
from qosforge.intent.loader import load_intent
from qosforge.intent.models import Intent
from qosforge.inventory.models import TrafficScenario
from qosforge.plan.model import Plan
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import DeviceText
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import verdicts
from qosforge.tester.measurement.pooling import ClassSummary, class_summary
from qosforge.tester.twin import TwinTester
from tests.answers import refusals

from .campus import POLICY, Campus

Check = tuple[str, str, str]
"""Stations from and to, and the class between them."""


@dataclass(frozen=True)
class Seen:
    """What one measurement says of one class between two stations."""

    outcome: str | None
    """The verdict, where the intent has an objective for it."""
    summary: ClassSummary


class Site:
    """Devices that hold the campus intent, read over SSH."""

    def __init__(self, campus: Campus) -> None:
        self.campus = campus
        self.fleet = Fleet(campus.network, lab_route(campus.state))
        before = self._read(campus.names)
        self.compilation: Compilation = compile_intent(load_intent(POLICY), campus.network, before)
        for device in self.compilation.devices:
            lines = make_candidate(device, before[device.name]).text.splitlines()
            assert refusals(campus.type(device.name, *lines)) == []
        self.held = self._read(campus.names)
        self.plans = {name: self._parsed(name, text) for name, text in self.held.items()}
        assert [name for name in campus.names if self.find_plan_differences(name, self.plans[name])] == []
        self._good: dict[tuple[str, Check], Seen] = {}

    @property
    def intent(self) -> Intent:
        """The campus intent."""
        return self.compilation.intent.intent

    def device(self, name: str) -> CompiledDevice:
        """What a device was given."""
        return next(device for device in self.compilation.devices if device.name == name)

    def find_plan_differences(self, name: str, plan: Plan) -> tuple[str, ...]:
        """How a plan that was read back differs from the one meant."""
        return find_plan_differences(self.device(name).plan, plan)

    def read_plan(self, name: str) -> Plan:
        """What a device holds now."""
        return self._parsed(name, self._read([name])[name])

    @contextmanager
    def changed(self, name: str, lines: tuple[str, ...]) -> Iterator[Plan]:
        """Type lines on a box's console, give its plan as read back, and take the lines back by their inverse."""
        assert refusals(self.campus.type(name, *lines)) == []
        try:
            yield self.read_plan(name)
        finally:
            now = self._read([name])[name]
            back = rollback_lines(self.campus.network.device(name).platform, now, self.held[name])
            said = self.campus.type(name, *back)
            assert (refusals(said), self._read([name])[name]) == ([], self.held[name])

    def good(self, scenario: str, seconds: int, check: Check) -> Seen:
        """What the devices do as they were pushed."""
        if (scenario, check) not in self._good:
            self._good[scenario, check] = self.measure(self.plans, scenario, seconds, check)
        return self._good[scenario, check]

    def measure(self, plans: Mapping[str, Plan], scenario: str, seconds: int, check: Check) -> Seen:
        """Run the traffic that meets one class on the twin of these plans, until the class has a verdict.

        Other classes on its way are judged with it, others in the scenario are not.
        """
        source, destination, name = check
        met = _meeting(next(s for s in self.campus.network.traffic if s.name == scenario), destination)
        network = self.campus.network.model_copy(update={"traffic": (met,)})
        checks = tuple(
            verify.model_copy(update={"seconds": seconds})
            for verify in self.intent.verify
            if (verify.from_, verify.to) in met.between
        )
        intent = self.intent.model_copy(update={"verify": checks})
        tester = TwinTester(network, plans)
        path = f"{source}→{destination}"
        found: Measurement | None = None
        outcome: str | None = None
        for look in range(1, LOOKS + 1):
            found = tester.measure(intent, "after", look=look, earlier=found)
            judged = verdicts(intent, network, found)
            outcome = next((v.verdict.outcome for v in judged if (v.path, v.traffic_class) == (path, name)), None)
            if outcome != "inconclusive":
                break
        assert found is not None
        return Seen(outcome, class_summary(found, scenario, name, path=path))

    def close(self) -> None:
        """Close the sessions."""
        self.fleet.close()

    def _read(self, names: list[str]) -> dict[str, DeviceText]:
        outcomes = self.fleet.run(names, lambda _name, driver: running(driver))
        assert [outcome.error for outcome in outcomes.values() if outcome.error] == []
        return {name: outcome.value for name, outcome in outcomes.items() if outcome.value is not None}

    def _parsed(self, name: str, text: DeviceText) -> Plan:
        device = self.campus.network.device(name)
        return parse_running(device.platform, text, name, device.image)


def _meeting(scenario: TrafficScenario, destination: str) -> TrafficScenario:
    """The flows that meet before one station. Where none waits for answers, those are the flows to this station:
    others have ports of their own, and share with these only lines that are far from full."""
    if any(flow.source.kind == "tcp" for flow in scenario.flows):
        return scenario
    flows = tuple(flow for flow in scenario.flows if flow.to == destination)
    between = tuple(pair for pair in scenario.between if pair[1] == destination)
    return scenario.model_copy(update={"flows": flows, "between": between})
