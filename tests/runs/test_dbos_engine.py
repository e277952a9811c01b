from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qosforge.errors import EngineBusy, InputError, Place, RefusedError, StoreError
from qosforge.runs.engine.dbos_engine import DbosEngine
from qosforge.runs.engine.port import MAX_RECOVERY_ATTEMPTS, Engine, JsonObject, RecordedError, RunStranded

from .support import Spawn, finish, wait_for

THREE_STEPS = """
import json, sys, time
from pathlib import Path
from qosforge.runs.engine.dbos_engine import DbosEngine

directory, action = Path(sys.argv[1]), sys.argv[2]
log = directory / "log"

def note(line):
    with log.open("a") as file:
        file.write(line + "\\n")

def push(wave):
    note("two begins")
    while action == "die":
        time.sleep(0.01)
    note("two ends")
    return {"pushed": wave}

def first(word):
    note("one")
    return {"word": word}

def third(pushed, word):
    note("three")
    return pushed + [word]

engine = DbosEngine(directory)

def workflow(run_id, params):
    one = engine.run_step("first", first, params["word"])
    two = engine.run_step("second", push, one["word"])
    return {"run": run_id, "all": engine.run_step("third", third, [two["pushed"]], "end")}

engine.register("three", workflow)
with engine:
    if action == "die":
        engine.start("three", "run-a", {"word": "wave"})
        engine.run("three", "run-b", {"word": "ripple"})
    elif action == "states":
        print(*(type(run.error).__name__ for run in engine.recover()), sep="\\n")
        print(*(engine.state(run).value for run in ("run-a", "run-b")), sep="\\n")
    else:
        print(json.dumps([[r.run_id, r.workflow, r.result] for r in engine.recover()]))
        print(json.dumps(engine.result("run-a")))
        print(json.dumps([r.run_id for r in engine.recover()]))
"""

OWN = """
import sys
from pathlib import Path
from qosforge.runs.engine.dbos_engine import DbosEngine
with DbosEngine(Path(sys.argv[1])):
    print("launched", flush=True)
    sys.stdin.readline()
"""


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def launched(directory: Path, workflow: Callable[[Engine, str, JsonObject], JsonObject]) -> DbosEngine:
    engine = DbosEngine(directory)
    engine.register("loop", lambda run_id, params: workflow(engine, run_id, params))
    engine.launch()
    return engine


def test_a_killed_run_is_finished_by_the_next_process(tmp_path: Path, spawn: Spawn) -> None:
    victim = spawn(THREE_STEPS, tmp_path, "die")
    wait_for(lambda: lines(tmp_path / "log").count("two begins") == 2, "both runs to reach step two")
    victim.kill()
    victim.wait(timeout=60)

    recovered, result, left = finish(spawn(THREE_STEPS, tmp_path, "recover")).splitlines()

    assert sorted(json.loads(recovered)) == [
        ["run-a", "three", {"run": "run-a", "all": ["wave", "end"]}],
        ["run-b", "three", {"run": "run-b", "all": ["ripple", "end"]}],
    ]
    assert json.loads(result) == {"run": "run-a", "all": ["wave", "end"]}
    assert json.loads(left) == []
    log = lines(tmp_path / "log")
    assert {line: log.count(line) for line in set(log)} == {
        "one": 2,  # not repeated
        "two begins": 4,  # cut short, so repeated
        "two ends": 2,
        "three": 2,
    }


def test_a_run_whose_process_dies_again_and_again_is_given_up(tmp_path: Path, spawn: Spawn) -> None:
    script = THREE_STEPS.replace('while action == "die"', 'while action != "recover"')
    for time in range(1, 2 + MAX_RECOVERY_ATTEMPTS):
        victim = spawn(script, tmp_path, "die" if time == 1 else "die later")
        wait_for(lambda: lines(tmp_path / "log").count("two begins") == 2 * time, "both runs to reach step two")  # noqa: B023
        victim.kill()
        victim.wait(timeout=60)
    output = finish(spawn(script, tmp_path, "states")).splitlines()
    assert output == ["RunStranded", "RunStranded", "exhausted", "exhausted"]
    assert lines(tmp_path / "log").count("two begins") == 2 * (1 + MAX_RECOVERY_ATTEMPTS)


def test_a_run_that_waits_outlives_any_number_of_deaths(tmp_path: Path, spawn: Spawn) -> None:
    script = THREE_STEPS.replace('run_step("second"', 'wait_step("second"')
    waiting = script.replace('while action == "die"', 'while action != "recover"')
    for time in range(1, 4 + MAX_RECOVERY_ATTEMPTS):
        victim = spawn(waiting, tmp_path, "die" if time == 1 else "die later")
        wait_for(lambda: lines(tmp_path / "log").count("two begins") == 2 * time, "both runs to wait")  # noqa: B023
        victim.kill()
        victim.wait(timeout=60)
    output = finish(spawn(script, tmp_path, "recover")).splitlines()
    assert sorted(run_id for run_id, _, _ in json.loads(output[0])) == ["run-a", "run-b"]
    # From then on deaths count as they did: the wait is over, and has cost nothing.
    with closing(sqlite3.connect(tmp_path / "engine.sqlite")) as plain:
        counted = plain.execute("SELECT DISTINCT recovery_attempts FROM workflow_status").fetchall()
    assert counted == [(1,)]


def test_one_process_owns_the_engine(tmp_path: Path, spawn: Spawn) -> None:
    owner = spawn(OWN, tmp_path)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "launched\n"
    engine = DbosEngine(tmp_path)
    with pytest.raises(EngineBusy, match=rf"process {owner.pid} owns the run engine .*qosforge recover"):
        engine.launch()
    owner.kill()
    owner.wait(timeout=60)
    engine.launch()
    engine.close()


def test_one_engine_lives_in_a_process(tmp_path: Path) -> None:
    with DbosEngine(tmp_path / "one"), pytest.raises(EngineBusy, match="this process runs an engine already"):
        DbosEngine(tmp_path / "two").launch()
    with DbosEngine(tmp_path / "two"):
        pass


def test_a_finished_run_is_not_done_again(tmp_path: Path) -> None:
    calls: list[str] = []

    def workflow(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        return engine.run_step("count", lambda: {"calls": [calls.append(run_id), len(calls)][1]})

    for _ in range(2):
        engine = launched(tmp_path, workflow)
        assert engine.run("loop", "run-a", {}) == {"calls": 1}
        assert engine.run("loop", "run-a", {}) == {"calls": 1}
        assert engine.result("run-a") == {"calls": 1}
        assert engine.recover() == []
        engine.close()
    assert calls == ["run-a"]


def test_a_run_in_the_background_can_be_waited_for(tmp_path: Path) -> None:
    go = threading.Event()

    def workflow(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        return engine.run_step("wait", lambda: {"went": go.wait(60), **params})

    engine = launched(tmp_path, workflow)
    engine.start("loop", "run-a", {"classes": ["voice-video"]})
    go.set()
    assert engine.result("run-a") == {"went": True, "classes": ["voice-video"]}
    engine.close()


def test_an_error_ends_the_run_and_is_kept(tmp_path: Path) -> None:
    refusal = RefusedError("no such queue", Place(device="sw1", interface="Gi0/1"), "name another")
    attempts: list[str] = []

    def refuse() -> None:
        attempts.append("x")
        raise refusal

    def workflow(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        engine.run_step("refuse", refuse)
        return {}

    engine = launched(tmp_path, workflow)
    with pytest.raises(RefusedError) as first:
        engine.run("loop", "run-a", {})
    assert first.value is refusal
    with pytest.raises(RefusedError) as second:
        engine.result("run-a")
    assert (str(second.value), second.value.where) == (str(refusal), refusal.where)
    assert engine.recover() == [], "a run that ended with an error has ended"
    assert attempts == ["x"], "steps are not retried behind our back"
    engine.close()


def test_an_error_outside_our_tree_keeps_its_name(tmp_path: Path) -> None:
    engine = launched(tmp_path, lambda engine, run_id, params: {"share": 1 // params["links"]})
    with pytest.raises(ZeroDivisionError):
        engine.run("loop", "run-a", {"links": 0})
    with pytest.raises(RecordedError, match="ZeroDivisionError"):
        engine.result("run-a")
    engine.close()


def test_an_interrupted_run_stays_unfinished_and_recovers(tmp_path: Path) -> None:
    done: list[str] = []

    def workflow(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        engine.run_step("push", lambda: done.append("push"))
        engine.run_step("measure", measure)
        return {"done": done}

    def measure() -> None:
        done.append("measure")
        if len(done) == 2:
            raise KeyboardInterrupt

    engine = launched(tmp_path, workflow)
    with pytest.raises(KeyboardInterrupt):
        engine.run("loop", "run-a", {})
    (stranded,) = engine.recover()
    assert isinstance(stranded.error, RunStranded), "not waited for: nothing carries it on here"
    engine.close()
    engine = launched(tmp_path, workflow)
    (recovered,) = engine.recover()
    engine.close()
    assert (recovered.run_id, recovered.workflow, recovered.error) == ("run-a", "loop", None)
    assert recovered.result == {"done": ["push", "measure", "measure"]}


def test_a_closing_engine_stops_a_run_between_two_steps(tmp_path: Path) -> None:
    in_step, go, done = threading.Event(), threading.Event(), []

    def push(params: JsonObject) -> None:
        in_step.set()
        assert go.wait(60)
        done.append("push")

    def workflow(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        engine.run_step("push", push, params)
        engine.run_step("measure", lambda: done.append("measure"))
        return {}

    engine = launched(tmp_path, workflow)
    engine.start("loop", "run-a", {})
    assert in_step.wait(60)
    closing_engine = threading.Thread(target=engine.close)
    closing_engine.start()
    closing_engine.join(0.2)
    assert closing_engine.is_alive(), "the step in flight is waited for"
    go.set()
    closing_engine.join(60)
    assert done == ["push"]
    engine = launched(tmp_path, workflow)
    assert [recovered.result for recovered in engine.recover()] == [{}]
    engine.close()
    assert done == ["push", "measure"], "the finished step was recorded before the engine went"


def test_a_run_that_is_let_go_of_is_not_given_up(tmp_path: Path) -> None:
    steps = MAX_RECOVERY_ATTEMPTS + 3
    done: list[int] = []
    for _ in range(steps):
        entered, go = threading.Event(), threading.Event()

        def step(number: int, entered: threading.Event = entered, go: threading.Event = go) -> None:
            entered.set()
            go.wait(60)
            done.append(number)

        def workflow(
            engine: Engine, _run: str, _params: JsonObject, step: Callable[[int], None] = step
        ) -> JsonObject:
            for number in range(steps):
                engine.run_step(f"step-{number}", step, number)
            return {}

        engine = launched(tmp_path, workflow)
        if not done:
            engine.start("loop", "run", {})
        assert entered.wait(60)
        closing_ = threading.Thread(target=engine.close)
        closing_.start()
        wait_for(lambda engine=engine: engine._closing, "an engine that closes")  # type: ignore[misc]
        go.set()
        closing_.join(60)
    assert done == list(range(steps))
    engine = launched(tmp_path, workflow)
    assert engine.result("run") == {}
    engine.close()


def test_a_step_longer_than_the_drain_keeps_the_engine(tmp_path: Path, spawn: Spawn) -> None:
    in_step, go = threading.Event(), threading.Event()

    def push() -> dict[str, bool]:
        in_step.set()
        return {"went": go.wait(60)}

    engine = DbosEngine(tmp_path)
    engine.register("loop", lambda run_id, params: engine.run_step("push", push))
    engine.launch()
    engine.start("loop", "run-a", {})
    assert in_step.wait(60)
    assert not engine.close(drain_seconds=0.05)
    rival = spawn(OWN, tmp_path)
    assert "owns the run engine" in rival.communicate(timeout=60)[1]
    go.set()
    assert engine.result("run-a") == {"went": True}
    assert engine.close()
    with DbosEngine(tmp_path):
        pass


def test_a_failed_recovery_is_a_value(tmp_path: Path) -> None:
    def interrupted(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        raise KeyboardInterrupt

    def failing(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        raise InputError("the intent is gone", hint="put it back")

    engine = launched(tmp_path, interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.run("loop", "run-a", {})
    engine.close()
    engine = launched(tmp_path, failing)
    (recovered,) = engine.recover()
    engine.close()
    assert recovered.result is None
    assert str(recovered.error) == "the intent is gone (put it back)"


def test_a_run_of_another_release_is_named_not_forgotten(tmp_path: Path) -> None:
    def interrupted(run_id: str, params: JsonObject) -> JsonObject:
        raise KeyboardInterrupt

    old = DbosEngine(tmp_path, workflow_version="0")
    old.register("loop", interrupted)
    with old, pytest.raises(KeyboardInterrupt):
        old.run("loop", "run-a", {})
    engine = launched(tmp_path, lambda engine, run_id, params: {})
    (recovered,) = engine.recover()
    engine.close()
    assert isinstance(recovered.error, RunStranded)
    assert "run-a was begun as loop version 0" in str(recovered.error)


def test_a_step_outside_its_place_is_refused(tmp_path: Path) -> None:
    def in_thread(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        caught: list[str] = []

        def call() -> None:
            try:
                engine.run_step("lost", dict)
            except RuntimeError as error:
                caught.append(str(error))

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        engine.run_step("outer", call)
        return {"caught": caught}

    engine = launched(tmp_path, in_thread)
    with pytest.raises(RuntimeError, match="not called from the thread of a workflow"):
        engine.run_step("lost", dict)
    assert len(engine.run("loop", "run-a", {})["caught"]) == 2
    engine.close()


@pytest.mark.parametrize("result", [(1, 2), {1: "x"}, Path("x"), float("inf")])
def test_a_result_that_json_would_change_is_refused(tmp_path: Path, result: Any) -> None:
    engine = launched(tmp_path, lambda engine, run_id, params: engine.run_step("odd", lambda: {"r": result}))
    with pytest.raises(TypeError, match="the result of step odd is not plain JSON"):
        engine.run("loop", "run-a", {})
    with pytest.raises(TypeError, match="the run's params is not plain JSON"):
        engine.start("loop", "run-b", {"r": result})
    engine.close()


def test_an_unknown_run_is_refused(tmp_path: Path) -> None:
    with DbosEngine(tmp_path) as engine, pytest.raises(InputError, match="no record of run run-x"):
        engine.result("run-x")


def test_workflows_are_registered_once_and_before_the_launch(tmp_path: Path) -> None:
    engine = DbosEngine(tmp_path)
    engine.register("loop", lambda run_id, params: {})
    with pytest.raises(RuntimeError, match="registered already"):
        engine.register("loop", lambda run_id, params: {})
    with engine, pytest.raises(RuntimeError, match="before the engine is launched"):
        engine.register("late", lambda run_id, params: {})


def test_nothing_is_ever_pickled(tmp_path: Path) -> None:
    def workflow(engine: Engine, run_id: str, params: JsonObject) -> JsonObject:
        engine.run_step("good", lambda: {"a": 1})
        engine.run_step("bad", lambda: 1 // 0)
        return {}

    engine = launched(tmp_path, workflow)
    with pytest.raises(ZeroDivisionError):
        engine.run("loop", "run-a", {"devices": ["r1"]})
    engine.close()
    with closing(sqlite3.connect(tmp_path / "engine.sqlite")) as plain:
        steps = plain.execute("SELECT output, error, serialization FROM operation_outputs ORDER BY function_id")
        (good, _, first), (_, bad, second) = steps.fetchall()
        (inputs,) = plain.execute("SELECT inputs FROM workflow_input").fetchone()
    assert first == second == "qosforge_json"
    assert json.loads(good) == {"a": 1}
    assert "ZeroDivisionError" in json.dumps(json.loads(bad))
    assert json.loads(inputs) == {"args": ["run-a", {"devices": ["r1"]}], "kwargs": {}}


def test_a_record_with_pickles_is_never_read(tmp_path: Path) -> None:
    engine = launched(tmp_path, lambda engine, run_id, params: engine.run_step("good", lambda: {"a": 1}))
    engine.run("loop", "run-a", {})
    engine.close()
    with closing(sqlite3.connect(tmp_path / "engine.sqlite")) as plain, plain:
        plain.execute("UPDATE operation_outputs SET serialization = 'py_pickle'")
    with pytest.raises(StoreError, match="py_pickle data in operation_outputs"):
        launched(tmp_path, lambda engine, run_id, params: {})


def test_the_record_is_its_owners_alone_whatever_its_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(0o022)
    try:
        engine = launched(tmp_path, lambda engine, run_id, params: engine.run_step("good", lambda: {"a": 1}))
        engine.run("loop", "run-a", {})
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("engine.sqlite*")}
        engine.close()
    finally:
        os.umask(before)
    assert "engine.sqlite" in modes
    assert set(modes.values()) == {0o600}


def test_a_record_that_is_no_database_is_told_and_frees_the_engine(tmp_path: Path) -> None:
    (tmp_path / "engine.sqlite").write_text("hostname R1\n" * 100)
    with pytest.raises(StoreError, match="record cannot be opened"):
        DbosEngine(tmp_path).launch()
    with DbosEngine(tmp_path / "other"):
        pass


def test_closing_leaves_no_thread_and_can_be_repeated(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    engine = launched(tmp_path, lambda engine, run_id, params: {})
    engine.run("loop", "run-a", {})
    engine.close()
    engine.close()
    # A thread of the executor that has been told to end ends when it next has a processor.
    wait_for(lambda: set(threading.enumerate()) <= before, "every thread to end")
