"""``show wrr-queue`` and ``show mls qos`` of the 2950."""

from __future__ import annotations

from qoslab.boxes.catalyst.base import CatalystSwitch
from qoslab.boxes.catalyst.maps import eight_lines, eight_values
from qoslab.boxes.catalyst.policies import ATTACHED
from qoslab.boxes.catalyst.policing import policing_classes
from qoslab.boxes.catalyst.trust import DEVICE, OVERRIDE, default_cos, trusted
from qoslab.boxes.catalyst_2950 import queues
from qoslab.boxes.ios.arguments import IF
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Shell


class SwitchShow:
    """The show commands; those of maps and policers belong to the enhanced image."""

    def __init__(self, box: CatalystSwitch) -> None:
        self._box = box

    def rows(self) -> list[Row]:
        """Both images."""
        return [
            row("show wrr-queue bandwidth", lambda s, m: self._bandwidth()),
            row("show wrr-queue cos-map", lambda s, m: self._cos_map()),
            row(f"show mls qos interface [{IF}]", self._ports),
        ]

    def enhanced_rows(self) -> list[Row]:
        """The enhanced image."""
        return [
            row("show mls qos maps [cos-dscp|dscp-cos]:which", self._maps),
            row(f"show mls qos interface [{IF}] policers", self._policers),
        ]

    def _bandwidth(self) -> str:
        weights = queues.weights(self._box.running)
        if not weights:
            return "wrr-queue bandwidth is disabled"
        columns = "".join(f"{weight:>4}" for weight in weights)
        return f"        WRR Queue  :   1   2   3   4\n\n        Bandwidth  :{columns}\n"

    def _cos_map(self) -> str:
        table = queues.WRR_COS.read(self._box.running)
        values = " ".join(table[cos] for cos in range(8))
        return f"CoS Value       : 0 1 2 3 4 5 6 7\nPriority Queue  : {values}"

    def _maps(self, shell: Shell, match: Match) -> str:
        del shell
        running = self._box.running
        dscps = queues.SUPPORTED_DSCPS
        lines = []
        if match.get("which", "dscp-cos") == "dscp-cos":
            table = queues.DSCP_COS.read(running)
            lines += ["   Dscp-cos map:", "       dscp: " + "".join(f"{dscp:>3}" for dscp in dscps)]
            lines += ["     " + "-" * 47, "        cos: " + "".join(f"{table[d]:>3}" for d in dscps), ""]
        if match.get("which", "cos-dscp") == "cos-dscp":
            values = eight_values(running, "mls qos map cos-dscp", queues.COS_DSCP)
            lines += eight_lines("Cos-dscp map:", "cos", values)
        return "\n".join(lines)

    def _ports(self, shell: Shell, match: Match) -> str:
        del shell
        return "\n".join(_port(port) for port in self._box.physical_ports(match))

    def _policers(self, shell: Shell, match: Match) -> str:
        del shell
        blocks = []
        for port in self._box.physical_ports(match):
            name = port.value(ATTACHED).removeprefix(f"{ATTACHED} ")
            held = policing_classes(self._box.running.get(f"policy-map {name}"))
            shown = [f"{one.text.split()[1]}: {one.value('police')}" for one in held]
            blocks.append("\n".join([port.text.split()[1], f"policymap={name}", *shown, ""]))
        return "\n".join(blocks)


def _port(port: Section) -> str:
    trust = trusted(port)
    state = f"trust {trust[0]}" if trust else "not trusted"
    return (
        f"{port.text.split()[1]}\ntrust state: {state}\ntrust mode: {state}\n"
        f"COS override: {'ena' if OVERRIDE in port else 'dis'}\ndefault COS: {default_cos(port)}\n"
        f"pass-through: {'dscp' if 'pass-through' in trust else 'none'}\n"
        f"trust device: {'cisco-phone' if DEVICE in port else 'none'}\n"
    )
