"""Find the line of a configuration that a difference between plans is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from qosforge.configtree import ConfigLine, Tree
from qosforge.importing.plan_diff import PlanDifference
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.platforms.base import platform

_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")
_POLICY = re.compile(r"policy-map(?:-input|-output)? (\S+)(?: .*)?")
_SIDES = {"input": "ingress", "output": "egress"}


class DifferenceLines:
    """The lines of one configuration by what plans call their objects."""

    def __init__(self, configuration: RunningConfiguration) -> None:
        self._plan = configuration.plan
        self._tree: Tree = platform(configuration.platform).commands.tree(configuration.text)

    def find(self, difference: PlanDifference) -> int | None:
        """The number of a class's line, else of its policy's or the interface's; None for the whole device."""
        interface = difference.interface and self._plan.interface(difference.interface)
        if not interface:
            return None
        policy, name = "", ""
        for reached in _reached(interface, difference.place):
            policy = getattr(reached, "policy", None) or policy
            name = getattr(reached, "name", None) or name
        heading = next((line for line in self._tree if _named(line) == policy), None)
        if heading is None:
            headings = (line for line in self._tree if line.text.split(" ", 1)[0] == "interface")
            return next((line.number for line in headings if interface.name in line.text), None)
        classes = (line.number for line in heading.children if line.text.split()[:2] == ["class", name])
        return next(classes, heading.number)


def _named(line: ConfigLine) -> str | None:
    found = _POLICY.fullmatch(line.text)
    return found[1] if found else None


def _reached(start: Any, place: str) -> Iterator[Any]:
    """The parts of a plan on the way to a place, as far as the running one has them."""
    value = start
    for step, index in _STEP.findall(place):
        value = getattr(value, _SIDES.get(step, step), None)
        if index and isinstance(value, tuple):
            value = value[int(index)] if int(index) < len(value) else None
        if value is None:
            return
        yield value
