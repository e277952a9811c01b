"""Benches: the set-ups of the papers, from an experiment's data to cases for the twin."""

from __future__ import annotations

from qosforge.errors import ServiceError
from qosforge.experiments.benches.campus import cases as campus
from qosforge.experiments.benches.fan_in import cases as fan_in
from qosforge.experiments.benches.link_sharing import cases as link_sharing
from qosforge.experiments.benches.reference import cases as reference
from qosforge.experiments.benches.scheduler_cost import cases as scheduler_cost
from qosforge.experiments.benches.slow_lines import cases as slow_lines
from qosforge.experiments.benches.switch_fan_in import cases as switch_fan_in
from qosforge.experiments.benches.wan_path import cases as wan_path
from qosforge.experiments.cases import Bench

_BENCHES: dict[str, Bench] = {
    "campus": campus,
    "fan-in": fan_in,
    "link-sharing": link_sharing,
    "reference": reference,
    "scheduler-cost": scheduler_cost,
    "slow-lines": slow_lines,
    "switch-fan-in": switch_fan_in,
    "wan-path": wan_path,
}


def bench(name: str) -> Bench:
    """The bench of this name.

    Raises:
        ServiceError: there is none.
    """
    if name not in _BENCHES:
        raise ServiceError(f"no bench is called {name!r}", hint=f"use one of {', '.join(_BENCHES)}")
    return _BENCHES[name]
