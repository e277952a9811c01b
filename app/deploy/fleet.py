"""Reaching many boxes at once: Nornir runs one task on each, over NAPALM connections that stay open."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from napalm.base.base import NetworkDriver
from napalm.base.exceptions import ConnectAuthError, ConnectionException, NapalmException
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException
from nornir.core import Nornir
from nornir.core.configuration import Config
from nornir.core.inventory import ConnectionOptions, Defaults, Groups, Host, Hosts, Inventory
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.core.task import Result, Task
from nornir.plugins.runners import ThreadedRunner
from paramiko.ssh_exception import BadHostKeyException, SSHException

from app.deploy.credentials import credentials
from app.deploy.device_words import DeviceWords
from app.errors import DeviceError, InputError, Place, QosforgeError
from app.inventory.models import Network
from app.inventory.overlay import Overlay
from app.platforms.base import secret_forms

T = TypeVar("T")
WORKERS = 20
CONNECT_SECONDS = 15


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What a task gave on one box: a value, or the error that stopped it."""

    device: str
    value: T | None = None
    error: QosforgeError | None = None


class _Attentive:
    """A driver that lets a device's door learn the secrets of every configuration that it reads."""

    def __init__(self, driver: NetworkDriver, words: DeviceWords) -> None:
        self._driver = driver
        self._words = words

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def get_config(self, *arguments: Any, **options: Any) -> Any:
        """See `NetworkDriver.get_config`."""
        texts = self._driver.get_config(*arguments, **options)
        for text in texts.values():
            self._words.learn(text)
        return texts


class Fleet:
    """Connections to the boxes of a network. A failed box is a value in the result, never an abort."""

    def __init__(self, network: Network, overlay: Overlay | None, lab: Path | None) -> None:
        """Nothing is contacted before the first task."""
        self.network = network
        self._overlay = overlay
        self._lab = lab
        self._nornir: Nornir | None = None
        self._refused: dict[str, QosforgeError] = {}
        self._words: dict[str, DeviceWords] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        if self._nornir is not None:
            for host in self._nornir.inventory.hosts.values():
                self._drop(host)
            self._nornir = None

    def run(self, devices: Iterable[str], task: Callable[[str, NetworkDriver], T]) -> Mapping[str, Outcome[T]]:
        """Run ``task(device, driver)`` on each device at once, and wait for all of them."""
        names = list(devices)
        nornir = self._connect()
        results: dict[str, Outcome[T]] = {
            name: Outcome(name, error=self._refused[name]) for name in names if name in self._refused
        }
        chosen = nornir.filter(filter_func=lambda host: host.name in names and host.name not in self._refused)

        def on_host(running: Task) -> Result:
            results[running.host.name] = self._guarded(running.host, task)
            return Result(host=running.host)

        chosen.run(task=on_host)
        return {name: results[name] for name in names}

    def words(self, device: str) -> DeviceWords:
        """The door for what a device says.

        Raises:
            InputError: the network has no such device.
        """
        if device not in self._words:
            entry = self.network.device(device)
            try:
                login = credentials(device, self._lab)
            except InputError:
                login = None  # then no session comes about, and what is shown is of configurations read before
            self._words.setdefault(device, DeviceWords(secret_forms(entry.platform), login))
        return self._words[device]

    def _guarded(self, host: Host, task: Callable[[str, NetworkDriver], T]) -> Outcome[T]:
        outcome = self._attempt(host, task)
        return (
            outcome
            if outcome.error is None
            else replace(outcome, error=self.words(host.name).shown_in(outcome.error))
        )

    def _attempt(self, host: Host, task: Callable[[str, NetworkDriver], T]) -> Outcome[T]:
        place = Place(device=host.name)
        problem: QosforgeError
        try:
            driver = host.get_connection("napalm", Config())
            return Outcome(host.name, value=task(host.name, _Attentive(driver, self.words(host.name))))
        except QosforgeError as caught:
            problem = caught
        except (ConnectAuthError, NetmikoAuthenticationException):
            problem = DeviceError("the box refuses the credentials", place, "check user name, password and secret")
        except (ConnectionException, NetmikoTimeoutException) as caught:
            problem = _unreached(caught, place)
        except NapalmException as caught:
            problem = DeviceError(str(caught), place, "nothing further was sent to it")
        except (SSHException, OSError, EOFError) as caught:
            problem = DeviceError(f"the connection broke: {caught}", place, "try again when the box answers")
        except Exception as caught:  # noqa: BLE001  # a driver may raise anything: it is this box's failure
            problem = DeviceError(f"the driver failed: {type(caught).__name__}: {caught}", place)
        self._drop(host)
        return Outcome(host.name, error=problem)

    def _drop(self, host: Host) -> None:
        """Close a connection whatever state it is in; the next task opens a new one."""
        if "napalm" in host.connections:
            connection = host.connections.pop("napalm")
            # The session may be gone already: then nothing is left to close.
            with contextlib.suppress(Exception):
                connection.close()

    def _connect(self) -> Nornir:
        if self._nornir is None:
            ConnectionPluginRegister.auto_register()
            hosts = Hosts()
            for device in self.network.devices:
                try:
                    hosts[device.name] = self._host(device.name, device.driver)
                except QosforgeError as error:
                    self._refused[device.name] = error
            inventory = Inventory(hosts=hosts, groups=Groups(), defaults=Defaults())
            self._nornir = Nornir(inventory=inventory, runner=ThreadedRunner(num_workers=WORKERS), config=Config())
        return self._nornir

    def _host(self, name: str, driver: str) -> Host:
        if self._overlay is None or name not in self._overlay.addresses:
            raise DeviceError("its address is not known", Place(device=name), "start the lab: qosforge lab up")
        address = self._overlay.addresses[name]
        login = credentials(name, self._lab)
        optional: dict[str, Any] = {
            "port": address.port,
            "secret": login.secret,
            "ssh_strict": True,
            "alt_host_keys": True,
            "alt_key_file": str(self._overlay.known_hosts),
            "conn_timeout": CONNECT_SECONDS,
            # A tool that switches a line on and off on its way leaves boxes unlike what was read: a box that
            # NAPALM copies files on has "file prompt quiet" of its own.
            "auto_file_prompt": False,
        }
        return Host(
            name=name,
            hostname=address.hostname,
            username=login.username,
            password=login.password,
            platform=driver,
            connection_options={
                "napalm": ConnectionOptions(extras={"timeout": 60, "optional_args": optional}),
            },
        )


def _unreached(caught: BaseException, place: Place) -> DeviceError:
    """Why a session did not come about; drivers wrap what really happened, and say less."""
    first: BaseException | None = caught
    while first is not None:
        if isinstance(first, BadHostKeyException):
            return DeviceError(
                "it shows another host key than the one that is known of it",
                place,
                "somebody answers in its place, or it has a new key: then replace the known one",
            )
        root, first = first, first.__cause__ or first.__context__
    said = [line.removeprefix("[Errno None] ") for error in (caught, root) for line in str(error).splitlines()[:1]]
    reason = ": ".join(dict.fromkeys(filter(None, said))) or type(caught).__name__
    return DeviceError(f"cannot be reached: {reason}", place, "is it up, and its address right?")
