"""What the Catalyst boxes share: physical ports, logical interfaces without QoS, small reports."""

from __future__ import annotations

from dataclasses import replace

from qoslab.boxes.ios.arguments import interface_name, split_interface
from qoslab.boxes.ios.base import SUFFIXES
from qoslab.boxes.ios.system import IosSystem
from qoslab.clock import Clock
from qoslab.config import Section
from qoslab.errors import BoxError
from qoslab.grammar import Match, SyntaxRefused
from qoslab.shell import Shell
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

LOGICAL = "logical"
"""The mode of VLAN and EtherChannel interfaces: QoS is configured on physical ports."""


class CatalystSwitch(IosSystem):
    """A switch: ``tables`` holds the rows of ports under "if" and of logical interfaces under ``LOGICAL``."""

    capabilities: tuple[str, ...] = ("Switch", "IGMP")

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        super().__init__(spec, storage, clock)
        self.modes[LOGICAL] = replace(self.modes[LOGICAL], suffix=SUFFIXES["if"])

    def new_interface(self, name: str) -> Section:
        """Add an interface with what it prints by default."""
        held = super().new_interface(name)
        if split_interface(name)[0] in {"Vlan", "Port-channel"}:
            held.mode = LOGICAL
        return held

    def enter_interface(self, shell: Shell, match: Match) -> None:
        """``interface X``: a switch port has no subinterfaces."""
        if "." in match["interface"]:
            raise SyntaxRefused("invalid", match.line.index("."), match.line)
        super().enter_interface(shell, match)

    def interface_defaults(self, section: Section) -> None:
        """Switch ports print nothing by default; only VLAN interfaces have addresses."""
        if section.text.startswith("interface Vlan"):
            super().interface_defaults(section)

    def interface_report(self, interface: Section) -> str:
        """The block of ``show interfaces``."""
        name = interface.text.split()[1]
        up = self.is_up(interface)
        port = interface.mode == "if"
        admin = "administratively down" if "shutdown" in interface else "up" if up else "down"
        link = (" (connected)" if up else " (notconnect)") if port and "shutdown" not in interface else ""
        speed = self.speed(interface)
        # The bandwidth of a port that agreed on less is the speed agreed on.
        kbps = min(self.bandwidth(interface), speed * 1000) if port else self.bandwidth(interface)
        return "\n".join(
            [
                f"{name} is {admin}, line protocol is {'up' if up else 'down'}{link}",
                f"  MTU 1500 bytes, BW {kbps} Kbit, DLY 100 usec, ",
                "     reliability 255/255, txload 1/255, rxload 1/255",
                "  Encapsulation ARPA, loopback not set",
                *([f"  Full-duplex, {speed}Mb/s"] if port else []),
                *self.passed(interface),
            ]
        )

    def own_address(self, interface: Section) -> str:
        """That of the first VLAN interface which has one."""
        found = [super(CatalystSwitch, self).own_address(vlan) for vlan in self.running.starting("interface Vlan")]
        return next((address for address in found if address), "")

    def native_vlan(self, interface: Section) -> int | None:
        """Of a trunk its native VLAN, else the port's own."""
        trunk = interface.value("switchport mode").endswith("trunk")
        line = "switchport trunk native vlan" if trunk else "switchport access vlan"
        return int(interface.value(line, "1").split()[-1])

    def physical_ports(self, match: Match | None = None) -> list[Section]:
        """The ports that QoS is configured on; with a ``match`` that names one, that one.

        Raises SyntaxRefused when there is no such port.
        """
        ports = [held for held in self.interfaces() if held.mode == "if"]
        if match is None or "interface" not in match:
            return ports
        name = interface_name(match["interface"].replace(" ", ""))
        chosen = [held for held in ports if held.key == f"interface {name}"]
        if not chosen:
            raise SyntaxRefused("invalid", len(match.line.rstrip()), match.line)
        return chosen

    def port_up(self, name: str) -> Section:
        """A port that passes packets. Raises BoxError when there is none or it is shut down."""
        held = self.interface(name)
        if "shutdown" in held:
            raise BoxError(f"{self.spec.name}: interface {name} is shut down")
        return held
