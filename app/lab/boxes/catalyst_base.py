"""What the Catalyst boxes share: physical ports, logical interfaces without QoS, small reports."""

from __future__ import annotations

from dataclasses import replace

from app.lab.boxes.ios_arguments import interface_name, split_interface
from app.lab.boxes.ios_base import SUFFIXES
from app.lab.boxes.ios_system import IosSystem
from app.lab.clock import Clock
from app.lab.config import Section
from app.lab.errors import BoxError
from app.lab.grammar import Match, SyntaxRefused
from app.lab.shell import Shell
from app.lab.spec import BoxSpec
from app.lab.storage import Storage

LOGICAL = "logical"
"""The mode of VLAN and EtherChannel interfaces: QoS is configured on physical ports."""


class CatalystSwitch(IosSystem):
    """A switch: ``tables`` holds the rows of ports under "if" and of logical interfaces under ``LOGICAL``."""

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
        state = "administratively down" if "shutdown" in interface else "up"
        return f"{interface.text.split()[1]} is {state}\n  MTU 1500 bytes, BW {self.bandwidth(interface)} Kbit"

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
