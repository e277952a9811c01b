"""The copy of a configuration that Batfish reads: its format forced, valid lines it does not know silenced.

Which lines those are was found by running Batfish 0.36 on each of them; all others stay as they are. Access
lists are kept whole: one commented line at the end of a named list and Batfish drops what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HEADER = "! BATFISH_FORMAT: {format}"
"""First line of a copy: Batfish otherwise guesses the format from the whole text."""

_SILENCED = {
    "cisco_ios": (
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
    "force10": (
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
}
_SILENCED_BLOCKS = {"cisco_ios": r"map-class frame-relay\b.*", "force10": r"qos-policy-input\b.*"}
_BLOCK_LINES = {"cisco_ios": r"service-policy\b.*", "force10": r".*"}
"""What is silenced of the blocks with these heads, the heads themselves included."""
_VLAN = re.compile(r"interface vlan ?\d+", re.IGNORECASE)


def analysis_copy(text: str, batfish_format: str) -> str:
    """The analysis copy of a configuration text.

    Line n of the text is line n + 1 of the copy, after the header; what has to be added stands at the end.

    Raises:
        KeyError: no silenced lines are known for this format.
    """
    lines = [HEADER.format(format=batfish_format), *_silenced(text, batfish_format)]
    if batfish_format == "force10":
        # VLAN membership of this format is not modelled: without this every VLAN interface would be down.
        vlans = [line for line in text.splitlines() if _VLAN.fullmatch(line)]
        lines += [entry for vlan in vlans for entry in (vlan, " no autostate", "!")]
    return "\n".join(lines) + "\n"


def _silenced(text: str, batfish_format: str) -> Iterator[str]:
    anywhere = re.compile("|".join(_SILENCED[batfish_format]))
    head, below = re.compile(_SILENCED_BLOCKS[batfish_format]), re.compile(_BLOCK_LINES[batfish_format])
    inside = False
    for line in text.splitlines():
        body = line.strip()
        if not line.startswith(" "):
            inside = head.fullmatch(body) is not None
        silent = inside and below.fullmatch(body)
        yield f"!{line}" if silent or anywhere.fullmatch(body) else line
