"""Typed view of this platform's capability data."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ruamel.yaml import YAML

from app.errors import InputError, Place
from app.plan.model import Red, RedProfile
from app.resources import read_text


@cache
def capabilities() -> dict[str, Any]:
    """The capability data."""
    data: dict[str, Any] = YAML(typ="safe", pure=True).load(read_text("app/platforms/cisco_ios/capabilities.yaml"))
    return data


def train(image: str, device: str | None = None) -> tuple[int, int]:
    """Software train of an image name: ``12.4(15)T`` is (12, 4).

    Raises:
        InputError: the name states no train.
    """
    match = re.match(r"([0-9]{1,3})\.([0-9]{1,3})(?![0-9])", image)
    if match is None:
        place = Place(device=device)
        raise InputError(f"image {image!r} states no software train", place, "write it like 12.4 or 12.4(15)T")
    return int(match[1]), int(match[2])


@cache
def default_red() -> Red:
    """WRED as ``random-detect`` alone sets it: a profile per IP precedence."""
    red = capabilities()["red"]
    return Red(
        weight_exponent=red["weight_exponent"],
        profiles=tuple(
            RedProfile(
                precedence=(precedence,),
                minimum=minimum,
                maximum=red["maximum"],
                denominator=red["denominator"],
            )
            for precedence, minimum in enumerate(red["minimum_by_precedence"])
        ),
    )


def default_bandwidth(interface: str) -> int | None:
    """The ``bandwidth`` in kb/s of an interface that states none (the box does not print it)."""
    table: dict[str, int] = capabilities()["default_bandwidth_kbps"]
    return table.get(interface.rstrip("0123456789/.:"))
