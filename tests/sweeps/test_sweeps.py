"""Sweeps: every combination is measured once, by executors, and depends on its values and seed alone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qosforge.artifacts.store import Artifacts, open_artifacts
from qosforge.database.connections import Database
from qosforge.errors import InputError
from qosforge.executor.executor import Executor
from qosforge.intent.policy_source import PolicySource, shipped_policies
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.resources import root
from qosforge.settings import Settings
from qosforge.sweeps.sweeps import NewSweep, PointOutcome, Sweeps, SweepUnknown

_SHIPPED = shipped_policies()["campus-collaboration"]
_VERIFY = re.search(r"^verify:\n.*from: vigo1, to: vigo2,.*\n", _SHIPPED, re.M)
assert _VERIFY, "the first check is that of the routers"
TEXT = re.sub(r"seconds: \d+", "seconds: 2", _SHIPPED[: _VERIFY.end()])
"""The policy of the campus with its check over the routers, which is quickly measured."""
VARIED = TEXT.replace("priority: {percent: 50}", 'priority: {percent: "${cap}"}') + "parameters: {cap: 50}\n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(var_dir=tmp_path / "var")


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    settings.make_var_dir()
    opened = Database(settings.database_url)
    yield opened
    opened.close()


@pytest.fixture
def artifacts(settings: Settings, database: Database) -> Artifacts:
    return open_artifacts(settings, database)


@pytest.fixture
def sweeps(database: Database, artifacts: Artifacts) -> Sweeps:
    return Sweeps(database, artifacts)


@pytest.fixture
def campus() -> Network:
    return load_network(root() / "inventories" / "campus")


def test_points_are_measured_by_an_executor(
    settings: Settings, sweeps: Sweeps, artifacts: Artifacts, campus: Network
) -> None:
    order = NewSweep(campus, PolicySource(VARIED), {"cap": [50, 101]}, (1, 2))
    sweep = sweeps.submit(order, "ana")
    assert (sweep.points, sweep.ended, sweep.policy) == (4, 0, "campus-collaboration")
    executor = Executor(settings, lambda *_: None)
    executor.start()
    try:
        deadline = time.monotonic() + 60
        while sweeps.get(sweep.id).ended < 4 and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        executor.stop()
    points = sweeps.points(sweep.id)
    assert [(p.parameters["cap"], p.seed) for p in points] == [(50, 1), (50, 2), (101, 1), (101, 2)]
    measured, wrong = points[:2], points[2:]
    results = [artifacts.get_json(str(p.result)) for p in measured]
    assert [p.outcome for p in measured] == [PointOutcome(r["outcome"]) for r in results]
    assert all(r["evidence"] == "predicted" and r["verdicts"] for r in results)
    assert results[0]["measurement"] != results[1]["measurement"], "another seed, other packets"
    assert [p.outcome for p in wrong] == [PointOutcome.FAILED] * 2
    assert "101" in wrong[0].error


def test_the_first_outcome_is_believed(sweeps: Sweeps, campus: Network) -> None:
    sweep = sweeps.submit(NewSweep(campus, PolicySource(TEXT), {}), "ana")
    assert sweeps.open_points() == [(sweep.id, 1)]
    sweeps.end(sweep.id, 1, PointOutcome.MET, "one")
    sweeps.end(sweep.id, 1, PointOutcome.FAILED, "two", error="late")
    assert (sweeps.point(sweep.id, 1).outcome, sweeps.point(sweep.id, 1).executor) == (PointOutcome.MET, "one")
    assert sweeps.open_points() == []


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        (VARIED, ({"cap": list(range(1, 65)), "x": list(range(64))}, (1,)), "4,096 points"),
        (VARIED, ({"cap": []}, (1,)), "cap has 0 values"),
        (VARIED, ({"cap": [float("nan")]}, (1,)), "no number"),
        (VARIED, ({"cup": [1]}, (1,)), "no parameter 'cup'"),
        (VARIED, ({}, ()), "seeds has 0 values"),
        (shipped_policies()["rfc4594-4"], ({}, (1,)), "nothing to measure"),
    ],
)
def test_what_cannot_be_a_sweep(
    sweeps: Sweeps, campus: Network, text: str, values: tuple[dict[str, list[object]], tuple[int, ...]], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        sweeps.submit(NewSweep(campus, PolicySource(text), *values), "ana")
    assert said in str(caught.value)
    assert sweeps.newest(None) == []


def test_sweeps_are_listed_by_network(sweeps: Sweeps, campus: Network) -> None:
    first, second = (sweeps.submit(NewSweep(campus, PolicySource(TEXT), {}), "ana") for _ in range(2))
    assert [s.id for s in sweeps.newest(["campus"])] == [second.id, first.id]
    assert [s.id for s in sweeps.newest(None, before=second.id)] == [first.id]
    assert sweeps.newest(["itesm"]) == []
    with pytest.raises(SweepUnknown):
        sweeps.get("none")
