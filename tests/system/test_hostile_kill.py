"""SIGTERM in the midst of every way to misbehave, by every driver at once: the process ends, nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.intent.loader import parse_intent
from app.runs.artifacts import open_artifacts
from app.runs.desk import Desk, Order
from app.runs.store import Run, RunStore
from app.runs.tables import RunStatus
from app.settings import Settings
from tests.counted import tried
from tests.drivers.hostile_boxes import Hostile
from tests.stopwatch import Stopwatch

from .command import Command
from .crowd import POLICY
from .hostile_networks import OTHERS, Networks, networks

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]

ENDED_SECONDS = 10
PATIENCE = 240
"""Seconds for all devices to be in the midst, and for the way back, on a machine that is busy."""
OF_THEMSELVES = {"prompt-inside-output", "hangs-up", "endless-questions"}
"""Ways that end their exchange by themselves, at once: of these it is known that they were met."""

UNTOUCHED = ("login", "read")
"""Networks whose run reads, and has changed nothing."""


class Asked:
    """A run on every network: rows in the store, and nothing more."""

    def __init__(self, made: Networks, url: str | None) -> None:
        chosen = {"database_url": url} if url else {}
        settings = Settings(var_dir=made.folder / "var", inventories_dir=made.folder / "inventories", **chosen)
        self.store = RunStore(settings.database_url)
        self.desk = Desk(settings, self.store, open_artifacts(settings, self.store.database))
        intent = parse_intent(POLICY, "crowd.yaml")
        self.runs: dict[str, Run] = {
            name: self.desk.place(Order(network=network, intent=intent, measure=False), "ada")[0]
            for name, network in made.networks.items()
        }

    def status(self, network: str) -> RunStatus:
        return self.store.get_run(self.runs[network].id).status

    def open(self, network: str) -> set[str]:
        return {touch.device for touch in self.store.journal.open_touches(self.runs[network].id)}


def until_all(process: Command, devices: list[Hostile], condition: Callable[[Hostile], bool], what: str) -> None:
    """Wait until a condition holds of all devices; the test fails, and names the others, where it never does."""
    deadline = time.monotonic() + PATIENCE
    while missing := [device.name for device in devices if not condition(device)]:
        assert process.alive, f"it ended before {what}: {process.printed().text[-5000:]}"
        assert time.monotonic() < deadline, f"{what}: never {missing}"
        time.sleep(0.05)


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
        hostile = [device for device in made.boxes.devices.values() if device.way.name != OTHERS]
        with made.process(*arguments, **environment) as process:
            until_all(process, hostile, lambda device: device.reached, "to be reached")
            process.wait_for(lambda: asked.status(OTHERS).final, "the end of the others' run", PATIENCE)
            assert asked.status(OTHERS) is RunStatus.KEPT
            made.boxes.let_loose()
            midst = [device for device in hostile if device.way.name not in OF_THEMSELVES]
            until_all(process, midst, lambda device: device.in_the_midst, "to be in the midst")
            assert [device.name for device in hostile if not device.acting] == []
            os.kill(process.pid or 0, signal.SIGTERM)
            watch = Stopwatch()
            ended = process.wait(60)
            took = watch.seconds
            print(f"{way} ended {took:.1f} s after the signal")  # noqa: T201  (shown where it fails, or by -rP)
            assert took < ENDED_SECONDS, ended.text[-5000:]
            assert ended.code == 0, ended.text[-5000:]
        stopped = [name for name in asked.runs if name != OTHERS]
        assert {name: asked.status(name) for name in stopped} == dict.fromkeys(stopped, RunStatus.RUNNING)
        for name in stopped:
            changed = {
                device.name
                for device in made.devices(name)
                if made.boxes.running(device.name) != made.delivered[device.name]
            }
            assert changed <= asked.open(name)
        assert asked.open("batch") == {device.name for device in made.devices("batch")}
        tried(f"kills of {way} in the midst (way and driver)", len(hostile))
        if way == "serve":  # how a worker's runs are taken over is tried where workers are killed
            recovered(made, asked, stopped)
        asked.store.close()


def recovered(made: Networks, asked: Asked, stopped: list[str]) -> None:
    """Let devices come to their senses, and recover: every run ends, and each device is as before or after it.

    Runs that had touched nothing are cancelled meanwhile, and end by that.
    """
    made.boxes.heal()
    for name in UNTOUCHED:
        asked.desk.cancel(asked.runs[name].id, "ada")
    with made.process("recover") as recovering:
        ended = recovering.wait(PATIENCE)
        assert "Traceback" not in ended.text, ended.text[-5000:]
    assert [name for name in stopped if asked.open(name)] == []
    assert {name: asked.status(name) for name in UNTOUCHED} == dict.fromkeys(UNTOUCHED, RunStatus.CANCELLED)
    for name in stopped:
        status = asked.status(name)
        assert status in (RunStatus.CANCELLED, RunStatus.KEPT, RunStatus.ROLLED_BACK), (name, status)
        changed = {
            device.name: made.boxes.running(device.name) != made.delivered[device.name]
            for device in made.devices(name)
        }
        assert changed == dict.fromkeys(changed, status is RunStatus.KEPT), name
