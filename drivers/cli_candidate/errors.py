"""Errors of a session; those while a candidate is sent say how far it came.

    ConnectAuthError           (NAPALM)
    └── EnableRefusedError     the device let us in, and does not take the enable secret
    CommandErrorException      (NAPALM)
    └── CommitPendingError     another commit waits to be confirmed: the device takes no further one
    MergeConfigException       (NAPALM)
    └── LineRefusedError       the device refused a line; the lines before it stay
    CommandTimeoutException    (NAPALM)
    ├── LimitExceededError     a step took longer, or the device sent more, than its limit
    └── LineTimeoutError       the same after a line of a candidate
    ConnectionClosedException  (NAPALM)
    ├── SessionStoppedError    somebody stopped the session from outside
    └── CommitBrokenError      the session ended in the middle

The caller owns the rollback: the devices served here cannot undo anything on their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from napalm.base.constants import CISCO_SANITIZE_FILTERS
from napalm.base.exceptions import (
    CommandErrorException,
    CommandTimeoutException,
    ConnectAuthError,
    ConnectionClosedException,
    MergeConfigException,
)
from napalm.base.helpers import sanitize_config

from cli_candidate.limits import MIB, STEP_NAMES, Quantity, Step


@dataclass(frozen=True, slots=True)
class CommitProgress:
    """How far a commit came when it stopped.

    Attributes:
        line_number: 1-based line of the candidate text that was being sent.
        command: that line, without its indentation.
        applied: commands of the candidate that the device had accepted before it.
        total: commands in the candidate (comments and blank lines do not count).
    """

    line_number: int
    command: str
    applied: int
    total: int

    def __str__(self) -> str:
        shown = sanitize_config(self.command, CISCO_SANITIZE_FILTERS)
        return f"line {self.line_number} ({shown!r}), {self.applied} of {self.total} commands applied before it"


class EnableRefusedError(ConnectAuthError):
    """The login succeeded; privileged mode was refused."""


class CommitPendingError(CommandErrorException):
    """A commit was refused, and nothing of it entered: another one waits to be confirmed."""


class LimitExceededError(CommandTimeoutException):
    """A device passed a limit of a step, and the session was cut.

    Attributes:
        step: the step, a field of :class:`cli_candidate.limits.SessionLimits`.
        quantity: which of its limits, a field of :class:`cli_candidate.limits.StepLimit`.
        limit: its value, in seconds or bytes.
    """

    def __init__(self, step: Step, quantity: Quantity, limit: float) -> None:
        super().__init__(step, quantity, limit)
        self.step = step
        self.quantity = quantity
        self.limit = limit

    def __str__(self) -> str:
        name = STEP_NAMES[self.step]
        if self.quantity == "silence":
            return f"{name}: no answer for {self.limit:g} s"
        if self.quantity == "seconds":
            return f"{name}: not finished within {self.limit:g} s"
        size = f"{self.limit / MIB:g} MiB" if self.limit >= MIB else f"{self.limit:g} bytes"
        return f"{name}: more than {size} received"


class SessionStoppedError(ConnectionClosedException):
    """The session was cut from outside; the text says why."""


class LineRefusedError(MergeConfigException):
    """The device refused a line: ``progress`` says which, ``answer`` holds the device's own words."""

    def __init__(self, progress: CommitProgress, answer: str) -> None:
        super().__init__(progress, answer)
        self.progress = progress
        self.answer = answer

    def __str__(self) -> str:
        return f"refused at {self.progress}: {self.answer}"


class LineTimeoutError(CommandTimeoutException):
    """A limit was passed, so whether the line was taken is unknown: open a new session and read the box."""

    def __init__(self, progress: CommitProgress, reason: str) -> None:
        super().__init__(progress, reason)
        self.progress = progress
        self.reason = reason

    def __str__(self) -> str:
        return f"no answer at {self.progress}: {self.reason}"


class CommitBrokenError(ConnectionClosedException):
    """The session ended, so whether the line was taken is unknown: open a new one and read the box."""

    def __init__(self, progress: CommitProgress, reason: str) -> None:
        super().__init__(progress, reason)
        self.progress = progress
        self.reason = reason

    def __str__(self) -> str:
        return f"connection lost at {self.progress}: {self.reason}"
