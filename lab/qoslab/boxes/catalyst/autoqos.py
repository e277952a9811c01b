"""AutoQoS for voice: one command on a port that types many others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell, apply_lines

KEY = "auto qos voip"
_KINDS = "cisco-phone|cisco-softphone|trust"


@dataclass(frozen=True)
class Generated:
    """What the command types.

    ``switch`` are the global lines of the first port that gets AutoQoS, ``softphone`` those of the first port
    with a software telephone; ``port`` gives the lines of a port of a kind, ``back`` those that undo them.
    """

    switch: Sequence[str]
    softphone: Sequence[str]
    port: Callable[[Section, str], Sequence[str]]
    back: Sequence[str]


class AutoQos:
    """The row of interface mode."""

    def __init__(
        self, box: IosBox, generated: Generated, check: Callable[[Section], None] = lambda port: None
    ) -> None:
        """``check`` refuses the command on a port."""
        self._box = box
        self._generated = generated
        self._check = check

    def rows(self) -> list[Row]:
        """``auto qos voip``."""
        return [row(f"{KEY} {{{_KINDS}}}:kind", self._run, f"{KEY} [{_KINDS}]:kind")]

    def _run(self, shell: Shell, match: Match) -> None:
        port = shell.section
        if match.undone:
            if port.remove(KEY) is not None:
                # The global lines stay, even when this was the last port.
                self._type(shell, port, [port.text, *self._generated.back])
            return
        kind = match["kind"]
        line = Section(f"{KEY} {kind}", key=KEY, rank=74)
        if not shell.loading:  # a saved configuration already holds what the command typed
            if KEY not in port:
                self._check(port)
            back = self._generated.back if KEY in port else ()
            typed = [*self._first(kind), port.text, *back, *self._generated.port(port, kind)]
            self._type(shell, port, typed)
        shell.store(line)

    def _first(self, kind: str) -> list[str]:
        others = [held.value(KEY) for held in self._box.interfaces()]
        lines = [] if any(others) else list(self._generated.switch)
        if kind == "cisco-softphone" and f"{KEY} {kind}" not in others:
            lines += self._generated.softphone
        return lines

    def _type(self, shell: Shell, port: Section, lines: Sequence[str]) -> None:
        """Type lines; when the box refuses one, what ran before comes back."""
        before = self._box.running.copy()
        said = apply_lines(self._box.console(), list(lines))
        if not said:
            return
        self._box.running.replace_with(before)
        shell.levels = shell.levels[:1]
        held = self._box.running.get(port.key)
        assert held is not None, port.key
        shell.enter(held.mode, held)
        raise Refused(said[0][2])
