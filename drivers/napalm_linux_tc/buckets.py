"""Sizes of token buckets that can be read back.

The kernel is told the time that a bucket takes to fill, in whole microseconds (``tc_calc_xmittime`` in iproute2's
tc/tc_core.c), which it keeps in ticks of 64 ns. ``tc`` shows the bytes of these in whole microseconds: less than
two have gone. Near a multiple of 1024 it shows that instead (``print_size``, less than 16 bytes off, and less than
1024 near one of 1 MiB). Sizes that are multiples of a grain as large as all this together are known again.
"""

from __future__ import annotations

_LARGE = 1_000_000
_LARGE_GRAIN = 4096
_GRAINS = ((8 * 10**6, 32), (120 * 10**6, 256), (1016 * 10**6, 2048))
"""The most bytes per second whose two microseconds and 16 bytes a grain (bytes) holds."""
_COARSEST = 32_768


def readable(size: float, rate: float) -> int:
    """The least size (bytes) from ``size`` on that is known again when it is shown; ``rate`` in bits per second."""
    grain = next((grain for most, grain in _GRAINS if rate / 8 <= most), _COARSEST)
    whole = _up(size, grain)
    return whole if whole < _LARGE else _up(size, max(grain, _LARGE_GRAIN))


def _up(size: float, grain: int) -> int:
    return max(-(-int(size) // grain), 1) * grain
