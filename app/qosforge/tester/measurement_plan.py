"""What a tester of packets has to do: the scenarios that an intent verifies, with each flow's class and hosts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Self

from qosforge.deltaq.sample import LEAST_REPLICATIONS
from qosforge.errors import Place, TesterError
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network, Station, TrafficFlow, TrafficScenario
from qosforge.tester.scenario.traffic import flow_classes, flow_names, scenario_of
from qosforge.units import listed

_PORTS = 65_536
_LEAST_SECONDS = 2
WARM_UP_SECONDS = 1.0
"""What goes before the seconds that are measured, and is left out."""


@dataclass(frozen=True, slots=True)
class PlannedFlow:
    """One flow: ``number`` of those that ``described`` stands for; ``judged`` where its stations are a check's.

    ``source_port`` is its own at its station: what sends from one port sends with one DSCP.
    """

    name: str
    described: TrafficFlow
    number: int
    traffic_class: str
    source: Station
    target: Station
    judged: bool
    source_port: int

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


def _nothing() -> None:
    """Nobody looks on."""


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """All that a measurement of packets takes: what a tester is given. ``seed`` is of its random phases.

    ``replications`` is into how many independent starts a tester that can divides the seconds of each scenario.
    A tester calls ``meanwhile`` several times a second while it sends; where that raises, it stops sending.
    """

    network: Network
    scenarios: tuple[PlannedScenario, ...]
    seed: int = 1
    meanwhile: Callable[[], None] = field(default=_nothing, compare=False)
    replications: int = 1

    @property
    def stations(self) -> tuple[str, ...]:
        """The names of all stations that send or receive, sorted."""
        flows = (flow for scenario in self.scenarios for flow in scenario.flows)
        return tuple(sorted({station.name for flow in flows for station in (flow.source, flow.target)}))

    def seconds_of_each(self, scenario: PlannedScenario) -> int:
        """How long each start of a scenario is measured."""
        return _divided(scenario.seconds, self.replications)

    def told_seconds(self, scenario: PlannedScenario) -> str:
        """How long a scenario is measured in all its starts, in words."""
        each = self.seconds_of_each(scenario)
        starts = f" in {self.replications} starts of {each} s" if self.replications > 1 else ""
        return f"{self.replications * each} s{starts}"

    @classmethod
    def of(cls, intent: Intent, network: Network, seed: int = 1) -> Self:
        """The plan of what an intent verifies.

        Raises:
            TesterError: a check has no traffic, or a flow cannot be sent in every start.
        """
        scenarios, judged = verified_scenarios(intent, network)
        planned = tuple(
            PlannedScenario(
                scenario.name, scenario.title, seconds, tuple(_planned_flows(intent, network, scenario, judged))
            )
            for scenario, seconds in scenarios.values()
        )
        replications = network.probes.replications or _replications(intent)
        for scenario, seconds in scenarios.values():
            _require_early_starts(scenario, WARM_UP_SECONDS + _divided(seconds, replications), replications)
            _require_free_ports(intent, network, scenario, 2 * replications)
        return cls(network, planned, seed, replications=replications)


def _divided(seconds: int, replications: int) -> int:
    return seconds if replications == 1 else max(_LEAST_SECONDS, -(-seconds // replications))


def _require_early_starts(scenario: TrafficScenario, end: float, replications: int) -> None:
    """Make sure that each flow of datagrams begins before a start is at its ``end``.

    Raises:
        TesterError: one does not.
    """
    for flow in scenario.flows:
        if flow.source.kind != "tcp" and flow.start >= end:
            hint = f"let it start before {end:g} s, or measure longer"
            raise TesterError(
                f"{flow.name} starts after {flow.start:g} s, when {scenario.name} is over, which takes {end:g} s",
                Place(file="traffic.yaml", path=f"{scenario.name}.{flow.name}.start"),
                hint + ", or begin once (`replications: 1` in probes.yaml)" * (replications > 1),
            )


def _require_free_ports(intent: Intent, network: Network, scenario: TrafficScenario, starts: int) -> None:
    """Make sure that connections of so many ``starts`` may have ports of their own, on both sides of a push.

    Raises:
        TesterError: there are none, another flow has them, or with one of them a connection is of another class.
    """
    taken: dict[tuple[str, int], str] = {}
    for flow in scenario.flows:
        if flow.source.kind != "tcp":
            continue
        place = Place(file="traffic.yaml", path=f"{scenario.name}.{flow.name}.src_port")
        ports = range(flow.src_port, flow.src_port + starts * flow.count)
        told = f"{flow.name} takes source ports {ports[0]} to {ports[-1]}, others in each start before and after"
        if ports[-1] >= _PORTS:
            raise TesterError(told, place, f"let it begin at {_PORTS - len(ports)} at most")
        other = next((name for port in ports if (name := taken.get((flow.from_, port)))), None)
        if other is not None:
            hint = f"let those of {flow.name} begin behind those of {other}, which has as many for each start"
            raise TesterError(f"{told}, and {other} of the same station has some of these", place, hint)
        taken |= {(flow.from_, port): flow.name for port in ports}
        classes = flow_classes(intent, flow, network)
        for port in ports[flow.count :: flow.count]:
            if flow_classes(intent, flow.model_copy(update={"src_port": port}), network) != classes:
                raise TesterError(
                    f"{flow.name} is told by its source port {flow.src_port}, and each start takes another",
                    place,
                    f"match these connections otherwise, by their port {flow.dst_port} for one",
                )


def _replications(intent: Intent) -> int:
    """Delays have a long memory, which only starts of their own tell; of losses a single one can tell enough."""
    asked = (intent.objective_of(check, name) for check in intent.verify for name in check.classes)
    bounds = [spec.bounds() for spec in asked if spec is not None]
    late = any(each.delay or each.mean is not None or each.variation is not None for each in bounds)
    return LEAST_REPLICATIONS if late else 1


def _planned_flows(
    intent: Intent, network: Network, scenario: TrafficScenario, judged: Collection[tuple[str, str]]
) -> Iterator[PlannedFlow]:
    """The flows of a scenario. A datagram flow whose source port another one of its station has gets the next free
    one: who sends both from one socket gives both one DSCP. Connections have their ports as described.

    Raises:
        TesterError: with that port it would be of another class, or there is none.
    """
    taken: set[tuple[str, int]] = set()
    for flow in scenario.flows:
        names, classes = flow_names(flow), flow_classes(intent, flow, network)
        for number, (name, traffic_class) in enumerate(zip(names, classes, strict=True)):
            port = flow.src_port + number
            while flow.source.kind != "tcp" and (flow.from_, port) in taken:
                port += 1
            if port >= _PORTS:
                raise TesterError(
                    f"no source port is left for {name}: those of {flow.from_} from {flow.src_port} on are taken",
                    Place(file="traffic.yaml", path=f"{scenario.name}.{flow.name}.src_port"),
                    "give it a lower src_port",
                )
            moved = flow.model_copy(update={"src_port": port, "count": 1})
            if flow_classes(intent, moved, network) != [traffic_class]:
                raise TesterError(
                    f"{name} and another flow of {flow.from_} have source port {flow.src_port + number}",
                    Place(file="traffic.yaml", path=f"{scenario.name}.{flow.name}.src_port"),
                    "give each flow of a station a src_port of its own: what sends from one port has one DSCP",
                )
            if flow.source.kind != "tcp":
                taken.add((flow.from_, port))
            yield PlannedFlow(
                name,
                flow,
                number,
                traffic_class,
                network.station(flow.from_),
                network.station(flow.to),
                (flow.from_, flow.to) in judged,
                port,
            )


def verified_scenarios(
    intent: Intent, network: Network
) -> tuple[dict[str, tuple[TrafficScenario, int]], set[tuple[str, str]]]:
    """The scenarios that the intent verifies with their seconds, and the pairs of stations that are judged.

    Raises:
        TesterError: a check names no station of the network, or has no traffic.
    """
    scenarios: dict[str, tuple[TrafficScenario, int]] = {}
    judged: set[tuple[str, str]] = set()
    stations = [station.name for station in network.stations]
    for position, check in enumerate(intent.verify):
        place = Place(path=f"verify[{position}]")
        for name in (check.from_, check.to):
            if stations and name not in stations:
                near = get_close_matches(name, stations, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {listed(stations)}"
                raise TesterError(f"no station is called {name!r}", place, hint)
        scenario = scenario_of(network, check)
        if scenario is None:
            raise TesterError(
                f"no traffic is described between {check.from_} and {check.to}",
                place,
                "add a scenario to traffic.yaml that has this pair under 'between'",
            )
        seconds = max(check.seconds, scenarios.get(scenario.name, (scenario, 0))[1])
        scenarios[scenario.name] = (scenario, seconds)
        judged.add((check.from_, check.to))
    return scenarios, judged
