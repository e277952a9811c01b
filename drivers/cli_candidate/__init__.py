"""A merge candidate for boxes that have none: kept here, sent line by line, every answer read."""

from cli_candidate.dialect import Dialect, FactPatterns
from cli_candidate.driver import CandidateDriver
from cli_candidate.errors import CommitBrokenError, LineRefusedError, LineTimeoutError, Progress
from cli_candidate.sender import CommitReport, Remark

__all__ = [
    "CandidateDriver",
    "CommitBrokenError",
    "CommitReport",
    "Dialect",
    "FactPatterns",
    "LineRefusedError",
    "LineTimeoutError",
    "Progress",
    "Remark",
]
