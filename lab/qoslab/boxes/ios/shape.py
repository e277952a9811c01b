"""``shape`` in a policy class."""

from __future__ import annotations

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.bandwidth import release
from qoslab.boxes.ios.rows import row
from qoslab.boxes.ios.train import HQF, PERCENTAGES, SHAPING, Train
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_LARGEST = 154400000  # bit/s before HQF
_LARGEST_HQF = 1000000000  # unconfirmed
_STEP = 8000  # bit/s, on the oldest trains
_RANK = 12  # in front of what a class may have only because it is shaped
_BUFFERS = "shape max-buffers 1000"  # the default, not printed (unconfirmed)


class Shapers:
    """The ``shape`` rows, as the train has them."""

    def __init__(self, train: Train, *, hqf: bool) -> None:
        self._train = train
        self._hqf = hqf

    def rows(self) -> list[Row]:
        """Policy class mode: rates in bit/s, bursts in bits or ms."""
        if not self._train.since(SHAPING):
            return []
        rate = f"<8000-{_LARGEST_HQF if self._train.since(HQF) else _LARGEST}>"
        bursts = f"[<256-{_LARGEST}> [<0-{_LARGEST}>]]"
        rows = [
            row(f"shape {{average|peak}} {rate}:rate {bursts}", self._shape, "shape [{average|peak} [LINE]]"),
            row(f"shape adaptive {rate}", self._more, "shape adaptive [LINE]"),
            row("shape max-buffers <1-4096>", self._more, "shape max-buffers [LINE]"),
        ]
        if self._train.since(PERCENTAGES):
            percent = "shape {average|peak} percent <1-100> [<10-2000> ms [<10-2000> ms]]"
            rows.append(row(percent, self._shape))
        return rows

    def _shape(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            release(section, "shape", hqf=self._hqf)
            for line in section.starting("shape "):
                section.remove(line.key)
            return
        if not self._train.since("12.2") and match.number("rate") % _STEP:
            raise Refused(refusals.SHAPE_STEP)
        shell.store(Section(match.text, key="shape", rank=_RANK))

    @staticmethod
    def _more(shell: Shell, match: Match) -> None:
        key = f"shape {match.words[1]}"
        if match.undone or match.text == _BUFFERS:
            shell.section.remove(key)
            return
        if "shape" not in shell.section:
            raise Refused(refusals.SHAPE_FIRST)
        shell.store(Section(match.text, key=key, rank=_RANK + 1))
