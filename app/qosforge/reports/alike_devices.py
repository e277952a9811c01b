"""The devices of a report: of many, those that ended alike stand together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.reports.model import DeviceReport

MOST_SINGLE = 24
"""Devices that stand each by itself."""
_WELL = frozenset({"confirmed", "undone", "nothing to change", "not touched", "not changed"})


@dataclass(frozen=True)
class AlikeDevices:
    """Devices of one platform that ended alike, or each by itself where a report has few."""

    devices: tuple[DeviceReport, ...]

    @property
    def outcome(self) -> str:
        """How they ended."""
        return self.devices[0].outcome

    @property
    def platform(self) -> str:
        """What they are."""
        return self.devices[0].platform

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(device.name for device in self.devices)


def gather_devices(devices: Sequence[DeviceReport]) -> tuple[AlikeDevices, ...]:
    """The devices of a report in the order to look at them: of many first those that did not end well."""
    if len(devices) <= MOST_SINGLE:
        return tuple(AlikeDevices((device,)) for device in devices)
    found: dict[tuple[str, str, int], list[DeviceReport]] = {}
    for device in devices:
        found.setdefault((device.platform, device.outcome, len(device.candidate.splitlines())), []).append(device)
    return tuple(
        AlikeDevices(tuple(some)) for some in sorted(found.values(), key=lambda some: some[0].outcome in _WELL)
    )
