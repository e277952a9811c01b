"""What the engine uses of DBOS that is private to it: a release that changes any of it fails here, by its name."""

from __future__ import annotations

import ast
import inspect
import threading
from pathlib import Path
from types import FunctionType

import dbos._dbos
from dbos import DBOS, Queue
from dbos._queue import queue_worker_thread
from dbos._serialization import DefaultSerializer
from dbos._sys_db import SystemDatabase

from qosforge.runs.engine import dbos_engine
from qosforge.runs.engine.dbos_engine import DbosEngine
from tests.checkout import ROOT

from .support import wait_for


def parameters(function: object) -> list[str]:
    assert isinstance(function, FunctionType)
    return list(inspect.signature(function).parameters)


def test_a_worker_of_one_queue_is_paced_and_ended_by_its_event() -> None:
    assert parameters(queue_worker_thread) == ["stop_event", "dbos", "queue"]
    assert "if stop_event.wait(timeout=" in inspect.getsource(queue_worker_thread)


def test_the_launch_begins_the_pollers_by_the_names_that_are_replaced() -> None:
    methods = [value for value in vars(DBOS).values() if isinstance(value, FunctionType)]
    used = {name for method in methods for name in method.__code__.co_names}
    assert {"queue_thread", "dynamic_scheduler_loop"} <= used
    assert {"queue_thread", "dynamic_scheduler_loop"} <= set(vars(dbos._dbos))


def test_a_workflow_is_put_back_only_while_its_executor_has_it() -> None:
    put_back = SystemDatabase.reenqueue_for_recovery
    assert parameters(put_back) == ["self", "workflow_id", "executor_ids", "recovery_queue_name"]
    assert "executor_id.in_(executor_ids)" in inspect.getsource(put_back)


def test_pickles_are_read_by_the_decoder_that_is_replaced() -> None:
    assert DefaultSerializer().name() == "py_pickle"
    assert "deserialize" in vars(DefaultSerializer)


def test_a_launched_engine_has_its_parts_and_no_poller(tmp_path: Path) -> None:
    with DbosEngine(tmp_path):
        engine = dbos._dbos._get_dbos_instance()
        assert isinstance(engine._background_jobs_stop_event, threading.Event)
        assert engine._sys_db._run_background_processes is False
        columns = set(engine._sys_db.tables.workflow_status.c.keys())
        assert {"workflow_uuid", "status", "queue_name", "recovery_attempts"} <= columns
        queue = engine._registry.get_internal_queue()
        assert isinstance(queue, Queue)
        assert queue.name == dbos_engine._WITHOUT_QUEUE
        assert engine._background_threads
        wait_for(lambda: not any(t.is_alive() for t in engine._background_threads), "the pollers to end", 10)


def test_one_module_alone_uses_them() -> None:
    private = {"_sys_db", "_background_jobs_stop_event", "_run_background_processes", "get_internal_queue"}
    users = set()
    for path in (ROOT / "app").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "dbos" not in text and "_sys_db" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            taken = isinstance(node, ast.Attribute) and node.attr in private
            if taken or any(module.startswith("dbos._") for module in modules):
                users.add(path.name)
    assert users == {"dbos_adapter.py"}
