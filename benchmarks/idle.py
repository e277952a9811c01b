"""A service and a worker that have nothing to do, and how soon they begin when they are asked."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.databases import postgres
from benchmarks.serving import command, environment, serve
from benchmarks.timing import Median
from qosforge.artifacts.store import open_artifacts
from qosforge.client.request_documents import inline_policy
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.requests.resolve import RunDocuments
from qosforge.runs.requests.run_request import RunRequest
from qosforge.settings import Settings

SETTLED_SECONDS = 20.0
"""For what a process does once, after it has begun."""
WATCHED_SECONDS = 60.0
RUNS = 10
MOST_PERCENT = 0.5
MOST_MS = 200.0
_LONGEST = 120.0
_TEN_TIMES_A_SECOND = "import time\nwhile True: time.sleep(0.1)"


@dataclass(frozen=True)
class Share:
    """Percent of one core that processes take."""

    name: str
    percent: float
    at_most: float | None = None

    def __str__(self) -> str:
        met = "" if self.at_most is None else f" (at most {self.at_most:g}: {self._met})"
        return f"{self.name}: {self.percent:.2f} % of a core{met}"

    @property
    def _verdict(self) -> str:
        return "met" if self.percent <= (self.at_most or 0) else "MISSED"


def measure() -> Iterator[Share | Median | str]:
    """Shares of a core, and milliseconds from the row of a run to its first step, on both databases."""
    with subprocess.Popen([sys.executable, "-c", _TEN_TIMES_A_SECOND]) as waking:  # noqa: S603  # our own interpreter
        yield Share("baseline: a process that wakes ten times a second", _share([waking.pid]))
        waking.kill()
    with tempfile.TemporaryDirectory() as scratch:
        yield from _measure("SQLite: service", _settings(Path(scratch), ""), [])
    try:
        with postgres() as server, tempfile.TemporaryDirectory() as scratch:
            settings = _settings(Path(scratch), server.new_database())
            yield from _measure("PostgreSQL: service and worker", settings, ["worker"])
    except LookupError as error:
        yield f"idle: left out: {error}"


def _settings(scratch: Path, url: str) -> Settings:
    folder = scratch / "networks"
    folder.mkdir()
    (folder / "campus").symlink_to(root() / "inventories" / "campus")
    var = scratch / "var"
    return Settings(var_dir=var, inventories_dir=folder, database_url=url or f"sqlite:///{var / 'runs.sqlite'}")


def _measure(name: str, settings: Settings, beside: list[str]) -> Iterator[Share | Median]:
    with ExitStack() as opened:
        opened.enter_context(serve(settings, settings.var_dir.parent / "served.log"))
        for word in beside:
            log = opened.enter_context((settings.var_dir.parent / f"{word}.log").open("wb"))
            process = subprocess.Popen(command(word), env=environment(settings), stdout=log, stderr=log)  # noqa: S603
            opened.callback(process.wait, 90)
            opened.callback(process.terminate)
        yield Share(f"{name}, idle", _share(_children(os.getpid())), MOST_PERCENT)
        yield Median(f"{name}, from a run's row to its begin", _milliseconds_to_begin(settings), MOST_MS)


def _milliseconds_to_begin(settings: Settings) -> float:
    """The median over some runs, one after the other; there is no device to answer them, so that each ends soon."""
    taken = []
    network = load_network(settings.inventories_dir / "campus")
    intent = load_intent(root() / "policies" / "itesm-paper.yaml")
    request = RunRequest.parse({"network": network.name, "policy": inline_policy(intent), "measure": False})
    with closing(RunStore(settings.database_url)) as store:
        run_requests = RunRequests(settings, store, open_artifacts(settings, store.database))

        def status(run_id: str) -> RunStatus:
            return store.get_run(run_id).status

        for _ in range(RUNS):
            run = run_requests.submit(request, RunDocuments(network, intent), "bench")[0]
            placed = time.perf_counter()
            _wait(lambda run_id=run.id: status(run_id) is not RunStatus.PENDING)  # type: ignore[misc]
            taken.append((time.perf_counter() - placed) * 1e3)
            _wait(lambda run_id=run.id: status(run_id).final)  # type: ignore[misc]
            time.sleep(1)
    return statistics.median(taken)


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _LONGEST
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("a run did not go on")
        time.sleep(0.005)


def _share(processes: list[int]) -> float:
    """Percent of a core that processes and their children take, once they have settled."""
    time.sleep(SETTLED_SECONDS)
    before, begun = _nanoseconds(processes), time.monotonic()
    time.sleep(WATCHED_SECONDS)
    return (_nanoseconds(processes) - before) / (time.monotonic() - begun) / 1e9 * 100


def _nanoseconds(processes: list[int]) -> int:
    """Time on a processor of processes and all that they began: the kernel's ``schedstat``, first field."""
    return sum(
        int((task / "schedstat").read_text().split()[0])
        for process in processes
        for task in Path(f"/proc/{process}/task").iterdir()
    ) + sum(_nanoseconds(_children(process)) for process in processes)


def _children(process: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
                found += [int(folder.name)] if int(parent) == process else []
    return found
