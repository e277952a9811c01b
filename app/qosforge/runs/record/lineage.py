"""Who contributed to a change: by its content, over every run, copy, retry and rollback of it in the store.

The one rule of four eyes: whoever is named here neither approves the change nor counts among those who did.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.policy_library.tables import POLICIES, POLICY_TAKEOVERS
from qosforge.runs.record.tables import RUN_ACTIONS, RUNS, STAGES


class RunAction(StrEnum):
    """What a person did to a run, beside deciding on it."""

    CREATED = "asked"
    """Recorded as ``asked``, as by earlier releases."""
    CANCELLED = "cancelled"
    """It withdraws what was approved, too."""
    RETRIED = "retried"
    PAUSED = "paused"
    """It holds a rollout between two waves. Neither this nor to resume it is a hand in the change."""
    RESUMED = "resumed"


_WORDS = {RunAction.CREATED: "created", RunAction.CANCELLED: "cancelled", RunAction.RETRIED: "retried"}


def record_action(connection: sa.Connection, run_id: str, action: RunAction, by: str, at: datetime) -> None:
    """Write what somebody did, in the transaction that changes the run."""
    row = {"run_id": run_id, "deed": action.value, "by": by, "at": at}
    connection.execute(sa.insert(RUN_ACTIONS).values(row))


def contributors(database: Database, run_id: str, candidate: str) -> dict[str, str]:
    """Everybody who had a hand in what a run would do, with what they did in words, such as ``created the run``.

    The same change are the runs of the same network with the same policy version, or that prepared the very
    ``candidate``: copies, retries and rollbacks, whatever they are called. A policy's version, or its text, is that
    of whoever stored it, and of who took it over for the network.
    """

    def find(connection: sa.Connection) -> dict[str, str]:
        run = connection.execute(sa.select(RUNS).where(RUNS.c.id == run_id)).one()
        contributions: dict[str, str] = {}
        version = (POLICIES.c.version == run.policy_version) | (POLICIES.c.text == run.params.get("intent_text"))
        for row in connection.execute(sa.select(POLICIES).where(version)):
            contributions[row.author] = f"wrote version {row.number} of policy {row.name}"
        taken = sa.select(POLICY_TAKEOVERS).join(
            POLICIES,
            (POLICIES.c.name == POLICY_TAKEOVERS.c.name) & (POLICIES.c.number == POLICY_TAKEOVERS.c.number),
        )
        for row in connection.execute(taken.where(version, POLICY_TAKEOVERS.c.network == run.network)):
            contributions[row.by] = f"took version {row.number} of policy {row.name} over"
        actions = (
            sa.select(RUN_ACTIONS.c.run_id, RUN_ACTIONS.c.deed, RUN_ACTIONS.c.by)
            .join(RUNS, RUNS.c.id == RUN_ACTIONS.c.run_id)
            .where(RUNS.c.network == run.network, RUN_ACTIONS.c.deed.in_(_WORDS), _same_change(run, candidate))
            .order_by(RUN_ACTIONS.c.seq)
        )
        own: dict[str, str] = {}
        for row in connection.execute(actions):
            done = _WORDS[RunAction(row.deed)]
            if row.run_id == run_id:
                own[row.by] = f"{done} the run"
            else:
                contributions[row.by] = f"{done} run {row.run_id}, which makes the same change,"
        return contributions | own

    return database.query(find)


def _same_change(run: sa.Row[tuple[object, ...]], candidate: str) -> sa.ColumnElement[bool]:
    prepared = sa.select(STAGES.c.run_id).where(
        STAGES.c.name == "prepare", STAGES.c.summary["candidate"].as_string() == candidate
    )
    return sa.or_(RUNS.c.policy_version == run.policy_version, RUNS.c.id.in_(prepared))
