"""The crash matrix: the process that carries a rollout is killed at each of its recorded steps.

``python -m tests.system.crash_matrix`` runs all of it on SQLite and on PostgreSQL, and prints how its devices
ended, by database; it ends with an error when a cell did not end as every cell has to.

A cell is a rollout, a point of it and a way to go on: ``qosforge recover``, or the process that carries out what is
left (a worker on PostgreSQL, the service on SQLite). After it each device's running and startup configuration are,
byte for byte, those before or those after the push, as the run says of it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from qosforge.runs.record.tables import RunStatus
from tests.postgres import new_server

from .crash_point import LATE, Point
from .crashes import ENDS, WAVES, Cell, Outcome, Rollout, crashes

ROLLOUTS = (
    Rollout("kept", WAVES, RunStatus.KEPT),
    Rollout("rolled-back", WAVES, RunStatus.ROLLED_BACK, refusing="e300"),
    Rollout("left-out", {**WAVES, "failures": 1}, RunStatus.KEPT, refusing="ers5510"),
)
KINDS = ("journal", "stage", "step", "status")
"""What steps are recorded as: `step` is the engine's own record."""
SEED = 1
DATABASES = ("sqlite", "postgresql")
WAYS = ("recover", "process")
SECOND_RUN = 5
"""Of so many cells one has a second run of the same change, which waits for the devices of the first."""


def points(rollout: Rollout, steps: Sequence[str]) -> list[Point]:
    """Where a rollout is killed: after each step, and before what the journal tells of a device afterwards.

    One with a device that refuses is killed from there on: until then it is like the others.
    """
    if rollout.refusing:
        steps = steps[steps.index(f"journal {rollout.refusing} failed") :]
    found = []
    for step in steps:
        words = step.split()
        if words[0] == "status" or (words[0] == "journal" and words[2] in LATE):
            found.append(Point("before", step))
        found.append(Point("after", step))
    return found


def cells(rollout: Rollout, steps: Sequence[str]) -> list[Cell]:
    """The cells of a rollout: the ways take turns, and some cells have a second run."""
    return [
        Cell(rollout, point, WAYS[number % len(WAYS)], number % SECOND_RUN == SECOND_RUN - 1)
        for number, point in enumerate(points(rollout, steps))
    ]


def table(outcomes: Iterable[tuple[str, Outcome]]) -> str:
    """Counts of cells and of how their devices ended, by database."""
    outcomes = list(outcomes)
    rows = [f"{'database':<12}{'cells':>7}{'FAILED':>8}" + "".join(f"{end:>20}" for end in ENDS)]
    for database in dict.fromkeys(name for name, _ in outcomes):
        mine = [outcome for name, outcome in outcomes if name == database]
        ends = Counter(end for outcome in mine for end in outcome.ends.values())
        failed = sum(bool(outcome.problems) for outcome in mine)
        rows.append(f"{database:<12}{len(mine):>7}{failed:>8}" + "".join(f"{ends[end]:>20}" for end in ENDS))
    return "\n".join(rows)


def _chosen(names: set[str], words: Collection[str]) -> set[str]:
    """Those of ``words`` that are named; all where none is."""
    return names & set(words) or set(words)


def _matrix(database: str, names: set[str], folder: Path, url: str | None) -> Iterator[tuple[str, Outcome]]:
    with crashes(folder, url) as made:
        every = [
            cell
            for rollout in ROLLOUTS
            if rollout.name in _chosen(names, [rollout.name for rollout in ROLLOUTS])
            for cell in cells(rollout, made.steps(rollout))
            if cell.point.kind in _chosen(names, KINDS)
        ]
        Random(SEED).shuffle(every)  # a matrix that is cut short has been everywhere
        for number, cell in enumerate(every, 1):
            begun = time.monotonic()
            outcome = made.run(cell)
            ends = ", ".join(f"{many} {end}" for end, many in Counter(outcome.ends.values()).items())
            took = f"{number} of {len(every)}, {time.monotonic() - begun:.0f} s"
            _tell(f"{database}: {cell}: {outcome.status}; {ends} ({took})")
            for problem in outcome.problems:
                _tell(f"  FAILED {problem}")
            yield database, outcome


def main() -> None:
    """Run the matrix, or the part on the databases, of the rollouts and of the kinds of steps that are named."""
    names = set(sys.argv[1:])
    known = {*DATABASES, *KINDS, *(rollout.name for rollout in ROLLOUTS)}
    if names - known:
        sys.exit(f"unknown: {', '.join(sorted(names - known))}; there are: {', '.join(sorted(known))}")
    outcomes: list[tuple[str, Outcome]] = []
    try:
        for database in sorted(_chosen(names, DATABASES), key=DATABASES.index):
            folder = Path(tempfile.mkdtemp(prefix="qosforge-crashes-"))
            server = new_server() if database == "postgresql" else None
            try:
                if server is not None:
                    server.start()
                outcomes.extend(_matrix(database, names, folder, server.new_database() if server else None))
            finally:
                if server is not None:
                    server.remove()
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        _tell(table(outcomes))
    sys.exit(any(outcome.problems for _, outcome in outcomes))


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
