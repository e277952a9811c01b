"""Resolve the scopes of an intent on a network: the interfaces, devices and links that they select.

Single scopes and rules can be resolved while other parts of the intent are wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from qosforge.intent.fragments import FragmentSize, fragment_size
from qosforge.intent.models import LinkEfficiencyRule, Scope
from qosforge.inventory.models import Device, Interface, Network


def in_scope(scope: Scope, device: Device, interface: Interface) -> bool:
    """Whether all selectors of a scope hold; a link aggregation that is named stands for its members."""
    return (
        (not scope.role or interface.role.value in scope.role)
        and (not scope.interfaces or not interface.tags.isdisjoint(scope.interfaces))
        and (not scope.devices or device.name in scope.devices)
        and (not scope.ports or interface.name in scope.ports or interface.lag in scope.ports)
        and (not scope.vlan or interface.voice_vlan in scope.vlan or any(v in scope.vlan for v in interface.vlans))
    )


@dataclass(frozen=True)
class ScopePort:
    """An interface of a network."""

    device: str
    interface: Interface


@dataclass(frozen=True)
class EfficiencyLink:
    """An interface whose link a rule of link efficiency concerns, with the fragments that it asks for there."""

    device: str
    interface: Interface
    fragment: FragmentSize | None


def ports_in(scope: Scope, network: Network) -> tuple[ScopePort, ...]:
    """The ports that a scope covers, in the order of the inventory."""
    return tuple(
        ScopePort(device.name, interface)
        for device in network.devices
        for interface in device.interfaces
        if in_scope(scope, device, interface)
    )


def devices_in(scopes: Sequence[Scope], network: Network) -> frozenset[str]:
    """The devices that some scope covers a port of."""
    return frozenset(
        device.name
        for device in network.devices
        if any(in_scope(scope, device, interface) for interface in device.interfaces for scope in scopes)
    )


def with_neighbours(devices: Collection[str], network: Network) -> frozenset[str]:
    """These devices and those at the other ends of their links: what has to be known to check a change of them."""
    names = frozenset(devices)
    return names.union(
        far[0] for link in network.links for near, far in ((link.a, link.b), (link.b, link.a)) if near[0] in names
    )


def links_of(
    rules: Sequence[LinkEfficiencyRule | None], scopes: Sequence[Scope], network: Network
) -> tuple[tuple[EfficiencyLink, ...], ...]:
    """The links that each rule concerns: those served in some scope, each under its first rule.

    A rule that is ``None`` (it is wrong, or not known yet) concerns no link.
    """
    outputs = [scope for scope in scopes if scope.direction == "output"]
    found: list[list[EfficiencyLink]] = [[] for _ in rules]
    for device in network.devices:
        for interface in device.interfaces:
            at = _first(rules, interface) if _served(outputs, device, interface) else None
            rule = rules[at] if at is not None else None
            if at is not None and rule is not None:
                size = fragment_size(interface.usable, rule.fragment) if rule.fragment else None
                found[at].append(EfficiencyLink(device.name, interface, size))
    return tuple(map(tuple, found))


def rule_concerns(rule: LinkEfficiencyRule, interface: Interface) -> bool:
    """Whether a rule is for links such as that of the interface."""
    slow = rule.when.rate_below is None or interface.usable < rule.when.rate_below
    return slow and rule_fits_framing(rule, interface)


def rule_fits_framing(rule: LinkEfficiencyRule, interface: Interface) -> bool:
    """Whether a rule is for links of the interface's framing."""
    return not rule.when.framing or interface.encapsulation.value in rule.when.framing


def _served(outputs: Sequence[Scope], device: Device, interface: Interface) -> bool:
    return any(in_scope(scope, device, interface) for scope in outputs)


def _first(rules: Sequence[LinkEfficiencyRule | None], interface: Interface) -> int | None:
    return next((at for at, rule in enumerate(rules) if rule is not None and rule_concerns(rule, interface)), None)
