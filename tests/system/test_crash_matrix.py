"""A sample of the crash matrix on each database, by a fixed seed: `make crashes` runs all of it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from qoslab import control

from .crash_matrix import DATABASES, ROLLOUTS, SEED, Cell, cells, points
from .crash_point import Point
from .crashes import crashes

KEPT, ROLLED_BACK, LEFT_OUT = ROLLOUTS
SAMPLED = 2
"""Cells of the rollout that goes well, by database."""
REFUSED = {
    "sqlite": Cell(ROLLED_BACK, Point("after", "journal e300 failed"), "recover"),
    "postgresql": Cell(LEFT_OUT, Point("after", "journal ers5510 failed"), "process"),
}
"""By database a cell in which a device has refused the change, and others have to follow from it."""


@pytest.fixture(scope="module")
def steps() -> list[str]:
    """What an undisturbed rollout records, once a test has let one run: the same on both databases."""
    return []


@pytest.mark.parametrize("database", DATABASES)
def test_killed_at_recorded_steps_every_device_ends_as_the_run_says(
    database: str, steps: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres_url") if database == "postgresql" else None
    with crashes(tmp_path, url) as made:
        if not steps:
            steps += made.steps(KEPT)
        sample = Random(f"{SEED} {database}").sample(cells(KEPT, steps), SAMPLED)
        outcomes = [made.run(cell) for cell in [*sample, REFUSED[database]]]
        assert {str(outcome.cell): outcome.problems for outcome in outcomes if outcome.problems} == {}
        # And the matrix sees what is not as the run says.
        run = made.store.list_runs()[0]
        assert made.run_problems(run) == []
        assert control.configure(made.state, "r1", ["interface Serial0/0", "description changed"]) == []
        assert [problem.partition(" is not as ")[0] for problem in made.run_problems(run)] == ["r1: running"]


def test_a_rollout_is_killed_after_every_step_and_before_what_the_journal_tells_afterwards() -> None:
    steps = ["stage push begun", "journal e300 touching", "journal e300 failed", "step push", "status rolled_back"]
    assert [str(point) for point in points(KEPT, steps)] == [
        "after stage push begun",
        "after journal e300 touching",
        "before journal e300 failed",
        "after journal e300 failed",
        "after step push",
        "before status rolled_back",
        "after status rolled_back",
    ]
    assert str(points(ROLLED_BACK, steps)[0]) == "before journal e300 failed"
