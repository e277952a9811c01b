"""The two ways in which devices write MAC addresses."""

from __future__ import annotations

import re


def dotted(mac: str) -> str:
    """As plans have them: ``001b.54aa.bbcc``, in whatever way one is written."""
    digits = re.sub("[^0-9a-f]", "", mac.lower())
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


def in_pairs(mac: str) -> str:
    """``00:1b:54:aa:bb:cc`` for one of a plan."""
    digits = mac.replace(".", "")
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))
