"""Workers on PostgreSQL at the devices of the campus: what one leaves another finishes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping

import pytest

from qosforge.artifacts.store import DatabaseArtifacts
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.settings import Settings
from qoslab import control
from tests.run_requests import request_run

from .campus import INVENTORY, POLICY, Campus


@pytest.fixture
def environment(postgres_url: str) -> Mapping[str, str]:
    return {"QOSFORGE_DATABASE_URL": postgres_url}


def place(campus: Campus, store: RunStore, url: str) -> Run:
    """Ask for a push, as a face does: it is a row, and nothing more."""
    run_requests = RunRequests(
        Settings(var_dir=campus.var, database_url=url), store, DatabaseArtifacts(store.database)
    )
    order = request_run(load_network(INVENTORY), load_intent(POLICY), measure=False)
    return run_requests.submit(*order, "somebody")[0]


def test_a_run_goes_from_worker_to_worker(
    campus: Campus, postgres_url: str, environment: Mapping[str, str]
) -> None:
    campus.reset()
    control.plant(campus.state, "s2950", "slow", seconds=0.3)
    with RunStore(postgres_url) as store:
        run = place(campus, store, postgres_url)
        first = campus.begin("worker", environment=environment)
        touching = JournalAction.TOUCHING
        first.wait_for(
            lambda: any(row.action is touching for row in store.journal.entries(run.id)), "the first touch"
        )
        second = campus.begin("worker", environment=environment)
        assert first.pid is not None
        os.kill(first.pid, signal.SIGTERM)
        control.plant(campus.state, "s2950", "clear")
        ended = first.wait()
        assert ended.code == 0, ended.text
        second.wait_for(lambda: store.get_run(run.id).status.final, "the end of the run", 120)
        assert store.get_run(run.id).status is RunStatus.KEPT
        assert store.journal.open_touches() == []
        assert store.leases.active() == []
        touched = [row.device for row in store.journal.entries(run.id) if row.action is touching]
        assert sorted(touched) == sorted(set(touched)), "the step in flight ended before the worker went"
        assert second.pid is not None
        os.kill(second.pid, signal.SIGTERM)
        assert second.wait().code == 0


def test_the_command_line_carries_out_its_own_run(
    campus: Campus, postgres_url: str, environment: Mapping[str, str]
) -> None:
    campus.reset()
    ended = campus.command("push", POLICY, "--json", environment=environment)
    assert ended.code == 0, ended.text
    assert json.loads(ended.stdout)["status"] == "kept"
    with RunStore(postgres_url) as store:
        assert [run.status for run in store.list_runs()] == [RunStatus.KEPT]
    recovered = campus.command("recover", environment=environment)
    assert recovered.stdout == "nothing to recover\n"


def test_sqlite_has_no_workers(campus: Campus) -> None:
    ended = campus.command("worker")
    assert ended.code == 2
    assert "qosforge serve" in ended.stderr
