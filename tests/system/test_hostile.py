"""A device that never comes to an end, in the midst of a run: what is stopped is stopped, and nothing is lost."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from qosforge.artifacts.store import open_artifacts
from qosforge.deploy.fleet import ASK_SECONDS, GRACE_SECONDS
from qosforge.intent.loader import parse_intent
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.settings import Settings
from qoslab import control
from tests.run_requests import request_run
from tests.stopwatch import Stopwatch

from .command import Command
from .crowd import POLICY, Box, Crowd

pytestmark = pytest.mark.hostile

HERE, ELSEWHERE = "north", "west"
BAD, GOOD = Box(HERE, "s2950"), Box(HERE, "r1")
ENTERING = r"^configure terminal"
READING = r"^show running"
LIMITS = {"QOSFORGE_DEVICE_LIMITS__READ__SECONDS": "6"}
"""Short for the way back alone: what is stopped from outside is stopped long before any limit."""
LEFT_SECONDS = ASK_SECONDS + GRACE_SECONDS + 1.5

Texts = Mapping[Box, str]


class Site:
    """Networks with a lab each, and processes that carry out what is asked for there."""

    def __init__(self, folder: Path) -> None:
        self.crowd = Crowd(folder)
        self.crowd.var.mkdir(mode=0o700)
        self._numbers = itertools.count()
        self.delivered: Texts = {}

    def start(self) -> None:
        self.crowd.start()
        self.delivered = self.running()

    def reset(self) -> None:
        """Every device as it was delivered."""
        for box in self.crowd.boxes:
            state = self.crowd.state(box.network)
            (state / box.name / "startup-config").write_text((state / box.name / "factory-config").read_text())
            control.plant(state, box.name, "clear")
            control.request(state, {"op": "reboot", "box": box.name})

    def plant(self, kind: str, **arguments: object) -> None:
        """Plant a fault into the bad device."""
        control.plant(self.crowd.state(HERE), BAD.name, kind, **arguments)

    def running(self) -> dict[Box, str]:
        return {box: self.crowd.running(box) for box in self.crowd.boxes}

    @contextmanager
    def process(self, *command: str, **environment: str) -> Iterator[Command]:
        """The command, killed at the end of the block where it has not ended."""
        settings = {
            "QOSFORGE_VAR_DIR": str(self.crowd.var),
            "QOSFORGE_INVENTORIES_DIR": str(self.crowd.inventories),
            **environment,
        }
        started = Command(command, settings, self.crowd.folder / "printed" / str(next(self._numbers)))
        try:
            yield started
        finally:
            if started.alive:
                started.kill()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site"))
    try:
        made.start()
        yield made
    finally:
        made.crowd.stop()


@pytest.fixture
def site(started: Site) -> Iterator[Site]:
    """Devices as they were delivered; no fault outlives the test."""
    yield started
    started.reset()


class Asked:
    """Runs that are asked for: rows in the store, and nothing more."""

    def __init__(self, site: Site, url: str | None = None) -> None:
        self.crowd = site.crowd
        chosen = {"database_url": url} if url else {}
        settings = Settings(var_dir=self.crowd.var, inventories_dir=self.crowd.inventories, **chosen)
        self.store = RunStore(settings.database_url)
        self.run_requests = RunRequests(settings, self.store, open_artifacts(settings, self.store.database))

    def push(self, network: str, timeout_seconds: int | None = None) -> Run:
        request, documents = request_run(
            self.crowd.networks[network], parse_intent(POLICY, "crowd.yaml"), measure=False
        )
        # Shorter than anybody may ask for, so that the test need not wait.
        request = request.model_copy(update={"timeout_seconds": timeout_seconds})
        return self.run_requests.submit(request, documents, "ada")[0]

    def status(self, run: Run) -> RunStatus:
        return self.store.get_run(run.id).status

    def open(self, run: Run) -> set[str]:
        return {touch.device for touch in self.store.journal.open_touches(run.id)}

    def bad_is_alone(self, run: Run) -> bool:
        """Whether the push is done but for the bad device, which is in the midst of it."""
        rows = self.store.journal.entries(run.id)
        begun = {row.device for row in rows if row.action is JournalAction.TOUCHING}
        done = {row.device for row in rows if row.action is JournalAction.TOUCHED}
        return begun == {BAD.name, GOOD.name} and done == {GOOD.name}

    def push_ended(self, run: Run) -> bool:
        return any(stage.name == "push" and stage.ended for stage in self.store.stages(run.id))


@contextmanager
def asking(site: Site, url: str | None = None) -> Iterator[Asked]:
    made = Asked(site, url)
    try:
        yield made
    finally:
        made.store.close()


def soon(condition: Callable[[], bool], what: str, seconds: float = 60) -> float:
    """Wait for it; after how long it came."""
    watch, deadline = Stopwatch(), time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)
    return watch.seconds


def test_a_cancelled_run_leaves_a_dripping_box_takes_the_other_back_and_other_runs_go_on(site: Site) -> None:
    site.plant("drip", pattern=ENTERING)
    with asking(site) as asked, site.process("serve", "--port", "0", **LIMITS) as served:
        run = asked.push(HERE)
        served.wait_for(lambda: asked.bad_is_alone(run), "the bad device to be alone")
        other = asked.push(ELSEWHERE)
        asked.run_requests.cancel(run.id, "ada")
        assert soon(lambda: asked.push_ended(run), "the push to be left") < LEFT_SECONDS
        soon(lambda: asked.status(run).final, "the end of the run")
        assert (asked.status(run), asked.store.get_run(run.id).reason) == (
            RunStatus.CANCELLED,
            "cancelled by ada",
        )
        assert asked.open(run) == set()
        soon(lambda: asked.status(other).final, "the end of the other run")
        assert asked.status(other) is RunStatus.KEPT
        assert asked.store.leases.active() == []
    now = site.running()
    assert {box for box, text in now.items() if text != site.delivered[box]} == {
        box for box in site.crowd.boxes if box.network == ELSEWHERE
    }


def test_a_box_that_cannot_be_taken_back_is_settled_by_recover(site: Site) -> None:
    site.plant("drip", pattern=ENTERING)
    with asking(site) as asked:
        with site.process("serve", "--port", "0", **LIMITS) as served:
            run = asked.push(HERE)
            served.wait_for(lambda: asked.bad_is_alone(run), "the bad device to be alone")
            site.plant("drip", pattern=READING)
            asked.run_requests.cancel(run.id, "ada")
            soon(lambda: asked.status(run) is RunStatus.NEEDS_RECOVERY, "the other one to be back")
            assert asked.open(run) == {BAD.name}
            os.kill(served.pid or 0, signal.SIGTERM)
            served.wait(60)
        site.plant("clear")
        with site.process("recover", "--json") as recovering:
            recovered = recovering.wait()
        assert recovered.code == 0, recovered.text
        assert [entry["run"] for entry in json.loads(recovered.stdout)] == [run.id]
        assert asked.open(run) == set()
        assert asked.status(run) is RunStatus.CANCELLED
    assert site.running() == site.delivered
    assert site.crowd.timers() == []


def test_the_time_of_a_run_ends_an_exchange(site: Site) -> None:
    site.plant("drip", pattern=READING)
    with asking(site) as asked, site.process("serve", "--port", "0") as served:
        run = asked.push(HERE, 8)
        watch = Stopwatch()
        served.wait_for(lambda: asked.status(run).final, "the end of the run")
        assert watch.seconds < 8 + LEFT_SECONDS + 2
        assert (asked.status(run), asked.store.get_run(run.id).reason) == (RunStatus.FAILED, "timed out")
        (stage,) = [stage for stage in asked.store.stages(run.id) if stage.name == "read"]
        assert [error.device for error in stage.summary.errors] == [BAD.name]
        assert set(stage.summary.running) == {GOOD.name}
    assert site.running() == site.delivered


@pytest.mark.parametrize("way", ["serve", "worker"])
def test_sigterm_in_the_midst_of_an_exchange_ends_within_ten_seconds(
    site: Site, way: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres_url") if way == "worker" else None
    environment = {"QOSFORGE_DATABASE_URL": url} if url else {}
    arguments = ("serve", "--port", "0") if way == "serve" else ("worker",)
    site.plant("drip", pattern=ENTERING)
    with asking(site, url) as asked:
        with site.process(*arguments, **environment) as process:
            run = asked.push(HERE)
            process.wait_for(lambda: asked.bad_is_alone(run), "the bad device to be alone")
            os.kill(process.pid or 0, signal.SIGTERM)
            watch = Stopwatch()
            ended = process.wait(60)
            assert watch.seconds < 10
            assert ended.code == 0, ended.text
        assert asked.status(run) is RunStatus.RUNNING
        assert BAD.name in asked.open(run)
        site.plant("clear")
        with site.process("recover", **environment) as recovering:
            assert "Traceback" not in recovering.wait().text
        assert asked.open(run) == set()
        assert asked.status(run) in (RunStatus.KEPT, RunStatus.ROLLED_BACK)
        assert (site.running() == site.delivered) is (asked.status(run) is RunStatus.ROLLED_BACK)
