"""What of a policy's checks real packets can be sent for, and what the twin has to stand in for.

An emulated device answers like a real one and forwards nothing. Packets are sent where the whole way is real, and
where no line of it is shared with flows that pass an emulated device: these would be missing beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from qosforge.intent.models import Intent
from qosforge.inventory.models import Network, Port, TrafficFlow, TrafficScenario
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement_plan import verified_scenarios
from qosforge.tester.scenario.traffic import scenario_of

_Pair = tuple[str, str]
_NO_DEVICE = ""
"""In the place of a device's name: the port is the station's own, on its line to the network."""

_SIMULATED = "; simulated: "


@dataclass(frozen=True, slots=True)
class Part:
    """The checks that rest on one kind of evidence, and the network with the traffic that these take."""

    intent: Intent
    network: Network

    @classmethod
    def of(cls, intent: Intent, network: Network, pairs: Mapping[str, Collection[_Pair]]) -> Self | None:
        """The part of these pairs of stations of each scenario; ``None`` where no check is of one."""
        traffic = tuple(_within(scenario, pairs[scenario.name]) for scenario in network.traffic)
        checks = tuple(
            check
            for check in intent.verify
            if (scenario := scenario_of(network, check)) and (check.from_, check.to) in pairs[scenario.name]
        )
        if not checks:
            return None
        return cls(intent.model_copy(update={"verify": checks}), network.model_copy(update={"traffic": traffic}))


@dataclass(frozen=True, slots=True)
class EvidenceParts:
    """``real``: what packets are sent for; ``emulated``: what the twin simulates. ``None`` for nothing."""

    real: Part | None
    emulated: Part | None

    @property
    def told(self) -> str:
        """Which paths rest on what, in words."""
        words = (("packets", self.real), ("the twin, through emulated devices", self.emulated))
        return "; ".join(
            f"{', '.join(dict.fromkeys(check.path for check in part.intent.verify))} by {by}"
            for by, part in words
            if part is not None
        )

    @classmethod
    def of(cls, intent: Intent, network: Network, emulated: Collection[str]) -> Self:
        """Part an intent by the paths that pass one of the devices that are ``emulated``.

        Raises:
            TesterError: a check has no traffic.
        """
        if not emulated:
            return cls(Part(intent, network), None)
        verified_scenarios(intent, network)
        real, simulated = {}, {}
        for scenario in network.traffic:
            ways = _ways(network, scenario)
            passing = {pair for pair, ports in ways.items() if any(device in emulated for device, _ in ports)}
            simulated[scenario.name] = _sharing_lines(ways, passing)
            real[scenario.name] = ways.keys() - simulated[scenario.name]
        return cls(Part.of(intent, network, real), Part.of(intent, network, simulated))


def _ways(network: Network, scenario: TrafficScenario) -> Mapping[_Pair, frozenset[Port]]:
    """The lines that the packets of each pair of stations are sent on, from the sender's own on, TCP's answers
    included.
    """
    ways = {}
    for pair in {*scenario.between, *(_pair(flow) for flow in scenario.flows)}:
        answered = any(flow.source.kind == "tcp" for flow in scenario.flows if _pair(flow) == pair)
        ways[pair] = frozenset(_ports(network, pair, answered=answered))
    return ways


def _pair(flow: TrafficFlow) -> _Pair:
    return flow.from_, flow.to


def _ports(network: Network, pair: _Pair, *, answered: bool) -> Iterator[Port]:
    for source, target in (pair, pair[::-1]) if answered else (pair,):
        try:
            yield from network.path(source, target)
            yield _NO_DEVICE, source
        except (KeyError, ValueError):  # what the tester says of them is to be the same
            continue


def _sharing_lines(ways: Mapping[_Pair, frozenset[Port]], first: Iterable[_Pair]) -> set[_Pair]:
    """Those pairs, and all that share a line with one of them, or with one that does."""
    found, waiting = set(first), list(first)
    while waiting:
        ports = ways[waiting.pop()]
        near = {pair for pair, others in ways.items() if pair not in found and not ports.isdisjoint(others)}
        found |= near
        waiting += near
    return found


def _within(scenario: TrafficScenario, pairs: Collection[_Pair]) -> TrafficScenario:
    return scenario.model_copy(
        update={
            "between": tuple(pair for pair in scenario.between if pair in pairs),
            "flows": tuple(flow for flow in scenario.flows if _pair(flow) in pairs),
        }
    )


def join_evidence(measured: Measurement | None, simulated: Measurement | None) -> Measurement:
    """One measurement of both parts: its evidence is the weaker one, that of each path its own.

    What packets showed was judged once, and counts as seen at the first of as many looks as the twin may take.
    """
    if measured is None or simulated is None:
        found = measured or simulated
        assert found is not None, "a policy that verifies something has a part"
        return found
    scenarios = (
        *(each.model_copy(update={"evidence": "measured", "look": 1}) for each in measured.scenarios),
        *(
            each.model_copy(update={"evidence": simulated.evidence, "look": each.look or simulated.look})
            for each in simulated.scenarios
        ),
    )
    also = f" and {simulated.tester}"
    # At a further look either may be a part of what was joined at an earlier one, with the words for both.
    return simulated.model_copy(
        update={
            "tester": measured.tester.removesuffix(also) + also,
            "clock_error_ps": measured.clock_error_ps,
            "delay_reference": (
                measured.delay_reference.partition(_SIMULATED)[0]
                + _SIMULATED
                + simulated.delay_reference.rpartition(_SIMULATED)[2]
            ),
            "scenarios": scenarios,
        }
    )
