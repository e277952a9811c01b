"""A service that is told to end in the midst of devices that misbehave, and what is left then."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from qosforge.artifacts.store import open_artifacts
from qosforge.intent.loader import parse_intent
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.settings import Settings
from tests.drivers.hostile_boxes import Hostile
from tests.run_requests import request_run
from tests.stopwatch import Stopwatch

from .command import Command
from .crowd import POLICY
from .hostile_networks import OTHERS, Networks

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
        self.run_requests = RunRequests(settings, self.store, open_artifacts(settings, self.store.database))
        intent = parse_intent(POLICY, "crowd.yaml")
        chosen_of_run = {"measure": False, "accept_unconfirmed": True}
        self.runs: dict[str, Run] = {
            name: self.run_requests.submit(*request_run(network, intent, **chosen_of_run), "ada")[0]
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


def hostile_of(made: Networks) -> list[Hostile]:
    """All devices that misbehave."""
    return [device for device in made.boxes.devices.values() if device.way.name != OTHERS]


def into_the_midst(process: Command, made: Networks, asked: Asked) -> None:
    """Wait until each device is at its own misbehaviour; others were done meanwhile."""
    hostile = hostile_of(made)
    until_all(process, hostile, lambda device: device.reached, "to be reached")
    process.wait_for(lambda: asked.status(OTHERS).final, "the end of the others' run", PATIENCE)
    assert asked.status(OTHERS) is RunStatus.KEPT
    made.boxes.let_loose()
    midst = [device for device in hostile if device.way.name not in OF_THEMSELVES]
    until_all(process, midst, lambda device: device.in_the_midst, "to be in the midst")
    assert [device.name for device in hostile if not device.acting] == []


def ended_in_time(process: Command) -> None:
    """Send it SIGTERM: it ends in order, and within the time that it has."""
    os.kill(process.pid or 0, signal.SIGTERM)
    watch = Stopwatch()
    ended = process.wait(60)
    took = watch.seconds
    print(f"ended {took:.1f} s after the signal")  # noqa: T201  (shown where it fails, or by -rP)
    assert took < ENDED_SECONDS, ended.text[-5000:]
    assert ended.code == 0, ended.text[-5000:]


def nothing_lost(made: Networks, asked: Asked) -> list[str]:
    """Each device holds what it held, or stands in the journal; the networks whose runs go on later."""
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
    return stopped


def recovered(made: Networks, asked: Asked, stopped: list[str]) -> None:
    """Let devices come to their senses, and recover: every run ends, and each device is as before or after it.

    Runs that had touched nothing are cancelled meanwhile, and end by that.
    """
    made.boxes.heal()
    untouched = [name for name in stopped if name in UNTOUCHED]
    for name in untouched:
        asked.run_requests.cancel(asked.runs[name].id, "ada")
    with made.process("recover") as recovering:
        ended = recovering.wait(PATIENCE)
        assert "Traceback" not in ended.text, ended.text[-5000:]
    assert [name for name in stopped if asked.open(name)] == []
    assert {name: asked.status(name) for name in untouched} == dict.fromkeys(untouched, RunStatus.CANCELLED)
    for name in stopped:
        status = asked.status(name)
        assert status in (RunStatus.CANCELLED, RunStatus.KEPT, RunStatus.ROLLED_BACK), (name, status)
        changed = {
            device.name: made.boxes.running(device.name) != made.delivered[device.name]
            for device in made.devices(name)
        }
        assert changed == dict.fromkeys(changed, status is RunStatus.KEPT), name
