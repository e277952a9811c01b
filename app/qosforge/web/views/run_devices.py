"""The devices of a run as its page lists them: those that failed first, and of many those alike together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qosforge.reports.alike_devices import MOST_SINGLE
from qosforge.runs.views.progress import DeviceProgress, DeviceStep, StepMark, StepState

MOST_ROWS = 24
"""Rows that are open; further ones are folded away."""


@dataclass(frozen=True)
class DeviceRow:
    """Devices that stand alike at every step."""

    devices: tuple[str, ...]
    steps: Mapping[DeviceStep, StepMark]

    @property
    def failures(self) -> tuple[tuple[DeviceStep, str], ...]:
        """The steps that failed, with what is known of why."""
        return tuple(
            (step, mark.note) for step, mark in self.steps.items() if mark.state is StepState.FAILED and mark.note
        )


@dataclass(frozen=True)
class DeviceRows:
    """The rows of the devices of a run: ``shown``, and those that are ``folded`` away."""

    shown: tuple[DeviceRow, ...]
    folded: tuple[DeviceRow, ...]

    @property
    def folded_devices(self) -> int:
        """How many devices the rows have that are folded away."""
        return sum(len(row.devices) for row in self.folded)


def device_rows(devices: Sequence[DeviceProgress]) -> DeviceRows:
    """The rows of a run's devices."""
    if len(devices) <= MOST_SINGLE:
        return DeviceRows(tuple(DeviceRow((one.device,), one.steps) for one in devices), ())
    rows = sorted(_gather(devices), key=_order)
    return DeviceRows(tuple(rows[:MOST_ROWS]), tuple(rows[MOST_ROWS:]))


def _order(row: DeviceRow) -> tuple[bool, bool, int]:
    return not _has(row, StepState.FAILED), not _has(row, StepState.BUSY), -len(row.devices)


def _gather(devices: Iterable[DeviceProgress]) -> list[DeviceRow]:
    found: dict[tuple[object, ...], list[DeviceProgress]] = {}
    for one in devices:
        # What an action noted beside a step that went well differs from device to device, and says little.
        marks = one.steps.values()
        key = tuple((mark.state, mark.note if mark.state is StepState.FAILED else "") for mark in marks)
        found.setdefault(key, []).append(one)
    return [DeviceRow(tuple(one.device for one in some), some[0].steps) for some in found.values()]


def _has(row: DeviceRow, state: StepState) -> bool:
    return any(mark.state is state for mark in row.steps.values())
