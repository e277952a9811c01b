"""``get_facts`` from one show command and the running configuration."""

from __future__ import annotations

import re
from typing import Any

from cli_candidate.dialect import FactPatterns

_SECONDS = {"year": 31_536_000, "week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d)")
_INTERFACE = re.compile(r"^interface (\S.*?)\s*$", re.MULTILINE)


def read_facts(vendor: str, hostname: str, shown: str, running: str, patterns: FactPatterns) -> dict[str, Any]:
    """NAPALM's facts; what the device does not tell is an empty string, an unknown uptime is -1.0 (seconds)."""

    def field(pattern: re.Pattern[str]) -> str:
        found = pattern.search(shown)
        return found.group(1).strip() if found else ""

    return {
        "uptime": uptime_seconds(field(patterns.uptime)),
        "vendor": vendor,
        "model": field(patterns.model),
        "hostname": hostname,
        "fqdn": hostname,
        "os_version": field(patterns.os_version),
        "serial_number": field(patterns.serial_number),
        "interface_list": _INTERFACE.findall(running),
    }


def uptime_seconds(text: str) -> float:
    """``1 week, 2 days, 3 hours, 4 minutes`` or ``5 days, 01:02:03`` in seconds; -1.0 if there is neither."""
    units = re.findall(r"(\d+)\s+(year|week|day|hour|minute|second)s?\b", text)
    clock = _CLOCK.search(text)
    if not units and clock is None:
        return -1.0
    total = sum(int(count) * _SECONDS[unit] for count, unit in units)
    if clock is not None:
        hours, minutes, seconds = (int(part) for part in clock.groups())
        total += hours * 3_600 + minutes * 60 + seconds
    return float(total)
