"""Readers of devices by the kind of their command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qosforge.discovery.facts import DeviceFacts
from qosforge.discovery.readers import cisco, force10, nortel

Ask = Callable[[str], str]
"""Runs one command on the device and gives its answer."""
Reader = Callable[[Ask], DeviceFacts]

READERS: Mapping[str, Reader] = {
    **dict.fromkeys(("ios", "ios_legacy", "cisco_ios", "cisco_xe"), cisco.read),
    **dict.fromkeys(("force10", "dell_force10"), force10.read),
    **dict.fromkeys(("ers", "extreme_ers"), nortel.read),
}
"""By the names that NAPALM drivers and Netmiko have for the command lines."""
