"""What one login sees of a box: modes, prompts, replies. No I/O: the session feeds it lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qoslab.config import Section
from qoslab.grammar import Command, Grammar, Match, Refused, SyntaxRefused

if TYPE_CHECKING:
    from qoslab.box import Box


@dataclass
class Question:
    """The box waits for an answer instead of showing its prompt.

    ``answer`` gets the line (without its end), or the one key if ``single_key``. ``keys`` restricts the keys
    that count (others are ignored). ``multiline`` marks text collection (a banner, a Tcl body): when a file
    is applied its lines go there, while other questions are answered with Enter.
    """

    prompt: str
    answer: Callable[[str], Reply]
    echo: bool = True
    single_key: bool = False
    keys: str = ""
    multiline: bool = False


@dataclass
class Reply:
    """What the box prints for a line, and what happens next.

    ``text`` has "\\n" line ends and no last one. ``abort`` drops the connection without a word.
    ``paged`` False prints on without asking for more.
    """

    text: str = ""
    ask: Question | None = None
    close: bool = False
    abort: bool = False
    paged: bool = True


Run = Callable[["Shell", Match], "Reply | str | None"]
Row = Command[Run]


@dataclass(frozen=True)
class Mode:
    """A command mode: ``suffix`` is the part of the prompt between host name and ``#``."""

    name: str
    suffix: str
    grammar: Grammar[Run]


@dataclass
class Level:
    """One entry of the mode stack: the mode and the configuration section it edits."""

    mode: Mode
    section: Section


class Shell:
    """One login: a stack of modes over a box's configuration.

    Level 0 is exec; the first configuration level edits ``box.running`` itself.
    """

    def __init__(self, box: Box, *, privileged: bool = False, user: str = "console") -> None:
        self.box = box
        self.privileged = privileged
        self.level = 1
        """Of a login that is not privileged, where the box has levels in between."""
        self.user = user
        self.length = 24
        self.width = 80
        self.levels: list[Level] = []
        self.planted_faults = True
        self.loading = False  # a whole configuration is being loaded: later lines may be referred to

    # -- state -------------------------------------------------------------------------------------------
    @property
    def configuring(self) -> bool:
        """True in configuration mode."""
        return bool(self.levels)

    @property
    def section(self) -> Section:
        """The section the current mode edits (the whole configuration in exec)."""
        return self.levels[-1].section if self.levels else self.box.running

    @property
    def mode(self) -> Mode:
        """The current mode."""
        if self.levels:
            return self.levels[-1].mode
        return self.box.modes["enable" if self.privileged else "exec"]

    @property
    def prompt(self) -> str:
        """The prompt, without a trailing blank."""
        return self.box.prompt(self)

    def enter(self, mode: str, section: Section) -> None:
        """Go one mode deeper."""
        self.levels.append(Level(self.box.modes[mode], section))

    def leave(self) -> None:
        """One mode up; nothing happens in exec."""
        if self.levels:
            self.levels.pop()

    def end(self) -> None:
        """Back to exec."""
        if self.levels:
            self.levels = []
            self.box.configuration_ended(self)

    def store(self, child: Section, *, before: str = "") -> Section:
        """Put a line under the current section, as the planted faults let it be. Returns what is held."""
        return self.box.store(self.section, child, before=before, faulty=self.planted_faults)

    # -- lines -------------------------------------------------------------------------------------------
    def feed(self, line: str) -> Reply:
        """Take one line and answer it."""
        text = line.strip()
        if not text or text.startswith(self.box.comment):
            return Reply()
        planted = self.box.faults.refusal(line, configuring=self.configuring) if self.planted_faults else None
        if planted is not None:
            return Reply(planted)
        try:
            if self.configuring:
                return self._configure(line)
            return self._piped(line)
        except SyntaxRefused as error:
            return Reply(self.box.syntax_error(self, error))
        except Refused as error:
            return Reply(error.text)

    def run_exec(self, line: str) -> Reply:
        """Run an exec command from whatever mode (``do``)."""
        held, self.levels = self.levels, []
        try:
            return self._piped(line)
        finally:
            if not self.levels:
                self.levels = held

    def _configure(self, line: str) -> Reply:
        first: SyntaxRefused | None = None
        for depth in range(len(self.levels), 0, -1):
            level = self.levels[depth - 1]
            try:
                command, match = level.mode.grammar.match(line)
            except SyntaxRefused as error:
                if first is None or error.column > first.column:
                    first = error
                if error.kind == "ambiguous":
                    break
                continue
            if depth < len(self.levels):
                self.levels = self.levels[:depth]
            try:
                return self._run(command, match)
            finally:
                if not self.loading:
                    self.box.attached.look(self.box.attached_policies(), line.strip())
        assert first is not None
        raise first

    def _piped(self, line: str) -> Reply:
        body, bar, rest = line.partition("|")
        if not bar:
            return self._run(*self.mode.grammar.match(line))
        words = rest.split(None, 1)
        found = [name for name in self.box.output_filters if words and name.startswith(words[0].lower())]
        if len(found) != 1:
            raise SyntaxRefused("invalid", len(body) + 2, line)
        action = self.box.output_filters[found[0]]
        if action != "all" and len(words) < 2:
            raise SyntaxRefused("incomplete", len(body) + 2, line)
        reply = self._run(*self.mode.grammar.match(body))
        if action == "all":
            reply.paged = False
        else:
            reply.text = _filter(action, words[1].strip(), reply.text)
        return reply

    def _run(self, command: Command[Run], match: Match) -> Reply:
        answer = command.run(self, match)
        if isinstance(answer, Reply):
            return answer
        return Reply(answer or "")


def _filter(name: str, pattern: str, text: str) -> str:
    try:
        wanted = re.compile(pattern)
    except re.error:
        wanted = re.compile(re.escape(pattern))
    lines = text.split("\n")
    if name == "include":
        return "\n".join(line for line in lines if wanted.search(line))
    if name == "exclude":
        return "\n".join(line for line in lines if not wanted.search(line))
    if name == "begin":
        start = next((at for at, line in enumerate(lines) if wanted.search(line)), len(lines))
        return "\n".join(lines[start:])
    kept: list[str] = []
    inside = False
    for line in lines:  # "section": a matching line and what is indented under it
        if not line.startswith(" "):
            inside = bool(wanted.search(line))
        if inside:
            kept.append(line)
    return "\n".join(kept)


def apply_lines(shell: Shell, lines: list[str]) -> list[tuple[int, str, str]]:
    """Feed configuration lines as a file would be; returns (line number from 1, line, what the box said).

    Questions that collect text get the following lines; every other question is answered with Enter.
    """
    said: list[tuple[int, str, str]] = []
    question: Question | None = None
    for number, line in enumerate(lines, start=1):
        reply = question.answer(line) if question is not None else shell.feed(line)
        while reply.ask is not None and not reply.ask.multiline:
            if reply.text:
                said.append((number, line, reply.text))
            reply = reply.ask.answer("")
        question = reply.ask
        if reply.text:
            said.append((number, line, reply.text))
    return said
