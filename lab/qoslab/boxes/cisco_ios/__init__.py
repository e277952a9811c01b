"""A 2600-class router: the old train 12.2 and 12.4 with archive, Tcl and SCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from qoslab.boxes.ios import acl as ios_acl
from qoslab.boxes.ios import car as ios_car
from qoslab.boxes.ios import compression as ios_compression
from qoslab.boxes.ios import encapsulation as ios_encapsulation
from qoslab.boxes.ios import ipv6_acl as ios_ipv6_acl
from qoslab.boxes.ios import keys as ios_keys
from qoslab.boxes.ios import multilink as ios_multilink
from qoslab.boxes.ios import queueing as ios_queueing
from qoslab.boxes.ios import tables as ios_tables
from qoslab.boxes.ios.atm import Atm
from qoslab.boxes.ios.attach import Attachments
from qoslab.boxes.ios.classes import ClassMaps
from qoslab.boxes.ios.counters import Counters
from qoslab.boxes.ios.forwarding import Forwarding
from qoslab.boxes.ios.frame_relay import FrameRelay
from qoslab.boxes.ios.general import global_rows, interface_rows
from qoslab.boxes.ios.policies import PolicyMaps
from qoslab.boxes.ios.rows import leaving
from qoslab.boxes.ios.show_legacy import LegacyShows
from qoslab.boxes.ios.system import IosSystem
from qoslab.boxes.ios.train import MULTILINK_GROUP, POLICIES, Train
from qoslab.clock import Clock
from qoslab.config import Section
from qoslab.packets import Outcome, Packets
from qoslab.patterns import ArgumentType
from qoslab.shell import Row
from qoslab.spec import BoxSpec
from qoslab.storage import Storage


class CiscoIos(IosSystem):
    """A router with the modular QoS command line, as its software train has it.

    Features of the spec: ``archive``, ``tcl`` and ``scp`` (12.3 and later have them), ``hqf`` (the
    hierarchical queueing framework; 12.4(20)T and later have it).
    """

    own_types: ClassVar[dict[str, ArgumentType]] = ios_ipv6_acl.TYPES
    default_ports = ("FastEthernet0/0", "FastEthernet0/1", "Serial0/0", "Serial0/1")

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self.train = Train.of(spec.image)
        self.modern = self.train.since(MULTILINK_GROUP)
        self.version = self.train.version
        self.attachments = Attachments(self)
        self.forwarding = Forwarding(self, self.attachments)
        self._counters = Counters(self, self.attachments, self.forwarding)
        super().__init__(spec, storage, clock)

    def tables(self) -> dict[str, list[Row]]:
        """Command tables by mode."""
        classes = ClassMaps(self)
        policies = PolicyMaps(self, self.attachments)
        frame_relay = FrameRelay(self, self.attachments)
        atm = Atm(self.attachments)
        interface = [
            *interface_rows(routed=True),
            *ios_keys.interface_rows(),
            *ios_encapsulation.interface_rows(self),
            *ios_multilink.interface_rows(self.train),
            *ios_compression.interface_rows(self.train),
            *ios_queueing.interface_rows(self, self.attachments),
            *ios_car.interface_rows(),
            *frame_relay.interface_rows(),
            *atm.interface_rows(),
            *self.attachments.rows(),
        ]
        return {
            **self.system_tables([*self._counters.rows(), *LegacyShows(self, self.forwarding).rows()]),
            "config": [
                *global_rows(self),
                *ios_keys.global_rows(),
                *ios_acl.global_rows(),
                *ios_ipv6_acl.global_rows(self.train),
                *ios_car.global_rows(),
                *ios_compression.global_rows(self.train),
                *ios_queueing.global_rows(),
                *ios_tables.global_rows(self),
                *frame_relay.global_rows(),
                *([*classes.global_rows(), *policies.global_rows()] if self.train.since(POLICIES) else []),
                *self.system_rows(),
            ],
            "if": interface,
            "subif": interface,
            "cmap": classes.rows(),
            "control-plane": [*leaving(), *self.attachments.rows()],
            **policies.tables(),
            **frame_relay.submode_rows(),
            **atm.submode_rows(),
            **ios_tables.submode_rows(self),
            **ios_compression.submode_rows(),
            **ios_acl.submode_rows(),
            **ios_ipv6_acl.submode_rows(),
            **ios_keys.submode_rows(),
        }

    def version_texts(self) -> tuple[str, str]:
        """Banner and processor lines."""
        if self.modern:
            banner = (
                f"Cisco IOS Software, 2600 Software (C2600-ADVENTERPRISEK9-M), Version {self.train.name},"
                " RELEASE SOFTWARE (fc1)"
            )
        else:
            banner = (
                "Cisco Internetwork Operating System Software \n"
                f"IOS (tm) C2600 Software (C2600-IK9S-M), Version {self.train.name}, RELEASE SOFTWARE (fc1)"
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
