"""Guess roles and tags, which no device reports; each guess has a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.discovery.facts import DeviceFacts, PortFacts
from qosforge.inventory.models import DeviceRole, Framing
from qosforge.platforms.base import platform

LAN, WAN, TRUNK = "lan", "wan", "trunk"


@dataclass(frozen=True)
class RoleGuess:
    """The place of a device in the network."""

    role: DeviceRole
    reason: str


@dataclass(frozen=True)
class TagGuess:
    """What a port is for."""

    tag: str
    reason: str


def tag_of(facts: DeviceFacts, port: PortFacts, neighbour: DeviceFacts | None) -> TagGuess:
    """The tag of a port; ``neighbour`` is the device at its other end, where one is known."""
    switch = platform(facts.platform).family.switches
    if not switch:
        if port.framing is not Framing.ETHERNET:
            return TagGuess(WAN, f"it is a {port.framing.value} line of a router")
        if neighbour is not None and not platform(neighbour.platform).family.switches:
            return TagGuess(WAN, f"{neighbour.hostname}, another router, is at its other end")
        return TagGuess(LAN, "it is an Ethernet port of a router, without another router on it")
    if neighbour is not None:
        return TagGuess(TRUNK, f"{neighbour.hostname} is at its other end")
    if port.tagged:
        return TagGuess(TRUNK, "its frames are tagged")
    if port.lag is not None:
        return TagGuess(TRUNK, f"it belongs to {port.lag}")
    return TagGuess(LAN, "no device is seen on it")


def role_of(facts: DeviceFacts, tags: Mapping[str, TagGuess]) -> RoleGuess:
    """The role of a device by the tags of its ports."""
    family = platform(facts.platform).family
    if family.switches:
        return RoleGuess(family.role, f"that is what a {facts.platform} mostly is")
    used = {guess.tag for guess in tags.values()}
    if used == {WAN}:
        return RoleGuess(DeviceRole.MIDDLE, "all its ports lead to other routers")
    return RoleGuess(DeviceRole.EDGE, "it is a router with a LAN")
