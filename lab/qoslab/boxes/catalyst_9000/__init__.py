"""Catalyst 9000 (IOS-XE): eight queues a port in a queueing policy, marks by input policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from qoslab.boxes.catalyst.base import LOGICAL, CatalystSwitch
from qoslab.boxes.catalyst.show import CommonShow
from qoslab.boxes.catalyst_9000.plane import SwitchPlane
from qoslab.boxes.catalyst_9000.policies import SwitchPolicies
from qoslab.boxes.catalyst_9000.show import PolicyShow
from qoslab.boxes.ios import acl as ios_acl
from qoslab.boxes.ios import ipv6_acl as ios_ipv6_acl
from qoslab.boxes.ios import lldp as ios_lldp
from qoslab.boxes.ios import tables as ios_tables
from qoslab.boxes.ios.classes import CLASS_RANK, POLICY_RANK
from qoslab.boxes.ios.general import global_rows, interface_rows
from qoslab.boxes.ios.rows import leaving, setting
from qoslab.boxes.ios.train import Train
from qoslab.clock import Clock
from qoslab.config import Section
from qoslab.packets import Outcome, Packets
from qoslab.patterns import ArgumentType
from qoslab.shell import Row
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from qoslab.wiring import Announcement

_IMAGE = "17.12"
_PLANE = "control-plane"
_CONTROL_POLICY = "system-cpp-policy"
_CONTROL_CLASSES = ("system-cpp-default", "system-cpp-police-data", "system-cpp-police-sys-data")
_MULTIPLIER = "qos queue-softmax-multiplier <100-1200>"


class Catalyst9000(CatalystSwitch):
    """The switch, of the UADP kind (2P6Q3T). Its image is a release like ``17.12``."""

    modern = True
    own_types: ClassVar[dict[str, ArgumentType]] = ios_ipv6_acl.TYPES
    capabilities = ("Router", "Switch", "IGMP")
    default_ports = (
        *(f"GigabitEthernet1/0/{n}" for n in range(1, 25)),
        *(f"TenGigabitEthernet1/1/{n}" for n in range(1, 5)),
    )

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self.train = Train.of(spec.image or _IMAGE)
        self.version = self.train.version
        self._policies = SwitchPolicies(self)
        self._plane = SwitchPlane(self, self._policies)
        super().__init__(spec, storage, clock)

    def tables(self) -> dict[str, list[Row]]:
        """Command tables by mode."""
        shows = [*PolicyShow(self, self._policies, self._plane).rows(), *CommonShow(self).policy_rows()]
        return {
            **self.system_tables([*shows, *CommonShow(self).port_rows(), *ios_lldp.Lldp(self).rows()]),
            "config": [
                # The control plane and its policy are always there.
                *(replace(one, no=None) if one.pattern == _PLANE else one for one in global_rows(self)),
                *self.system_rows(),
                *ios_lldp.global_rows(),
                *ios_acl.global_rows(),
                *ios_ipv6_acl.global_rows(self.train),
                *ios_tables.global_rows(self),
                *self._policies.global_rows(),
                setting(_MULTIPLIER, rank=58, defaults=["qos queue-softmax-multiplier 100"]),
            ],
            "if": [
                *interface_rows(routed=False),
                *ios_lldp.interface_rows(),
                *self._policies.attach_rows(),
                *self._policies.trust_rows(),
            ],
            LOGICAL: interface_rows(routed=False),
            "control-plane": [*leaving(), *self._policies.attach_rows()],
            **ios_acl.submode_rows(),
            **ios_ipv6_acl.submode_rows(),
            **ios_tables.submode_rows(self),
            **self._policies.tables(),
        }

    def blank(self, config: str) -> None:
        """As delivered: with the policy that protects the processor, which is always there."""
        super().blank(config)
        for name in _CONTROL_CLASSES:
            key = f"class-map {name}"
            self.running.put(Section(f"class-map match-any {name}", key=key, rank=CLASS_RANK, mode="cmap"))
        self.running.put(Section(f"policy-map {_CONTROL_POLICY}", rank=POLICY_RANK, mode="pmap"))
        control = self.running.put(Section("control-plane", rank=95, mode="control-plane"))
        key = "service-policy input"
        control.put(Section(f"{key} {_CONTROL_POLICY}", key=key, rank=75))

    def sends(self, protocol: str, port: str) -> bool:
        """CDP, and LLDP after ``lldp run``."""
        return self._lldp(port, "transmit") if protocol == "lldp" else super().sends(protocol, port)

    def hears(self, protocol: str, port: str) -> bool:
        """The two directions of LLDP are switched off one by one."""
        return self._lldp(port, "receive") if protocol == "lldp" else super().hears(protocol, port)

    def _lldp(self, port: str, way: str) -> bool:
        held = self.running.get(f"interface {port}")
        return held is not None and self.is_up(held) and "lldp run" in self.running and f"lldp {way}" not in held

    def announcement(self, protocol: str, port: str) -> Announcement:
        """LLDP tells the port's short name."""
        told = super().announcement(protocol, port)
        return replace(told, port=ios_lldp.short(port)) if protocol == "lldp" else told

    def version_texts(self) -> tuple[str, str]:
        """Banner and processor lines."""
        banner = (
            f"Cisco IOS XE Software, Version {self.train.number[0]}.{self.train.number[1]}\n"
            "Cisco IOS Software, Catalyst L3 Switch Software (CAT9K_IOSXE), Version "
            f"{self.train.number[0]}.{self.train.number[1]}, RELEASE SOFTWARE (fc1)"
        )
        processor = (
            "cisco C9300L-24T-4X (X86) processor with 1331521K/6147K bytes of memory.\n"
            f"Processor board ID LAB{self.spec.name.upper()}"
        )
        return banner, processor

    def clear_counters(self) -> None:
        """Every counter back to zero."""
        self._plane.clear()

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets."""
        return self._plane.offer(into, out, packets, seconds)
