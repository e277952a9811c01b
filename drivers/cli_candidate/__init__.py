"""A merge candidate for boxes that have none: kept here, sent line by line, every answer read."""

from cli_candidate.dialect import Dialect, FactPatterns
from cli_candidate.driver import CandidateDriver
from cli_candidate.errors import (
    CommitBrokenError,
    CommitPendingError,
    LimitExceededError,
    LineRefusedError,
    LineTimeoutError,
    Progress,
    SessionStoppedError,
)
from cli_candidate.limits import Limit, Limits
from cli_candidate.pending import PendingCommit
from cli_candidate.sender import CommitReport, Remark

__all__ = [
    "CandidateDriver",
    "CommitBrokenError",
    "CommitPendingError",
    "CommitReport",
    "Dialect",
    "FactPatterns",
    "Limit",
    "LimitExceededError",
    "Limits",
    "LineRefusedError",
    "LineTimeoutError",
    "PendingCommit",
    "Progress",
    "Remark",
    "SessionStoppedError",
]
