"""Typed view of this platform's capability data."""

from __future__ import annotations

from functools import cache
from typing import Any

from ruamel.yaml import YAML

from qosforge.resources import read_text


@cache
def capabilities() -> dict[str, Any]:
    """The capability data."""
    text = read_text("qosforge/platforms/catalyst_9000/capabilities.yaml")
    data: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return data


@cache
def queue_count() -> int:
    """Queues of an output port."""
    count: int = capabilities()["queues"]["value"]
    return count


@cache
def name_length() -> int:
    """Characters in the name of a class-map or policy-map."""
    length: int = capabilities()["name_length"]["value"]
    return length
