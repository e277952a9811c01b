"""SIGTERM in the midst of every way to misbehave, by every driver at once: the process ends, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.counted import tried

from .hostile_networks import networks
from .midst import Asked, ended_in_time, hostile_of, into_the_midst, nothing_lost, recovered

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]


@pytest.mark.parametrize("way", ["serve", "worker"])
def test_sigterm_in_the_midst_of_each_way_by_each_driver_ends_within_ten_seconds(
    tmp_path: Path, way: str, request: pytest.FixtureRequest
) -> None:
    """Each device is at its own misbehaviour when the signal comes; others were done meanwhile.

    After it each holds what it held, or stands in the journal; and `qosforge recover` brings every run to an end.
    """
    url = request.getfixturevalue("postgres_url") if way == "worker" else None
    environment = {"QOSFORGE_DATABASE_URL": url} if url else {}
    arguments = ("serve", "--port", "0") if way == "serve" else ("worker",)
    with networks(tmp_path) as made:
        asked = Asked(made, url)
        with made.process(*arguments, **environment) as process:
            into_the_midst(process, made, asked)
            ended_in_time(process)
        stopped = nothing_lost(made, asked)
        tried(f"kills of {way} in the midst (way and driver)", len(hostile_of(made)))
        if way == "serve":  # how a worker's runs are taken over is tried where workers are killed
            recovered(made, asked, stopped)
        asked.store.close()
