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
    text = read_text("qosforge/platforms/catalyst_2970/capabilities.yaml")
    data: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return data


@cache
def default_cos_to_queue() -> tuple[int, ...]:
    """Egress queue of every CoS as delivered."""
    return tuple(capabilities()["cos_to_queue"]["value"])


@cache
def default_dscp_to_queue() -> tuple[int, ...]:
    """Egress queue of every DSCP as delivered."""
    table = [0] * 64
    for queue, bounds in capabilities()["dscp_to_queue"]["value"].items():
        for first, last in zip(bounds[::2], bounds[1::2], strict=True):
            table[first : last + 1] = [queue] * (last + 1 - first)
    return tuple(table)


@cache
def policer_range() -> PolicerRange:
    """The policers of a port."""
    data = capabilities()["police"]
    return PolicerRange(
        ports="switch",
        lowest=data["rate"]["minimum"],
        highest=data["rate"]["maximum"],
        step=data["rate"]["step"],
        bursts=(data["burst"]["minimum"], data["burst"]["maximum"]),
        any_burst=True,
        per_port=data["per_port"],
    )
