"""Counters by class: the 2950 has none."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.plan.model import Plan
from qosforge.platforms.base import QueueCount


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """No show command of the device counts by class or queue."""
    del plan
    return ()


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """There is nothing to read."""
    del answers, plan
    return ()
