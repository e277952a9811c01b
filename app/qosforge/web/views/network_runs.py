"""What runs left on a network: the policy that it holds, the last run, and one that stands half-way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qosforge.api.backend import Backend
from qosforge.database.connections import Database
from qosforge.runs.record.outlines import RunOutline, newest_runs
from qosforge.runs.record.run import Run
from qosforge.runs.record.standing import PolicyInForce, policy_in_force, standing_runs
from qosforge.runs.record.tables import IN_FORCE, RunStatus

MOST = 50
"""The newest runs that are looked through."""


FIRST = 12
"""The newest runs that left their policy on a network, of which most networks need no more looked through."""
DEEPEST = 768
"""The most of them that are looked through."""


@dataclass(frozen=True)
class NetworkPolicy:
    """The policy that a network's devices hold by its runs; ``None`` where none stands.

    ``rolled_back_by`` is the newest run that took a policy away, where that stands.
    """

    in_force: PolicyInForce[RunOutline] | None
    rolled_back_by: RunOutline | None

    @property
    def name(self) -> str | None:
        """The name of the policy in force."""
        return self.in_force.run.policy if self.in_force else None


@dataclass(frozen=True)
class NetworkRuns:
    """Of the newest runs of a network: ``held`` is the one whose policy its devices hold, ``last`` the newest that
    is over; of all its runs ``half_way`` one with a device between two states; each ``None`` where there is none.

    ``was_kept``: one was kept, whether or not it was rolled back since.
    """

    held: Run | None
    last: Run | None
    half_way: Run | None
    was_kept: bool


def network_runs(backend: Backend, network: str) -> NetworkRuns:
    """What the newest runs of a network left on it.

    Raises:
        StoreError: the store is away.
    """
    store = backend.run_requests.store
    runs = store.list_runs(limit=MOST, networks=[network])
    held = policy_in_force(runs)
    return NetworkRuns(
        held=held.run if held else None,
        last=next((run for run in runs if run.status.final), None),
        half_way=half_way_run(backend, network),
        was_kept=any(run.status in IN_FORCE and run.rollback_of is None for run in runs),
    )


def half_way_run(backend: Backend, network: str) -> Run | None:
    """The newest run of a network that stands half-way, however many began since.

    Raises:
        StoreError: the store is away.
    """
    found = backend.run_requests.store.list_runs(1, networks=[network], status=RunStatus.NEEDS_RECOVERY)
    return next(iter(found), None)


def half_way_runs(backend: Backend) -> Mapping[str, Run]:
    """By the name of the network, the newest run that stands half-way.

    Raises:
        StoreError: the store is away.
    """
    unfinished = backend.run_requests.store.unfinished_runs()
    return {run.network: run for run in unfinished if run.status is RunStatus.NEEDS_RECOVERY}


def networks_in_force(
    database: Database,
    networks: Iterable[str],
    known: Mapping[str, Sequence[RunOutline]] | None = None,
    each: int = FIRST,
) -> Mapping[str, NetworkPolicy]:
    """What every network holds by its runs; ``known`` are the newest ``each`` of them, where they are read already.

    Raises:
        StoreError: the store is away.
    """
    found: dict[str, NetworkPolicy] = {}
    open_ = set(networks)
    newest = known if known is not None else newest_runs(database, open_, each, IN_FORCE)
    while open_:
        for network in open_:
            runs = newest[network]
            held = policy_in_force(runs)
            if (held is not None and held.entered is not None) or len(runs) < each or each >= DEEPEST:
                back = next((run for run in standing_runs(runs) if run.takes_away), None)
                found[network] = NetworkPolicy(held, back)
        open_ -= found.keys()
        each = min(each * 8, DEEPEST)
        newest = newest_runs(database, open_, each, IN_FORCE) if open_ else {}
    return found
