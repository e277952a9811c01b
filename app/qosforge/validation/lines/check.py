"""Check every line that a device comes to hold, and name what is wrong at its line.

Faults that the device's own configuration has already are not those of the change: what counts is what it adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from qosforge.commands import PlacedLine
from qosforge.commands.placed_line import walk
from qosforge.compiler.compile import CompiledDevice
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.configtree import Tree
from qosforge.configtree.tree_text import tree_text
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.platforms.base import Platform, platform
from qosforge.platforms.line_rules import ConfigurationLines, Fault
from qosforge.validation.context import ValidationContext
from qosforge.validation.lines.generic import defined_objects, table_faults, unread, unused
from qosforge.validation.lines.outside import changed_outside, smuggled

_TOP = "the configuration"
_SIDES = ("input", "output")


def check_lines(context: ValidationContext) -> Iterator[Finding]:
    """One finding for each fault of a line, of all compiled devices."""
    for device in context.compilation.devices:
        yield from _DeviceLines(context, device).findings()


class _Key(NamedTuple):
    """What makes two faults one, wherever the line stands."""

    within: tuple[str, ...]
    text: str
    code: str
    facts: tuple[tuple[str, object], ...]


class _DeviceLines:
    """The lines of one device: as they are rendered, as they are now, and as they will be."""

    def __init__(self, context: ValidationContext, device: CompiledDevice) -> None:
        self._context, self._device = context, device
        self._platform: Platform = platform(device.request.platform, device.name)
        self._predicted: PredictedConfiguration = context.predicted(device)
        self._rendered = self._platform.commands.place(device.text, abbreviated=False)
        self._numbers = {(line.within, line.text): line.number for line in reversed(list(walk(self._rendered)))}

    def findings(self) -> Iterator[Finding]:
        table, predicted = self._platform.commands, self._predicted
        after = self._placed(predicted.target)
        there = defined_objects((*after, *self._rendered))
        told: set[_Key] = set()
        faults = (
            *table_faults(table, self._rendered, there),
            *unread(table, self._rendered),
            *smuggled(table, self._rendered),
            *unused(table, self._rendered, after),
        )
        for fault in faults:
            told.add(_key(fault))
            yield self._note(fault, "rendered", fault.line.number)
        if predicted.current is not None and predicted.current == predicted.target:
            return
        before = self._placed(predicted.current or ())
        told.update(map(_key, self._faults(before)))
        outside = () if predicted.current is None else changed_outside(table, before, after, self._named())
        for fault in (*self._faults(after), *outside):
            if _key(fault) in told:
                continue
            told.add(_key(fault))
            number = self._numbers.get((fault.line.within, fault.line.text))
            part = "rendered" if number else "present" if fault.reason.variant == "removed" else "predicted"
            yield self._note(fault, part, number or fault.line.number)

    def _placed(self, tree: Tree) -> tuple[PlacedLine, ...]:
        return self._platform.commands.place(tree_text(tree, self._platform.grammar))

    def _named(self) -> tuple[PlacedLine, ...]:
        """What is rendered, the interfaces among it that are to have no lines of ours."""
        if len(self._device.printed_blocks) == len(self._device.blocks):
            return self._rendered
        text = "\n".join(block.text for block in self._device.blocks)
        return self._platform.commands.place(text, abbreviated=False)

    def _faults(self, lines: tuple[PlacedLine, ...]) -> Iterator[Fault]:
        request = self._device.request
        yield from table_faults(self._platform.commands, lines)
        whole = ConfigurationLines(
            lines, request.image, frozenset(request.features), whole=self._predicted.current is not None
        )
        for rule in self._platform.line_rules:
            yield from rule(whole)

    def _note(self, fault: Fault, part: str, number: int) -> Finding:
        line = fault.line
        return fault.reason.note(
            self._place(fault), part=part, number=number, text=line.text, context=", ".join(line.path) or _TOP
        )

    def _place(self, fault: Fault) -> Place:
        line = fault.line
        top = line
        while top.above is not None:
            top = top.above
        named = top.name or top.text.removeprefix("interface ")
        interface = fault.port or (named if top.text.startswith("interface ") else None)
        direction = line.get("direction")
        name = self._class(line, top)
        where = self._context.compilation.intent.class_place(name) if name else None
        return Place(
            device=self._device.name,
            interface=interface,
            direction=direction if direction in _SIDES else None,
            traffic_class=name,
            file=where.file if where else None,
            line=where.line if where else None,
        )

    def _class(self, line: PlacedLine, top: PlacedLine) -> str | None:
        """The class of the intent that a line is for, where it is for one."""
        classes = self._device.classes
        for one in _outwards(line):
            if one.id == "class" and one.name in classes:
                return classes[one.name]
        for block in self._device.blocks:
            if block.traffic_class and (block.text.split("\n", 1)[0] == top.text):
                return block.traffic_class
        return None


def _outwards(line: PlacedLine) -> Iterable[PlacedLine]:
    yield line
    if line.above is not None:
        yield from _outwards(line.above)


def _key(fault: Fault) -> _Key:
    reason = fault.reason
    return _Key(fault.line.within, fault.line.text, f"{reason.code} {reason.variant}", reason.facts)
