"""Networks of devices that misbehave, reached as an administrator's own are: one network for each step of a run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from qosforge.deploy.driver_capabilities import DRIVERS
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from tests.drivers.hostile import HEALTHY, KINDS, WAYS, Way
from tests.drivers.hostile_boxes import ACCOUNT, Boxes, Hostile
from tests.privileges import why_no_namespaces

from .campus import INVENTORY
from .command import Command


@dataclass(frozen=True)
class Sample:
    """A device of an inventory."""

    inventory: Path
    name: str

    @cache  # noqa: B019  # there are five; to read one takes longer than to start a device of it
    def read(self) -> tuple[Mapping[str, Any], str]:
        """What the inventory says of it, its platform included, and its startup configuration: to be read only."""
        yaml = YAML()
        host: dict[str, Any] = yaml.load((self.inventory / "hosts.yaml").read_text())[self.name]
        groups: Mapping[str, Any] = yaml.load((self.inventory / "groups.yaml").read_text())
        startup = (self.inventory / "startup" / f"{self.name}.cfg").read_text()
        return host | {"platform": groups[host["groups"][0]]["platform"]}, startup


BOXES = {
    "ios": Sample(INVENTORY, "r1"),
    "ios_legacy": Sample(INVENTORY, "r3"),
    "ers": Sample(INVENTORY, "ers5510"),
    "force10": Sample(INVENTORY, "e300"),
    "linux_tc": Sample(Path(__file__).parents[1] / "routers" / "mixed", "left"),
}
"""A device of an inventory for each driver: its platform, image, interfaces and startup configuration."""
assert set(BOXES) == set(KINDS) == set(DRIVERS)

UNCOUNTED = {"force10", "linux_tc"}
"""Drivers of devices that are asked no show command in a run before a change: their platform counts nothing by
class, or nothing where there is no class yet.
"""
ABSENT = frozenset({"linux_tc"} if why_no_namespaces() else ())
"""Drivers of devices that there cannot be here."""
OTHERS = "healthy"
"""The network of devices that behave."""
ENDLESS = {"SILENCE": "600", "SECONDS": "900", "BYTES": str(1 << 30)}
"""Limits that no device comes to while it is looked at: what ends an exchange then is the end of the process."""


def network_of(way: Way) -> str:
    """The network whose run meets a way to misbehave."""
    # Its session stays open beside those that are read for ever.
    return "read" if way.step == "logout" else way.step


@dataclass
class Networks:
    """The networks below ``folder``, and processes that carry out runs there."""

    folder: Path
    boxes: Boxes
    chosen: Mapping[str, list[Way]]
    """Ways by network: each has a device by way and driver."""
    reach: Mapping[str, str]
    """What stands in every device's data about reaching it."""
    networks: dict[str, Network] = field(default_factory=dict)
    delivered: dict[str, str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def build(self) -> None:
        """Start the devices, and write the inventories."""
        (self.folder / "var").mkdir(mode=0o700)
        for network, ways in self.chosen.items():
            self._write(network, ways)
        lines = "".join(f"[127.0.0.1]:{box.port} {self.boxes.host_key}\n" for box in self.boxes.devices.values())
        (self.folder / "known_hosts").write_text(lines)
        self.networks = {name: load_network(self.folder / "inventories" / name) for name in self.chosen}
        self.delivered = {name: self.boxes.running(name) for name in self.boxes.devices}

    def devices(self, network: str) -> list[Hostile]:
        """The devices of a network."""
        return [self.boxes.devices[device.name] for device in self.networks[network].devices]

    @property
    def environment(self) -> dict[str, str]:
        """Of every process."""
        limits = {
            f"QOSFORGE_DEVICE_LIMITS__{step}__{quantity}": value
            for step in ("LOGIN", "READ", "SHOW", "BATCH", "SAVE")
            for quantity, value in ENDLESS.items()
        }
        return {
            "QOSFORGE_VAR_DIR": str(self.folder / "var"),
            "QOSFORGE_INVENTORIES_DIR": str(self.folder / "inventories"),
            "QOSFORGE_KNOWN_HOSTS_FILE": str(self.folder / "known_hosts"),
            "QOSFORGE_SSH_CONFIG_FILE": str(self.folder / "ssh_config"),
            **{f"QOSFORGE_{name}": ACCOUNT for name in ("USERNAME", "PASSWORD", "SECRET")},
            **limits,
        }

    @contextmanager
    def process(self, *command: str, **environment: str) -> Iterator[Command]:
        """The command, killed at the end of the block where it has not ended."""
        folder = self.folder / "printed" / str(next(self._numbers))
        started = Command(command, self.environment | environment, folder)
        try:
            yield started
        finally:
            if started.alive:
                started.kill()

    def _write(self, network: str, ways: list[Way]) -> None:
        telnet = self.reach.get("transport") == "telnet"
        folder = self.folder / "inventories" / network
        folder.mkdir(parents=True)
        hosts = {}
        for way, driver in itertools.product(ways, BOXES):
            if driver in ABSENT or (way.step == "show" and driver in UNCOUNTED):
                continue
            if telnet and not KINDS[driver].typed:
                continue
            box, startup = BOXES[driver].read()
            name = f"{driver.replace('_', '-')}-{way.name}"
            image = str(box["data"]["image"])
            made = self.boxes.add(name, way, box["platform"], image, startup, telnet=telnet)
            data = {word: deepcopy(value) for word, value in box["data"].items() if word != "startup"}
            data |= self.reach
            hosts[name] = {
                "hostname": "127.0.0.1",
                "port": made.port,
                "platform": box["platform"],
                "connection_options": {"napalm": {"extras": {"optional_args": {"inline_transfer": True}}}},
                "data": data,
            }
        with (folder / "hosts.yaml").open("w") as file:
            YAML().dump(hosts, file)
        for file_name in ("groups", "defaults"):
            (folder / f"{file_name}.yaml").write_text("{}\n")
        (folder / "links.yaml").write_text("links: []\nstations: []\n")
        # All of them at once, and no other rule.
        (folder / "changes.yaml").write_text(
            f"writable: true\nrollout: {{limits: {{network: {{at_once: {len(hosts)}}}}}}}\n"
        )


def every_way() -> dict[str, list[Way]]:
    """All ways, by the network whose run meets them, and a network of healthy devices."""
    chosen: dict[str, list[Way]] = {OTHERS: [HEALTHY]}
    for way in WAYS:
        chosen.setdefault(network_of(way), []).append(way)
    return chosen


@contextmanager
def networks(
    folder: Path, chosen: Mapping[str, list[Way]] | None = None, reach: Mapping[str, str] | None = None
) -> Iterator[Networks]:
    """Networks of the ways that are chosen, or of all, with their devices on loopback."""
    with Boxes(folder / "boxes") as boxes:
        made = Networks(folder, boxes, chosen or every_way(), reach or {})
        made.build()
        yield made
