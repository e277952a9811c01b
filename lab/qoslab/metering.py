"""Token buckets over one offer: what several groups of packets may share."""

from __future__ import annotations

from collections.abc import Hashable

from qoslab.packets import Packets


class Metering:
    """The meters that packets meet while they are offered over ``seconds``.

    A full bucket stands at the start of the offer, so a meter lets pass its burst and what its rate
    gives in that time.  Groups use it up in the order in which they are offered.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left: dict[Hashable, float] = {}

    def conforming(self, meter: Hashable, bits_per_second: float, burst_bytes: int, packets: Packets) -> int:
        """How many of the packets are within the profile of ``meter``."""
        if not packets.bytes:
            return packets.count
        left = self._left.setdefault(meter, bits_per_second / 8 * self._seconds + burst_bytes)
        count = min(packets.count, int(left // packets.bytes))
        self._left[meter] = left - count * packets.bytes
        return count
