"""Inspect an FTOS device: model, image, privilege, clock.

``show version`` as in the samples of its manuals; ``show clock``, ``show privilege`` and ``dir`` have the forms of
the FTOS command reference (Control and Monitoring, File Management) and of published sessions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

from qosforge.platforms.inspection import Inspection, number, read_clock

COMMANDS = ("show version", "show privilege", "show clock", "dir")
_CLOCK = re.compile(r"^(\d+:\d\d:\d\d)(?:\.\d+)? (\w+) \w{3} (\w{3} +\d+ \d{4})\s*$", re.MULTILINE)


def inspect(answers: Mapping[str, str], platform: str) -> Inspection:
    """What its answers come to; FTOS has no timer."""
    version = answers["show version"]
    model = re.search(r"(?:Chassis|System) Type:\s*(\S+)", version)
    image = re.search(r"Application Software Version:\s*(\S+)", version)
    clock = _CLOCK.search(answers["show clock"])
    return Inspection(
        platform=platform if model and re.fullmatch(r"E\d+i?", model[1]) else None,
        model=model[1] if model else "",
        image=image[1] if image else "",
        privilege=number(r"Current privilege level is (\d+)", answers["show privilege"]),
        flash_free=number(r"\((\d+) bytes free\)", answers["dir"]),
        # What zones of one's own are away from UTC, no sample tells.
        clock=read_clock(clock[3], clock[1], timedelta()) if clock and clock[2] in {"UTC", "GMT"} else None,
        clock_text=clock[0].strip() if clock else "",
    )
