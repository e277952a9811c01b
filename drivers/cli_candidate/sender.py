"""Send a candidate: command by command, each in its own mode, and read every answer."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from napalm.base.exceptions import (
    CommandErrorException,
    CommandTimeoutException,
    ConnectionClosedException,
)

from cli_candidate.answers import Answer, read_answer
from cli_candidate.candidate import CommandLine
from cli_candidate.dialect import Dialect
from cli_candidate.errors import CommitBrokenError, CommitProgress, LineRefusedError, LineTimeoutError
from cli_candidate.terminal import GO_ON, Terminal

# No platform here nests modes deeper (config, policy-map, class, police).
_MAX_EXITS = 4


@dataclass(frozen=True, slots=True)
class DeviceRemark:
    """Something a device said about a command it took: ``line_number`` and ``command`` of the candidate."""

    line_number: int
    command: str
    text: str


@dataclass(frozen=True, slots=True)
class CommitReport:
    """What became of a candidate.

    Attributes:
        applied: commands the device took.
        total: commands of the candidate.
        warnings: reservations the device printed; the commands were taken, so verify by reading back.
        notices: other lines the device printed, and the questions that were answered for it.
    """

    applied: int
    total: int
    warnings: tuple[DeviceRemark, ...]
    notices: tuple[DeviceRemark, ...]


class Sender:
    """Sends one candidate over one terminal that stands in EXEC mode."""

    def __init__(self, terminal: Terminal, dialect: Dialect) -> None:
        self._terminal = terminal
        self._dialect = dialect
        self._opened: list[tuple[CommandLine, str]] = []  # commands sent, with the mode each was typed in
        self._warnings: list[DeviceRemark] = []
        self._notices: list[DeviceRemark] = []

    def send(self, lines: Sequence[CommandLine]) -> CommitReport:
        """Send all commands and leave configuration mode.

        A command stands in the mode its context opened: before a command that is less indented, the
        modes in between are left with ``exit``, as many as the prompt shows to be needed. What was
        accepted before an error stays.

        Raises:
            LineRefusedError, LineTimeoutError, CommitBrokenError: with the progress so far.
            CommandErrorException: the device does not enter configuration mode.
        """
        answer = self._say("configure terminal")
        if answer.refusal is not None or not self._terminal.mode:
            raise CommandErrorException(f"cannot enter configuration mode: {answer.refusal or 'no such prompt'}")
        applied = 0
        line = lines[0]
        try:
            for line in lines:
                self._close_modes(line.depth)
                self._type(line)
                applied += 1
            self._close_modes(0)
        except CommandTimeoutException as error:
            raise LineTimeoutError(self._progress(line, applied, lines), str(error)) from error
        except ConnectionClosedException as error:
            raise CommitBrokenError(self._progress(line, applied, lines), str(error)) from error
        except _RefusedError as error:
            with contextlib.suppress(CommandTimeoutException, ConnectionClosedException):
                self._leave()
            raise LineRefusedError(self._progress(error.line, applied, lines), error.words) from None
        self._leave()
        return CommitReport(applied, len(lines), tuple(self._warnings), tuple(self._notices))

    def _leave(self) -> None:
        if self._terminal.mode:
            self._terminal.run("end")

    @staticmethod
    def _progress(line: CommandLine, applied: int, lines: Sequence[CommandLine]) -> CommitProgress:
        return CommitProgress(line.number, line.text, applied, len(lines))

    def _say(self, command: str) -> Answer:
        reply = self._terminal.run(command, GO_ON)
        return read_answer(reply.text, self._dialect.refusal, self._dialect.warning)

    def _type(self, line: CommandLine) -> None:
        mode = self._terminal.mode
        reply = self._terminal.run(line.text, GO_ON)
        answer = read_answer(reply.text, self._dialect.refusal, self._dialect.warning)
        self._note(line, answer)
        self._notices.extend(
            DeviceRemark(line.number, line.text, f"answered: {question}") for question in reply.asked
        )
        if not self._terminal.mode:
            raise _RefusedError(line, "the device left configuration mode")
        self._opened.append((line, mode))

    def _close_modes(self, depth: int) -> None:
        """Return to the mode in which the last command at ``depth`` or less was typed."""
        while self._opened and self._opened[-1][0].depth >= depth:
            line, mode = self._opened.pop()
            for _ in range(_MAX_EXITS):
                if self._terminal.mode == mode:
                    break
                self._note(line, self._say("exit"))
                if not self._terminal.mode:
                    raise _RefusedError(line, f"leaving its mode did not lead back to {mode}")
            else:
                raise _RefusedError(line, f"its mode {self._terminal.mode} cannot be left")

    def _note(self, line: CommandLine, answer: Answer) -> None:
        """Keep the remarks; some devices check a block only when it is left, so an exit can be refused too."""
        if answer.refusal is not None:
            raise _RefusedError(line, answer.refusal)
        self._warnings.extend(DeviceRemark(line.number, line.text, text) for text in answer.warnings)
        self._notices.extend(DeviceRemark(line.number, line.text, text) for text in answer.notices)


class _RefusedError(Exception):
    def __init__(self, line: CommandLine, words: str) -> None:
        super().__init__(words)
        self.line = line
        self.words = words
