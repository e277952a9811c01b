"""Outlines of runs: what lists and pictures of many of them show, without what they carry out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.tables import RUNS, RunStatus, Verdict

_COLUMNS = [
    RUNS.c[name] for name in ("id", "network", "policy", "status", "verdict", "created", "updated", "reason")
]


@dataclass(frozen=True, slots=True)
class RunOutline:
    """A run at a glance; ``reason`` says why it ended without its change."""

    id: str
    network: str
    policy: str
    status: RunStatus
    verdict: Verdict | None
    created: datetime
    updated: datetime
    reason: str


def newest_runs(database: Database, networks: Collection[str], each: int) -> dict[str, tuple[RunOutline, ...]]:
    """The newest ``each`` runs of every network, newest first. One walk along an index for each network."""

    def read(connection: sa.Connection) -> dict[str, tuple[RunOutline, ...]]:
        query = sa.select(*_COLUMNS).where(RUNS.c.network == sa.bindparam("of")).order_by(RUNS.c.id.desc())
        return {
            network: tuple(map(_outline, connection.execute(query.limit(each), {"of": network})))
            for network in networks
        }

    return database.query(read)


def last_runs_of_policies(
    database: Database, networks: Collection[str] | None, policy: str | None = None
) -> dict[str, tuple[RunOutline, ...]]:
    """By policy, its newest run on every network on which it was run, newest first; of one ``policy`` where given.

    ``networks`` are those that count; ``None``: all.
    """
    newest = sa.select(sa.func.max(RUNS.c.id)).group_by(RUNS.c.policy, RUNS.c.network)
    if networks is not None:
        newest = newest.where(RUNS.c.network.in_(sorted(networks)))
    if policy is not None:
        newest = newest.where(RUNS.c.policy == policy)
    query = sa.select(*_COLUMNS).where(RUNS.c.id.in_(newest)).order_by(RUNS.c.id.desc())
    found: dict[str, list[RunOutline]] = {}
    for run in database.query(lambda connection: list(map(_outline, connection.execute(query)))):
        found.setdefault(run.policy, []).append(run)
    return {name: tuple(runs) for name, runs in found.items()}


def _outline(row: sa.Row[Any]) -> RunOutline:
    return RunOutline(
        row.id,
        row.network,
        row.policy,
        RunStatus(row.status),
        Verdict(row.verdict) if row.verdict else None,
        row.created,
        row.updated,
        row.reason,
    )
