"""Boxes that hold their configuration as typed objects instead of a tree of lines."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from qoslab.box import Box
from qoslab.config import Section
from qoslab.grammar import Command, Match, SyntaxRefused
from qoslab.shell import Reply, Row, Run, Shell

State = TypeVar("State")


class Held(Section):
    """The level of a mode that edits one object: ``item`` is the object."""

    def __init__(self, text: str, item: object) -> None:
        super().__init__(text)
        self.item = item


class TypedBox(Box, Generic[State]):
    """A box whose configuration is ``state``; ``factory_state`` makes an empty one."""

    state: State

    @abstractmethod
    def factory_state(self) -> State:
        """The configuration with an empty startup."""

    def factory_reset(self) -> None:
        """Forget everything configured."""
        self.state = self.factory_state()

    def changed(self, shell: Shell) -> None:
        """Called after every configuration line the box took."""

    @contextmanager
    def scratch(self, shell: Shell) -> Iterator[None]:
        """Let a line be checked and answered, and forget what it changed.

        An object created inside stays with the mode it opened, and is kept nowhere else.
        """
        held = shell.section
        state, self.state = self.state, copy.deepcopy(self.state)
        item = held.item if isinstance(held, Held) else None
        if isinstance(held, Held):
            held.item = copy.deepcopy(item)
        try:
            yield
        finally:
            self.state = state
            if isinstance(held, Held):
                held.item = item


class Stored:
    """A configuration command that planted faults can make the box forget or alter."""

    def __init__(self, run: Run, forms: Collection[str]) -> None:
        self.run = run
        self._forms = forms

    def __call__(self, shell: Shell, match: Match) -> Reply | str | None:
        """Run the command the way the faults of the box let it."""
        box = shell.box
        assert isinstance(box, TypedBox)
        sign = "no" if match.negated else "default" if match.defaulted else ""
        if sign and sign not in self._forms:
            raise SyntaxRefused("invalid", 0, match.line)
        line = f"{sign} {match.text}".lstrip()
        stored = box.faults.stored(line) if shell.planted_faults else line
        if stored is None:
            with box.scratch(shell):
                return self.run(shell, match)
        run = self.run
        if stored != line:
            command, match = shell.mode.grammar.match(stored)
            run = command.run.run if isinstance(command.run, Stored) else command.run
        answer = run(shell, match)
        box.changed(shell)
        return answer


def row(pattern: str, run: Run, no: str | bool | None = None, forms: Collection[str] = ("no",)) -> Row:
    """One configuration command; ``no`` is the pattern of its undoing ``forms`` (no, default)."""
    return Command(pattern, Stored(run, forms), no)
