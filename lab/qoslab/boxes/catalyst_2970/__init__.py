"""Catalyst 2970 (also 3560 and 3750): ``mls qos`` with shaped and shared round robin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from qoslab.boxes.catalyst import mac_acl as catalyst_mac_acl
from qoslab.boxes.catalyst import trust as catalyst_trust
from qoslab.boxes.catalyst.autoqos import AutoQos
from qoslab.boxes.catalyst.base import LOGICAL, CatalystSwitch
from qoslab.boxes.catalyst.policies import ACL, ATTACHED, Dialect, SwitchPolicies
from qoslab.boxes.catalyst.policing import Policers, policer_count
from qoslab.boxes.catalyst.show import CommonShow
from qoslab.boxes.catalyst_2970 import maps, queues
from qoslab.boxes.catalyst_2970.autoqos import AUTO_QOS
from qoslab.boxes.catalyst_2970.plane import VLAN_BASED, SwitchPlane
from qoslab.boxes.catalyst_2970.show import SwitchShow
from qoslab.boxes.ios import acl as ios_acl
from qoslab.boxes.ios.general import global_rows, interface_rows
from qoslab.boxes.ios.rows import row, setting
from qoslab.clock import Clock
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.packets import Outcome, Packets
from qoslab.patterns import ArgumentType
from qoslab.shell import Row, Shell
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

_PORT_POLICERS = 64  # configuration guide 78-15462-03
_MUTATION = "mls qos dscp-mutation"


class Catalyst2970(CatalystSwitch):
    """The switch.

    Features ``archive``, ``tcl``, ``scp``: off unless asked for (early 12.2SE has none). ``vlan_qos`` (off): a
    3560 or 3750, with policies on VLAN interfaces. ``cos_label`` (off): a trusted CoS finds its queue by the CoS
    map. ``wide_thresholds`` (on): drop thresholds up to 3200 % (12.2(25)SEE1 on); off, up to 400 %. An image before
    12.2(25)SE marks by ``set ip dscp`` alone; later ones show that as ``set dscp`` (Catalyst 3560 guide OL-8553-06,
    p. 34-48).
    """

    version = "12.2"
    default_ports = tuple(f"GigabitEthernet0/{n}" for n in range(1, 25))
    own_types: ClassVar[dict[str, ArgumentType]] = catalyst_mac_acl.ARGUMENTS

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self._vlan = spec.features.get("vlan_qos", False)
        self._policers = Policers(
            self, "<8000-1000000000>:rate <8000-1000000>:burst", "{drop|policed-dscp-transmit}", aggregates=True
        )
        dialect = Dialect(
            hows="match-all|match-any",
            matches=(ACL, "ip dscp DSCP*8", "ip precedence PREC*8"),
            dscp="DSCP",
            mark="set ip dscp" if _older(spec.image) else "set dscp",
            spells_ip=_older(spec.image),
            trust_in_class=True,
            class_default=True,
            vlan=self._vlan,
        )
        self._policies = SwitchPolicies(self, dialect, self._policers, _check_port, _policy_taken)
        self._plane = SwitchPlane(self, self._policies)
        super().__init__(spec, storage, clock)

    def tables(self) -> dict[str, list[Row]]:
        """Command tables by mode."""
        port = [
            *interface_rows(routed=False),
            *queues.interface_rows(),
            *catalyst_trust.rows("cos|dscp|ip-precedence", _trust_taken),
            # The name is required behind `no` too (2960 reference, p. 238; 3560 78-16405-05, p. 2-244).
            row(f"{_MUTATION} WORD:name", _mutation, f"{_MUTATION} WORD"),
            *AutoQos(self, AUTO_QOS).rows(),
            *self._policies.interface_rows(),
        ]
        logical = interface_rows(routed=False)
        if self._vlan:
            port.append(row(VLAN_BASED, _vlan_based, True))
            logical += self._policies.interface_rows()
        common = CommonShow(self)
        lists = ios_acl.submode_rows() | catalyst_mac_acl.submode_rows(
            catalyst_mac_acl.WILDCARDS, catalyst_mac_acl.TYPES
        )
        return {
            **self.system_tables(
                [*SwitchShow(self, self._plane).rows(), *common.policy_rows(), *common.port_rows()]
            ),
            "config": [
                *global_rows(self),
                *self.system_rows(),
                *ios_acl.global_rows(),
                *catalyst_mac_acl.global_rows(),
                setting("mls qos", rank=42),
                setting("mls qos rewrite ip dscp", rank=41, on=True),
                *maps.rows(),
                *queues.global_rows(3200 if self.feature("wide_thresholds", True) else 400),
                *self._policers.global_rows(),
                *self._policies.global_rows(),
            ],
            "if": port,
            LOGICAL: logical,
            **self._policies.tables(),
            **lists,
        }

    def version_texts(self) -> tuple[str, str]:
        """Banner and processor lines."""
        banner = (
            "Cisco IOS Software, C2970 Software (C2970-LANBASEK9-M), Version 12.2(25)SEE1, RELEASE SOFTWARE (fc1)"
        )
        processor = (
            "cisco WS-C2970G-24T-E (PowerPC405) processor (revision A0) with 118784K/12280K bytes of memory.\n"
            f"Processor board ID LAB{self.spec.name.upper()}"
        )
        return banner, processor

    def clear_counters(self) -> None:
        """Every counter back to zero."""
        self._plane.counts = {}

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets."""
        return self._plane.offer(into, out, packets, seconds)


def _older(image: str) -> bool:
    found = re.match(r"12\.2\((\d+)\)", image)
    return found is not None and int(found[1]) < 25


def _check_port(port: Section, policy: Section) -> None:
    if policer_count(policy) > _PORT_POLICERS:  # unconfirmed wording
        raise Refused(f"%Error: too many policers in policy map {policy.text.split()[1]} for {port.text}")


def _policy_taken(port: Section) -> None:
    """A policy on a port takes the place of its other QoS settings, except the default CoS."""
    for key in (
        catalyst_trust.TRUST, catalyst_trust.DEVICE, catalyst_trust.OVERRIDE, _MUTATION, VLAN_BASED
    ):  # fmt: skip
        port.remove(key)


def _trust_taken(port: Section) -> None:
    """A port uses one of trust, policy and VLAN policy: what is configured last."""
    port.remove(ATTACHED)
    port.remove(VLAN_BASED)


def _mutation(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(_MUTATION)
        return
    _trust_taken(shell.section)
    shell.store(Section(match.text, key=_MUTATION, rank=73))


def _vlan_based(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(VLAN_BASED)
        return
    _policy_taken(shell.section)
    shell.section.remove(ATTACHED)
    shell.store(Section(VLAN_BASED, rank=69))
