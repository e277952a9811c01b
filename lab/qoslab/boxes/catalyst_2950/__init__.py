"""Catalyst 2950/2955 (IOS 12.1EA): four egress queues, one scheduler for the whole switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from qoslab.boxes.catalyst import mac_acl as catalyst_mac_acl
from qoslab.boxes.catalyst import trust as catalyst_trust
from qoslab.boxes.catalyst.autoqos import KEY, AutoQos, Generated
from qoslab.boxes.catalyst.base import LOGICAL, CatalystSwitch
from qoslab.boxes.catalyst.policies import ACL, Dialect, SwitchPolicies
from qoslab.boxes.catalyst.policing import Policers
from qoslab.boxes.catalyst.show import CommonShow
from qoslab.boxes.catalyst_2950 import limits, queues
from qoslab.boxes.catalyst_2950.plane import SwitchPlane
from qoslab.boxes.catalyst_2950.show import SwitchShow
from qoslab.boxes.ios import acl as ios_acl
from qoslab.boxes.ios.general import global_rows, interface_rows
from qoslab.clock import Clock
from qoslab.config import Section
from qoslab.grammar import Refused
from qoslab.packets import Outcome, Packets
from qoslab.patterns import ArgumentType
from qoslab.shell import Row
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

_DIALECT = Dialect(
    hows="match-all",
    matches=(ACL, "ip dscp DSCP13*8"),
    dscp="DSCP13",
    mark="set ip dscp",
    trust_in_class=False,
    class_default=False,
)
_SOFTPHONE = "AutoQoS-Police-SoftPhone"


def _port_lines(port: Section, kind: str) -> list[str]:
    del port
    if kind == "cisco-softphone":
        return [f"service-policy input {_SOFTPHONE}"]
    return ["mls qos trust cos", *(["mls qos trust device cisco-phone"] if kind == "cisco-phone" else [])]


# Configuration guide 78-11380-12, generated AutoQoS configuration; the weights are those of the command
# reference OL-10102-01, table of `auto qos voip`. Earlier images generate others.
AUTO_QOS = Generated(
    switch=(
        "mls qos map cos-dscp 0 8 16 24 34 46 48 56",
        "no wrr-queue cos-map",
        "wrr-queue cos-map 1 0 1",
        "wrr-queue cos-map 2 2 4",
        "wrr-queue cos-map 3 3 6 7",
        "wrr-queue cos-map 4 5",
        "wrr-queue bandwidth 10 20 70 1",
    ),
    softphone=(
        "class-map match-all AutoQoS-VoIP-RTP-Trust",
        "match ip dscp 46",
        "class-map match-all AutoQoS-VoIP-Control-Trust",
        "match ip dscp 24 26",
        f"policy-map {_SOFTPHONE}",
        "class AutoQoS-VoIP-RTP-Trust",
        "set ip dscp 46",
        "police 1000000 4096 exceed-action drop",
        "class AutoQoS-VoIP-Control-Trust",
        "set ip dscp 24",
        "police 1000000 4096 exceed-action drop",
    ),
    port=_port_lines,
    back=("no mls qos trust", "no mls qos trust device", "no service-policy input"),
)


def _no_auto_qos(port: Section) -> None:
    """Trusted boundary and AutoQoS exclude each other (configuration guide 78-11380-07, p. 27-21)."""
    if KEY in port:
        raise Refused("%Error: trusted boundary cannot be enabled while auto-QoS is")  # unconfirmed wording


def _no_boundary(port: Section) -> None:
    if catalyst_trust.DEVICE in port:
        raise Refused("%Error: auto-QoS cannot be enabled while trusted boundary is")  # unconfirmed wording


class Catalyst2950(CatalystSwitch):
    """The switch.

    Features: ``enhanced`` (default on): the EI image; without it there are no maps, lists and policies.
    """

    version = "12.1"
    default_ports = (*(f"FastEthernet0/{n}" for n in range(1, 25)), "GigabitEthernet0/1", "GigabitEthernet0/2")
    own_types: ClassVar[dict[str, ArgumentType]] = {
        **queues.ARGUMENTS,
        **limits.ARGUMENTS,
        **catalyst_mac_acl.ARGUMENTS,
    }

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        policers = Policers(self, "<1000000-1016000000>:rate BURST:burst", "{drop|dscp DSCP13}", aggregates=False)
        self._policies = SwitchPolicies(self, _DIALECT, policers, self._check_port, lambda port: None)
        self._plane = SwitchPlane(self, self._policies)
        super().__init__(spec, storage, clock)

    def tables(self) -> dict[str, list[Row]]:
        """Command tables by mode."""
        show, common = SwitchShow(self), CommonShow(self)
        config = [*global_rows(self), *self.system_rows(), *queues.queue_rows()]
        # A policy map supersedes the trust state but leaves it standing.
        trust = catalyst_trust.rows("cos [pass-through dscp]|dscp", lambda port: None, _no_auto_qos)
        port = [*self._policies.guarded(interface_rows(routed=False)), *trust]
        shows = [*show.rows(), *common.port_rows()]
        modes: dict[str, list[Row]] = {}
        if self.feature("enhanced", True):
            config += [
                *self._policies.guarded(ios_acl.global_rows()),
                *catalyst_mac_acl.global_rows(),
                *self._policies.global_rows(),
                *queues.map_rows(),
            ]
            port += [*self._policies.interface_rows(), *AutoQos(self, AUTO_QOS, _no_boundary).rows()]
            shows += [*show.enhanced_rows(), *common.policy_rows()]
            lists = ios_acl.submode_rows() | catalyst_mac_acl.submode_rows(
                catalyst_mac_acl.HOSTS, catalyst_mac_acl.NAMES
            )
            modes = self._policies.tables() | {mode: self._policies.guarded(rows) for mode, rows in lists.items()}
        return {
            **self.system_tables(shows),
            "config": config,
            "if": port,
            LOGICAL: interface_rows(routed=False),
            **modes,
        }

    def version_texts(self) -> tuple[str, str]:
        """Banner and processor lines."""
        banner = (
            "Cisco Internetwork Operating System Software \n"
            "IOS (tm) C2950 Software (C2950-I6K2L2Q4-M), Version 12.1(22)EA, RELEASE SOFTWARE (fc1)"
        )
        processor = (
            "Cisco WS-C2950T-24 (RC32300) processor (revision R0) with 20808K bytes of memory.\n"
            f"Processor board ID LAB{self.spec.name.upper()}\n"
            f"Running {'Enhanced' if self.feature('enhanced', True) else 'Standard'} Image"
        )
        return banner, processor

    def clear_counters(self) -> None:
        """The 2950 counts nothing by class."""

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets."""
        return self._plane.offer(into, out, packets, seconds)

    def _check_port(self, port: Section, policy: Section) -> None:
        limits.check(self.running, port, policy)
