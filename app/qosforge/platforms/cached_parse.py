"""Parse running configurations into plans, with a cache."""

from __future__ import annotations

from qosforge.memoise import memoise_at_most
from qosforge.plan.model import Plan
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import Configuration, unmasked

_DEVICES = 512
"""What a large network comes to: its devices are gone through again and again, all in one order. A plan takes up to
600 kB (a router with 48 ports).
"""


def parse_running(platform_id: str, text: Configuration, device: str, image: str) -> Plan:
    """The plan that a running configuration of a device amounts to, defaults that it does not print included.

    Raises:
        InputError: the platform is not installed.
    """
    return _parsed(platform_id, unmasked(text), device, image)


@memoise_at_most(_DEVICES)
def _parsed(platform_id: str, text: str, device: str, image: str) -> Plan:
    return platform(platform_id, device).parse(text, device, image)
