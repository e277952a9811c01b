"""Devices that misbehave, by every driver at once, with a healthy one beside them."""

from __future__ import annotations

import re
import resource
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import GRACE_SECONDS, Fleet, Outcome
from qosforge.deploy.route import LabRoute
from qosforge.deploy.sessions import Sessions
from qosforge.deploy.transaction import running
from qosforge.errors import DeviceError
from qosforge.inventory.models import Device, DeviceRole, Network
from qosforge.inventory.overlay import Address, Overlay
from qosforge.platforms.device_text import DeviceText
from qosforge.settings import DeviceLimits
from tests.counted import tried
from tests.drivers.hostile import HEALTHY, KINDS, WAYS, Devices, Way, drip
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.hostile

SMALL = {"silence": 1.0, "seconds": 2.0, "bytes": 256 << 10}
LIMITS = DeviceLimits.model_validate(
    {"login": {**SMALL, "silence": 5.0, "seconds": 6.0}, **dict.fromkeys(("read", "show", "batch", "save"), SMALL)}
)
SLACK = 5.0
"""Seconds beside the limits: logging in where the step comes later, logging out, and a machine that is busy."""

ENDS: Mapping[str, str] = {
    "prompt-inside-output": "the answer holds the prompt itself|there is no answer to 'tc -d -j qdisc show'",
    "hangs-up": "the device closed the session|tc -d -j qdisc show: hostname Bo",
    "endless-questions": "keeps asking|no answer for",
}
"""What is told of devices that end otherwise than at a limit."""

Act = Callable[[str, DeviceDriver], object]
"""What is done with a device, by the name of its driver."""


def _batch(name: str, driver: DeviceDriver) -> None:
    driver.load_merge_candidate(config=f"{KINDS[name].line}\n")
    driver.commit_config()


def _read(name: str, driver: DeviceDriver) -> DeviceText:
    del name
    return running(driver)


ACTS: Mapping[str, Act] = {
    "login": _read,
    "read": _read,
    "show": lambda _, driver: driver.cli(["show clock"]),
    "batch": _batch,
    "save": lambda _, driver: driver.confirm_commit(),
    "logout": _read,
}


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[Devices]:
    for name in ("USERNAME", "PASSWORD", "SECRET"):
        monkeypatch.setenv(f"QOSFORGE_{name}", "lab")
    with Devices() as started:
        yield started


@pytest.fixture
def meet(devices: Devices, tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    """``meet(way, until=..., sessions=...)``: a fleet of one such device by driver, and one that is healthy."""
    opened: list[Fleet] = []

    def start(way: Way, sessions: Sessions | None = None, until: Callable[[], str | None] | None = None) -> Fleet:
        boxes = {driver: (driver, devices.add(way, driver)) for driver in KINDS}
        boxes["healthy"] = ("ios_legacy", devices.add(HEALTHY))
        known = tmp_path / "known_hosts"
        known.write_text("".join(f"[127.0.0.1]:{port} {devices.host_key}\n" for _, port in boxes.values()))
        network = Network(
            name="hostile",
            devices=tuple(
                Device(
                    name=n,
                    platform=kind.platform,
                    image=kind.image,
                    role=DeviceRole.EDGE,
                    driver=driver,
                    interfaces=(),
                )
                for n, (driver, _) in boxes.items()
                for kind in [KINDS[driver]]
            ),
            links=(),
            stations=(),
        )
        overlay = Overlay({name: Address("127.0.0.1", port) for name, (_, port) in boxes.items()}, known)
        opened.append(Fleet(network, LabRoute(overlay, tmp_path), sessions or Sessions(LIMITS), until))
        return opened[-1]

    yield start
    for fleet in opened:
        fleet.close()
    assert [thread.name for thread in threading.enumerate() if thread.name == "session-guard"] == []


def act(fleet: Fleet, step: str) -> tuple[Mapping[str, Outcome[object]], Mapping[str, float]]:
    """Do the step on every device; how it ended, and after how many seconds."""
    watch = Stopwatch()
    took = {}

    def one(name: str, driver: DeviceDriver) -> object:
        done = ACTS["read" if name == "healthy" else step](name, driver)
        took[name] = watch.seconds
        return done

    outcomes = fleet.run([device.name for device in fleet.network.devices], one)
    return outcomes, took | {"all": watch.seconds}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_each_ends_at_its_limit_by_every_driver_and_the_healthy_one_is_served(
    meet: Callable[..., Fleet], way: Way
) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fleet = meet(way)
    outcomes, took = act(fleet, way.step)
    assert outcomes["healthy"].error is None
    held = outcomes["healthy"].value
    assert isinstance(held, DeviceText)
    assert "hostname Box" in held.shown()
    assert "hostname Box" not in f"{held} {held!r}", "it leaves through its door alone"
    assert took["healthy"] < SLACK
    assert took["all"] < 6.0 + SLACK
    for driver in KINDS if way.step != "logout" else ():
        error = outcomes[driver].error
        assert isinstance(error, DeviceError)
        assert error.where.device == driver
        if way.name in ENDS:
            assert re.search(ENDS[way.name], error.message)
        else:
            assert any(words in error.message for words in ("no answer for", "not finished within", "received"))
            assert "raise QOSFORGE_DEVICE_LIMITS__" in error.hint
        assert error.hint
    watch = Stopwatch()
    fleet.close()
    assert watch.seconds < 5 * 3.0 + SLACK
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100 << 10  # KiB
    tried("exchanges with a hostile device by SSH (way and driver)", len(KINDS))


def test_a_device_that_dripped_is_reached_anew(meet: Callable[..., Fleet]) -> None:
    fleet = meet(Way("dripping-show", "show", drip))
    assert act(fleet, "show")[0]["force10"].error is not None
    assert act(fleet, "read")[0]["force10"].error is None


@pytest.mark.parametrize("step", ["login", "read", "batch"])
def test_devices_are_left_within_five_seconds_and_the_healthy_one_is_done(
    meet: Callable[..., Fleet], step: str
) -> None:
    reasons: list[str] = []
    fleet = meet(Way(f"dripping-{step}", step, drip), Sessions(), lambda: reasons[0] if reasons else None)
    said = time.monotonic() + 2.0
    timer = threading.Timer(2.0, reasons.append, ["cancelled by ada"])
    timer.start()
    outcomes, _ = act(fleet, step)
    assert 0 < time.monotonic() - said < 5.0
    assert outcomes["healthy"].error is None
    for driver in KINDS:
        error = outcomes[driver].error
        assert error is not None
        assert "cancelled by ada" in error.message
        assert "recover" in error.hint
    timer.join()


def test_sessions_that_are_closed_end_their_exchanges_and_begin_no_others(meet: Callable[..., Fleet]) -> None:
    sessions = Sessions()
    fleet = meet(Way("dripping-read", "read", drip), sessions)
    timer = threading.Timer(2.0, sessions.close, ["the process ends"])
    timer.start()
    watch = Stopwatch()
    outcomes, took = act(fleet, "read")
    assert watch.seconds < 4.0
    assert (outcomes["healthy"].error, "healthy" in took) == (None, True)
    outcomes, took = act(fleet, "read")
    assert all("the process ends" in str(outcome.error) for outcome in outcomes.values())
    assert took["all"] < 2.0


def test_a_device_that_was_done_when_sessions_were_cut_is_reached_anew(meet: Callable[..., Fleet]) -> None:
    """A task may have more to do than what it says to its device, such as to write what it did."""
    reasons: list[str] = []
    fleet = meet(Way("dripping-read", "read", drip), Sessions(), lambda: reasons[0] if reasons else None)

    def read_and_write(name: str, driver: DeviceDriver) -> DeviceText:
        if name != "healthy":
            return driver.get_config("running")
        held = driver.get_config("running")
        reasons.append("cancelled by ada")
        time.sleep(GRACE_SECONDS + 1.5)
        return held

    names = ["healthy", "force10"]
    assert fleet.run(names, read_and_write)["healthy"].error is None
    assert act(fleet, "read")[0]["healthy"].error is None


def test_an_interrupt_of_who_waits_leaves_the_devices(meet: Callable[..., Fleet]) -> None:
    fleet = meet(Way("dripping-read", "read", drip), Sessions(), _interrupt)
    watch = Stopwatch()
    with pytest.raises(KeyboardInterrupt):
        act(fleet, "read")
    assert watch.seconds < SLACK


def _interrupt() -> str | None:
    raise KeyboardInterrupt
