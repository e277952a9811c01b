"""What hangs on the ports of boxes, and what boxes tell each other over it.

A box hears a neighbour by a discovery protocol where the one sends it, the other listens, and both ports are up.
The lab carries no discovery frame through a third box: a switch without the protocol hides what is behind it,
though a real one floods the multicast of a protocol that it does not know.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qoslab.spec import LinkSpec

if TYPE_CHECKING:
    from qoslab.box import Box


@dataclass(frozen=True)
class Cable:
    """A port's line: its rate in bits per second, and the box and port at its other end (no box: a station)."""

    rate: int
    far: Box | None = None
    port: str = ""


@dataclass(frozen=True)
class Announcement:
    """What a box tells of itself on one port; ``mac`` has twelve hexadecimal digits, an empty text is not told."""

    name: str
    port: str
    address: str
    mac: str
    platform: str = ""
    software: str = ""
    capabilities: tuple[str, ...] = ()
    native_vlan: int | None = None


def plug(links: Sequence[LinkSpec], boxes: Mapping[str, Box]) -> None:
    """Give every box the cables on its ports. Without any link nothing is known of them, and every port has one."""
    if not links:
        return
    for box in boxes.values():
        box.cables = {}
    for link in links:
        name, port = link.a[0], boxes[link.a[0]].port_name(link.a[1])
        far = boxes[link.b[0]] if link.b is not None else None
        far_port = far.port_name(link.b[1]) if far is not None and link.b is not None else ""
        _cables(boxes[name])[port] = Cable(link.rate, far, far_port)
        if far is not None:
            _cables(far)[far_port] = Cable(link.rate, boxes[name], port)


def _cables(box: Box) -> dict[str, Cable]:
    assert box.cables is not None
    return box.cables


def heard(box: Box, protocol: str) -> list[tuple[str, Announcement]]:
    """The neighbours of a box by a protocol ("cdp", "lldp", "sonmp"), each with the port that it is heard on."""
    return [
        (port, cable.far.announcement(protocol, cable.port))
        for port, cable in (box.cables or {}).items()
        if cable.far is not None and box.hears(protocol, port) and cable.far.sends(protocol, cable.port)
    ]


def base_mac(vendor: str, name: str) -> str:
    """A box's own address: the vendor's three bytes and three made of its name."""
    return f"{vendor}{zlib.crc32(name.encode()) & 0xFFFFFF:06x}"
