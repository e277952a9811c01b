"""Checks for a policy that has none of its own: from the traffic that a network describes between its end hosts."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.intent.models import Intent, Verify, every_class
from qosforge.inventory.models import Network, TrafficScenario
from qosforge.tester.scenario.traffic import flow_class

MOST_DERIVED = 12
"""Checks that are derived: each is simulated before and after a change."""
SECONDS = 120
"""How long each measures: enough for a bound on p99.9 of a call (50 packets a second)."""


def derive_checks(intent: Intent, network: Network) -> tuple[Verify, ...]:
    """Checks of the classes with objectives, on the paths for which the network describes traffic of theirs.

    Each is measured beside the other traffic of its scenario. There are none where no flow between two described
    end hosts belongs to a class that has an objective.
    """
    return tuple(check for _, check in zip(range(MOST_DERIVED), _checks(intent, network), strict=False))


def _checks(intent: Intent, network: Network) -> Iterator[Verify]:
    known = {entry.name: entry for entry in every_class(intent.classes)}
    seen: set[tuple[str, str]] = set()
    for scenario in network.traffic:
        offered = _classes(intent, network, scenario)
        for pair in scenario.between:
            of_path = {name for path, name in offered if path == pair}
            judged = [name for name, entry in known.items() if name in of_path and entry.objective is not None]
            if judged and pair not in seen:
                seen.add(pair)
                all_names = {name for _, name in offered}
                beside = [name for name in known if name in all_names and name not in judged]
                yield Verify(
                    from_=pair[0], to=pair[1], classes=tuple(judged), beside=tuple(beside), seconds=SECONDS
                )


def _classes(
    intent: Intent, network: Network, scenario: TrafficScenario
) -> tuple[tuple[tuple[str, str], str], ...]:
    """The path and the class of every flow of a scenario."""
    return tuple(((flow.from_, flow.to), flow_class(intent, flow, network)) for flow in scenario.flows)
