"""A sweep on PostgreSQL fans out over the executors there are, and outlives one of them."""

from __future__ import annotations

import threading
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from qosforge.artifacts.store import open_artifacts
from qosforge.database.connections import Database
from qosforge.executor.executor import Executor
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.settings import Settings
from qosforge.sweeps.sweeps import NewSweep, PointOutcome, Sweeps
from tests.forkserver import FORKSERVER, computing_process
from tests.runs.support import wait_for

TEXT = (root() / "examples" / "policies" / "remote-control.yaml").read_text()
SEEDS = tuple(range(1, 9))


def _work(var: Path, url: str, ready: Connection) -> None:
    """One point at a time, until the test ends it."""
    settings = Settings(var_dir=var, database_url=url, run_concurrency=1)
    executor = Executor(settings, lambda _stage, _line: None)
    executor.start()
    ready.send(executor.engine.executor)
    threading.Event().wait()


def _start(var: Path, url: str) -> ForkServerProcess:
    ours, theirs = FORKSERVER.Pipe()
    child = computing_process(_work, var, url, theirs)
    child.start()
    theirs.close()
    assert ours.recv()
    return child


def test_points_are_shared_and_those_of_a_dead_executor_taken_over(tmp_path: Path, postgres_url: str) -> None:
    database = Database(postgres_url)
    settings = Settings(var_dir=tmp_path / "var", database_url=postgres_url)
    sweeps = Sweeps(database, open_artifacts(settings, database))
    network = load_network(root() / "inventories" / "infn-fnal")
    children: list[ForkServerProcess] = []
    try:
        children += [_start(tmp_path / name, postgres_url) for name in ("a", "b")]
        sweep = sweeps.submit(NewSweep(network, PolicySource(TEXT), {}, SEEDS), "ana")

        def by() -> Counter[str]:
            return Counter(point.executor for point in sweeps.points(sweep.id) if point.executor)

        wait_for(lambda: len(by()) == 2, "both executors to measure a point")
        children[0].kill()
        wait_for(lambda: sweeps.get(sweep.id).ended == len(SEEDS), "every point")
        assert sum(by().values()) == len(SEEDS)
        unmeasured = {PointOutcome.FAILED, PointOutcome.REJECTED}
        assert [p.number for p in sweeps.points(sweep.id) if p.outcome in unmeasured] == []
    finally:
        for child in children:
            child.kill()
            child.join(timeout=60)
        database.close()
