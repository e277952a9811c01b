"""The copy of a configuration for Batfish: its format forced, and valid lines that Batfish does not know removed.

Which lines those are was found by running Batfish 0.36 on each of them; all others stay as they are. Access
lists are kept whole: one commented line at the end of a named list and Batfish drops what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HEADER = "! BATFISH_FORMAT: {format}"
"""First line of a copy: Batfish otherwise guesses the format from the whole text."""


@dataclass(frozen=True)
class _Unknown:
    """Valid lines of a format that Batfish does not know: ``lines`` anywhere, ``below`` inside ``heads``."""

    lines: tuple[str, ...]
    heads: str
    below: str

    def silences(self, line: str, head: str) -> bool:
        """Whether a line, in the block that ``head`` opens, is one of them."""
        inside = re.fullmatch(self.heads, head) is not None
        return (inside and re.fullmatch(self.below, line) is not None) or any(
            re.fullmatch(pattern, line) for pattern in self.lines
        )


_UNKNOWN = {
    "cisco_ios": _Unknown(
        lines=(
            r"encapsulation (?:ppp|hdlc|frame-relay)\b.*",
            r"ip rtp header-compression(?: passive)?",
            r"ip rtp (?:compression-connections|priority)\b.*",
            # Batfish loses the next line of the interface after this one.
            r"ip tcp header-compression iphc-format",
            r"match ip rtp\b.*",
            r"match (?:input-interface|vlan|fr-dlci|packet length|discard-class|source-address mac)\b.*",
            r"(?:max-reserved-bandwidth|multilink-group|tx-ring-limit|traffic-shape|vbr-rt)\b.*",
            r"compression header ip\b.*",
            r"ip nbar port-map\b.*",
        ),
        heads=r"map-class frame-relay\b.*",
        below=r"service-policy\b.*",
    ),
    "force10": _Unknown(
        lines=(
            # Batfish calls every policy undefined that an interface of this format refers to.
            r"service-policy (?:input|output)\b.*",
            r"(?:bandwidth-weight|rate-shape|strict-priority|dot1p-priority)\b.*",
            r"rate (?:shape|police|limit)\b.*",
            r"threshold min\b.*",
            r"match ip vlan\b.*",
            r"match mac\b.*",
            r"match ip access-group \S+ set-ip-dscp\b.*",
            r"policy-aggregate\b.*",
            # Batfish ends the interface here: an address below would be lost.
            r"service-class dynamic dot1p",
        ),
        heads=r"qos-policy-input\b.*",
        below=r".*",
    ),
}
_VLAN = re.compile(r"interface vlan ?\d+", re.IGNORECASE)


def analysis_copy(text: str, batfish_format: str) -> str:
    """The analysis copy of a configuration text; a format without known gaps is only forced.

    Line n of the text is line n + 1 of the copy, after the header; what has to be added stands at the end.
    """
    lines = [HEADER.format(format=batfish_format), *_silenced(text, _UNKNOWN.get(batfish_format))]
    if batfish_format == "force10":
        # VLAN membership of this format is not modelled: without this every VLAN interface would be down.
        vlans = [line for line in text.splitlines() if _VLAN.fullmatch(line)]
        lines += [entry for vlan in vlans for entry in (vlan, " no autostate", "!")]
    return "\n".join(lines) + "\n"


def _silenced(text: str, unknown: _Unknown | None) -> Iterator[str]:
    head = ""
    for line in text.splitlines():
        if not line.startswith(" "):
            head = line.strip()
        yield f"!{line}" if unknown and unknown.silences(line.strip(), head) else line
