"""``set`` in a policy class: marks given as a value or taken over from another mark, and what they write."""

from __future__ import annotations

from dataclasses import replace

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.arguments import dscp_value
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row
from qoslab.boxes.ios.tables import translated
from qoslab.boxes.ios.train import BOTH_FAMILIES, MARKING, TABLE_MAPS
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.packets import Packets
from qoslab.shell import Row, Shell

_RANK = 40
TOPMOST = "set mpls experimental topmost"
IMPOSITION = "set mpls experimental imposition"
"""The key of what inputs alone have (Cisco IOS MPLS Command Reference, January 2010: "supported only on input
interfaces")."""
_PLAIN = ("fr-de", "atm-clp")  # marks without a value
# Which mark may be taken over from which.
_TAKEN_OVER = {
    "cos": "precedence|dscp",
    "dscp": "cos|qos-group",
    "precedence": "cos|qos-group",
    "qos-group": "precedence|dscp",
}


class Marking:
    """The ``set`` rows of a policy class."""

    def __init__(self, box: IosBox) -> None:
        self._box = box

    def rows(self) -> list[Row]:
        """Every form the train has."""
        train = self._box.train
        if not train.since(MARKING):
            return []
        forms = {
            "ip dscp": "DSCP", "ip precedence": "PREC", "cos": "<0-7>", "qos-group": "<0-99>", "fr-de": "",
            "atm-clp": "", "mpls experimental": "<0-7>",
        }  # fmt: skip
        if train.since(BOTH_FAMILIES):
            forms |= {
                "dscp": "DSCP", "precedence": "PREC", "discard-class": "<0-7>",
                "mpls experimental {imposition|topmost}": "<0-7>",
            }  # fmt: skip
        rows = [
            row(f"set {form} {value}".rstrip(), self._set, f"set {form}" + (f" [{value}]" if value else ""))
            for form, value in forms.items()
        ]
        if train.since(TABLE_MAPS):
            rows += [
                row(f"set {mark} {{{source}}} [table WORD:table]", self._set, f"set {mark} {{{source}}} [LINE]")
                for mark, source in _TAKEN_OVER.items()
            ]
        return rows

    def _set(self, shell: Shell, match: Match) -> None:
        mark = next(word for word in match.words[1:] if word != "ip")
        # Labels that are put on and the topmost label are marked beside each other.
        key = f"set {' '.join(match.words[1:4])}" if mark == "mpls" else f"set {mark}"
        if match.undone:
            shell.section.remove(key)
            return
        rival = {"dscp": "set precedence", "precedence": "set dscp"}.get(mark)
        if rival is not None and rival in shell.section:
            raise Refused(refusals.TWO_MARKS)
        if "table" in match and not shell.loading and f"table-map {match['table']}" not in self._box.running:
            raise Refused(f"% Table-map {match['table']} not configured")
        shell.store(Section(match.text, key=key, rank=_RANK))


def marked(box: IosBox, held: Section, packets: Packets) -> Packets:
    """What the ``set`` lines of a class write into packets: with ``ip`` into those of IPv4 only (``set dscp``)."""
    dscp: int | None = None
    if "set dscp" in held and _reaches(held.value("set dscp"), packets):
        dscp = _value(box, held.value("set dscp"), packets)
    elif "set precedence" in held and _reaches(held.value("set precedence"), packets):
        precedence = _value(box, held.value("set precedence"), packets)
        dscp = None if precedence is None else 8 * (precedence & 7)
    cos = _value(box, held.value("set cos"), packets) if "set cos" in held else None
    packets = packets.marked(dscp=None if dscp is None else dscp & 63, cos=None if cos is None else cos & 7)
    if "set qos-group" in held and (group := _value(box, held.value("set qos-group"), packets)) is not None:
        packets = replace(packets, qos_group=group)
    if packets.exp >= 0 and TOPMOST in held:
        packets = replace(packets, exp=int(held.value(TOPMOST).split()[-1]))
    return packets


def _reaches(line: str, packets: Packets) -> bool:
    return packets.ip_version == 4 or line.split()[1] != "ip"


def _value(box: IosBox, line: str, packets: Packets) -> int | None:
    """The number a line writes; None where it leaves the mark alone."""
    words = [word for word in line.split()[2:] if word not in {"dscp", "precedence"} or " ip " not in line]
    known = {
        "cos": packets.cos,
        "dscp": packets.dscp,
        "precedence": packets.dscp >> 3,
        "qos-group": packets.qos_group,
    }
    if words[0] not in known:
        return dscp_value(words[0])
    table = box.running.get(f"table-map {words[2]}") if len(words) > 2 else None
    return known[words[0]] if table is None else translated(table, known[words[0]])
