"""Inspect IOS and IOS XE devices, routers and Catalysts.

``show version``, ``show clock`` and ``dir`` are read as the templates of ntc-templates read them; ``show archive``,
``show archive config rollback timer`` as NAPALM's driver ``ios`` does; ``show reload`` and ``show privilege`` are
in Cisco's IOS command references. All of them belong to EXEC: none enters configuration mode.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from qosforge.platforms.inspection import Inspection, Lack, Timer, number, read_clock
from qosforge.platforms.ios_software import image_of, platform_of

_ARCHIVING = "ios"
"""The driver that rolls changes back by the archive; any other one by a reload."""
_ARCHIVE = "show archive"
_ROLLBACK = "show archive config rollback timer"
_RELOAD = "show reload"
_COMMON = ("show version", "show privilege", "show clock", "dir")

_SOFTWARE = re.compile(r"Software.*?\((\S+)\),\s+(?:Experimental )?Version ([^\s,]+)")
_MODEL = re.compile(r"^[Cc]isco\s+(\S+)\s+\(.*bytes of", re.MULTILINE)
_CLOCK = re.compile(r"^[*.]?(\d+:\d\d:\d\d)(?:\.\d+)? (\w+) \w{3} (\w{3} +\d+ \d{4})\s*$", re.MULTILINE)
_NO_ARCHIVE = Lack(
    "it has no archive, which rolls a change back that nobody confirms",
    "configure 'archive' with a 'path', or give the device the driver ios_legacy in hosts.yaml",
)
_NEEDED = {
    "file prompt quiet": "configure 'file prompt quiet': the driver ios copies files without a question",
    "ip scp server enable": "configure 'ip scp server enable': the driver ios copies files by SCP",
}


def inspection_commands(driver: str) -> tuple[str, ...]:
    """What an IOS device is asked."""
    return (*_COMMON, *((_ARCHIVE, _ROLLBACK) if driver == _ARCHIVING else (_RELOAD,)))


def inspect(answers: Mapping[str, str], running: str, driver: str) -> Inspection:
    """What its answers and its running configuration come to."""
    version = answers["show version"]
    software, model = _SOFTWARE.search(version), _MODEL.search(version)
    platform = platform_of(software[1]) if software else None
    clock = _CLOCK.search(answers["show clock"])
    timer = _archive(answers) if driver == _ARCHIVING else _reload(answers[_RELOAD])
    return Inspection(
        platform=platform,
        model=model[1] if model else "",
        image=image_of(platform or "", software[2], version) if software else "",
        privilege=number(r"Current privilege level is (\d+)", answers["show privilege"]),
        timer=timer,
        lacks=_lacks(timer, running) if driver == _ARCHIVING else (),
        flash_free=number(r"\((\d+) bytes free\)", answers["dir"]),
        clock=_moment(clock, running) if clock else None,
        clock_text=clock[0].strip() if clock else "",
    )


def _archive(answers: Mapping[str, str]) -> Timer:
    if not re.search(r"archive configurations? ", answers[_ARCHIVE]):
        return Timer.MISSING
    # As the driver knows it: by its user, also where the archive was taken away meanwhile.
    return Timer.PENDING if re.search(r"(?m)^User: \S+", answers[_ROLLBACK]) else Timer.READY


def _reload(answer: str) -> Timer:
    if re.search(r"no reload is scheduled", answer, re.IGNORECASE):
        return Timer.READY
    return Timer.PENDING if re.search(r"reload scheduled", answer, re.IGNORECASE) else Timer.MISSING


def _lacks(timer: Timer, running: str) -> tuple[Lack, ...]:
    lines = {line.strip() for line in running.splitlines()}
    missing = tuple(Lack(f"it has no {line!r}", hint) for line, hint in _NEEDED.items() if line not in lines)
    return ((_NO_ARCHIVE,) if timer is Timer.MISSING else ()) + missing


def _moment(match: re.Match[str], running: str) -> datetime | None:
    """The time in UTC, by ``clock timezone NAME HOURS [MINUTES]`` and ``clock summer-time NAME …``."""
    time, zone, day = match.groups()
    away = {"UTC": timedelta(), "GMT": timedelta()}
    if (set_to := re.search(r"(?m)^clock timezone (\S+) (-?)(\d+)(?: (\d+))?", running)) is not None:
        offset = timedelta(hours=int(set_to[3]), minutes=int(set_to[4] or 0))
        away[set_to[1]] = -offset if set_to[2] else offset
        if (summer := re.search(r"(?m)^clock summer-time (\S+) (?:.* (\d+)$)?", running)) is not None:
            # Minutes are the last word of a line that gives them; without, it is an hour.
            added = int(summer[2]) if summer[2] and 0 < int(summer[2]) <= 1440 else 60
            away.setdefault(summer[1], away[set_to[1]] + timedelta(minutes=added))
    if zone not in away:
        return None
    return read_clock(day, time, away[zone])
