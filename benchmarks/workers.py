"""A batch of independent runs on devices that answer slowly, by one worker and by two; each does equally many."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.databases import postgres
from benchmarks.serving import command, environment
from benchmarks.timing import Ratio
from qosforge.artifacts.store import open_artifacts
from qosforge.client.request_documents import inline_policy
from qosforge.emulation import start_lab
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.runs.engine.executor_leases import live_executors
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.requests.resolve import RunDocuments
from qosforge.runs.requests.run_request import RunRequest
from qosforge.settings import Settings
from qoslab import control

RUNS = 8
AT_ONCE = 2
"""Runs of one worker."""
SECONDS_PER_LINE = 0.1
"""How long a device takes to answer a line."""
AT_LEAST = 1.7
_LONGEST = 300.0

_HOSTS = """\
r1:
  groups: [cisco_ios]
  data:
    role: edge
    image: "12.2"
    driver: ios_legacy
    startup: startup/r1.cfg
    interfaces:
      Serial0/1: {rate: 2 Mb/s, contracted: 2 Mb/s, tags: [wan], encapsulation: hdlc}
"""
_POLICY = """\
version: 1
intent: batch
parameters: {voice: 20}
classes:
  - {name: voice, match: {any: [{dscp: [ef]}]}, treatment: {priority: {percent: "${voice}"}}}
  - {name: default, treatment: {bandwidth: {remaining_percent: 100}}}
apply:
  - {role: edge, interfaces: wan, direction: output}
"""


def measure() -> Iterator[Ratio | str]:
    """Seconds from the moment when all runs are asked for until the last one has ended."""
    try:
        with postgres() as server, tempfile.TemporaryDirectory() as scratch:
            settings = Settings(
                var_dir=Path(scratch) / "var",
                inventories_dir=Path(scratch) / "networks",
                database_url=server.new_database(),
                run_concurrency=AT_ONCE,
            )
            settings.make_var_dir()
            with (
                _networks(settings) as names,
                closing(_Batch(settings, names)) as batch,
                batch.worker(),
                ExitStack() as another,
            ):
                another.enter_context(batch.worker())
                batch.seconds(voice=20)  # both have imported what they need, and the routers have the policy
                two = batch.seconds(voice=30)
                another.close()
                one = batch.seconds(voice=20)
            yield Ratio(f"{RUNS} runs, one worker against two", one, two, at_least=AT_LEAST)
    except LookupError as error:
        yield f"workers: left out: {error}"


@contextmanager
def _networks(settings: Settings) -> Iterator[list[str]]:
    """Labs of one slow router each; the names of their networks."""
    names = [f"site-{number:02}" for number in range(RUNS)]
    with ExitStack() as opened:
        for name in names:
            folder = settings.inventories_dir / name
            (folder / "startup").mkdir(parents=True)
            (folder / "hosts.yaml").write_text(_HOSTS)
            (folder / "links.yaml").write_text("links: []\nstations: []\n")
            campus = root() / "inventories" / "campus"
            for part in ("groups.yaml", "defaults.yaml"):
                (folder / part).write_text((campus / part).read_text())
            (folder / "startup" / "r1.cfg").write_text((campus / "startup" / "r3.cfg").read_text())
            state = state_folder(settings.var_dir, name)
            start_lab(load_network(folder), folder, state)
            opened.callback(control.stop, state)
            control.plant(state, "r1", "slow", seconds=SECONDS_PER_LINE)
        yield names


@dataclass
class _Batch:
    """Asks for one run on every network, and waits for them."""

    settings: Settings
    names: list[str]

    def __post_init__(self) -> None:
        self._store = RunStore(self.settings.database_url)
        artifacts = open_artifacts(self.settings, self._store.database)
        self._requests = RunRequests(self.settings, self._store, artifacts)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def seconds(self, voice: int) -> float:
        """How long the workers take that are there; every run changes its router."""
        intent = load_policy(PolicySource(_POLICY, "batch.yaml", {}, {"voice": voice}))
        folder = self.settings.inventories_dir
        request = {"policy": inline_policy(intent), "measure": False}
        orders = [
            (RunRequest.parse({**request, "network": name}), RunDocuments(load_network(folder / name), intent))
            for name in self.names
        ]
        started = time.perf_counter()
        ids = [self._requests.submit(*order, "bench")[0].id for order in orders]
        self._wait(lambda: not self._store.unfinished_runs())
        taken = time.perf_counter() - started
        statuses = {self._store.get_run(run_id).status for run_id in ids}
        if statuses != {RunStatus.KEPT}:
            raise RuntimeError(f"not every run was kept: {sorted(statuses)}")
        return taken

    @contextmanager
    def worker(self) -> Iterator[None]:
        """One more worker, at work while the block lasts."""
        there = len(live_executors(self._store.database))
        log = self.settings.var_dir / "worker.log"
        with log.open("ab") as said:
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                command("worker"), env=environment(self.settings), stdout=said, stderr=said
            )
        try:
            self._wait(lambda: len(live_executors(self._store.database)) > there)
            yield
        finally:
            process.terminate()
            process.wait(90)

    @staticmethod
    def _wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _LONGEST
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError("the runs did not end in time")
            time.sleep(0.05)
