"""Notices for webhooks about runs: that one ended, or needs an approval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from qosforge.page_addresses import run_page
from qosforge.runs.record.status_events import ASKS
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.webhooks.messages import LONGEST_SHORT, LONGEST_TEXT, MOST_REASONS, EventType, Notice
from qosforge.webhooks.outbox import write_notice

if TYPE_CHECKING:
    from qosforge.runs.record.run import Run


def write_webhook_notices(connection: sa.Connection, before: Run, now: Run) -> None:
    """Write what webhooks are told of a change of a run, in the transaction that changes it."""
    for type_, more in _news(before, now):
        write_notice(connection, Notice(type_, now.network, {**_data(now), **more}, now.updated))


def _news(before: Run, now: Run) -> Iterator[tuple[EventType, dict[str, Any]]]:
    moved = now.status is not before.status
    if now.verdict is Verdict.BROKEN and before.verdict is not Verdict.BROKEN:
        yield EventType.RUN_VERDICT_BROKEN, {}
    if moved and now.status.final:
        yield EventType.RUN_ENDED, {}
    if moved and now.status is RunStatus.NEEDS_RECOVERY:
        yield EventType.RUN_NEEDS_RECOVERY, {}
    again = moved or now.waits_for != before.waits_for
    asks = "keep" if now.status is RunStatus.RUNNING and now.waits_for == ASKS else None
    if now.status is RunStatus.NEEDS_APPROVAL:
        asks = "push"
    if asks and again:
        until = now.due.isoformat() if now.due else None
        yield EventType.RUN_APPROVAL_WANTED, {"asks": asks, "waits_for": now.waits_for, "until": until}


def _outcome(run: Run) -> dict[str, Any] | None:
    """The outcome in a notice: its texts and the number of its reasons have bounds."""
    if run.outcome is None:
        return None
    told = [
        one.model_copy(update={"message": one.message[:LONGEST_TEXT], "short": one.short[:LONGEST_SHORT]})
        for one in run.outcome.reasons[:MOST_REASONS]
    ]
    return run.outcome.model_copy(update={"reasons": tuple(told)}).model_dump(mode="json")


def _data(run: Run) -> dict[str, Any]:
    """As `RunNotice` has it."""
    return {
        "run": run.id,
        "network": run.network,
        "policy": run.policy,
        "policy_version": run.policy_version,
        "attempt": run.attempt,
        "status": run.status.value,
        "verdict": run.verdict.value if run.verdict else None,
        "created_by": run.requested_by,
        "ticket": run.ticket,
        "reason": run.reason[:LONGEST_TEXT],
        "reason_step": run.reason_step,
        "reason_device": run.reason_device,
        "outcome": _outcome(run),
        "page": run_page(run.id),
        "rollback_of": run.resolved.rollback_of,
    }
