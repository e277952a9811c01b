"""A pending commit: one that a device rolls back by itself unless it is confirmed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PendingCommit:
    """A commit that the device takes back by itself unless it is confirmed.

    Attributes:
        user: who entered it, as the device says; empty where it does not.
        own: whether ``user`` is the one that the session logged in as.
        timer: seconds that its timer was set for; ``None`` where the device does not tell.
        left: seconds until it is taken back; ``None`` where the device does not tell.
    """

    user: str
    own: bool
    timer: int | None = None
    left: int | None = None

    def may_be_set_for(self, seconds: int) -> bool:
        """Whether a timer that was set for so many seconds can look like this one: the device says how long it
        was set for, or no more is left of it.
        """
        if self.timer is not None:
            return self.timer == seconds
        return self.left is not None and self.left <= seconds
