"""A merge candidate for boxes that have none: kept here, sent line by line, every answer read."""

from cli_candidate.dialect import Dialect, FactPatterns
from cli_candidate.driver import CandidateDriver
from cli_candidate.errors import (
    CommitBrokenError,
    LimitExceededError,
    LineRefusedError,
    LineTimeoutError,
    Progress,
    SessionStoppedError,
)
from cli_candidate.limits import Limit, Limits
from cli_candidate.sender import CommitReport, Remark

__all__ = [
    "CandidateDriver",
    "CommitBrokenError",
    "CommitReport",
    "Dialect",
    "FactPatterns",
    "Limit",
    "LimitExceededError",
    "Limits",
    "LineRefusedError",
    "LineTimeoutError",
    "Progress",
    "Remark",
    "SessionStoppedError",
]
