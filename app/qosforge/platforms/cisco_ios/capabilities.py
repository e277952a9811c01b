"""Typed view of this platform's capability data."""

from __future__ import annotations

from functools import cache
from typing import Any

from ruamel.yaml import YAML

from qosforge.resources import read_text


@cache
def capabilities() -> dict[str, Any]:
    """The capability data."""
    data: dict[str, Any] = YAML(typ="safe", pure=True).load(
        read_text("qosforge/platforms/cisco_ios/capabilities.yaml")
    )
    return data


def default_bandwidth(interface: str) -> int | None:
    """The ``bandwidth`` in kb/s of an interface that states none (the device does not print it)."""
    table: dict[str, int] = capabilities()["default_bandwidth_kbps"]
    return table.get(interface.rstrip("0123456789/.:"))


def since(feature: str) -> str:
    """The release that brought a feature; empty where no release lacks it."""
    return str(capabilities()["features"].get(feature, {}).get("since", ""))
