"""Show commands that both Catalyst families have: class maps, policy maps, switch ports."""

from __future__ import annotations

from qoslab.boxes.catalyst.base import CatalystSwitch
from qoslab.boxes.ios.arguments import IF, split_interface
from qoslab.boxes.ios.classes import policies
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Shell


class CommonShow:
    """The show commands; the layout of the class map and policy map reports is unconfirmed."""

    def __init__(self, box: CatalystSwitch) -> None:
        self._box = box

    def policy_rows(self) -> list[Row]:
        """``show class-map`` and ``show policy-map``."""
        return [
            row("show class-map [WORD:name]", self._class_maps),
            row("show policy-map [WORD:name [class WORD:class]]", self._policy_maps),
        ]

    def port_rows(self) -> list[Row]:
        """``show interfaces switchport``."""
        return [
            row(f"show interfaces [{IF}] switchport", self._switchports),
        ]

    def _class_maps(self, shell: Shell, match: Match) -> str:
        del shell
        blocks = []
        for number, held in enumerate(self._box.running.starting("class-map "), start=1):
            _, how, name = held.text.split()
            if match.get("name", name) == name:
                lines = [f"   {line.text[0].upper()}{line.text[1:]}" for line in held.starting("match ")]
                blocks.append("\n".join([f" Class Map {how} {name} (id {number})", *lines, ""]))
        return "\n".join(blocks)

    def _policy_maps(self, shell: Shell, match: Match) -> str:
        del shell
        blocks = []
        for policy in policies(self._box):
            name = policy.text.split()[1]
            if match.get("name", name) != name:
                continue
            lines = [f"  Policy Map {name}"]
            for held in policy.starting("class "):
                if match.get("class", held.text.split()[1]) == held.text.split()[1]:
                    lines += [f"    Class {held.text.split()[1]}", *(f"      {line.text}" for line in held)]
            blocks.append("\n".join([*lines, ""]))
        return "\n".join(blocks)

    def _switchports(self, shell: Shell, match: Match) -> str:
        del shell
        return "\n".join(_switchport(port) for port in self._box.physical_ports(match))


def _switchport(port: Section) -> str:
    kind, numbers = split_interface(port.text.split()[1])
    mode = " ".join(port.value("switchport mode").split()[2:]) or "dynamic desirable"
    administrative = {"access": "static access", "trunk": "trunk"}.get(mode, mode)
    operational = "down" if "shutdown" in port else "trunk" if mode == "trunk" else "static access"
    extend = port.value("switchport priority extend").split()[3:] or ["none"]
    return "\n".join(
        [
            f"Name: {kind[:2]}{'/'.join(map(str, numbers))}",
            "Switchport: Enabled",
            f"Administrative Mode: {administrative}",
            f"Operational Mode: {operational}",
            f"Access Mode VLAN: {port.value('switchport access vlan', '1').split()[-1]}",
            f"Trunking Native Mode VLAN: {port.value('switchport trunk native vlan', '1').split()[-1]}",
            f"Voice VLAN: {port.value('switchport voice vlan', 'none').split()[-1]}",
            f"Appliance trust: {' '.join(extend)}",
            "",
        ]
    )
