"""Typed view of this platform's capability data."""

from __future__ import annotations

from functools import cache
from typing import Any

from ruamel.yaml import YAML

from qosforge.platforms.ios_switch.policing import PolicerRange
from qosforge.resources import read_text


@cache
def capabilities() -> dict[str, Any]:
    """The capability data."""
    text = read_text("qosforge/platforms/catalyst_2950/capabilities.yaml")
    data: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return data


@cache
def supported_dscp() -> frozenset[int]:
    """The DSCPs that the device knows."""
    return frozenset(capabilities()["supported_dscp"]["value"])


@cache
def default_cos_to_queue() -> tuple[int, ...]:
    """Queue of every CoS as delivered."""
    return tuple(capabilities()["cos_to_queue"]["value"])


@cache
def policer_range(ports: str) -> PolicerRange:
    """The policers of a kind of port."""
    data = capabilities()["police"][ports]
    return PolicerRange(
        ports=ports,
        lowest=data["rate"]["minimum"],
        highest=data["rate"]["maximum"],
        step=data["rate"]["step"],
        bursts=tuple(data["bursts"]),
        any_burst=False,
        per_port=data["per_port"],
    )


def enhanced(image: str) -> bool:
    """Whether an image name such as ``12.1EA-EI`` is of the enhanced kind, with class-maps and maps."""
    return capabilities()["enhanced_image"]["feature"] in image.upper().split("-")
