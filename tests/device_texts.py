"""Texts of devices for tests: what a device would have said, and what it said, to be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from qosforge.platforms.device_text import DeviceText, DeviceWords

K = TypeVar("K")


def said(text: str, device: str = "r1", platform: str = "cisco_ios") -> DeviceText:
    """A configuration of a device."""
    return DeviceWords(device, platform).configuration(text)


def said_by(texts: Mapping[str, str], platform: str = "cisco_ios") -> dict[str, DeviceText]:
    """A configuration of each device."""
    return {device: said(text, device, platform) for device, text in texts.items()}


def opened(texts: Mapping[K, DeviceText]) -> dict[K, str]:
    """What devices said, by what it is of."""
    return {of: text.unmasked for of, text in texts.items()}
