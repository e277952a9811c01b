"""The fragment size of a link, and the formula behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from qosforge.intent.models import BLOCKING_PART, Fragment, fragment_bytes
from qosforge.units import WRITTEN, format_rate, format_seconds


@dataclass(frozen=True)
class FragmentSize:
    """The bytes of a fragment on a link of ``rate`` bit/s that it may block for ``blocking`` seconds.

    ``exact`` are the bytes before they are rounded down. Where the size itself is given, ``blocking`` is ``None``.
    """

    bytes: int
    rate: int
    blocking: float | None
    packetisation: float | None

    @property
    def exact(self) -> float:
        """Bytes that the link sends in the time, not rounded."""
        return self.bytes if self.blocking is None else round(self.rate * self.blocking / 8, 6)

    @property
    def takes(self) -> float:
        """Seconds that the link needs for one fragment."""
        return self.bytes * 8 / self.rate

    @property
    def formula(self) -> tuple[str, ...]:
        """The steps of the computation as text, the result last; empty where the size itself is given.

        Source: ITESM campus model, section 3.2.1.
        """
        if self.blocking is None:
            return ()
        blocking = format_seconds(self.blocking)
        steps = []
        if self.packetisation is not None:
            steps.append(f"{BLOCKING_PART:g} × {format_seconds(self.packetisation)} = {blocking}")
        steps.append(f"{format_rate(self.rate)} × {blocking} / 8 = {self.exact:,.6g} bytes")
        if self.bytes != self.exact:
            steps.append(f"rounded down: {self.bytes:,} bytes")
        return tuple(steps)


def fragment_size(rate: int, fragment: Fragment) -> FragmentSize:
    """The size of fragments on a link of ``rate`` bit/s."""
    blocking = fragment.blocking
    if blocking is None:
        assert fragment.size is not None, "a fragment is sized in one way"
        return FragmentSize(fragment.size, rate, None, None)
    return FragmentSize(fragment_bytes(rate, blocking), rate, blocking, fragment.packetisation)


def written_fragment(data: Any) -> Fragment | None:
    """A fragment as it is written; ``None`` where it is wrong."""
    try:
        return Fragment.model_validate(data, context=WRITTEN)
    except ValidationError:
        return None
