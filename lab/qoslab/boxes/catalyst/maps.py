"""Tables a switch holds as several configuration lines: only what differs from the default prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qoslab.config import Section
from qoslab.shell import Shell


@dataclass(frozen=True)
class TableMap:
    """A table ``value -> target``.

    ``keys`` are the values it covers, ``default`` their targets, ``render`` writes one line for a target and
    some values, ``pattern`` reads it back (groups ``values`` and ``target``); a long list takes several lines
    of ``per_line`` values. ``whole`` tables print every value of a target that differs at all. ``split``
    targets are several groups in front of the values, joined by ``-``.
    """

    keys: tuple[int, ...]
    default: Callable[[int], str]
    render: Callable[[str, str], str]
    pattern: re.Pattern[str]
    rank: int
    per_line: int = 8
    whole: bool = False
    split: bool = False

    def read(self, running: Section) -> dict[int, str]:
        """The table in force."""
        table = {key: self.default(key) for key in self.keys}
        for line in running:
            found = self.pattern.fullmatch(line.text)
            if found is not None:
                for value in found["values"].split():
                    table[int(value)] = "-".join(found.groups()[:-1]) if self.split else found["target"]
        return table

    def assign(self, shell: Shell, values: Sequence[int], target: str) -> None:
        """Map some values to a target."""
        self._write(shell, {**self.read(shell.box.running), **dict.fromkeys(values, target)})

    def reset(self, shell: Shell) -> None:
        """Back to the default."""
        self._write(shell, {key: self.default(key) for key in self.keys})

    def _write(self, shell: Shell, table: dict[int, str]) -> None:
        running = shell.box.running
        for line in list(running):
            if self.pattern.fullmatch(line.text):
                running.remove(line.key)
        standard = {key: self.default(key) for key in self.keys}
        for target in sorted(set(table.values()), key=_in_numbers):
            values = [key for key in self.keys if table[key] == target]
            moved = [key for key in values if standard[key] != target]
            if self.whole:
                usual = [key for key in self.keys if standard[key] == target]
                moved = values if values != usual else []
            for at in range(0, len(moved), self.per_line):
                text = self.render(target, " ".join(map(str, moved[at : at + self.per_line])))
                shell.box.store(running, Section(text, rank=self.rank), faulty=shell.planted_faults)


def _in_numbers(target: str) -> list[int]:
    return [int(part) for part in target.split("-")]


def eight_values(running: Section, key: str, default: Sequence[int]) -> list[int]:
    """A map that prints as one line of eight numbers (``mls qos map cos-dscp ...``)."""
    numbers = [int(word) for word in running.value(key).split() if word.isdigit()]
    return numbers if len(numbers) == len(default) else list(default)


def eight_lines(title: str, key: str, values: Sequence[int]) -> list[str]:
    """How the switches show a map from eight values (``key`` 0 to 7) to DSCPs."""
    head = "".join(f"{value:>3}" for value in range(8))
    shown = "".join(f"{value:>3}" for value in values)
    return [f"   {title}", f"{key:>11}: {head}", "     " + "-" * 32, f"{'dscp':>11}: {shown}"]
