"""The changes of a run or a preview with devices that change alike gathered: the same lines are looked at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class GatheredChange:
    """What the configurations of ``devices`` lose and gain: lines as `qosforge.configtree.difference` has them."""

    devices: tuple[str, ...]
    lines: tuple[str, ...]

    @cached_property
    def added(self) -> int:
        """Lines that come."""
        return sum(line.startswith("+") for line in self.lines)

    @cached_property
    def removed(self) -> int:
        """Lines that go."""
        return sum(line.startswith("-") for line in self.lines)

    @property
    def changed(self) -> int:
        """Lines that come or go."""
        return self.added + self.removed


def gather_changes(changes: Iterable[tuple[str, Sequence[str]]]) -> tuple[GatheredChange, ...]:
    """The differences of devices, each once, in the order in which the first of its devices stands."""
    gathered: dict[tuple[str, ...], list[str]] = {}
    for device, lines in changes:
        if lines:
            gathered.setdefault(tuple(lines), []).append(device)
    return tuple(GatheredChange(tuple(devices), lines) for lines, devices in gathered.items())


def difference_or_lines(difference: Sequence[str], entered: Sequence[str]) -> tuple[str, ...]:
    """The difference of a device; of a record of an earlier release, which has none, the lines that are entered."""
    return tuple(difference) or tuple(f"+{line}" for line in entered)
