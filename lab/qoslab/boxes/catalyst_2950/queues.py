"""The 2950's four egress queues and its two maps: one set of each for the whole switch."""

from __future__ import annotations

import re

from qoslab.boxes.catalyst.maps import TableMap
from qoslab.boxes.ios.arguments import DSCP_NAMES
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.patterns import ArgumentType
from qoslab.shell import Row, Shell

SUPPORTED_DSCPS = (0, 8, 10, 16, 18, 24, 26, 32, 34, 40, 46, 48, 56)
COS_DSCP = (0, 8, 16, 24, 32, 40, 48, 56)
_BANDWIDTH = "wrr-queue bandwidth"
_WEIGHTS = "<1-255> <1-255> <1-255> <0-255>"  # the range is unconfirmed; 0 makes queue 4 the expedite queue
_EIGHT = " ".join(["DSCP13:v"] * 8)

# Queue 1 is the lowest; which default the box ships with is unconfirmed.
WRR_COS = TableMap(
    tuple(range(8)),
    lambda cos: str(cos // 2 + 1),
    lambda queue, values: f"wrr-queue cos-map {queue} {values}",
    re.compile(r"wrr-queue cos-map (?P<target>\d) (?P<values>[\d ]+)"),
    rank=32,
    whole=True,
)
DSCP_COS = TableMap(
    SUPPORTED_DSCPS,
    lambda dscp: str(dscp // 8),
    lambda cos, values: f"mls qos map dscp-cos {values} to {cos}",
    re.compile(r"mls qos map dscp-cos (?P<values>[\d ]+) to (?P<target>\d)"),
    rank=34,
    per_line=13,
)


def _dscp13(token: str) -> str | None:
    low = token.lower()
    value = DSCP_NAMES.get(low, int(low) if low.isascii() and low.isdigit() and len(low) < 3 else -1)
    return str(value) if value in SUPPORTED_DSCPS else None


ARGUMENTS = {"DSCP13": ArgumentType("DSCP13", _dscp13)}
"""One of the thirteen DSCPs, shown as a number; any other is no valid input."""


def queue_rows() -> list[Row]:
    """``wrr-queue``, on both images."""
    return [
        row(f"{_BANDWIDTH} {_WEIGHTS}", _bandwidth, f"{_BANDWIDTH} [{_WEIGHTS}]"),
        row("wrr-queue cos-map <1-4>:queue <0-7>:cos*8", _cos_map, "wrr-queue cos-map [<1-4>:queue [<0-7>:cos*8]]"),
    ]


def map_rows() -> list[Row]:
    """``mls qos map``, on the enhanced image."""
    dscp_cos = "DSCP13:v*13 to <0-7>:cos"
    return [
        row(f"mls qos map cos-dscp {_EIGHT}", _cos_dscp, f"mls qos map cos-dscp [{_EIGHT}]"),
        row(f"mls qos map dscp-cos {dscp_cos}", _dscp_cos, f"mls qos map dscp-cos [{dscp_cos}]"),
    ]


def weights(running: Section) -> list[str]:
    """The weights of the queues; none while strict priority is on."""
    return running.value(_BANDWIDTH).split()[2:]


def _bandwidth(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(_BANDWIDTH)
    else:
        shell.store(Section(match.text, key=_BANDWIDTH, rank=31))


def _cos_map(shell: Shell, match: Match) -> None:
    if match.undone:
        WRR_COS.reset(shell)
    else:
        WRR_COS.assign(shell, [int(cos) for cos in match.values("cos")], match["queue"])


def _cos_dscp(shell: Shell, match: Match) -> None:
    if match.undone or tuple(map(int, match.values("v"))) == COS_DSCP:
        shell.section.remove("mls qos map cos-dscp")
    else:
        shell.store(Section(match.text, key="mls qos map cos-dscp", rank=33))


def _dscp_cos(shell: Shell, match: Match) -> None:
    if match.undone:
        DSCP_COS.reset(shell)
    else:
        DSCP_COS.assign(shell, [int(dscp) for dscp in match.values("v")], match["cos"])
