"""Small networks of two devices each, with a lab each, and policies by which many runs get in each other's way."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netmiko import ConnectHandler
from ruamel.yaml import YAML

from qosforge.deploy.credentials import lab_credentials
from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.inventory.overlay import state_folder
from qoslab import control

from .campus import INVENTORY, SESSIONS, TIMERS

NETWORKS = {
    "north": ("r1", "s2950"),
    "east": ("r3", "s2970"),
    "south": ("r1", "ers5510"),
    "west": ("r3", "e300"),
}
"""Devices of the campus by network: every platform, and the same name in two places."""

POLICY = """\
version: 1
intent: crowd
parameters: {voice: 30, web: 60, rest: 40, mark: af21, roles: [edge, access, core]}
tolerance: 30 %
classes:
  - name: voice
    match: {any: [{protocol: udp, destination_port: 5060}, {dscp: [ef]}]}
    mark: {dscp: ef, cos: 5}
    treatment: {priority: {percent: "${voice}"}}
  - name: web
    match: {any: [{application: [http]}, {dscp: ["${mark}"]}]}
    mark: {dscp: "${mark}", cos: 2}
    treatment: {bandwidth: {remaining_percent: "${web}"}}
  - name: default
    treatment: {bandwidth: {remaining_percent: "${rest}"}}
apply:
  - {role: "${roles}", interfaces: wan, direction: output}
  - {role: "${roles}", interfaces: lan, direction: input}
  - {role: "${roles}", interfaces: trunk, direction: output}
"""


@dataclass(frozen=True)
class Box:
    """One device, by name within its network."""

    network: str
    name: str


@dataclass
class Crowd:
    """The networks and their labs below ``folder``."""

    folder: Path
    networks: dict[str, Network] = field(init=False)

    def __post_init__(self) -> None:
        for name, boxes in NETWORKS.items():
            write_inventory(self.inventories / name, boxes)
        self.networks = {name: load_network(self.inventories / name) for name in NETWORKS}

    @property
    def inventories(self) -> Path:
        return self.folder / "inventories"

    @property
    def var(self) -> Path:
        return self.folder / "var"

    @property
    def boxes(self) -> list[Box]:
        return [Box(network, name) for network, names in NETWORKS.items() for name in names]

    def start(self) -> None:
        """Start the labs."""
        for name, network in self.networks.items():
            start_lab(network, self.inventories / name, self.state(name))

    def trouble(self) -> None:
        """Make the devices so slow that a moment falls into a touch, and let some refuse a line of some runs."""
        for box in self.boxes:
            control.plant(self.state(box.network), box.name, "slow", seconds=0.03)
            if box.name == "r3":
                control.plant(
                    self.state(box.network), box.name, "refuse", pattern=r"priority percent 33$", text="% Refused"
                )

    def stop(self) -> None:
        """Stop those that run."""
        for name in NETWORKS:
            control.stop(self.state(name))

    def state(self, network: str) -> Path:
        """Where a lab keeps its state."""
        return state_folder(self.var, network)

    # -- what the devices hold, without the code under test -------------------------------------------------
    def running(self, box: Box) -> str:
        """The running configuration as it stands in the device."""
        return str(control.request(self.state(box.network), {"op": "running", "box": box.name})["running"])

    def startup(self, box: Box) -> str:
        """What it would boot with."""
        return (self.state(box.network) / box.name / "startup-config").read_text()

    def timers(self) -> list[Box]:
        """Devices whose own commit-confirm timer is set, asked over SSH."""
        asked = [box for box in self.boxes if self._device(box).driver in TIMERS]
        with ThreadPoolExecutor(len(asked)) as pool:
            return [box for box, set_ in zip(asked, pool.map(self._timer_set, asked), strict=True) if set_]

    def _device(self, box: Box) -> Any:
        return self.networks[box.network].device(box.name)

    def _timer_set(self, box: Box) -> bool:
        state = self.state(box.network)
        login, address = lab_credentials(box.name, state, {}), control.overlay(state).boxes[box.name]
        question, none_set = TIMERS[self._device(box).driver]
        with ConnectHandler(
            device_type=SESSIONS.get(self._device(box).platform, "cisco_ios"),
            host=address.hostname,
            port=address.port,
            username=login.username,
            password=login.password,
            secret=login.secret,
            ssh_strict=True,
            alt_host_keys=True,
            alt_key_file=str(state / "known_hosts"),
        ) as connection:
            if not connection.check_enable_mode():
                connection.enable()
            return none_set not in connection.send_command(question)


def commands(text: str) -> list[str]:
    """Lines of a configuration without comments and blanks."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("!")]


def write_inventory(folder: Path, boxes: tuple[str, ...]) -> None:
    """A part of the campus as an inventory of its own."""
    yaml = YAML()
    campus: Mapping[str, Any] = yaml.load((INVENTORY / "hosts.yaml").read_text())
    (folder / "startup").mkdir(parents=True)
    with (folder / "hosts.yaml").open("w") as file:
        yaml.dump({name: campus[name] for name in boxes}, file)
    for name in ("groups.yaml", "defaults.yaml"):
        shutil.copy(INVENTORY / name, folder)
    for name in boxes:
        shutil.copy(INVENTORY / "startup" / f"{name}.cfg", folder / "startup")
    (folder / "links.yaml").write_text("links: []\nstations: []\n")


def orders(count: int) -> Iterator[dict[str, Any]]:
    """What runs are asked for over HTTP, all different: on both devices of a network, or on one of them."""
    for number in range(count):
        parameters = {
            "voice": 20 + number % 30,
            "web": 40 + number % 41,
            "rest": 60 - number % 41,
            "mark": ("af21", "af22", "af11", "af12", "cs2")[number % 5],
            "roles": (["edge", "access", "core"], ["edge"], ["access", "core"])[number // len(NETWORKS) % 3],
        }
        yield {
            "network": list(NETWORKS)[number % len(NETWORKS)],
            "policy": {"text": POLICY, "parameters": parameters},
            "measure": False,
            "accept_unconfirmed": True,
        }
