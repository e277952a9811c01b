"""Reaching many devices at once: Nornir runs one task on each, over NAPALM connections that stay open."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Generic, Self, TypeVar

from cli_candidate.guard import SessionGuard
from nornir.core import Nornir
from nornir.core.configuration import Config
from nornir.core.inventory import ConnectionOptions, Defaults, Groups, Host, Hosts, Inventory
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.core.task import Result, Task

from qosforge.deploy.connection import NAME, DeviceConnection
from qosforge.deploy.device_driver import DeviceDriver, device_span
from qosforge.deploy.failures import problem_of
from qosforge.deploy.pace import Pace, PacedRunner
from qosforge.deploy.route import LoginTarget, Route
from qosforge.deploy.sessions import Sessions
from qosforge.errors import InputError, QosforgeError
from qosforge.inventory.models import Device, Network
from qosforge.inventory.writable import read_only
from qosforge.platforms.device_text import DeviceWords
from qosforge.telemetry.traces import current_trace, mark_failed, span

T = TypeVar("T")

ASK_SECONDS = 0.5
"""How often it is asked whether the devices have to be left."""
GRACE_SECONDS = 3.0
"""How long those under way may go on then: a healthy device mostly comes to its end."""


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What a task gave on one device: a value, or the error that stopped it."""

    device: str
    value: T | None = None
    error: QosforgeError | None = None


class Fleet:
    """Connections to the devices of a network. A failed device is a value in the result, never an abort."""

    def __init__(
        self,
        network: Network,
        route: Route,
        sessions: Sessions | None = None,
        until: Callable[[], str | None] | None = None,
        earlier: Callable[[str], str | None] | None = None,
    ) -> None:
        """Nothing is contacted before the first task.

        ``route`` is the way to all of them. ``sessions`` holds every step with a device to its limits. ``until`` is
        asked while tasks are under way: once it gives a reason, the sessions of those that are not done are closed
        within five seconds. ``earlier`` gives what was last read from a device, if anything: so its secrets
        are known before it is read again.
        """
        self.network = network
        self._route = route
        self._sessions = sessions or Sessions()
        self._until = until
        self._earlier = earlier
        self._pace = Pace(network)
        self._nornir: Nornir | None = None
        self._refused: dict[str, QosforgeError] = {}
        self._words: dict[str, DeviceWords] = {}
        self._lock = threading.Lock()
        self._guards: dict[str, SessionGuard] = {}
        self._at_work: set[str] = set()
        self._cut: str | None = None

    @property
    def told(self) -> str:
        """Which devices these are, in words: those of a lab, or the devices themselves."""
        return self._route.told

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection, many at once: each waits for its device's last word."""
        if self._nornir is None:
            return
        hosts = list(self._nornir.inventory.hosts.values())
        try:
            with ThreadPoolExecutor(min(self._pace.most, self._sessions.open.most), "fleet-close") as closing:
                list(closing.map(self._part_from, hosts))
        except RuntimeError:  # no thread can begin where the interpreter ends
            for host in hosts:
                self._part_from(host)
        finally:
            self._nornir = None

    def _part_from(self, host: Host) -> None:
        self._sessions.open.keep(self, host.name)
        self._drop(host)
        self._sessions.open.release(self, host.name, None)

    def run(
        self,
        devices: Iterable[str],
        task: Callable[[str, DeviceDriver], T],
        *,
        stoppable: bool = True,
        steps: Sequence[Sequence[str]] = (),
        paced: bool = False,
        each: Callable[[Outcome[T]], None] | None = None,
    ) -> Mapping[str, Outcome[T]]:
        """Run ``task(device, driver)`` on devices, as many at once as the network's rules let, and wait for all.

        Without ``stoppable`` nobody is asked whether the devices have to be left: for going back. Those of one of
        ``steps`` begin at the same moment; ``paced``: they begin to be changed, so rates hold. ``each`` is told
        every outcome as it comes about, from several threads.
        """
        names = list(devices)
        places = self._sessions.open
        runner = PacedRunner(
            self._pace,
            steps,
            paced=paced,
            leaving=lambda: self._cut is not None,
            claim=partial(places.claim, self),
            most_sessions=places.most,
        )
        nornir = self._connect().with_runner(runner)
        results: dict[str, Outcome[T]] = {
            name: Outcome(name, error=self._refused[name]) for name in names if name in self._refused
        }
        chosen = nornir.filter(filter_func=lambda host: host.name in names and host.name not in self._refused)
        if not chosen.inventory.hosts:  # Nornir would warn of it, in words of its own
            return results

        caller = current_trace()  # its threads stand in none

        def on_host(running: Task) -> Result:
            name = running.host.name
            of = {"device": name, "platform": self.network.device(name).platform, "network": self.network.name}
            with span("device", caller, **of):
                outcome = results[name] = self._attempt(running.host, task)
                if outcome.error is not None:
                    mark_failed(outcome.error)
            if each is not None:
                each(outcome)
            return Result(host=running.host)

        self._cut = None
        # A thread of its own, so that whoever waits here can be interrupted, and can leave the devices.
        work = threading.Thread(target=chosen.run, kwargs={"task": on_host}, name="fleet", daemon=True)
        work.start()
        try:
            self._wait(work, self._until if stoppable else None)
        except BaseException:
            self._leave("interrupted")
            work.join()
            raise
        finally:
            places.withdraw(self)
        return {name: results[name] for name in names}

    def words(self, device: str) -> DeviceWords:
        """The door for what a device says.

        Raises:
            InputError: the network has no such device.
        """
        if device not in self._words:
            entry = self.network.device(device)
            try:
                secrets = self._route.login(entry).secrets
            except InputError:
                # Then no session comes about, and what is shown is of configurations read before.
                secrets = frozenset()
            earlier = partial(self._earlier, device) if self._earlier else None
            self._words.setdefault(device, DeviceWords(device, entry.platform, secrets, earlier))
        return self._words[device]

    def _wait(self, work: threading.Thread, until: Callable[[], str | None] | None) -> None:
        if until is None:
            work.join()
        while work.is_alive():
            work.join(ASK_SECONDS)
            reason = None
            # Where nobody can say, the limits of the steps still hold.
            with contextlib.suppress(QosforgeError):
                reason = until() if until is not None else None
            if reason is not None:
                work.join(GRACE_SECONDS)
                self._leave(reason)
                work.join()

    def _leave(self, reason: str) -> None:
        """Close the sessions of devices that are not done, and open no other in this call."""
        with self._lock:
            self._cut = reason
            guards = [self._guards[name] for name in self._at_work if name in self._guards]
        for guard in guards:
            guard.stop(reason)

    @contextlib.contextmanager
    def _working(self, host: Host) -> Iterator[None]:
        """Let a device be left from outside while the block lasts."""
        if host.name in self._guards and self._guards[host.name].is_cut:
            self._drop(host)  # its last task ended well, and the session was cut when it had no more to say
        with self._lock:
            if NAME not in host.connections:
                guard = self._guards[host.name] = self._sessions.guard()
                host.connection_options[NAME].extras["optional_args"]["session_guard"] = guard
            self._at_work.add(host.name)
            cut = self._cut
        try:
            if cut is not None:
                self._guards[host.name].stop(cut)
            yield
        finally:
            with self._lock:
                self._at_work.discard(host.name)

    def _attempt(self, host: Host, task: Callable[[str, DeviceDriver], T]) -> Outcome[T]:
        places = self._sessions.open
        places.begin(self, host.name)
        try:
            return self._outcome(host, task)
        finally:
            take = partial(_taken, host) if NAME in host.connections else None
            if not places.release(self, host.name, take):
                self._drop(host)

    def _outcome(self, host: Host, task: Callable[[str, DeviceDriver], T]) -> Outcome[T]:
        words = self.words(host.name)
        try:
            with self._working(host):
                driver = self._connected(host, words)
                return Outcome(host.name, value=task(host.name, driver))
        except Exception as caught:  # noqa: BLE001  a driver may raise anything: it is this device's failure
            problem = problem_of(caught, words)
        self._drop(host)
        return Outcome(host.name, error=problem)

    def _connected(self, host: Host, words: DeviceWords) -> DeviceDriver:
        """The driver of a device, by its open connection or a new one."""
        new = NAME not in host.connections
        with device_span("connect", words, self.network.name) if new else contextlib.nullcontext():
            connection = host.get_connection(NAME, Config())
        return DeviceDriver(connection, words, self._refusal(host.name), self.network.name)

    def _refusal(self, device: str) -> QosforgeError | None:
        emulated = self._route.lab is not None
        return read_only(self.network.name, device) if self.network.changes.read_only(emulated=emulated) else None

    def _drop(self, host: Host) -> None:
        """Close a connection whatever state it is in; the next task opens a new one."""
        _taken(host)()

    def _connect(self) -> Nornir:
        if self._nornir is None:
            ConnectionPluginRegister.register(NAME, DeviceConnection)
            hosts = Hosts()
            for device in self.network.devices:
                try:
                    hosts[device.name] = _host(device, self._route.target(device))
                except QosforgeError as error:
                    self._refused[device.name] = error
            inventory = Inventory(hosts=hosts, groups=Groups(), defaults=Defaults())
            self._nornir = Nornir(inventory=inventory, config=Config())
        return self._nornir


def _taken(host: Host) -> Callable[[], None]:
    """Take the connection from a host, if it has one; what closes it."""
    connection = host.connections.pop(NAME, None)

    def close() -> None:
        # The session may be gone already: then nothing is left to close.
        with contextlib.suppress(Exception):
            if connection is not None:
                connection.close()

    return close


def _host(device: Device, target: LoginTarget) -> Host:
    """The device as Nornir has it."""
    extras = {"timeout": target.timeout, "optional_args": target.optional_args()}
    return Host(
        name=device.name,
        hostname=target.hostname,
        username=target.login.username,
        password=target.login.password,
        platform=device.driver,
        connection_options={NAME: ConnectionOptions(extras=extras)},
    )
