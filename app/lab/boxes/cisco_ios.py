"""A 2600-class router: the old train 12.2 and 12.4 with archive, Tcl and SCP."""

from __future__ import annotations

from collections.abc import Sequence

from app.lab.boxes import ios_acl, ios_links
from app.lab.boxes.ios_attach import Attachments
from app.lab.boxes.ios_classes import ClassMaps
from app.lab.boxes.ios_counters import Counters
from app.lab.boxes.ios_forwarding import Forwarding
from app.lab.boxes.ios_general import global_rows, interface_rows
from app.lab.boxes.ios_policies import PolicyMaps
from app.lab.boxes.ios_system import IosSystem
from app.lab.clock import Clock
from app.lab.config import Section
from app.lab.packets import Outcome, Packets
from app.lab.shell import Row
from app.lab.spec import BoxSpec
from app.lab.storage import Storage


class CiscoIos(IosSystem):
    """A router with the modular QoS command line.

    Features of the spec: ``archive``, ``tcl`` and ``scp`` (12.4 has them), ``hqf`` (the hierarchical
    queueing framework of 12.4(20)T and later: no 75 % rule; default off).
    """

    default_ports = ("FastEthernet0/0", "FastEthernet0/1", "Serial0/0", "Serial0/1")

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self.modern = spec.image.startswith(("12.4", "15"))
        self.version = "12.4" if self.modern else "12.2"
        self.attachments = Attachments(self)
        self.forwarding = Forwarding(self, self.attachments)
        self._counters = Counters(self, self.attachments, self.forwarding)
        super().__init__(spec, storage, clock)

    def tables(self) -> dict[str, list[Row]]:
        """Command tables by mode."""
        classes = ClassMaps(self)
        policies = PolicyMaps(self, self.attachments)
        interface = [
            *interface_rows(routed=True),
            *ios_links.interface_rows(self),
            *self.attachments.rows(),
        ]
        return {
            **self.system_tables(self._counters.rows()),
            "config": [
                *global_rows(self),
                *ios_acl.global_rows(),
                *ios_links.global_rows(),
                *classes.global_rows(),
                *policies.global_rows(),
                *self.system_rows(),
            ],
            "if": interface,
            "subif": interface,
            "cmap": classes.rows(),
            "map-class": ios_links.map_class_rows(),
            **policies.tables(),
            **ios_acl.submode_rows(),
        }

    def version_texts(self) -> tuple[str, str]:
        """Banner and processor lines."""
        if self.modern:
            banner = (
                "Cisco IOS Software, 2600 Software (C2600-ADVENTERPRISEK9-M), Version 12.4(25),"
                " RELEASE SOFTWARE (fc1)"
            )
        else:
            banner = (
                "Cisco Internetwork Operating System Software \n"
                "IOS (tm) C2600 Software (C2600-IK9S-M), Version 12.2(15)T, RELEASE SOFTWARE (fc1)"
            )
        processor = (
            "Cisco 2651XM (MPC860P) processor (revision 3.1) with 253952K/8192K bytes of memory.\n"
            f"Processor board ID LAB{self.spec.name.upper()}"
        )
        return banner, processor

    def interface_report(self, interface: Section) -> str:
        """The block of ``show interfaces``."""
        return self._counters.interface_report(interface)

    def clear_counters(self) -> None:
        """Every counter back to zero."""
        self.forwarding.clear()

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Carry packets."""
        return self.forwarding.offer(into, out, packets, seconds)
