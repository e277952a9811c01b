"""Sessions that a process holds open at once: how many threads a push has, and who gets a place."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.campus import write_campus
from qosforge.compiler.waves import Wave
from qosforge.deploy.commit_confirm import too_wide
from qosforge.deploy.connection import DeviceConnection
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.open_sessions import Close, OpenSessions
from qosforge.deploy.route import lab_route
from qosforge.deploy.sessions import Sessions
from qosforge.deploy.transaction import Target, apply, confirm, running
from qosforge.emulation import start_lab
from qosforge.errors import InputErrors
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.settings import load_settings
from qoslab import control

from .test_transaction import Rows

DEVICES = 30
MOST = 4


class Peak:
    """The most threads that there were at once for a tenth of a second, beside those before it.

    One whose session has ended goes when the machine has time for it: the next session may have begun.
    """

    def __init__(self) -> None:
        self.before = set(threading.enumerate())
        self.most = 0
        self.sessions = 0
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look)

    def __enter__(self) -> Peak:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watch.join()

    def _look(self) -> None:
        seen: deque[set[threading.Thread]] = deque(maxlen=20)
        while not self._done.wait(0.005):
            new = {each for each in threading.enumerate() if each not in self.before and each is not self._watch}
            seen.append(new)
            self.most = max(self.most, len(new & seen[0]))
            self.sessions = max(self.sessions, sum(each.name == "session-guard" for each in new))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Network, Path]]:
    folder = tmp_path_factory.mktemp("many")
    write_campus(folder / "campus", DEVICES, changed=0, startup=True)
    network = load_network(folder / "campus")
    start_lab(network, folder / "campus", folder / "state")
    yield network, folder / "state"
    control.stop(folder / "state")


def _names(lab: tuple[Network, Path]) -> list[str]:
    return [device.name for device in lab[0].devices]


def _pushed(
    lab: tuple[Network, Path], most: int, word: str, names: Sequence[str], steps: Sequence[Sequence[str]] = ()
) -> Peak:
    """Push a line to devices and confirm it, each a task of its own, as a run does."""
    network, state = lab
    targets: dict[str, Target] = {}

    def meets(text: DeviceText) -> bool:
        return word in text.unmasked

    def save(name: str, driver: DeviceDriver) -> None:
        driver.confirm_commit()

    def read(name: str, driver: DeviceDriver) -> None:
        device = network.device(name)
        targets[name] = Target(
            name,
            device.platform,
            driver_capabilities(device.driver, name),
            running(driver),
            (f"snmp-server contact {word}",),
            meets,
        )

    def push(name: str, driver: DeviceDriver) -> None:
        apply(driver, targets[name], Rows(), 900)

    def keep(name: str, driver: DeviceDriver) -> None:
        confirm(driver, targets[name], Rows())

    with Peak() as peak, Fleet(network, lab_route(state), Sessions(most=most)) as fleet:
        for task in (save, read, push, keep):
            outcomes = fleet.run(names, task, steps=steps)
            errors = [str(outcome.error) for outcome in outcomes.values() if outcome.error is not None]
            assert errors == []
    assert all(word in control.request(state, {"op": "running", "box": name})["running"] for name in names)
    return peak


def test_a_push_has_no_more_threads_than_the_setting_allows(lab: tuple[Network, Path]) -> None:
    peak = _pushed(lab, MOST, "few", _names(lab))
    assert peak.sessions == MOST
    assert peak.most <= 2 * MOST + 2 * MOST + 1


def test_a_step_of_more_devices_than_sessions_goes_in_parts(lab: tuple[Network, Path]) -> None:
    names = _names(lab)[: MOST + 2]
    peak = _pushed(lab, MOST, "parts", names, [names])
    assert peak.sessions == MOST


def test_with_a_place_for_each_device_none_is_closed(lab: tuple[Network, Path]) -> None:
    names = _names(lab)[: 3 * MOST]
    peak = _pushed(lab, len(names), "each", names)
    assert peak.sessions == len(names)


def test_two_fleets_share_the_places_of_a_process(lab: tuple[Network, Path]) -> None:
    network, state = lab
    sessions = Sessions(most=MOST)
    names = _names(lab)[:10]
    with Peak() as peak:
        fleets = [Fleet(network, lab_route(state), sessions) for _ in range(2)]
        found: list[bool] = []

        def look(fleet: Fleet) -> None:
            for _ in range(2):
                outcomes = fleet.run(names, lambda _, driver: running(driver))
                found.extend(outcome.error is None for outcome in outcomes.values())

        threads = [threading.Thread(target=look, args=(fleet,)) for fleet in fleets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for fleet in fleets:
            fleet.close()
    assert found == [True] * 40
    assert peak.sessions <= MOST


def test_a_place_is_free_once_its_session_is_closed(
    lab: tuple[Network, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, state = lab
    sessions = Sessions(most=MOST)
    names = _names(lab)
    close = DeviceConnection.close

    def slowly(connection: DeviceConnection) -> None:
        time.sleep(0.3)
        close(connection)

    monkeypatch.setattr(DeviceConnection, "close", slowly)
    with Peak() as peak, Fleet(network, lab_route(state), sessions) as second:
        first = Fleet(network, lab_route(state), sessions)
        read = [*first.run(names[:MOST], lambda _, driver: running(driver)).values()]
        parting = threading.Thread(target=first.close)
        parting.start()
        time.sleep(0.1)
        read += second.run(names[MOST : 2 * MOST], lambda _, driver: running(driver)).values()
        parting.join()
    assert [outcome.error for outcome in read] == [None] * 2 * MOST
    assert peak.sessions == MOST


# -- who gets a place ----------------------------------------------------------------------------------------
class Idle:
    """An owner, and which of its sessions were closed."""

    def __init__(self, places: OpenSessions) -> None:
        self.places = places
        self.closed: list[str] = []

    def use(self, *devices: str) -> bool:
        if not self.places.claim(self, devices):
            return False
        for device in devices:
            self.places.begin(self, device)
        return True

    def done(self, *devices: str) -> None:
        for device in devices:
            self.places.release(self, device, lambda device=device: self._taker(device))

    def _taker(self, device: str) -> Close:
        return lambda: self.closed.append(device)


def test_idle_sessions_of_others_are_closed_first_and_then_the_own_that_were_used_last() -> None:
    places = OpenSessions(4)
    one, other = Idle(places), Idle(places)
    for device in ("a", "b"):
        assert other.use(device)
        other.done(device)
        assert one.use(device)
        one.done(device)
    assert one.use("c", "d", "e")
    assert (other.closed, one.closed) == (["a", "b"], ["b"])


def test_a_step_gets_all_its_places_or_none_and_who_waits_comes_by_turns() -> None:
    places = OpenSessions(3)
    first, wide, late = Idle(places), Idle(places), Idle(places)
    assert first.use("a", "b")
    assert not wide.use("c", "d")
    assert not late.use("e"), "the one that is free is not taken from who waits for two"
    first.done("a")
    assert wide.use("c", "d")
    assert first.closed == ["a"]
    assert not late.use("e")
    wide.done("c", "d")
    assert late.use("e")


def test_who_waits_no_more_holds_nobody_up() -> None:
    places = OpenSessions(1)
    first, gone, late = Idle(places), Idle(places), Idle(places)
    assert first.use("a")
    assert not gone.use("b")
    places.withdraw(gone)
    first.done("a")
    assert late.use("c")


def test_a_session_without_a_place_may_not_stay_open() -> None:
    places = OpenSessions(1)
    assert places.release(object(), "a", lambda: lambda: None) is False


# -- the setting ---------------------------------------------------------------------------------------------
def test_devices_of_a_step_that_is_too_wide_are_named() -> None:
    waves = [Wave("all devices", (("a", "b", "c"), ("d",)))]
    found = too_wide(waves, 2)
    assert [error.where.device for error in found] == ["a", "b", "c"]
    assert "at the same moment as 2 others" in found[0].message
    assert found[0].hint == "set QOSFORGE_DEVICE_SESSIONS to 3 or more"
    assert too_wide(waves, 3) == []


@pytest.mark.parametrize("value", ["0", "-1", "many", "10001"])
def test_a_wrong_number_is_named_by_its_variable(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_DEVICE_SESSIONS", value)
    with pytest.raises(InputErrors) as caught:
        load_settings()
    assert [problem.where.path for problem in caught.value.errors] == ["QOSFORGE_DEVICE_SESSIONS"]
