"""What a Linux router is asked before it is trusted, and what its answers come to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qosforge.platforms.inspection import Inspection, Lack, Timer, number

RELEASE, WHO, ROOM, TOOLS = "uname -sr", "id -u", "df -P -B1 /etc", "command -v tc; command -v nft"
_PRIVILEGED, _ORDINARY = 15, 1


def inspection_commands(driver: str) -> tuple[str, ...]:
    """Commands that show what the device is and has; none of them changes anything."""
    del driver
    return (RELEASE, WHO, ROOM, TOOLS)


def inspect(answers: Mapping[str, str], running: str, driver: str) -> Inspection:
    """What the answers tell: the kernel's release, the user, the room for what is saved, and missing programs."""
    del running, driver
    release = re.search(r"^Linux (\S+)", answers.get(RELEASE, ""), re.MULTILINE)
    user = number(r"^(\d+)\s*$", answers.get(WHO, "").strip())
    held = answers.get(TOOLS, "")
    missing = [f"{package} ({name})" for name, package in _PROGRAMS.items() if not re.search(rf"\b{name}\b", held)]
    return Inspection(
        platform="linux_tc" if release else None,
        model="Linux" if release else "",
        image=release[1] if release else "",
        privilege=None if user is None else _PRIVILEGED if user == 0 else _ORDINARY,
        timer=Timer.READY,
        lacks=tuple(
            Lack(f"it lacks {each}", f"install {each} with the packages of its distribution") for each in missing
        ),
        flash_free=_room(answers.get(ROOM, "")),
    )


_PROGRAMS = {"tc": "iproute2", "nft": "nftables"}


def _room(answer: str) -> int | None:
    return number(r"(?m)^\S+\s+\d+\s+\d+\s+(\d+)\s+\d+%", answer)
