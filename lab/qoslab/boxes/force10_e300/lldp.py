"""LLDP of FTOS: off until ``protocol lldp`` holds ``no disable``; it tells no name unless it is told to.

Sources: the FTOS configuration guides ("LLDP is disabled by default"; the lines of ``protocol lldp``), and answers
to ``show lldp neighbors detail`` that the NOC Project recorded of an S50N with 8.2.1.0 and an E600i with 8.3.1.3d.
No source shows LLDP on an E-Series before 8.2.1.0, so the lab has it from there on. CDP is no protocol of FTOS.
"""

from __future__ import annotations

from collections.abc import Sequence

from qoslab.boxes.force10_e300.names import short
from qoslab.boxes.force10_e300.qos import item, since
from qoslab.boxes.force10_e300.state import Block, Chassis
from qoslab.boxes.force10_e300.system import block, block_line
from qoslab.grammar import Match
from qoslab.shell import Row, Shell
from qoslab.typed import row
from qoslab.wiring import Announcement

SINCE = (8, 2, 1)
_HEAD = "protocol lldp"
_TLVS = "management-tlv|dot1-tlv|dot3-tlv"
_LIFE, _INTERVAL = 120, 30  # seconds
_COUNTED = ("Frames Out", "Frames In", "Neighbor information Age outs", "Frames Discarded", "In Error Frames",
            "Unrecognized TLVs", "TLVs Discarded")  # fmt: skip


def _open(shell: Shell, match: Match) -> None:
    since(shell, match, "lldp", *SINCE)
    block("lldp")(shell, match)


def _disable(shell: Shell, match: Match) -> None:
    item(shell, Block).body["disable"] = "no disable" if match.negated else "disable"


OPEN_ROWS: list[Row] = [row(_HEAD, _open, no=True)]
LLDP_ROWS: list[Row] = [
    row("disable", _disable, no=True),
    row(f"advertise {{{_TLVS}}} LINE", block_line(2), no=f"advertise {{{_TLVS}}} [LINE]"),
    row("hello <5-180>", block_line(1), no="hello [<5-180>]"),
    row("multiplier <2-10>", block_line(1), no="multiplier [<2-10>]"),
]


def runs(chassis: Chassis) -> bool:
    """Whether the protocol is on."""
    held = chassis.blocks.get(_HEAD)
    return held is not None and held.body.get("disable") == "no disable"


def tells(chassis: Chassis, what: str) -> bool:
    """Whether it advertises an optional part, such as ``system-name``."""
    held = chassis.blocks.get(_HEAD)
    return held is not None and what in held.body.get("advertise management-tlv", "").split()


def neighbors(heard: Sequence[tuple[str, Announcement]], seconds: float) -> str:
    """``show lldp neighbors detail`` of a box that is up for ``seconds``."""
    return "\n".join(line for port, told in heard for line in _block(port, told, int(seconds)))


def _block(port: str, told: Announcement, seconds: int) -> list[str]:
    mac = ":".join(told.mac[at : at + 2] for at in range(0, 12, 2))
    family = port.partition(" ")[0]
    local = short(port)
    optional = [
        *([f"    Remote System Name:  {told.name}"] if told.name else []),
        *([f"    Remote Management Address (IPv4):  {told.address}"] if told.address else []),
        *([f"    Remote System Desc:  {told.software}"] if told.software else []),
        *([f"    Enabled System Capabilities:  {' '.join(told.capabilities)}"] if told.capabilities else []),
    ]
    return [
        "=" * 72,
        f" Local Interface {local} has 1 neighbor ",
        *(f"  Total {what}: 0 " for what in _COUNTED),
        f"  Next packet will be sent after {_INTERVAL - seconds % _INTERVAL} seconds",
        "  The neighbors are given below:",
        "  " + "-" * 71,
        " ",
        "    Remote Chassis ID Subtype: Mac address (4)",
        f"    Remote Chassis ID:  {mac}",
        "    Remote Port Subtype:  Interface name (5)",
        f"    Remote Port ID:  {told.port}",
        f"    Local Port ID: {family} {port.partition(' ')[2]}",
        "    Locally assigned remote Neighbor Index: 1",
        f"    Remote TTL:  {_LIFE}",
        f"    Information valid for next {_LIFE - seconds % _INTERVAL} seconds ",
        *optional,
        "   " + "-" * 75,
        " ",
    ]
