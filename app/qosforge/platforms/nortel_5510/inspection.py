"""Inspect a 5510 by ``show sys-info``, in the form that ntc-templates (``avaya_ers``) records.

It tells neither a level (its prompt alone tells privileged from not) nor room; the time only where SNTP gave it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from qosforge.platforms.inspection import Inspection

COMMANDS = ("show sys-info",)


def inspect(answers: Mapping[str, str], platform: str) -> Inspection:
    """What its answer comes to; the ACLI has no timer."""
    info = answers["show sys-info"]
    model = re.search(r"sysDescr:\s+.*?(\d{4}\S*)", info)
    image = re.search(r"SW:v?(\S+)", info)
    clock = re.search(r"sysNtpTime:\s+(\d{4}-\d\d-\d\d \d+:\d\d:\d\d) GMT([+-]\d\d:\d\d)", info)
    return Inspection(
        platform=platform if model and model[1].startswith("5510") else None,
        model=model[1] if model else "",
        image=image[1] if image else "",
        clock=datetime.strptime(f"{clock[1]} {clock[2]}", "%Y-%m-%d %H:%M:%S %z") if clock else None,
        clock_text=" GMT".join(clock.groups()) if clock else "",
    )
