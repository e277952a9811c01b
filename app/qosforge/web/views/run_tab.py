"""The parts of a run's page, and which of them it opens with."""

from __future__ import annotations

from typing import Literal

from qosforge.reports.model import RunReport
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus, Verdict

Tab = Literal["changes", "objectives", "figures", "findings", "events"]

_OF_DEVICES = frozenset({"push", "read-back", "counters", "keep"})
"""The steps at which devices fail that were being changed: what each of them said is among the events."""


def default_tab(run: Run, report: RunReport, *, drawn: bool) -> Tab:
    """What is looked at first: what is to be decided on, what came of it, or what happened.

    ``drawn``: its figures are, so that nobody who opens the page waits for them.
    """
    if report.question:
        return "objectives"
    match run.status:
        case RunStatus.REJECTED:
            return "findings"
        case RunStatus.RUNNING | RunStatus.NEEDS_RECOVERY | RunStatus.FAILED:
            return "events"
        case RunStatus.ROLLED_BACK if run.reason_step in _OF_DEVICES:
            return "events"
    if run.rolled_back_by:
        return "changes"
    if run.verdict is Verdict.BROKEN:
        return "objectives"
    if run.status is RunStatus.NO_CHANGES and report.verdicts_before:  # there are no lines to look at
        return "objectives"
    if not report.verdicts_after:
        return "changes"
    return "figures" if drawn else "objectives"
