"""Rates of NetBox's interface types (``dcim/choices.py``, InterfaceTypeChoices), in bits per second."""

from __future__ import annotations

import re

_ETHERNET = re.compile(r"(\d+(?:\.\d+)?)([gt]?)base-")
_FACTORS = {"": 10**6, "g": 10**9, "t": 10**12}
_SERIAL = {
    # ITU-T G.703 and ANSI T1.107: rates of the lines, with their framing bits.
    "t1": 1_544_000,
    "e1": 2_048_000,
    "t3": 44_736_000,
    "e3": 34_368_000,
}
_SONET = re.compile(r"sonet-oc(\d+)")
_OC1 = 51_840_000
"""Rate of OC-1 (ANSI T1.105)."""
UNMANAGED = frozenset({"virtual", "bridge", "lag", "channel"})
"""Types without a cable of their own."""


def type_rate(kind: str) -> int | None:
    """The rate of an interface type; ``None`` where the type names none."""
    if found := _ETHERNET.match(kind):
        return round(float(found[1]) * _FACTORS[found[2]])
    if found := _SONET.fullmatch(kind):
        return int(found[1]) * _OC1
    return _SERIAL.get(kind)


def is_serial(kind: str) -> bool:
    """Whether a type is a line whose framing it does not tell."""
    return kind in _SERIAL or _SONET.fullmatch(kind) is not None
