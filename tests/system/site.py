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
from qosforge.plan.model import Plan
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import DeviceText
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import overall_outcome, verdicts
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

    def measure(self, plans: Mapping[str, Plan], scenario: str, seconds: int) -> Measurement:
        """Run one scenario of the intent on the twin of these plans."""
        pairs = next(s.between for s in self.campus.network.traffic if s.name == scenario)
        checks = tuple(
            check.model_copy(update={"seconds": seconds})
            for check in self.intent.verify
            if (check.from_, check.to) in pairs
        )
        intent = self.intent.model_copy(update={"verify": checks})
        tester = TwinTester(self.campus.network, plans)
        found = tester.measure(intent, "after")
        for look in range(2, LOOKS + 1):
            if overall_outcome(verdicts(intent, self.campus.network, found)) != "inconclusive":
                break
            found = tester.measure(intent, "after", look=look, earlier=found)
        return found

    def seen(self, measurement: Measurement, check: Check) -> Seen:
        """Verdict and figures of one class on one path of a measurement of one scenario."""
        source, destination, name = check
        (scenario,) = measurement.scenarios
        path = f"{source}→{destination}"
        pairs = next(s.between for s in self.campus.network.traffic if s.name == scenario.name)
        checks = tuple(c for c in self.intent.verify if (c.from_, c.to) in pairs)
        found = verdicts(self.intent.model_copy(update={"verify": checks}), self.campus.network, measurement)
        outcome = next((v.verdict.outcome for v in found if (v.path, v.traffic_class) == (path, name)), None)
        return Seen(outcome, class_summary(measurement, scenario.name, name, path=path))

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
