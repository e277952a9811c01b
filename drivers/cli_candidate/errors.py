"""What can go wrong while a candidate is sent, each with how far it came.

    MergeConfigException       (NAPALM)
    └── LineRefusedError       the box refused a line; the lines before it stay
    CommandTimeoutException    (NAPALM)
    └── LineTimeoutError       no prompt came back after a line
    ConnectionClosedException  (NAPALM)
    └── CommitBrokenError      the session ended in the middle

The caller owns the way back: the boxes served here cannot undo anything on their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from napalm.base.constants import CISCO_SANITIZE_FILTERS
from napalm.base.exceptions import (
    CommandTimeoutException,
    ConnectionClosedException,
    MergeConfigException,
)
from napalm.base.helpers import sanitize_config


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a commit came when it stopped.

    Attributes:
        line_number: 1-based line of the candidate text that was being sent.
        command: that line, without its indentation.
        applied: commands of the candidate that the box had accepted before it.
        total: commands in the candidate (comments and blank lines do not count).
    """

    line_number: int
    command: str
    applied: int
    total: int

    def __str__(self) -> str:
        shown = sanitize_config(self.command, CISCO_SANITIZE_FILTERS)
        return f"line {self.line_number} ({shown!r}), {self.applied} of {self.total} commands applied before it"


class LineRefusedError(MergeConfigException):
    """The box refused a line: ``progress`` says which, ``answer`` holds the box's own words."""

    def __init__(self, progress: Progress, answer: str) -> None:
        super().__init__(progress, answer)
        self.progress = progress
        self.answer = answer

    def __str__(self) -> str:
        return f"refused at {self.progress}: {self.answer}"


class LineTimeoutError(CommandTimeoutException):
    """No prompt came back, so whether the line was taken is unknown: open a new session and read the box."""

    def __init__(self, progress: Progress, reason: str) -> None:
        super().__init__(progress, reason)
        self.progress = progress
        self.reason = reason

    def __str__(self) -> str:
        return f"no answer at {self.progress}: {self.reason}"


class CommitBrokenError(ConnectionClosedException):
    """The session ended, so whether the line was taken is unknown: open a new one and read the box."""

    def __init__(self, progress: Progress, reason: str) -> None:
        super().__init__(progress, reason)
        self.progress = progress
        self.reason = reason

    def __str__(self) -> str:
        return f"connection lost at {self.progress}: {self.reason}"
