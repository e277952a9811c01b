"""Sides of interfaces that are left out of intents: a line that says what they do is not understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.commands import References
from qosforge.importing.observed import Direction, ObservedSide
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.plan.model import Ingress, Plan
from qosforge.plan.unknown_line import UnknownLine
from qosforge.platforms.base import platform

_DIRECTIONS: tuple[Direction, ...] = ("input", "output")


@dataclass(frozen=True)
class LeftOut:
    """The sides of one device that nobody may rewrite, each with its lines that are not understood.

    ``attached`` are the numbers of the headings of what any interface refers to.
    """

    sides: Mapping[tuple[str, Direction], tuple[UnknownLine, ...]]
    attached: frozenset[int]

    def without(self, plan: Plan) -> Plan:
        """A plan that says nothing of the inputs that are left out."""
        return plan.model_copy(
            update={
                "interfaces": tuple(
                    entry.model_copy(update={"ingress": Ingress()})
                    if (entry.name, "input") in self.sides
                    else entry
                    for entry in plan.interfaces
                )
            }
        )

    def rest(self, side: ObservedSide) -> tuple[str, ...]:
        """The ports of a side that may be rewritten."""
        return tuple(port for port in side.ports if (port, side.direction) not in self.sides)


def find_left_out(configuration: RunningConfiguration) -> LeftOut:
    """The sides of a configuration on which a line takes part that is not understood.

    Access lists and class-maps that are not there take no packets: what refers to one is understood.
    """
    table = platform(configuration.platform).commands
    references = References(table, table.tree(configuration.text))
    unread = {
        line.line: line
        for line in configuration.plan.unknown
        if line.undefined is None or not line.undefined.startswith(("access-group ", "class-map "))
    }
    sides: dict[tuple[str, Direction], tuple[UnknownLine, ...]] = {}
    for interface in configuration.plan.interfaces if unread else ():
        for direction in _DIRECTIONS:
            found = sorted(references.taking_part(interface.name, direction) & unread.keys())
            if found:
                sides[interface.name, direction] = tuple(unread[number] for number in found)
    return LeftOut(sides, references.attached())
