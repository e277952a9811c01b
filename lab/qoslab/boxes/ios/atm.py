"""ATM circuits: ``pvc`` on ATM interfaces and subinterfaces, and what stands inside."""

from __future__ import annotations

from qoslab.boxes.ios.attach import Attachments
from qoslab.boxes.ios.rows import leaving, row, setting
from qoslab.config import Section
from qoslab.grammar import Match, Refused, SyntaxRefused
from qoslab.shell import Row, Shell

_RANK = 77  # behind max-reserved-bandwidth, which its policy is checked against
_CATEGORY = "service category"
_KBPS = "<1-155000>"
_CELLS = "<1-65535>"


class Atm:
    """The rows of ATM interfaces and their circuits."""

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments

    def interface_rows(self) -> list[Row]:
        """Interface mode."""
        return [
            row("pvc VC:circuit", self._pvc, True),
            row("pvc VCNAME:name VC:circuit", self._pvc, True),
            setting("atm ilmi-keepalive [<0-65535>]", rank=24, off=True),
            setting("bundle-enable", rank=24),
            setting("dsl operating-mode LINE", rank=24),
        ]

    def submode_rows(self) -> dict[str, list[Row]]:
        """Circuit mode: rates in kb/s, the burst in cells."""
        return {
            "pvc": [
                *leaving(),
                setting("description LINE", rank=0),
                row(f"vbr-nrt {_KBPS}:peak {_KBPS}:rate [{_CELLS}]", self._category, "vbr-nrt [LINE]"),
                row(f"ubr [{_KBPS}]:rate", self._category, "ubr [LINE]"),
                setting("tx-ring-limit <1-32767>", rank=12),
                setting("encapsulation {aal5snap|aal5mux ip|aal5mux ppp dialer}", rank=13),
                setting("protocol LINE", rank=14, many=True),
                setting("dialer pool-member <1-255>", rank=14),
                setting("oam-pvc [LINE]", rank=15),
                setting("broadcast", rank=16),
                *self._attachments.rows(),
            ]
        }

    def _pvc(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if not section.text.startswith("interface ATM"):
            raise SyntaxRefused(
                "invalid", match.line.index(match.line.split()[-2 if "name" in match else -1]), match.line
            )
        key = f"pvc {match['circuit']}"
        if match.undone:
            section.remove(key)
            return
        held = section.get(key)
        if held is None or ("name" in match and held.text != match.text):
            held = shell.store(Section(match.text, key=key, rank=_RANK, mode="pvc"))
        shell.enter("pvc", held)

    def _category(self, shell: Shell, match: Match) -> None:
        """One service category at a time; plain UBR is the default and not printed."""
        section = shell.section
        before = section.copy()
        if match.undone or match.text == "ubr":
            section.remove(_CATEGORY)
        else:
            if match.number("rate") > match.number("peak", match.number("rate")):
                raise SyntaxRefused("invalid", match.line.index(match.line.split()[2]), match.line)
            shell.store(Section(match.text, key=_CATEGORY, rank=11))
        trouble = self._attachments.trouble_at(section)
        if trouble and not match.undone:
            section.replace_with(before)
            raise Refused(trouble)
