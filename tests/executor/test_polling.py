"""When a process looks: at once where something is to begin, and hardly ever where nothing is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.executor import polling as looks
from qosforge.runs.engine import queue_workers as queue_work
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from tests.runs.executor_process import SmallExecutor
from tests.runs.support import wait_for

NEVER = 3600.0
WATCHED = 3.0
"""Seconds for which an idle process is watched."""


@pytest.fixture
def executor(tmp_path: Path, store_url: str) -> Iterator[SmallExecutor]:
    made = SmallExecutor(tmp_path, store_url)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def told_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is looked for at intervals."""
    for name in ("LOOK_SECONDS", "IDLE_SECONDS", "_NEWS_SECONDS"):
        monkeypatch.setattr(looks, name, NEVER)
    for name in ("_LOOK_SECONDS", "_WAITING_SECONDS"):
        monkeypatch.setattr(queue_work, name, NEVER)


@pytest.mark.usefixtures("told_alone")
def test_a_run_begins_when_it_is_asked_for_and_not_at_the_next_look(
    executor: SmallExecutor, store_url: str
) -> None:
    with RunStore(store_url) as other:  # as another process writes
        for _ in range(3):
            run = other.create_run("campus", "itesm-paper", "f" * 64, {})
            wait_for(lambda run=run: other.get_run(run.id).status is RunStatus.KEPT, "the run to be carried out")
            time.sleep(0.3)  # it is at rest again
    assert executor.store.get_run(run.id).attempt == 1


def test_an_idle_executor_hardly_asks_its_databases(executor: SmallExecutor) -> None:
    """Ten times less than a look a second into each queue and at each run would."""
    time.sleep(2 * looks.LOOK_SECONDS)
    asked: list[str] = []

    def count(_c: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    sa.event.listen(sa.engine.Engine, "before_cursor_execute", count)
    try:
        time.sleep(WATCHED)
    finally:
        sa.event.remove(sa.engine.Engine, "before_cursor_execute", count)
    assert len(asked) / WATCHED < 5, asked
