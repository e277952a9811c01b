"""Catalyst 2970 (also 3560 and 3750): ``mls qos`` with shaped and shared round robin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from app.lab.boxes import catalyst_2970_queues as queues
from app.lab.boxes import ios_acl
from app.lab.boxes.catalyst_2970_plane import SwitchPlane
from app.lab.boxes.catalyst_2970_show import SwitchShow
from app.lab.boxes.catalyst_policies import Dialect, SwitchPolicies
from app.lab.boxes.ios_general import global_rows, interface_rows
from app.lab.boxes.ios_rows import row, setting
from app.lab.boxes.ios_system import IosSystem
from app.lab.clock import Clock
from app.lab.config import Section
from app.lab.grammar import Match, choice
from app.lab.packets import Outcome, Packets
from app.lab.patterns import ArgumentType
from app.lab.shell import Row, Shell
from app.lab.spec import BoxSpec
from app.lab.storage import Storage

_DIALECT = Dialect(
    hows="match-all|match-any",
    matches=("access-group {<1-2699>|name WORD}", "ip dscp DSCP*8", "ip precedence PREC*8"),
    dscp="DSCP",
    police="<8000-1000000000>:rate <8000-1000000>:burst",
    exceed="{drop|policed-dscp-transmit}",
    trust_in_class=True,
    one_match=True,
)


class Catalyst2970(IosSystem):
    """The switch. Features ``archive``, ``tcl``, ``scp``: off unless asked for (early 12.2SE has none)."""

    version = "12.2"
    default_ports = tuple(f"GigabitEthernet0/{n}" for n in range(1, 25))
    own_types: ClassVar[dict[str, ArgumentType]] = {
        # Tables print DSCPs as numbers, whatever was typed.
        "NUM64": choice((), {str(n): str(n) for n in range(64)}, high=63),
    }

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self._policies = SwitchPolicies(self, _DIALECT, _adapt_port)
        self._plane = SwitchPlane(self, self._policies)
        self._show = SwitchShow(self, self._plane)
        super().__init__(spec, storage, clock)

    def tables(self) -> dict[str, list[Row]]:
        """Command tables by mode."""
        interface = [
            *interface_rows(routed=False),
            *queues.interface_rows(),
            setting("mls qos trust {cos|dscp|ip-precedence}", key="mls qos trust", rank=71),
            row("mls qos trust", _bare_trust, True),
            setting("mls qos trust device cisco-phone", key="mls qos trust device", rank=70),
            setting("mls qos cos <0-7>", key="mls qos cos", rank=72, defaults=["mls qos cos 0"]),
            setting("mls qos cos override", rank=73),
            setting("mls qos dscp-mutation WORD", rank=73),
            *self._policies.interface_rows(),
        ]
        return {
            **self.system_tables(self._show.rows()),
            "config": [
                *global_rows(self),
                *self.system_rows(),
                *ios_acl.global_rows(),
                *queues.global_rows(),
                *self._policies.global_rows(),
            ],
            "if": interface,
            "subif": interface,
            **self._policies.tables(),
            **ios_acl.submode_rows(),
        }

    def interface_defaults(self, section: Section) -> None:
        """Switch ports print nothing by default; only VLAN interfaces have addresses."""
        if section.text.startswith("interface Vlan"):
            super().interface_defaults(section)

    def version_texts(self) -> tuple[str, str]:
        """Banner and processor lines."""
        banner = (
            "Cisco IOS Software, C2970 Software (C2970-LANBASEK9-M), Version 12.2(25)SEE, RELEASE SOFTWARE (fc1)"
        )
        processor = (
            "cisco WS-C2970G-24T-E (PowerPC405) processor (revision A0) with 118784K/12280K bytes of memory.\n"
            f"Processor board ID LAB{self.spec.name.upper()}"
        )
        return banner, processor

    def interface_report(self, interface: Section) -> str:
        """The block of ``show interfaces``."""
        state = "administratively down" if "shutdown" in interface else "up"
        return f"{interface.text.split()[1]} is {state}\n  MTU 1500 bytes, BW {self.bandwidth(interface)} Kbit"

    def clear_counters(self) -> None:
        """Every counter back to zero."""
        self._plane.counts = {}

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets."""
        return self._plane.offer(into, out, packets, seconds)


def _adapt_port(shell: Shell, policy: Section) -> None:
    """A policy on a port takes the place of its other QoS settings, except the default CoS."""
    del policy
    for key in ("mls qos trust", "mls qos trust device", "mls qos dscp-mutation", "mls qos cos override"):
        shell.section.remove(key)


def _bare_trust(shell: Shell, match: Match) -> None:
    """Bare ``mls qos trust`` trusts the DSCP; ``no mls qos trust`` trusts nothing."""
    if match.undone:
        shell.section.remove("mls qos trust")
    else:
        shell.store(Section("mls qos trust dscp", key="mls qos trust", rank=71))
