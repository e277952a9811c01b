"""What runs left on a network: the policy that it holds, the last run, and one that stands half-way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qosforge.api.backend import Backend
from qosforge.runs.record.outlines import RunOutline, newest_runs
from qosforge.runs.record.run import Run
from qosforge.runs.record.standing import standing_runs
from qosforge.runs.record.tables import IN_FORCE, RunStatus

MOST = 50
"""The newest runs that are looked through."""


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
    # A rollback brings no policy: what stands is what was kept before the run that it rolled back.
    held = (run for run in standing_runs(runs) if run.rollback_of is None)
    return NetworkRuns(
        held=next(held, None),
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


def standing_policies(backend: Backend, runs: Iterable[RunOutline]) -> Mapping[str, str]:
    """By the name of each network that one of these runs rolled a policy back on, the policy that it holds now;
    none where no run that was kept stands.

    Raises:
        StoreError: the store is away.
    """
    networks = {run.network for run in runs if run.takes_away}
    found = {}
    for network, newest in newest_runs(backend.database, networks, MOST).items():
        held = next((run for run in standing_runs(newest) if not run.takes_away), None)
        if held is not None:
            found[network] = held.policy
    return found
