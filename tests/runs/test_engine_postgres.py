"""The engine on PostgreSQL: what several processes may ask of it at once, and what it refuses to read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from dbos._serialization import DefaultSerializer

from qosforge.database.connections import database_url
from qosforge.errors import StoreError
from qosforge.runs.engine.dbos_engine import DbosEngine
from qosforge.runs.engine.port import JsonObject, WorkflowQueue, WorkflowState


class Counting:
    """An engine on a database, whose one workflow counts."""

    def __init__(self, folder: Path, url: str, executor: str) -> None:
        self.calls: list[str] = []
        self.go = threading.Event()
        self.engine = DbosEngine(
            folder, url=database_url(url), executor=executor, queues=[WorkflowQueue("runs", 2)]
        )
        self.engine.register("loop", self.workflow)

    def workflow(self, workflow_id: str, params: JsonObject) -> JsonObject:
        return self.engine.run_step("count", self.count, workflow_id)

    def count(self, workflow_id: str) -> JsonObject:
        self.calls.append(workflow_id)
        assert self.go.wait(60)
        return {"calls": len(self.calls)}


@pytest.fixture
def counting(tmp_path: Path, postgres_url: str) -> Iterator[Counting]:
    made = Counting(tmp_path, postgres_url, "one")
    made.engine.launch()
    yield made
    made.go.set()
    made.engine.close()


def test_a_workflow_is_queued_and_done_once(counting: Counting) -> None:
    with ThreadPoolExecutor(4) as pool:
        for asked in [pool.submit(counting.engine.enqueue, "loop", "run-a", {}, "runs") for _ in range(8)]:
            asked.result()
        waiting = pool.submit(counting.engine.run, "loop", "run-a", {})
        counting.go.set()
        assert waiting.result(60) == {"calls": 1}, "who would do it himself waits for who does it"
    assert counting.calls == ["run-a"]
    assert counting.engine.state("run-a") is WorkflowState.ENDED
    assert counting.engine.state("run-b") is WorkflowState.UNKNOWN
    assert counting.engine.unfinished() == []


def test_what_lives_is_not_taken_over(counting: Counting) -> None:
    counting.engine.enqueue("loop", "run-a", {}, "runs")
    while not counting.calls:
        counting.go.wait(0.02)
    assert counting.engine.take_over({"one", "other"}) == []
    (entry,) = counting.engine.unfinished()
    assert (entry.workflow_id, entry.executor, entry.running) == ("run-a", "one", True)
    counting.engine.abandon("run-a")
    assert counting.engine.state("run-a") is WorkflowState.ABANDONED


def test_a_record_with_pickles_is_never_read(tmp_path: Path, counting: Counting, postgres_url: str) -> None:
    counting.go.set()
    counting.engine.run("loop", "run-a", {})
    counting.engine.close()
    plain = sa.create_engine(database_url(postgres_url))
    with plain.begin() as connection:
        connection.execute(sa.text("UPDATE dbos.operation_outputs SET serialization = 'py_pickle'"))
    plain.dispose()
    with pytest.raises(StoreError, match="py_pickle data in operation_outputs"):
        Counting(tmp_path, postgres_url, "two").engine.launch()


def test_nothing_is_unpickled_while_it_runs(counting: Counting) -> None:
    pickled = DefaultSerializer().serialize({"a": 1})
    with pytest.raises(StoreError, match="never read"):
        DefaultSerializer.deserialize(pickled)
    del counting
