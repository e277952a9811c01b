"""The changes that can be made to a policy's text, by paths in its own data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.errors import InputError, Place
from qosforge.intent.yaml_source import Path_

BY_HAND = "change it in the YAML"


@dataclass(eq=False)
class NotEditable(InputError):
    """A change that cannot be made for the person: where, and what to do instead."""


@dataclass(frozen=True)
class Set:
    """Give the value at ``path``, in place of another one or as a new key of a mapping.

    Mappings that are missing on the way are made; nothing, ``true`` and ``false`` on the way give room to them. Of
    a mapping or a list only those parts are written that differ.
    """

    path: Path_
    value: Any


@dataclass(frozen=True)
class Remove:
    """Take away a key of a mapping or an entry of a list.

    What is empty then goes too, and so on upwards. What stays: mappings that say something with nothing in them
    (``priority: {}`` is strict priority, ``wred: {}`` has the device's own profile), the lists ``classes`` and
    ``apply`` that a policy must have, and entries that are a thing of their own (classes, scopes, rules). Comment
    lines directly above go with it, except those that head several one-line entries and those that head the file.
    """

    path: Path_


@dataclass(frozen=True)
class Insert:
    """A new entry before position ``at`` of the list at ``path``.

    The list is made where there is none; a single value stands for a list of one.
    """

    path: Path_
    at: int
    value: Any


@dataclass(frozen=True)
class Move:
    """Put the entry at position ``source`` of the list at ``path`` to position ``target``.

    The comment lines directly above it move too.
    """

    path: Path_
    source: int
    target: int


Change = Set | Remove | Insert | Move


def refused(message: str, where: Place, hint: str = BY_HAND) -> NotEditable:
    """A change that cannot be made, with where it stands."""
    return NotEditable(message, where, hint)
