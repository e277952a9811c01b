"""Outlines of runs: what lists and pictures of many of them show, without what they carry out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.run_outcome import RunOutcome
from qosforge.runs.record.outcome import OUTCOME_COLUMNS, read_outcome
from qosforge.runs.record.reason import REASON_TEXTS
from qosforge.runs.record.resolved_run import REAPPLIES, ROLLBACK_OF
from qosforge.runs.record.tables import RUNS, RunStatus, Verdict

_COLUMNS = [
    *(RUNS.c[name] for name in ("id", "network", "policy", "status", "verdict", "created", "updated")),
    *(RUNS.c[name] for name in ("requested_by", "cancelled_by")),
    *(RUNS.c[name] for name in (*REASON_TEXTS, *OUTCOME_COLUMNS)),
    RUNS.c.params[ROLLBACK_OF].as_string().label("rollback_of"),
    RUNS.c.params[REAPPLIES].as_boolean().label("reapplies"),
]


@dataclass(frozen=True, slots=True)
class RunOutline:
    """A run at a glance; ``outcome`` is what it came to, ``rollback_of`` the run that it rolls back, and
    ``cancelled_by`` who stopped or declined it.

    ``reapplies``: it brings its policy again, as it rolls a rollback back.
    """

    id: str
    network: str
    policy: str
    status: RunStatus
    verdict: Verdict | None
    created: datetime
    updated: datetime
    requested_by: str
    cancelled_by: str | None
    outcome: RunOutcome | None
    rollback_of: str | None
    reapplies: bool

    @property
    def rolled_back_by(self) -> str | None:
        """The run that rolled it back after it was kept; ``None`` while it stands."""
        return self.outcome.rolled_back_by if self.outcome else None

    @property
    def takes_away(self) -> bool:
        """Whether it was kept and took its policy away from the network."""
        return self.status is RunStatus.KEPT and self.rollback_of is not None and not self.reapplies


def newest_runs(
    database: Database, networks: Collection[str], each: int, statuses: Collection[RunStatus] | None = None
) -> dict[str, tuple[RunOutline, ...]]:
    """The newest ``each`` runs of every network (with one of the ``statuses``), newest first.

    One walk along an index for each network.
    """

    def read(connection: sa.Connection) -> dict[str, tuple[RunOutline, ...]]:
        query = sa.select(*_COLUMNS).where(RUNS.c.network == sa.bindparam("of")).order_by(RUNS.c.id.desc())
        if statuses is not None:
            query = query.where(RUNS.c.status.in_(sorted(statuses)))
        return {
            network: tuple(map(_outline, connection.execute(query.limit(each), {"of": network})))
            for network in networks
        }

    return database.query(read)


def last_runs_of_policies(
    database: Database, networks: Collection[str] | None, policy: str | None = None
) -> dict[str, tuple[RunOutline, ...]]:
    """By policy, its newest run on every network on which it was run, newest first; of one ``policy`` where given.

    ``networks`` are those that count; ``None``: all. Each network and policy is one step along an index, however
    many runs they have.
    """
    pairs = _pairs(networks, policy)
    newest = sa.select(sa.func.max(RUNS.c.id)).where(
        RUNS.c.network == pairs.c.network, RUNS.c.policy == pairs.c.policy
    )
    last = sa.select(newest.scalar_subquery().label("id")).select_from(pairs).cte("last")
    query = sa.select(*_COLUMNS).join(last, RUNS.c.id == last.c.id).order_by(RUNS.c.id.desc())
    found: dict[str, list[RunOutline]] = {}
    for run in database.query(lambda connection: list(map(_outline, connection.execute(query)))):
        found.setdefault(run.policy, []).append(run)
    return {name: tuple(runs) for name, runs in found.items()}


def _pairs(networks: Collection[str] | None, policy: str | None) -> sa.CTE:
    """The networks and policies of runs; a walk that skips from one to the next along an index.

    Neither database skips by itself where a query is grouped (https://wiki.postgresql.org/wiki/Loose_indexscan).
    Each walk ends with a row of null.
    """
    known = sa.select(sa.func.min(RUNS.c.network).label("network")).cte("networks", recursive=True)
    following = sa.select(sa.func.min(RUNS.c.network)).where(RUNS.c.network > known.c.network).scalar_subquery()
    known = known.union_all(sa.select(following).where(known.c.network.is_not(None)))
    wanted = known.c.network.is_not(None) if networks is None else known.c.network.in_(sorted(networks))
    if policy is not None:
        return sa.select(known.c.network, sa.literal(policy).label("policy")).where(wanted).cte("pairs")
    first = sa.select(sa.func.min(RUNS.c.policy)).where(RUNS.c.network == known.c.network).scalar_subquery()
    pairs = sa.select(known.c.network, first.label("policy")).where(wanted).cte("pairs", recursive=True)
    others = (RUNS.c.network == pairs.c.network) & (RUNS.c.policy > pairs.c.policy)
    later = sa.select(sa.func.min(RUNS.c.policy)).where(others).scalar_subquery()
    return pairs.union_all(sa.select(pairs.c.network, later).where(pairs.c.policy.is_not(None)))


def _outline(row: sa.Row[Any]) -> RunOutline:
    return RunOutline(
        row.id,
        row.network,
        row.policy,
        RunStatus(row.status),
        Verdict(row.verdict) if row.verdict else None,
        row.created,
        row.updated,
        row.requested_by,
        row.cancelled_by,
        read_outcome(dict(row._mapping)),
        row.rollback_of,
        bool(row.reapplies),
    )
