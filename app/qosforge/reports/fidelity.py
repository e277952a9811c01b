"""Fidelity by device and class: the worst of each class on each device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.findings import Fidelity
from qosforge.reports.preview import FidelityDocument

_ORDER = (Fidelity.EXACT, Fidelity.APPROXIMATE, Fidelity.UNSUPPORTED)


@dataclass(frozen=True)
class FidelityShare:
    """The requested and the applied share of a class in % of the link rate, on some interfaces of a device."""

    fidelity: Fidelity
    requested_percent: float | None
    applied_percent: float | None
    interfaces: tuple[str, ...]

    @property
    def points(self) -> float | None:
        """How far both lie apart, in points of the link rate."""
        if self.requested_percent is None or self.applied_percent is None:
            return None
        return self.applied_percent - self.requested_percent


@dataclass(frozen=True)
class FidelityCell:
    """A class on a device: the worst fidelity of its interfaces, and the shares, worst first."""

    shares: tuple[FidelityShare, ...]

    @property
    def fidelity(self) -> Fidelity:
        """The worst."""
        return self.shares[0].fidelity

    @property
    def points(self) -> float | None:
        """The largest deviation, in points of the link rate; ``None`` where there are no numbers."""
        known = [share.points for share in self.shares if share.points is not None]
        return max(known, key=abs, default=None)


def fidelity_by_class(entries: Iterable[FidelityDocument]) -> dict[str, FidelityCell]:
    """The fidelity of a device's classes, by name."""
    alike: dict[str, dict[tuple[Fidelity, float | None, float | None], list[str]]] = {}
    for entry in entries:
        key = (entry.fidelity, entry.requested_percent, entry.applied_percent)
        alike.setdefault(entry.traffic_class, {}).setdefault(key, []).append(entry.interface)
    return {
        name: FidelityCell(
            tuple(sorted((FidelityShare(*key, tuple(ports)) for key, ports in found.items()), key=_badness))
        )
        for name, found in alike.items()
    }


def _badness(share: FidelityShare) -> tuple[int, float]:
    return -_ORDER.index(share.fidelity), -abs(share.points or 0.0)
