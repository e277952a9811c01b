"""What of earlier releases is where after an upgrade."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from qosforge.access.roles import Role
from qosforge.access.users import add_user, grant
from qosforge.intent.written import Written
from qosforge.runs.artifacts import ArtifactStore
from qosforge.runs.lineage import hands_in
from qosforge.runs.policies import PolicyLibrary
from qosforge.runs.store import RunStore
from tests.database.migrating import bring_up, take_back
from tests.principals import somebody

GOLD = (
    "version: 1\nintent: gold\ninclude: [classes/rfc4594-4.yaml]\napply: [{interfaces: wan, direction: output}]\n"
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_policies_of_before_belong_to_all_and_are_trusted_where_their_author_is_operator(
    store_url: str, tmp_path: Path
) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    with RunStore(store_url) as store:

        def people(connection: sa.Connection) -> None:
            add_user(connection, "ann", NOW)
            grant(connection, "ann", "campus", Role.OPERATOR)

        store.database.transact(people)
        ann = PolicyLibrary(store.database, artifacts).seen_by(somebody("ann", Role.OPERATOR, "campus"))
        ann.store("gold", Written(GOLD), network="campus")
        take_back(store.database, "0003")
    bring_up(store_url)
    with RunStore(store_url) as newer:
        about = PolicyLibrary(newer.database, artifacts).seen_by(somebody("root")).get("gold").about
    assert (about.network, about.trusted_on) == ("*", ("campus",))


def test_who_asked_cancelled_and_retried_is_known_of_runs_of_before(store_url: str) -> None:
    insert = (
        "INSERT INTO runs (id, network, policy, policy_version, status, created, updated, params, schema_version,"
        " requested_by, cancelled_by, reason) VALUES (:id, 'campus', 'gold', :version, :status, :at, :at, '{}', 1,"
        " :asked, :cancelled, :reason)"
    )
    event = "INSERT INTO events (run_id, kind, data, at) VALUES ('a1', 'status', :data, :at)"
    at = {"at": "2026-01-01T00:00:00.000000+00:00"}
    with RunStore(store_url) as store:
        take_back(store.database, "0003")
        with store.database.write() as connection:
            for run, asked, cancelled, reason in (
                ("a1", "ann", None, ""),
                ("a2", "", "ben", "cancelled by ben"),
                ("a3", "zoe", "cat", "refused by cat"),
            ):
                row = {"id": run, "version": "f" * 64, "asked": asked, "cancelled": cancelled, "reason": reason}
                connection.execute(
                    sa.text(insert), {**row, **at, "status": "failed" if run == "a1" else "cancelled"}
                )
            for data in ('{"status": "pending", "attempt": 1, "by": "ann"}', '{"status": "kept", "attempt": 2}'):
                connection.execute(sa.text(event), {"data": data, **at})
            retried = '{"status": "pending", "attempt": 2, "by": "dan"}'
            connection.execute(sa.text(event), {"data": retried, **at})
    bring_up(store_url)
    with RunStore(store_url) as newer:
        hands = hands_in(newer.database, "a1", "")
        assert hands.keys() == {"ann", "ben", "zoe", "dan"}
        assert hands["dan"] == "retried the run"
        run = newer.get_run("a1")
        assert (run.reason, run.reason_step) == ("it ended under a release that did not record why", "unknown")
        assert newer.get_run("a2").reason == "cancelled by ben"
