"""Limits of time and bytes for each step of a session with a device."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

Step = Literal["login", "read", "show", "batch", "save", "logout", "idle"]
Quantity = Literal["silence", "seconds", "bytes"]

MIB = 1 << 20

#: What each step is called in messages.
STEP_NAMES: dict[Step, str] = {
    "login": "logging in",
    "read": "reading the configuration",
    "show": "a show command",
    "batch": "entering the configuration lines",
    "save": "saving the configuration",
    "logout": "logging out",
    "idle": "between two exchanges",
}


@dataclass(frozen=True, slots=True)
class StepLimit:
    """The limits of one step.

    Attributes:
        silence: seconds without a byte from the device.
        seconds: the whole step, however busy the device is.
        bytes: what the device sends in the step, as counted on the wire.
    """

    silence: float
    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """The limits of every step of a session.

    The whole times leave room for a console line of 9,600 baud (some 960 bytes a second): a configuration of 200 kB
    to read, a change of 10,000 lines to enter. Together they stay below the timer by which a device takes a change
    back that nobody confirms: it begins before the first line.

    Attributes:
        login: from the TCP connection to the first prompt, enable mode included.
        read: printing the running and the startup configuration.
        show: any other exchange: counters, facts, the state of a timer.
        batch: a whole candidate: the copy of its file, its lines, the timer; a driver's own rollback.
        save: writing the running configuration to startup.
        logout: leaving. A device that does not let go is left without a word.
        idle: between two steps, when nobody reads what the device sends, such as log messages.
    """

    login: StepLimit = StepLimit(silence=30, seconds=60, bytes=MIB)
    read: StepLimit = StepLimit(silence=30, seconds=240, bytes=8 * MIB)
    show: StepLimit = StepLimit(silence=30, seconds=120, bytes=8 * MIB)
    batch: StepLimit = StepLimit(silence=60, seconds=600, bytes=8 * MIB)
    save: StepLimit = StepLimit(silence=120, seconds=180, bytes=MIB)
    logout: StepLimit = StepLimit(silence=2, seconds=3, bytes=MIB)
    idle: StepLimit = StepLimit(silence=math.inf, seconds=math.inf, bytes=4 * MIB)

    def of(self, step: Step) -> StepLimit:
        """The limits of one step."""
        limit: StepLimit = getattr(self, step)
        return limit

    def with_silence(self, seconds: float) -> SessionLimits:
        """The same with another limit of silence after a command (``read``, ``show`` and ``batch``)."""
        return replace(
            self,
            read=replace(self.read, silence=seconds),
            show=replace(self.show, silence=seconds),
            batch=replace(self.batch, silence=seconds),
        )
