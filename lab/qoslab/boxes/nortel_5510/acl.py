"""Access-lists of a 5510 (software 5.0 and later): ordered entries of one name, put on ports.

Entries of one ``block`` share a mask and with it one precedence; every other entry takes one of its
own.  What no entry matches is dropped.  The numbers are given by the box; the form and the place of
these lines in the listing are the lab's assumption.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qoslab.boxes.nortel_5510.fields import IpFields, L2Fields


@dataclass(frozen=True)
class AclEntry:
    """One ``qos ip-acl`` or ``qos l2-acl`` line (``kind`` is ``ip`` or ``l2``).

    ``drop`` is "" when the line names no drop action: matched packets then pass.
    """

    number: int
    kind: str
    name: str
    fields: IpFields | L2Fields
    drop: str = ""
    dscp: int | None = None
    priority: int | None = None
    drop_precedence: str = ""
    block: str = ""

    def line(self) -> str:
        text = f"qos {self.kind}-acl name {self.name}{self.fields.text()}"
        for word, value in (
            ("drop-action", self.drop or None), ("update-dscp", self.dscp), ("update-1p", self.priority),
            ("set-drop-prec", self.drop_precedence or None), ("block", self.block or None),
        ):  # fmt: skip
            if value is not None:
                text += f" {word} {value}"
        return text


@dataclass(frozen=True)
class AclAssignment:
    """One ``qos acl-assign``: the list ``name`` of ``kind`` on ports."""

    number: int
    kind: str
    name: str
    ports: tuple[int, ...]
    enabled: bool = True


def masks(entries: Sequence[AclEntry]) -> list[list[AclEntry]]:
    """The entries of one list by the mask (precedence) that they take, the first looked at first."""
    groups: dict[str, list[AclEntry]] = {}
    for entry in entries:
        groups.setdefault(f"block {entry.block}" if entry.block else f"entry {entry.number}", []).append(entry)
    return list(groups.values())


def ordered(entries: Sequence[AclEntry]) -> Iterator[AclEntry]:
    """The entries of one list in the order in which they are looked at."""
    for group in masks(entries):
        yield from group
