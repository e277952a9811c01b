"""Sizes of token buckets that can be read back.

The kernel is told the time that a bucket takes to fill, in whole microseconds (``tc_calc_xmittime`` in iproute2's
tc/tc_core.c), and ``tc`` shows the bytes of that, rounded down; near a multiple of 1024 it shows that instead
(``print_size``, less than 16 bytes off, and less than 1024 near one of 1 MiB). Sizes that are multiples of a grain
which is larger than all this together are known again.
"""

from __future__ import annotations

_LARGE = 1_000_000
_LARGE_GRAIN = 4096
_GRAINS = ((10**7, 32), (125 * 10**6, 256), (1250 * 10**6, 2048))
_COARSEST = 32_768


def readable(size: float, rate: float) -> int:
    """The least size (bytes) from ``size`` on that is known again when it is shown; ``rate`` in bits per second."""
    grain = next((grain for most, grain in _GRAINS if rate / 8 <= most), _COARSEST)
    whole = _up(size, grain)
    return whole if whole < _LARGE else _up(size, max(grain, _LARGE_GRAIN))


def _up(size: float, grain: int) -> int:
    return max(-(-int(size) // grain), 1) * grain
