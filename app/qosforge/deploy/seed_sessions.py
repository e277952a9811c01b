"""Sessions with devices that no inventory has yet, for a discovery: reached alike, and asked what they are."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from qosforge.deploy.connection import DeviceConnection
from qosforge.deploy.device_driver import DeviceDriver, device_span
from qosforge.deploy.failures import problem_of
from qosforge.deploy.route import InventoryRoute, LoginTarget
from qosforge.deploy.sessions import Sessions
from qosforge.discovery.facts import Neighbour
from qosforge.discovery.names import label
from qosforge.errors import DeviceError, HostKeyUnknown, InputError
from qosforge.inventory.reach import Reach
from qosforge.platforms.device_text import DeviceText, DeviceWords

_ANY = "ers"
"""The driver whose log-in waits for whatever a device shows first, a prompt or a banner that wants a key."""
_TOLD = (("force10", re.compile(r"Force10|FTOS", re.IGNORECASE)), ("ios", re.compile(r"Cisco|IOS")))
"""What `show version` says, by what the command line is called; a 5510 has no such command."""
_DRIVERS = {"ios": "ios_legacy"}


@dataclass(frozen=True)
class _Seed:
    """A session with a device: what its command line is called, and how it is asked."""

    platform: str
    connection: DeviceConnection
    driver: DeviceDriver
    words: DeviceWords


def target_of_address(route: InventoryRoute, address: str, common: Reach, *, logs_in: bool = True) -> LoginTarget:
    """Where and how to log in to ``host`` or ``host:port``; see `InventoryRoute.target_of`.

    ``common`` is how it is reached.

    Raises:
        QosforgeError: that is no address, or nothing is there to log in with.
    """
    host, separator, port = address.rpartition(":")
    numbered = bool(separator) and port.isdigit() and ":" not in host
    words = {"hostname": host if numbered else address} | ({"port": int(port)} if numbered else {})
    try:
        reach = Reach.model_validate({**common.model_dump(exclude_unset=True), **words})
    except ValueError:
        raise InputError(f"{address!r} is no address", hint="write host or host:port") from None
    return route.target_of(address, reach, logs_in=logs_in)


class SeedSessions:
    """Opens one session to each address, ``host`` or ``host:port``, and keeps it until the end of the block.

    Safe between threads, as long as each address is asked by one at a time.
    """

    def __init__(self, route: InventoryRoute, common: Reach, places: Mapping[str, str], sessions: Sessions) -> None:
        """``common`` is how all of them are reached. ``places`` are addresses of neighbours by their names, for
        those that are not reached where they say.
        """
        self._route = route
        self._common = common
        self._places = {label(name): place for name, place in places.items()}
        self._sessions = sessions
        self._open: dict[str, _Seed] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for seed in self._open.values():
            with contextlib.suppress(Exception):  # it may be gone already
                seed.connection.close()

    def locate(self, neighbour: Neighbour) -> str:
        """See `qosforge.discovery.session.DiscoverySession`."""
        place = self._places.get(label(neighbour.name)) if neighbour.name else None
        found = place or next(iter(neighbour.addresses), None)
        if found is None:
            raise DeviceError(f"{neighbour} announces no address", hint="say where it is: --at NAME=HOST")
        return found

    def platform(self, address: str) -> str:
        """See `qosforge.discovery.session.DiscoverySession`."""
        return self._session(address).platform

    def run(self, address: str, command: str) -> DeviceText:
        """See `qosforge.discovery.session.DiscoverySession`."""
        seed = self._session(address)
        answer = seed.driver.cli([command])[command]
        if command.startswith("show running"):
            seed.words.learn(answer.unmasked)
        return answer

    def _session(self, address: str) -> _Seed:
        known = self._open.get(address)
        if known is not None:
            return known
        target = target_of_address(self._route, address, self._common)
        seed = self._connect(address, target, _ANY)
        said = seed.driver.cli(["show version"])["show version"].unmasked
        platform = next((name for name, pattern in _TOLD if pattern.search(said)), _ANY)
        if platform != _ANY:
            seed.connection.close()
            seed = self._connect(address, target, platform)
        with self._lock:
            self._open[address] = seed
        return seed

    def _connect(self, address: str, target: LoginTarget, platform: str) -> _Seed:
        words = DeviceWords(address, "", target.login.secrets)  # which platform it is may not be known yet
        made = DeviceConnection()
        arguments = {**target.optional_args(), "session_guard": self._sessions.guard()}
        extras = {"timeout": target.timeout, "optional_args": arguments}
        driver = _DRIVERS.get(platform, platform)
        try:
            with device_span("connect", words):
                made.open(target.hostname, target.login.username, target.login.password, None, driver, extras)
        except Exception as error:  # noqa: BLE001  # a driver may raise anything
            problem = problem_of(error, words)
            if isinstance(problem, HostKeyUnknown):
                problem.hint = f"compare it with the device's own, and record it: {self._trust(address)}"
            raise problem from None
        return _Seed(platform, made, DeviceDriver(made.connection, words), words)

    def _trust(self, address: str) -> str:
        """The command that records the host key of an address that no inventory has yet."""
        way = "" if self._common.transport == "ssh" else f" --transport {self._common.transport}"
        jump = f" --jump {self._common.jump}" if self._common.jump else ""
        return f"qosforge device trust --host {address}{way}{jump}"
