"""IEEE 802.1AB on IOS-XE: off until ``lldp run``; ``no lldp transmit`` and ``no lldp receive`` switch a port off.

Routers and switches of the 12.x trains that the lab has know no LLDP. The layout is the one that the template
``cisco_ios_show_lldp_neighbors_detail`` of ntc-templates reads.
"""

from __future__ import annotations

from qoslab.boxes.ios.arguments import split_interface
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row, setting
from qoslab.grammar import Match
from qoslab.shell import Row, Shell
from qoslab.wiring import Announcement, heard

_LETTERS = {"Bridge": "B", "Switch": "B", "Router": "R"}
_LIFE = 120  # seconds


def global_rows() -> list[Row]:
    """Global configuration."""
    return [setting("lldp run", rank=92), setting("lldp timer <5-65534>", rank=92)]


def interface_rows() -> list[Row]:
    """Interface mode."""
    return [setting("lldp transmit", rank=90, on=True), setting("lldp receive", rank=90, on=True)]


class Lldp:
    """``show lldp neighbors detail``."""

    def __init__(self, box: IosBox) -> None:
        self._box = box

    def rows(self) -> list[Row]:
        """Exec of every privilege."""
        return [row("show lldp neighbors detail", self._neighbors)]

    def _neighbors(self, shell: Shell, match: Match) -> str:
        del shell, match
        if "lldp run" not in self._box.running:
            return "% LLDP is not enabled"
        found = heard(self._box, "lldp")
        left = _LIFE - int(self._box.clock.seconds()) % 30
        return "\n".join(
            [*(_block(port, told, left) for port, told in found), f"\nTotal entries displayed: {len(found)}"]
        )


def short(port: str) -> str:
    """``Gi1/0/1``: how IOS abbreviates a port."""
    kind, _ = split_interface(port)
    return f"{kind[:2]}{port.removeprefix(kind)}"


def _block(port: str, told: Announcement, left: int) -> str:
    mac = ".".join(told.mac[at : at + 4] for at in (0, 4, 8))
    letters = ",".join(sorted({_LETTERS[one] for one in told.capabilities if one in _LETTERS}))
    name = f"System Name: {told.name}" if told.name else "System Name - not advertised"
    text = f"System Description: \n{told.software}" if told.software else "System Description - not advertised"
    capabilities = [f"System Capabilities: {letters}", f"Enabled Capabilities: {letters}"] if letters else []
    address = ["Management Addresses:", f"    IP: {told.address}"] if told.address else []
    return "\n".join(
        [
            "------------------------------------------------",
            f"Local Intf: {short(port)}",
            f"Chassis id: {mac}",
            f"Port id: {told.port}",
            "Port Description - not advertised",
            name,
            "",
            text,
            "",
            f"Time remaining: {left} seconds",
            *capabilities,
            *(address or ["Management Addresses - not advertised"]),
            "Auto Negotiation - not supported",
            "Physical media capabilities - not advertised",
            "Media Attachment Unit type - not advertised",
            "Vlan ID: - not advertised",
            "",
        ]
    )
