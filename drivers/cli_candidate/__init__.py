"""A merge candidate for devices that have none: kept here, sent line by line, every answer read."""

from cli_candidate.dialect import Dialect, FactPatterns
from cli_candidate.driver import CandidateDriver
from cli_candidate.errors import (
    CommitBrokenError,
    CommitPendingError,
    CommitProgress,
    LimitExceededError,
    LineRefusedError,
    LineTimeoutError,
    SessionStoppedError,
)
from cli_candidate.limits import SessionLimits, StepLimit
from cli_candidate.pending import PendingCommit
from cli_candidate.sender import CommitReport, DeviceRemark

__all__ = [
    "CandidateDriver",
    "CommitBrokenError",
    "CommitPendingError",
    "CommitProgress",
    "CommitReport",
    "DeviceRemark",
    "Dialect",
    "FactPatterns",
    "LimitExceededError",
    "LineRefusedError",
    "LineTimeoutError",
    "PendingCommit",
    "SessionLimits",
    "SessionStoppedError",
    "StepLimit",
]
