"""Counters of ``show qos statistics``: packets queued on the way out, and matched by class-maps on the way in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qosforge.plan.model import Plan
from qosforge.platforms.base import QueueCount

COMMAND = "show qos statistics"

_INTERFACE = re.compile(r"Interface (?P<family>Gi|Te) (?P<number>\d+/\d+)")
_FAMILIES = {"Gi": "GigabitEthernet", "Te": "TenGigabitEthernet"}
_ROW = re.compile(r"(?P<queue>[0-7]) +(?P<queued>\d+) +\d+ +(?P<matched>\d+) +\d+")


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """One command tells of every port."""
    return (COMMAND,) if plan.interfaces else ()


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """Every queue of a port on its way out, and every rule of its policy on the way in.

    A class-map has a queue of its own in a policy, which is how the device counts it. Packets that trust alone put
    into a queue move no match counter.

    Raises:
        ValueError: counters stand under no interface.
    """
    return tuple(_counts(answers.get(COMMAND, ""), plan))


def _counts(text: str, plan: Plan) -> Iterator[QueueCount]:
    name = ""
    for line in text.splitlines():
        if match := _INTERFACE.fullmatch(line.strip()):
            name = f"{_FAMILIES[match['family']]} {match['number']}"
        elif match := _ROW.fullmatch(line.strip()):
            if not name:
                raise ValueError("counters stand under no interface")
            interface = plan.interface(name)
            if interface is None:
                continue
            yield QueueCount(name, "output", match["queue"], int(match["queued"]))
            for rule in interface.ingress.rules:
                if rule.queue == int(match["queue"]):
                    yield QueueCount(name, "input", rule.name, int(match["matched"]))
