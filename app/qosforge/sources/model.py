"""The network as a source describes it, in the source's own words for platforms, roles and tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qosforge.discovery.facts import Note
from qosforge.discovery.model import End


@dataclass(frozen=True)
class SourcePort:
    """A port. ``fields`` are fields of `qosforge.inventory.models.Interface` with their values (rates in bits per
    second); a field that the source does not tell is not among them. ``serial`` where it is no Ethernet port.
    """

    name: str
    fields: Mapping[str, Any]
    tags: frozenset[str] = frozenset()
    serial: bool = False


@dataclass(frozen=True)
class SourceDevice:
    """A device. ``None`` is what the source does not tell; ``ports`` is ``None`` where it tells of no ports at all.

    ``groups`` are names under which the source groups devices: each may stand for a role or a tag. ``unmanaged``
    are names of ports that the source has, and that it does not describe as an inventory needs it (virtual ones,
    those without a rate): entries of theirs are left as they are.
    """

    name: str
    platform: str | None = None
    role: str | None = None
    image: str | None = None
    site: str | None = None
    hostname: str | None = None
    port: int | None = None
    username: str | None = None
    tags: frozenset[str] = frozenset()
    groups: tuple[str, ...] = ()
    ports: tuple[SourcePort, ...] | None = None
    unmanaged: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SourceNetwork:
    """What a source tells. ``links`` is ``None`` where it tells of no links at all."""

    devices: tuple[SourceDevice, ...]
    links: tuple[tuple[End, End], ...] | None = None
    notes: tuple[Note, ...] = field(default=())
