"""Fifty runs at once on PostgreSQL: the interface, workers and the server itself are killed at random moments."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import closing
from random import Random

import pytest

from qosforge.artifacts.store import open_artifacts
from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings
from tests.postgres import PostgresServer

from .chaos import RUNS_ASKED, SEEDS, Installation, Watch, in_background, wait_until
from .chaos_checks import Seen, check
from .command import Command
from .crowd import Crowd, orders

CRASHES = 6
RESTARTS = 4


def ended(crowd: Crowd, url: str, attack: Callable[[Installation, Watch], None]) -> Seen:
    """Ask for the runs while ``attack`` is on, and check what came of them."""
    first = {box: crowd.running(box) for box in crowd.boxes}
    crowd.trouble()
    asked = list(orders(RUNS_ASKED))
    with closing(RunStore(url)) as store, closing(Installation(crowd, url)) as installation:
        watch = Watch(store)
        placing = in_background(lambda: installation.place_and_cancel(asked))
        attack(installation, watch)
        ids = placing.result(timeout=120)
        watch.wait_over()
        wait_until(installation.ready, "the service")
        assert installation.place(asked) == ids, "after the crashes, too, one key stands for one run"
        settings = Settings(var_dir=crowd.var, database_url=url)
        return check(crowd, store, open_artifacts(settings, store.database), ids, first)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
def test_workers_and_interface_are_killed_and_one_worker_stays_away(
    seed: int, crowd: Crowd, postgres_url: str
) -> None:
    random = Random(seed)

    def attack(installation: Installation, watch: Watch) -> None:
        starts = [installation.serve, *[installation.worker] * 3]
        living: list[Command] = [start() for start in starts]
        wait_until(installation.ready, "the service")
        lost = random.randrange(1, 4)
        for number in range(CRASHES):
            time.sleep(random.uniform(0, 6))
            watch.moment(random)
            others = [which for which in range(4) if which != lost]
            victims = [lost] if number == 1 else others if number == 4 else [random.choice(others)]
            for victim in victims:
                living[victim].kill()
            for victim in set(victims) - {lost}:
                living[victim] = starts[victim]()

    seen = ended(crowd, postgres_url, attack)
    assert seen.interrupted > 0, "a run was cut short"
    assert seen.statuses["kept"] + seen.given_up > RUNS_ASKED / 2, seen


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_server_crashes_underneath(
    seed: int, crowd: Crowd, postgres_url: str, postgres: PostgresServer
) -> None:
    random = Random(seed)

    def attack(installation: Installation, watch: Watch) -> None:
        workers = [installation.worker(), installation.worker()]
        living = [installation.serve(), *workers]
        wait_until(installation.ready, "the service")
        for worker in workers:  # one that begins while the server is away ends with an error
            worker.wait_for(lambda worker=worker: "] working " in worker.printed().stderr, "it works")
        for _ in range(RESTARTS):
            watch.moment(random)
            postgres.restart(signal.SIGQUIT, away=random.uniform(0, 4))
            time.sleep(random.uniform(0, 4))
        assert all(command.alive for command in living), "none of them ended over it"

    seen = ended(crowd, postgres_url, attack)
    assert seen.statuses["kept"] + seen.given_up > RUNS_ASKED / 2, seen
