"""A network of one box of each platform whose configurations hold a secret in every form that the platform has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.route import lab_route
from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.inventory.overlay import state_folder
from qoslab import control
from tests.platforms.test_secret_forms import LINES

from .crowd import write_inventory

NETWORK = "vault"
OF_CAMPUS = ("r1", "s2950", "s2970", "ers5510", "e300")
BOXES = (*OF_CAMPUS, "c9300")
_NOT_OF_CAMPUS = """\
c9300:
  platform: catalyst_9000
  data:
    role: access
    image: "17.12"
    driver: ios
    startup: startup/c9300.cfg
    interfaces:
      GigabitEthernet1/0/1: {rate: 1 Gb/s, tags: [lan]}
      TenGigabitEthernet1/1/1: {rate: 10 Gb/s, tags: [trunk], tagged: true}
"""
_ITS_STARTUP = """\
hostname c9300
archive
 path flash:cfg
ip scp server enable
file prompt quiet
interface GigabitEthernet1/0/1
 switchport mode access
interface TenGigabitEthernet1/1/1
 switchport mode trunk
end
"""
_STATIONS = """\
links: []
stations:
  - {name: ann, address: 192.168.3.15, attach: [r1, FastEthernet0/0], rate: 100 Mb/s}
  - {name: bob, address: 192.168.4.15, attach: [r1, Serial0/0], rate: 2 Mb/s}
"""
_TRAFFIC = """\
scenarios:
  - name: call
    title: A call through the router
    between: [[ann, bob]]
    flows:
      - {name: voice, from: ann, to: bob, dscp: 46, application: rtp-audio, dst_port: 16384,
         source: {kind: cbr, rate: 80 kb/s, ip_bytes: 200}}
"""
PLANTED = "PLANTED"
_ALSO_QUOTED = "banner motd ^C ask for {} ^C"

_WITHIN = {
    "server-key": ("aaa server radius dynamic-author",),
    "key-string": ("key chain VAULT", " key 1"),
    "key 7": ("radius server VAULT",),
    "pre-shared-key": ("crypto keyring VAULT",),
    "neighbor": ("router bgp 65000",),
    "area-password": ("router isis",),
    "area": ("router ospf 7",),
    "password two": ("line aux 0",),
    "password": ("line vty 5 15",),
    "set": ("crypto map VAULT 10 ipsec-manual",),
    "sap": ("interface {}", " cts manual"),
    "authentication-type": ("interface {}", " vrrp-group 1"),
}
"""What a line stands in, by its first words; any other line that is indented stands in the first interface."""


def _save(name: str, driver: DeviceDriver) -> None:
    if name in ("r1", "c9300"):  # NAPALM's own driver confirms only what it has committed
        driver.cli(["write memory"])
    else:
        driver.confirm_commit()


@dataclass
class Vault:
    """The network and its lab below ``folder``; ``secrets`` by device."""

    folder: Path
    secrets: dict[str, set[str]] = field(default_factory=dict)
    network: Network = field(init=False)

    def __post_init__(self) -> None:
        inventory = self.inventories / NETWORK
        write_inventory(inventory, OF_CAMPUS)
        with (inventory / "hosts.yaml").open("a") as hosts:
            hosts.write(_NOT_OF_CAMPUS)
        (inventory / "startup" / "c9300.cfg").write_text(_ITS_STARTUP)
        numbers = (f"{PLANTED}{number:03}" for number in range(1000))
        (inventory / "links.yaml").write_text(_STATIONS)
        (inventory / "traffic.yaml").write_text(_TRAFFIC)
        for device in load_network(inventory).devices:
            startup = inventory / "startup" / f"{device.name}.cfg"
            startup.write_text(
                self._with_secrets(device.name, LINES[device.platform], startup.read_text(), numbers)
            )
        self.network = load_network(inventory)

    @property
    def inventories(self) -> Path:
        return self.folder / "inventories"

    @property
    def var(self) -> Path:
        return self.folder / "var"

    @property
    def state(self) -> Path:
        """Where the lab keeps its state."""
        return state_folder(self.var, NETWORK)

    def start(self) -> None:
        """Start the lab; each box keeps the lines that its platform has, and saves them in an order of its own."""
        start_lab(self.network, self.inventories / NETWORK, self.state)
        with Fleet(self.network, lab_route(self.state)) as fleet:
            outcomes = fleet.run(BOXES, _save)
        assert all(outcome.error is None for outcome in outcomes.values()), outcomes
        for box, planted in self.secrets.items():
            planted.intersection_update(re.findall(rf"{PLANTED}\d\d\d", self.running(box)))

    def stop(self) -> None:
        """Stop it."""
        control.stop(self.state)

    def running(self, box: str) -> str:
        """The running configuration as it stands in the device."""
        return str(control.request(self.state, {"op": "running", "box": box})["running"])

    def _with_secrets(self, box: str, forms: str, text: str, numbers: Iterator[str]) -> str:
        """A startup configuration with a line of every form, each with a secret of its own."""
        mine = self.secrets.setdefault(box, set())
        interface = re.search(r"^interface (\S+(?: \d\S*)?)", text, re.MULTILINE)
        added: list[str] = []
        for form in forms.splitlines():
            line = form
            while re.search(rf"{PLANTED}(?!\d)", line):
                mine.add(number := next(numbers))
                line = re.sub(rf"{PLANTED}(?!\d)", number, line, count=1)
            if line.startswith(" ") and interface is not None:
                within = next((of for words, of in _WITHIN.items() if line.lstrip().startswith(words)), None)
                added += [head.format(interface[1]) for head in within or ("interface {}",)]
                line = " " * len(within or (1,)) + line.lstrip()
            added.append(line)
        added.append(_ALSO_QUOTED.format(sorted(mine)[0]))
        lines = text.rstrip().splitlines()
        at = len(lines) - 1 if lines[-1].strip() == "end" else len(lines)
        return "\n".join([*lines[:at], *added, *lines[at:]]) + "\n"
