"""Policers of a Catalyst 9000: what exceeds is marked down by a table-map, or dropped.

The rules are those of Cisco document 200729, "Common QoS error messages on Catalyst 3850"; the wording is
unconfirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.police import Policers, remark
from qoslab.boxes.ios.rows import row
from qoslab.boxes.ios.tables import translated
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.packets import Packets
from qoslab.shell import Reply, Row, Run, Shell

ACTION = "{transmit|drop|set-dscp-transmit dscp table WORD|set-cos-transmit cos table WORD}"
"""What policers do: they write another mark by a table-map alone."""
_TABLE = re.compile(r"set-(?P<mark>dscp|cos)-transmit (?P=mark) table (?P<name>\S+)")


class SwitchPolicers:
    """Rows for ``police`` in a policy class and in its submode."""

    def __init__(self, box: IosBox) -> None:
        self._box = box
        self._policers = Policers(box, ACTION)

    def rows(self) -> list[Row]:
        """Policy class mode; a rate in per cent is the cap of a priority level."""
        rows = [one for one in self._policers.rows() if not one.pattern.startswith("police rate")]
        return [row(one.pattern, self._tabled(one.run), one.no) for one in rows]

    def submode_rows(self) -> list[Row]:
        """Police mode: one action per line."""
        return [
            row(one.pattern, self._tabled(one.run), one.no) if "-action" in one.pattern else one
            for one in self._policers.submode_rows()
        ]

    def _tabled(self, run: Run) -> Run:
        """Refuses a table-map that is not there."""

        def enter(shell: Shell, match: Match) -> Reply | str | None:
            for found in _TABLE.finditer(match.text):
                if not (match.undone or shell.loading) and f"table-map {found['name']}" not in self._box.running:
                    raise Refused(f"% Table-map {found['name']} not configured")
            return run(shell, match)

        return enter


def trouble(policy: Section) -> str:
    """What the device says to the policers of a policy that no port could have ("" when one can)."""
    tables = set()
    for held in policy.starting("class "):
        line = held.get("police")
        if line is None:
            continue
        named = {found["name"] for text in _actions(line) for found in _TABLE.finditer(text)}
        tables |= named
        if named and "priority" in held:
            return "% A table-map is not supported in the policer of a priority class"
        if " pir " not in line.text and (" be " in line.text or "violate" in line):
            return "% A policer with one rate and three colours is not supported"
    return "% Only one table-map is supported in a direction" if len(tables) > 1 else ""


def sent(box: IosBox, action: str, packets: Packets) -> Packets:
    """Packets with the mark that a policer's action writes: by its table, from the one that they have."""
    found = _TABLE.fullmatch(action)
    table = box.running.get(f"table-map {found['name']}") if found else None
    if found is None or table is None:
        written = remark(action)
        return packets if written is None else packets.marked(dscp=written)
    new = translated(table, packets.dscp if found["mark"] == "dscp" else packets.cos)
    return packets.marked(**{found["mark"]: new})


def _actions(line: Section) -> Iterator[str]:
    yield line.text
    yield from (child.text for child in line)
