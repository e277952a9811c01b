"""What a run changes in the lines of devices, and what a rollback of it does with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from qosforge.reports.gathered_changes import GatheredChange, difference_or_lines, gather_changes
from qosforge.reports.model import DeviceReport
from qosforge.web.views.changes import DiffLine, Sign

_SIGNS: dict[str, Sign] = {"+": "added", "-": "removed"}


def changes_of(devices: Iterable[DeviceReport]) -> tuple[GatheredChange, ...]:
    """What the configurations of devices lose and gain; those that change alike together."""
    return gather_changes(
        (device.name, difference_or_lines(device.difference.splitlines(), device.candidate.splitlines()))
        for device in devices
        if device.candidate
    )


def count_lines(changes: Iterable[GatheredChange]) -> tuple[int, int]:
    """How many lines all devices gain, and how many they lose."""
    found = [(each.added * len(each.devices), each.removed * len(each.devices)) for each in changes]
    return sum(added for added, _ in found), sum(removed for _, removed in found)


def diff_lines(lines: Iterable[str]) -> list[DiffLine]:
    """Lines of a difference for the macro of all pages."""
    return [DiffLine(_SIGNS.get(line[:1], "kept"), line[1:]) for line in lines]


def lines_back(changes: Iterable[GatheredChange], device: str) -> tuple[int, int]:
    """How many lines the rollback of a change brings back to a device, and how many it takes away."""
    mine = [change for change in changes if device in change.devices]
    return sum(change.removed for change in mine), sum(change.added for change in mine)


def lines_left(entered: Sequence[GatheredChange], taken: Sequence[GatheredChange]) -> Mapping[str, tuple[str, ...]]:
    """By device of a rollback the lines that the run had entered and that the rollback does not take away.

    Such lines are not in the configuration that the rollback reads: a device prints no defaults, and somebody else
    may have taken others away.
    """
    gone = {device: Counter(change.lines) for change in taken for device in change.devices}
    left: dict[str, tuple[str, ...]] = {}
    for change in entered:
        for device in change.devices:
            rest = Counter(line[1:] for line in change.lines if line.startswith("+"))
            rest -= Counter(line[1:] for line in gone.get(device, Counter()).elements() if line.startswith("-"))
            if device in gone and rest:
                left[device] = tuple(line.strip() for line in rest.elements())
    return left
