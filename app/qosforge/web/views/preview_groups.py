"""The devices of a preview in parts by what they are and what differs on them, whichever part they come in."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qosforge.findings import Fidelity
from qosforge.reports.fidelity import FidelityCell
from qosforge.web.views.preview import DeviceView

MOST_GROUPS = 200
"""Groups of a preview; devices that would make more stand together, whatever differs on them."""
MOST_NAMED = 4
"""Classes that the line of a group names."""
GROUPS_FORM = r"^([0-9a-f]{12}:[0-9]{1,6}( |$))*$"
"""How a page sends along which groups it has: key and number of devices of each."""
_OTHERS = "0" * 12


@dataclass(frozen=True)
class DeviceGroup:
    """Devices of one product on which the same differs: the next ``devices``, after ``before`` that are shown."""

    key: str
    devices: tuple[DeviceView, ...]
    before: int

    @property
    def count(self) -> int:
        """How many devices it has so far."""
        return self.before + len(self.devices)

    @property
    def kind(self) -> str:
        """What its devices are, in words; nothing where they are of several kinds."""
        return "" if self.key == _OTHERS else self.devices[0].kind

    @property
    def differing(self) -> Mapping[str, FidelityCell]:
        """The classes that its devices do not serve as requested; none where these are of several kinds."""
        cells = {} if self.key == _OTHERS else self.devices[0].cells
        return {name: cell for name, cell in cells.items() if cell.fidelity is not Fidelity.EXACT}

    @property
    def most_differing(self) -> Mapping[str, FidelityCell]:
        """Of `differing` the `MOST_NAMED` classes farthest from what is requested, where there are more."""
        found = self.differing
        if len(found) <= MOST_NAMED:
            return found
        farthest = sorted(found, key=lambda name: -_distance(found[name]))[:MOST_NAMED]
        return {name: cell for name, cell in found.items() if name in farthest}

    @property
    def classes(self) -> int:
        """How many classes its devices serve, as requested or not."""
        return len(self.devices[0].cells)

    @property
    def unsound(self) -> bool:
        """Whether there are errors about its devices."""
        return any(device.severities["error"] for device in self.devices)


def _distance(cell: FidelityCell) -> float:
    """How far it is from what is requested, in points of the link rate; what is not possible is farthest."""
    return math.inf if cell.fidelity is Fidelity.UNSUPPORTED else abs(cell.points or 0.0)


def shown_groups(groups: str) -> dict[str, int]:
    """The groups that a page has, by `GROUPS_FORM`."""
    return {key: int(count) for key, _, count in (each.partition(":") for each in groups.split())}


def group_devices(devices: Iterable[DeviceView], shown: Mapping[str, int]) -> tuple[DeviceGroup, ...]:
    """More devices by groups, in the order of the first of each; ``shown`` has the devices of each before them."""
    found: dict[str, list[DeviceView]] = {}
    for device in devices:
        key = _key(device)
        if key not in shown and key not in found and len(found.keys() | shown.keys()) >= MOST_GROUPS:
            key = _OTHERS
        found.setdefault(key, []).append(device)
    return tuple(DeviceGroup(key, tuple(some), shown.get(key, 0)) for key, some in found.items())


def with_more(shown: Mapping[str, int], more: Iterable[DeviceGroup]) -> str:
    """The groups that a page has with these, by `GROUPS_FORM`."""
    return " ".join(f"{key}:{count}" for key, count in ({**shown} | {one.key: one.count for one in more}).items())


def _key(device: DeviceView) -> str:
    cells = sorted((name, cell.fidelity.value, f"{cell.points or 0:.1f}") for name, cell in device.cells.items())
    alike = (device.kind, cells, bool(device.severities["error"]))
    return hashlib.sha256(repr(alike).encode()).hexdigest()[:12]
