"""What a tester of packets has to do: the scenarios that an intent verifies, with each flow's class and hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from qosforge.errors import TesterError
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network, Station, TrafficFlow, TrafficScenario
from qosforge.tester.scenario.traffic import flow_classes, flow_names, scenario_of

WARM_UP_SECONDS = 1.0
"""What goes before the seconds that are measured, and is left out."""


@dataclass(frozen=True, slots=True)
class PlannedFlow:
    """One flow: ``number`` of those that ``described`` stands for; ``judged`` where its stations are a check's."""

    name: str
    described: TrafficFlow
    number: int
    traffic_class: str
    source: Station
    target: Station
    judged: bool

    @property
    def source_port(self) -> int:
        """Its own source port."""
        return self.described.src_port + self.number

    @property
    def path(self) -> str:
        """The label of the way that it takes."""
        return f"{self.source.name}→{self.target.name}"


@dataclass(frozen=True, slots=True)
class PlannedScenario:
    """Flows that run at the same time, to be measured for ``seconds`` after a warm-up."""

    name: str
    title: str
    seconds: int
    flows: tuple[PlannedFlow, ...]
    warm_up_seconds: float = WARM_UP_SECONDS


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """All that a measurement of packets takes: what a tester is given. ``seed`` is of its random phases."""

    network: Network
    scenarios: tuple[PlannedScenario, ...]
    seed: int = 1

    @classmethod
    def of(cls, intent: Intent, network: Network, seed: int = 1) -> Self:
        """The plan of what an intent verifies.

        Raises:
            TesterError: a check has no traffic.
        """
        scenarios, judged = verified_scenarios(intent, network)
        planned = tuple(
            PlannedScenario(
                scenario.name,
                scenario.title,
                seconds,
                tuple(
                    PlannedFlow(
                        name,
                        flow,
                        number,
                        taken,
                        network.station(flow.from_),
                        network.station(flow.to),
                        (flow.from_, flow.to) in judged,
                    )
                    for flow in scenario.flows
                    for number, (name, taken) in enumerate(
                        zip(flow_names(flow), flow_classes(intent, flow, network), strict=True)
                    )
                ),
            )
            for scenario, seconds in scenarios.values()
        )
        return cls(network, planned, seed)


def verified_scenarios(
    intent: Intent, network: Network
) -> tuple[dict[str, tuple[TrafficScenario, int]], set[tuple[str, str]]]:
    """The scenarios that the intent verifies with their seconds, and the pairs of stations that are judged.

    Raises:
        TesterError: a check has no traffic.
    """
    scenarios: dict[str, tuple[TrafficScenario, int]] = {}
    judged: set[tuple[str, str]] = set()
    for check in intent.verify:
        scenario = scenario_of(network, check)
        if scenario is None:
            raise TesterError(
                f"no traffic is described between {check.from_} and {check.to}",
                hint="add a scenario to traffic.yaml that has this pair under 'between'",
            )
        seconds = max(check.seconds, scenarios.get(scenario.name, (scenario, 0))[1])
        scenarios[scenario.name] = (scenario, seconds)
        judged.add((check.from_, check.to))
    return scenarios, judged
