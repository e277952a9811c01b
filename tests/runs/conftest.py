"""A store in a scratch directory, a clock that stands still, and processes to kill."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore

from .support import Clock, Spawn

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.sqlite'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """A store of its own in each of the databases."""
    name = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]
    url: str = request.getfixturevalue(name)
    return url


@pytest.fixture
def store(store_url: str, clock: Clock) -> Iterator[RunStore]:
    with RunStore(store_url, now=clock) as opened:
        yield opened


@pytest.fixture
def run(store: RunStore) -> Run:
    return store.create_run("campus", "itesm-paper", "f" * 64, {"devices": ["r1", "r2"]})


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start ``python -c script arguments`` in the checkout; whatever still runs at the end is killed."""
    children: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate(timeout=60)
