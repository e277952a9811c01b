"""``encapsulation`` of a router's interface, and what cannot stand beside another one."""

from __future__ import annotations

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_KEY = "encapsulation"
_VLAN_RANK, _LINK_RANK = 5, 20


def interface_rows(box: IosBox) -> list[Row]:
    """Interface mode. HDLC is what a serial line runs by default and is not printed."""

    def encapsulate(shell: Shell, match: Match) -> None:
        section = shell.section
        kind = "hdlc" if match.undone else match.words[1]
        parts = [section, *box.running.starting(f"interface {section.text.split()[1]}.")]
        compressed = any("frame-relay ip rtp header-compression" in part for part in parts)
        if kind == "frame-relay" and match.words[-1] == "ietf" and compressed:
            raise Refused(refusals.CISCO_FORMAT_ONLY)
        if kind != "frame-relay":  # the lines of Frame Relay go with it
            for part in parts:
                for line in part.starting("frame-relay "):
                    part.remove(line.key)
        if kind == "hdlc":
            section.remove(_KEY)
            return
        rank = _VLAN_RANK if kind in {"dot1Q", "isl"} else _LINK_RANK
        shell.store(Section(match.text, key=_KEY, rank=rank))

    forms = "{hdlc|ppp|frame-relay [ietf]|dot1Q <1-4094> [native]|isl <1-1000>}"
    return [row(f"{_KEY} {forms}", encapsulate, f"{_KEY} [LINE]")]
