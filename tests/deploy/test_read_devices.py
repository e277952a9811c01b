"""Reading the devices of a network as they are."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from qosforge.deploy.fleet import Outcome
from qosforge.deploy.read_devices import read_each_live_state, read_live_state, read_running
from qosforge.errors import CommandRefused, DeviceError, DeviceErrors, Place, QosforgeError
from qosforge.inventory.models import Device, DeviceRole
from qosforge.platforms.device_text import DeviceText
from tests.device_texts import opened, said


def fleet(**answers: str | None) -> Any:
    """Devices that answer with a text, or cannot be reached."""
    outcomes = {
        name: Outcome(
            name,
            said(text, name) if text else None,
            None if text else DeviceError("cannot be reached", Place(device=name)),
        )
        for name, text in answers.items()
    }

    def run(names: list[str], _task: object, each: Callable[[Outcome[Any]], None] | None = None) -> dict[str, Any]:
        for name in names if each is not None else ():
            each(outcomes[name])
        return {name: outcomes[name] for name in names}

    return SimpleNamespace(
        network=SimpleNamespace(devices=[SimpleNamespace(name=name) for name in answers]), run=run
    )


def test_every_box_is_read() -> None:
    assert opened(read_running(fleet(r1="hostname r1\n", r3="hostname r3\n"))) == {
        "r1": "hostname r1\n",
        "r3": "hostname r3\n",
    }


def test_boxes_that_cannot_be_read_are_told_together() -> None:
    with pytest.raises(DeviceErrors) as told:
        read_running(fleet(r1=None, r2="hostname r2\n", r3=None))
    assert [problem.where.device for problem in told.value.problems()] == ["r1", "r3"]
    assert str(told.value) == "r1: cannot be reached\nr3: cannot be reached"
    assert told.value.exit_code == 3


class Answers:
    """A device with a running and a startup configuration, or an error in place of that."""

    def __init__(self, startup: str | QosforgeError) -> None:
        self._startup = startup

    def get_config(self, retrieve: str) -> DeviceText:
        if retrieve == "running":
            return said("hostname r1\n")
        if isinstance(self._startup, QosforgeError):
            raise self._startup
        return said(self._startup)


def fleet_of(**startups: tuple[str, str | QosforgeError]) -> Any:
    """Devices by the driver and what each answers where it is asked for its startup configuration."""
    devices = {
        name: Device(
            name=name, platform="cisco_ios", image="12.4", role=DeviceRole.EDGE, driver=driver, interfaces=()
        )
        for name, (driver, _) in startups.items()
    }

    def run(
        names: list[str], task: Any, each: Callable[[Outcome[Any]], None] | None = None
    ) -> dict[str, Outcome[Any]]:
        outcomes = {}
        for name in names:
            try:
                outcomes[name] = Outcome(name, task(name, Answers(startups[name][1])))
            except QosforgeError as error:
                outcomes[name] = Outcome(name, error=error)
            if each is not None:
                each(outcomes[name])
        return outcomes

    network = SimpleNamespace(devices=list(devices.values()), device=devices.__getitem__)
    return SimpleNamespace(network=network, run=run)


def test_what_is_saved_is_told_of_devices_that_show_it_and_of_others_nothing() -> None:
    place = Place(device="r1")
    answers: dict[str, tuple[str, str | QosforgeError]] = {
        "saved": ("ios_legacy", "hostname r1\n"),
        "unsaved": ("ios_legacy", "hostname r0\n"),
        "blank": ("ios_legacy", ""),
        "refuses": ("ios_legacy", CommandRefused("no such command", place)),
        "has-none": ("ers", "hostname r0\n"),
    }
    now = read_live_state(fleet_of(**answers))
    assert set(now.running) == set(answers)
    assert now.unsaved == {"saved": (), "unsaved": ("-hostname r0", "+hostname r1")}
    answers["cut"] = ("ios_legacy", DeviceError("the session ended", place))
    each, errors = read_each_live_state(fleet_of(**answers))
    assert (set(each.running), each.unsaved, errors) == (set(answers), now.unsaved, {})
    with pytest.raises(DeviceErrors):
        read_live_state(fleet_of(**answers))


def test_who_counts_is_told_of_each_box_as_it_answers() -> None:
    told: list[tuple[str, bool]] = []
    away = fleet(r1=None, r3=None)
    read_each_live_state(away, each=lambda one: told.append((one.device, one.error is None)))
    read_each_live_state(fleet_of(r2=("ers", "")), each=lambda one: told.append((one.device, one.error is None)))
    assert told == [("r1", False), ("r3", False), ("r2", True)]
