"""How a command reaches the devices of a network: all of them in its lab, or all by the inventory's words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from qosforge.deploy.credentials import Credentials, CredentialStore, lab_credentials
from qosforge.deploy.ssh_config import SshConfig, SshEntry
from qosforge.errors import DeviceError, InputError, Place
from qosforge.inventory.models import Device, Network
from qosforge.inventory.overlay import Overlay, has_overlay, read_overlay, state_folder
from qosforge.inventory.reach import Reach
from qosforge.settings import Settings

CONNECT_SECONDS = 15
LOGIN_SECONDS = 60
_PORTS = {"ssh": 22, "ssh-legacy": 22, "telnet": 23}


@dataclass(frozen=True)
class LoginTarget:
    """A device to log in to: where it is, what logs in, and the driver's other arguments.

    Secrets are in ``login`` alone.
    """

    hostname: str
    login: Credentials
    arguments: dict[str, Any] = field(default_factory=dict)
    timeout: int = LOGIN_SECONDS

    def optional_args(self) -> dict[str, Any]:
        """What a NAPALM driver takes beside host, user name and password."""
        login = self.login
        arguments: dict[str, Any] = {
            **self.arguments,
            "secret": login.secret,
            "ssh_strict": True,
            # A tool that switches a line on and off on its way leaves devices unlike what was read: one that
            # NAPALM copies files on has "file prompt quiet" of its own.
            "auto_file_prompt": False,
        }
        if login.key_file is not None:
            arguments |= {"use_keys": True, "key_file": str(login.key_file), "passphrase": login.passphrase or None}
        if login.agent:
            arguments["allow_agent"] = True
        return arguments


class Route(Protocol):
    """The way to every device of a network. A device that it cannot reach is an error, never another way."""

    told: str
    """In words, for who looks on."""
    lab: Path | None
    """State folder of the lab, where the devices are emulated."""
    ssh_options: tuple[str, ...]
    """Those by which OpenSSH logs in to other hosts of the network, as the devices are reached."""

    def target(self, device: Device) -> LoginTarget:
        """Where and how to log in.

        Raises:
            QosforgeError: that is not known.
        """

    def login(self, device: Device) -> Credentials:
        """What logs in.

        Raises:
            InputError: there is nothing, or it cannot be read.
        """


class LabRoute:
    """To the emulated devices of a lab, by its overlay."""

    def __init__(self, overlay: Overlay | None, lab: Path, environment: Mapping[str, str] = os.environ) -> None:
        """Without an ``overlay`` no lab is up, and no device is reached."""
        self.lab: Path | None = lab
        self.ssh_options: tuple[str, ...] = ()
        self._state = lab
        self._overlay = overlay
        self._environment = environment
        self.told = "the lab's devices"

    def target(self, device: Device) -> LoginTarget:
        """See `Route.target`."""
        if self._overlay is None or device.name not in self._overlay.addresses:
            what = "no address is known" if self._overlay is None else "the lab that is up has no such device"
            hint = "give it a hostname in hosts.yaml; if it is emulated, start the lab: qosforge lab up"
            raise DeviceError(what, Place(device=device.name), hint)
        address = self._overlay.addresses[device.name]
        return LoginTarget(
            hostname=address.hostname,
            login=self.login(device),
            arguments={
                "port": address.port,
                "alt_host_keys": True,
                "alt_key_file": str(self._overlay.known_hosts),
                "conn_timeout": CONNECT_SECONDS,
            },
        )

    def login(self, device: Device) -> Credentials:
        """See `Route.login`."""
        return lab_credentials(device.name, self._state, self._environment)


def _ssh_options(settings: Settings) -> tuple[str, ...]:
    """OpenSSH's own files, as devices are reached by them."""
    known = f"{settings.known_hosts_file} ~/.ssh/known_hosts"
    config = ("-F", str(settings.ssh_config_file)) if settings.ssh_config_file.is_file() else ()
    return (*config, "-o", f"UserKnownHostsFile={known}")


class InventoryRoute:
    """To the devices themselves, by hostnames, transports and credentials of the inventory."""

    told = "the devices themselves, by the inventory's addresses"
    lab: Path | None = None

    def __init__(self, settings: Settings, environment: Mapping[str, str] = os.environ) -> None:
        """Nothing is contacted.

        Raises:
            InputError: OpenSSH's configuration cannot be read.
        """
        self._known_hosts = settings.known_hosts_file
        self.ssh_options = _ssh_options(settings)
        self._ssh = SshConfig(settings.ssh_config_file)
        self._credentials = CredentialStore(settings.credentials_file, environment)

    def target(self, device: Device) -> LoginTarget:
        """See `Route.target`."""
        return self.target_of(device.name, device.reach)

    def target_of(self, name: str, reach: Reach, *, logs_in: bool = True) -> LoginTarget:
        """Where and how to log in to a device that no inventory need have; ``name`` is what errors call it.

        Unless somebody ``logs_in``, it takes no credentials: a host key is shown to anybody.

        Raises:
            QosforgeError: that is not known.
        """
        if reach.hostname is None:
            raise DeviceError("it has no hostname", Place(device=name), "give it one in hosts.yaml")
        login = (
            self._credentials.of(name, reach.credentials, reach.username)
            if logs_in
            else Credentials(username=reach.username or "nobody")
        )
        entry = self._ssh.entry(
            reach.hostname, reach.port, _PORTS[reach.transport], login.username or None, reach.jump
        )
        login = _completed(login, entry)
        if not login.username:
            hint = "give the credentials a username, or the device one in hosts.yaml"
            raise InputError("no user name", Place(device=name), hint)
        options = dict(reach.options)
        timeout = options.pop("timeout", None)
        return LoginTarget(
            hostname=entry.hostname,
            login=login,
            arguments={
                "conn_timeout": CONNECT_SECONDS,
                **options,
                "port": entry.port,
                "transport": reach.transport,
                "jump": entry.command,
                "system_host_keys": True,
                "alt_host_keys": True,
                "alt_key_file": str(self._known_hosts),
            },
            timeout=int(timeout) if isinstance(timeout, int | float) else LOGIN_SECONDS,
        )

    def login(self, device: Device) -> Credentials:
        """See `Route.login`."""
        return self._credentials.of(device.name, device.reach.credentials, device.reach.username)


def _completed(login: Credentials, entry: SshEntry) -> Credentials:
    """With what OpenSSH's configuration adds where the credentials say nothing: a device is shown no key beside a
    password.
    """
    keys = () if login.password else entry.key_files
    return replace(
        login,
        username=login.username or entry.username or "",
        key_file=login.key_file or next(iter(keys), None),
    )


def lab_of(settings: Settings, network: Network) -> Path | None:
    """State folder of the lab in which the devices of a network are reached now; ``None`` where they are reached
    themselves: no lab is up, and a device has a hostname.
    """
    lab = state_folder(settings.var_dir, network.name)
    real = not has_overlay(lab) and any(device.reach.hostname for device in network.devices)
    return None if real else lab


def devices_without_address(settings: Settings, network: Network) -> tuple[str, ...]:
    """The devices of a network that nothing says now where to reach: see `lab_of`. In the inventory's order.

    Raises:
        InputError: the lab's overlay cannot be read.
    """
    lab = lab_of(settings, network)
    if lab is None:
        return tuple(device.name for device in network.devices if device.reach.hostname is None)
    overlay = read_overlay(lab)
    known = overlay.addresses if overlay else {}
    return tuple(device.name for device in network.devices if device.name not in known)


def route_to(settings: Settings, network: Network, environment: Mapping[str, str] = os.environ) -> Route:
    """The way to the devices of a network now: see `lab_of`.

    Raises:
        InputError: the lab's overlay, or OpenSSH's configuration, cannot be read.
    """
    lab = lab_of(settings, network)
    return InventoryRoute(settings, environment) if lab is None else LabRoute(read_overlay(lab), lab, environment)


def lab_route(lab: Path | None) -> Route:
    """The way of a run in a lab.

    Raises:
        InputError: the lab's overlay cannot be read, or the run is of no lab.
    """
    if lab is None:
        raise InputError("this process reaches the devices of labs alone", hint="let the service do it")
    return LabRoute(read_overlay(lab), lab)


def route_of_run(settings: Settings, lab: Path | None) -> Route:
    """The way that a run began with: it keeps to it, whatever is up by now.

    Raises:
        InputError: as `route_to`.
    """
    return InventoryRoute(settings) if lab is None else lab_route(lab)
