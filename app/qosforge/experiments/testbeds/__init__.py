"""Testbeds: the set-ups of the papers, from an experiment's data to cases for the twin."""

from __future__ import annotations

from qosforge.errors import ServiceError
from qosforge.experiments.cases import Testbed
from qosforge.experiments.testbeds.campus import cases as campus
from qosforge.experiments.testbeds.fan_in import cases as fan_in
from qosforge.experiments.testbeds.kernel_link_sharing import cases as kernel_link_sharing
from qosforge.experiments.testbeds.kernel_router import cases as kernel_router
from qosforge.experiments.testbeds.link_sharing import cases as link_sharing
from qosforge.experiments.testbeds.reference import cases as reference
from qosforge.experiments.testbeds.scheduler_cost import cases as scheduler_cost
from qosforge.experiments.testbeds.slow_lines import cases as slow_lines
from qosforge.experiments.testbeds.switch_fan_in import cases as switch_fan_in
from qosforge.experiments.testbeds.wan_path import cases as wan_path

_TESTBEDS: dict[str, Testbed] = {
    "campus": campus,
    "fan-in": fan_in,
    "kernel-link-sharing": kernel_link_sharing,
    "kernel-router": kernel_router,
    "link-sharing": link_sharing,
    "reference": reference,
    "scheduler-cost": scheduler_cost,
    "slow-lines": slow_lines,
    "switch-fan-in": switch_fan_in,
    "wan-path": wan_path,
}


def find_testbed(name: str) -> Testbed:
    """The testbed of this name.

    Raises:
        ServiceError: there is none.
    """
    if name not in _TESTBEDS:
        raise ServiceError(f"no testbed is called {name!r}", hint=f"use one of {', '.join(_TESTBEDS)}")
    return _TESTBEDS[name]
