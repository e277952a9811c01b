"""Cisco Discovery Protocol: on by default on every port, ``no cdp run`` and ``no cdp enable`` switch it off.

The layout is that of the recorded answers of ntc-templates (``tests/cisco_ios/show_cdp_neighbors_detail``); the
holdtime of 180 s and the interval of 60 s are IOS's defaults.
"""

from __future__ import annotations

from qoslab.boxes.ios.arguments import IF, interface_name
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row
from qoslab.grammar import Match
from qoslab.shell import Row, Shell
from qoslab.wiring import Announcement, heard

_HOLD, _INTERVAL = 180, 60
_OFF = "% CDP is not enabled"


class Cdp:
    """``show cdp`` and ``show cdp neighbors detail``."""

    def __init__(self, box: IosBox) -> None:
        self._box = box

    def rows(self) -> list[Row]:
        """Exec of every privilege."""
        return [
            row("show cdp", self._global),
            row(f"show cdp neighbors [{IF}] detail", self._neighbors),
        ]

    def _global(self, shell: Shell, match: Match) -> str:
        del shell, match
        if self._box.cdp_off:
            return _OFF
        return (
            "Global CDP information:\n"
            f"\tSending CDP packets every {_INTERVAL} seconds\n"
            f"\tSending a holdtime value of {_HOLD} seconds\n"
            "\tSending CDPv2 advertisements is  enabled"
        )

    def _neighbors(self, shell: Shell, match: Match) -> str:
        del shell
        if self._box.cdp_off:
            return _OFF
        only = interface_name(match["interface"].replace(" ", "")) if "interface" in match else None
        left = _HOLD - int(self._box.clock.seconds()) % _INTERVAL
        blocks = [_block(port, told, left) for port, told in heard(self._box, "cdp") if only in {None, port}]
        return "\n".join(blocks)


def _block(port: str, told: Announcement, left: int) -> str:
    address = f"  IP address: {told.address}\n" if told.address else ""
    vlan = f"Native VLAN: {told.native_vlan}\n" if told.native_vlan is not None else ""
    return (
        "-------------------------\n"
        f"Device ID: {told.name}\n"
        f"Entry address(es): \n{address}"
        f"Platform: {told.platform},  Capabilities: {' '.join(told.capabilities)} \n"
        f"Interface: {port},  Port ID (outgoing port): {told.port}\n"
        f"Holdtime : {left} sec\n\n"
        f"Version :\n{told.software}\n\n"
        f"advertisement version: 2\n{vlan}"
    )
