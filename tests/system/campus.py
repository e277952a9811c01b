"""The campus lab of a test module, and what its devices hold, seen without the code under test."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from netmiko import ConnectHandler
from netmiko.base_connection import BaseConnection

from qosforge.deploy.credentials import lab_credentials
from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.runs.record.store import RunStore
from qoslab import control

from .command import Command, Ended

ROOT = Path(__file__).parents[2]
INVENTORY = ROOT / "inventories" / "campus"
POLICY = ROOT / "policies" / "campus-collaboration.yaml"
IMPOSSIBLE = ROOT / "policies" / "impossible.yaml"
SESSIONS = {"nortel_5510": "extreme_ers", "force10_e300": "dell_force10"}
"""Netmiko's device type by platform; everything else is ``cisco_ios``."""

TIMERS = {
    "ios": ("show archive config rollback timer", "No Rollback Confirmed Change pending"),
    "ios_legacy": ("show reload", "No reload is scheduled"),
}
"""By driver, how to ask a device for its commit-confirm timer, and what it says when none is set."""


class Campus:
    """A run directory with a lab in it."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.network = load_network(INVENTORY)
        self.names = [device.name for device in self.network.devices]
        self.state = state_folder(var, self.network.name)
        self._numbers = itertools.count()

    def start(self) -> None:
        """Start the lab's process."""
        start_lab(self.network, INVENTORY, self.state)

    def stop(self) -> None:
        """Stop it, if it runs."""
        control.stop(self.state)

    def reset(self) -> None:
        """Every device as it was delivered: startup, running, timers, sessions, faults."""
        for name in self.names:
            folder = self.state / name
            (folder / "startup-config").write_text((folder / "factory-config").read_text())
            control.plant(self.state, name, "clear")
            control.request(self.state, {"op": "reboot", "box": name})

    # -- what the devices hold, from the lab itself --------------------------------------------------------
    def running(self, name: str) -> str:
        """The running configuration of a device as it stands in the device."""
        return str(control.request(self.state, {"op": "running", "box": name})["running"])

    def all_running(self) -> dict[str, str]:
        """Running configurations of every device."""
        return {name: self.running(name) for name in self.names}

    def type(self, name: str, *lines: str) -> list[str]:
        """Type configuration lines on a device's console, as somebody else would; returns what it said."""
        return control.configure(self.state, name, lines)

    def startup(self, name: str) -> str:
        """The startup configuration of a device."""
        return (self.state / name / "startup-config").read_text()

    @contextmanager
    def session(self, name: str) -> Iterator[BaseConnection]:
        """A plain Netmiko session on a device, enabled."""
        login = lab_credentials(name, self.state, {})
        address = control.overlay(self.state).boxes[name]
        with ConnectHandler(
            device_type=SESSIONS.get(self.network.device(name).platform, "cisco_ios"),
            host=address.hostname,
            port=address.port,
            username=login.username,
            password=login.password,
            secret=login.secret,
            ssh_strict=True,
            alt_host_keys=True,
            alt_key_file=str(self.state / "known_hosts"),
        ) as connection:
            if not connection.check_enable_mode():
                connection.enable()
            yield connection

    def ask(self, name: str, *commands: str) -> str:
        """What a device answers over SSH."""
        with self.session(name) as connection:
            return "\n".join(connection.send_command(command) for command in commands)

    def timers(self) -> list[str]:
        """Devices whose own commit-confirm timer is set."""
        asked = [device for device in self.network.devices if device.driver in TIMERS]
        with ThreadPoolExecutor(len(asked)) as pool:
            answers = list(pool.map(lambda device: self.ask(device.name, TIMERS[device.driver][0]), asked))
        return [d.name for d, text in zip(asked, answers, strict=True) if TIMERS[d.driver][1] not in text]

    # -- the command -------------------------------------------------------------------------------------
    def begin(self, *arguments: object, environment: Mapping[str, str] | None = None) -> Command:
        """Start the command in a process of its own."""
        return Command(
            [str(argument) for argument in arguments],
            {"QOSFORGE_VAR_DIR": str(self.var), **(environment or {})},
            self.var / "printed" / str(next(self._numbers)),
        )

    def command(self, *arguments: object, environment: Mapping[str, str] | None = None) -> Ended:
        """Run the command to its end."""
        return self.begin(*arguments, environment=environment).wait()

    @property
    def environment(self) -> dict[str, str]:
        """For processes that are started otherwise."""
        return {**os.environ, "QOSFORGE_VAR_DIR": str(self.var)}

    @contextmanager
    def store(self) -> Iterator[RunStore]:
        """The run store, as another process reads it."""
        with RunStore(f"sqlite:///{self.var / 'runs.sqlite'}") as store:
            yield store


def edited(policy: Path, target: Path, *changes: tuple[str, str]) -> Path:
    """A copy of a policy in which words are replaced; every one of them must be there."""
    text = policy.read_text()
    for old, new in changes:
        assert old in text, f"{policy.name} has no {old!r}"
        text = text.replace(old, new)
    target.write_text(text)
    return target


def with_checks(policy: Path, target: Path, *pairs: tuple[str, str]) -> Path:
    """A copy of a policy that verifies only these pairs of stations."""
    lines = policy.read_text().splitlines()
    start = lines.index("verify:") + 1
    wanted = [f"{{from: {source}, to: {destination}," for source, destination in pairs]
    checks = [line for line in lines[start:] if any(words in line for words in wanted)]
    assert len(checks) == len(pairs), f"{policy.name} does not verify all of {pairs}"
    target.write_text("\n".join([*lines[:start], *checks]) + "\n")
    return target
