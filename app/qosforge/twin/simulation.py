"""Running scenarios on the twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import qosforge_twin
from qosforge_twin import ScenarioError

from qosforge.twin.report import TwinReport, read_report
from qosforge.twin.scenario import TwinScenario

__all__ = ["ScenarioError", "simulate", "simulate_all"]


def simulate(scenario: TwinScenario, seed: int) -> TwinReport:
    """Simulate one scenario.

    Raises:
        ScenarioError: the twin refuses it; attributes ``path``, ``problem``, ``hint``.
    """
    return read_report(qosforge_twin.run(scenario.json(), seed))


def simulate_all(scenarios: Sequence[TwinScenario], seeds: Sequence[int]) -> Iterator[TwinReport]:
    """Simulate scenarios on all cores; each result is read when it is asked for.

    Raises:
        ScenarioError: the twin refuses one of them; its number is the attribute ``case``.
    """
    texts: list[str] = qosforge_twin.run_many([scenario.json() for scenario in scenarios], list(seeds))
    return map(read_report, texts)
