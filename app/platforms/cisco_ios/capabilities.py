"""Typed view of this platform's capability data."""

from __future__ import annotations

from functools import cache
from typing import Any

from ruamel.yaml import YAML

from app.plan.model import Red, RedProfile
from app.resources import read_text


@cache
def capabilities() -> dict[str, Any]:
    """The capability data."""
    data: dict[str, Any] = YAML(typ="safe", pure=True).load(read_text("app/platforms/cisco_ios/capabilities.yaml"))
    return data


def train(image: str) -> tuple[int, int]:
    """Software train of an image name: ``12.4(15)T`` is (12, 4)."""
    digits = image.split("(", maxsplit=1)[0].split(".")
    return int(digits[0]), int("".join(c for c in digits[1] if c.isdigit()) or 0)


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
