"""The interface through which a discovery reaches devices."""

from __future__ import annotations

from typing import Protocol

from qosforge.discovery.facts import Neighbour
from qosforge.platforms.device_text import DeviceText


class DiscoverySession(Protocol):
    """Sessions with devices, by addresses that only it needs to understand. Called from several threads at once.

    Every method raises a `QosforgeError` (mostly `DeviceError`) that says why a device cannot be reached; the
    discovery goes on with the others and names it.
    """

    def locate(self, neighbour: Neighbour) -> str:
        """The address by which an announced neighbour can be reached, by its name and management addresses."""
        ...

    def platform(self, address: str) -> str:
        """What NAPALM or Netmiko call the command line behind an address: ``ios``, ``force10``, ``ers``."""
        ...

    def run(self, address: str, command: str) -> DeviceText:
        """The answer to one command in privileged mode, as printed, error texts included."""
        ...
