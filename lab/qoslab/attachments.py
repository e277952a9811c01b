"""What is attached to a box's interfaces: every change of it, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class AttachmentChange:
    """The policy of one place (an interface and a direction) changed; "" is none.

    ``cause`` is the configuration line; "boot" and "replaced" are a boot and a configuration loaded whole.
    """

    place: str
    before: str
    after: str
    cause: str


class AttachmentHistory:
    """Every change since the box was made; what it attaches is looked at after every configuration line."""

    def __init__(self) -> None:
        self.history: list[AttachmentChange] = []
        self._now: dict[str, str] = {}

    def look(self, now: Mapping[str, str], cause: str) -> None:
        """Remember what changed, by what; ``now`` has the policy of every place that has one."""
        for place in sorted(self._now.keys() | now.keys()):
            before, after = self._now.get(place, ""), now.get(place, "")
            if before != after:
                self.history.append(AttachmentChange(place, before, after, cause))
        self._now = dict(now)
