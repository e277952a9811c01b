"""The newest run of every policy on every network, however many runs there are."""

from __future__ import annotations

import uuid

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.runs.record.outlines import last_runs_of_policies
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RUNS
from tests.sqlite_steps import counted_steps


def _ids(database: Database, networks: list[str] | None, policy: str | None = None) -> dict[str, list[str]]:
    found = last_runs_of_policies(database, networks, policy)
    return {name: [run.id for run in runs] for name, runs in found.items()}


def test_the_newest_run_of_each_policy_on_each_network(store: RunStore) -> None:
    assert _ids(store.database, None) == {}
    places = [("a", "gold"), ("b", "gold"), ("a", "tin"), ("a", "gold"), ("c", "zinc"), ("b", "gold")]
    made = [store.create_run(network, policy, "f" * 64, {}).id for network, policy in places]
    assert _ids(store.database, None) == {"gold": [made[5], made[3]], "tin": [made[2]], "zinc": [made[4]]}
    assert _ids(store.database, None, "gold") == {"gold": [made[5], made[3]]}
    assert _ids(store.database, ["a", "none"]) == {"gold": [made[3]], "tin": [made[2]]}
    assert _ids(store.database, ["b"], "tin") == {}
    assert _ids(store.database, []) == {}


def test_runs_of_before_are_not_gone_through(sqlite_url: str) -> None:
    with RunStore(sqlite_url) as store:
        store.create_run("a", "p0", "f" * 64, {})
        with store.database.read() as connection:
            row = dict(connection.execute(sa.select(RUNS)).one()._mapping)
        first, steps = 0, []
        for count in (30, 3_000):
            rows = [
                {**row, "id": str(uuid.UUID(int=n)), "network": "abc"[n % 3], "policy": f"p{n % 10}"}
                for n in range(first, count)
            ]
            store.database.transact(lambda connection, rows=rows: connection.execute(sa.insert(RUNS), rows))
            first = count
            with counted_steps(store.database) as of_all:
                assert len(last_runs_of_policies(store.database, ["a", "b"])) == 10
            with counted_steps(store.database) as of_one:
                assert len(last_runs_of_policies(store.database, ["a", "b"], "p1")) == 1
            steps.append((*of_all, *of_one))
    for few, many in zip(*steps, strict=True):
        assert 0 < many <= 1.1 * few, steps
