"""Names of DiffServ code points (RFC 2474, 2597, 3246, 5865, 8622)."""

from __future__ import annotations

import re
from typing import Literal

DSCP_NAMES: dict[str, int] = {
    "default": 0, "cs0": 0, "cs1": 8, "cs2": 16, "cs3": 24, "cs4": 32, "cs5": 40, "cs6": 48, "cs7": 56,
    "af11": 10, "af12": 12, "af13": 14, "af21": 18, "af22": 20, "af23": 22, "af31": 26, "af32": 28,
    "af33": 30, "af41": 34, "af42": 36, "af43": 38, "ef": 46, "voice-admit": 44, "le": 1,
}  # fmt: skip
CONTROL_DSCP = tuple(range(48, 64))
"""Code points of network control: CS6, CS7 and what shares their precedence (RFC 4594)."""


def parse_dscp(value: object) -> int:
    """A code point from its name (``af41``) or number (0–63).

    Raises:
        ValueError: neither a known name nor a number in range.
    """
    if isinstance(value, str) and value.lower() in DSCP_NAMES:
        return DSCP_NAMES[value.lower()]
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{value!r} is not a DSCP: use 0 to 63 or a name such as af41, ef, cs6")
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value) is None:
        raise ValueError(f"{value[:40]!r} is not a DSCP: use 0 to 63 or a name such as af41, ef, cs6")
    if not 0 <= int(value) <= 63:
        raise ValueError(f"DSCP {value} is out of range: 0 to 63")
    return int(value)


_UNKNOWN_TO_BOXES = frozenset({"cs0", "voice-admit", "le"})
"""Names that devices neither take nor print: cs0 is written default, the others are younger than they."""


def dscp_name(value: int) -> str:
    """The name of a code point as devices write it, or its number as text."""
    for name, number in DSCP_NAMES.items():
        if number == value and name not in _UNKNOWN_TO_BOXES:
            return name
    return str(value)


def dscp_label(value: int) -> str:
    """A code point as people read it: its name, with its number where devices print no more than that
    (``voice-admit (44)``); of one without a name the number.
    """
    written = dscp_name(value)
    if not written.isdecimal():
        return written
    return next((f"{name} ({value})" for name, number in DSCP_NAMES.items() if number == value), written)


def drop_precedence(value: int) -> Literal["low", "medium", "high"] | None:
    """The drop precedence that an assured-forwarding code point says (RFC 2597); None for all others."""
    group, drop = value >> 3, value >> 1 & 3
    if value & 1 or not 1 <= group <= 4 or drop == 0:
        return None
    return ("low", "medium", "high")[drop - 1]
