"""Rates of FTOS: policers and meters with a peak, shapers, and what a port does without a policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

DEFAULT_BURST_KB = 50
"""Burst of a meter that names none (Z9000 reference p. 1184)."""


@dataclass(frozen=True)
class Rate:
    """An amount in Mb/s, or kb/s after the keyword, and a burst in KB (None: not given)."""

    amount: int
    kbps: bool = False
    burst: int | None = None

    @property
    def bits_per_second(self) -> int:
        return self.amount * (1_000 if self.kbps else 1_000_000)

    @property
    def burst_bytes(self) -> int:
        return 1024 * (DEFAULT_BURST_KB if self.burst is None else self.burst)

    def text(self) -> str:
        burst = "" if self.burst is None else f" {self.burst}"
        return f"{'kbps ' if self.kbps else ''}{self.amount}{burst}"


@dataclass(frozen=True)
class Meter:
    """A policer (ingress) or meter (egress): what exceeds the peak, or else the rate, is dropped."""

    committed: Rate
    peak: Rate | None = None

    @property
    def ceiling(self) -> Rate:
        """The rate above which packets are dropped; up to it, from the committed one, they are yellow."""
        return self.peak or self.committed

    def text(self) -> str:
        return self.committed.text() + (f" peak {self.peak.text()}" if self.peak else "")


@dataclass
class PortQos:
    """Port-based QoS of one interface; meters by VLAN, None for the whole port."""

    dot1p: int | None = None
    police: dict[int | None, Meter] = field(default_factory=dict)
    limit: dict[int | None, Meter] = field(default_factory=dict)
    shape: Rate | None = None

    @property
    def configured(self) -> bool:
        return self.dot1p is not None or bool(self.police or self.limit) or self.shape is not None

    def meters(self, kind: str) -> dict[int | None, Meter]:
        """Meters of one ``kind``: ``police`` or ``limit``."""
        return self.police if kind == "police" else self.limit

    def lines(self) -> Iterator[str]:
        if self.dot1p is not None:
            yield f"dot1p-priority {self.dot1p}"
        for kind in ("police", "limit"):
            for vlan, meter in sorted(self.meters(kind).items(), key=lambda held: held[0] or 0):
                yield f"rate {kind} {meter.text()}" + ("" if vlan is None else f" vlan {vlan}")
        if self.shape is not None:
            yield f"rate shape {self.shape.text()}"
