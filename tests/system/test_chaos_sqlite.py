"""Fifty runs at once on SQLite, whose one process is killed again and again."""

from __future__ import annotations

from contextlib import closing
from random import Random

import pytest

from qosforge.artifacts.store import open_artifacts
from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings

from .chaos import RUNS_ASKED, SEEDS, Installation, Watch, in_background, sqlite_url, wait_until
from .chaos_checks import check
from .crowd import Crowd, orders

CRASHES = 6


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
def test_killed_again_and_again_every_run_ends_and_none_twice(seed: int, crowd: Crowd) -> None:
    random = Random(seed)
    first = {box: crowd.running(box) for box in crowd.boxes}
    crowd.trouble()
    asked = list(orders(RUNS_ASKED))
    installation = Installation(crowd, sqlite_url(crowd.var))
    with closing(RunStore(installation.url)) as store, closing(installation):
        watch = Watch(store)
        server = installation.serve()
        placing = in_background(lambda: installation.place_and_cancel(asked))
        for _ in range(CRASHES):
            if random.random() < 0.8:
                wait_until(installation.ready, "the service")
            watch.moment(random)
            server.kill()
            server = installation.serve()
        ids = placing.result(timeout=120)
        watch.wait_over()
        wait_until(installation.ready, "the service")
        assert installation.place(asked) == ids, "after the crashes, too, one key stands for one run"
        settings = Settings(var_dir=crowd.var)
        seen = check(crowd, store, open_artifacts(settings, store.database), ids, first)
    assert seen.interrupted > 0, "a run was cut short"
    assert seen.statuses["kept"] + seen.given_up > RUNS_ASKED / 2, seen
