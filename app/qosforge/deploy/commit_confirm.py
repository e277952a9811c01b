"""How long devices hold a change that nobody confirms, before they roll it back themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.compiler.waves import CANARY, Wave
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.deploy.pace import Pace
from qosforge.errors import DeviceError, Place
from qosforge.inventory.models import Network

LEAST_SECONDS = 900
"""Never less: a session may take as long as the limits of its steps, and the timer runs from its first line."""
DEVICE_SECONDS = 60.0
"""What one visit to a device (login, its lines, reading back; or its counters; or saving) is taken to last at most.
One that takes longer makes the timer run out: the change goes back, and nothing is kept.
"""


@dataclass(frozen=True)
class Lengths:
    """What a run does between its push and its verdict, in seconds: ``measuring``, and ``waiting`` for people."""

    measuring: float = 0.0
    waiting: float = 0.0


def revert_seconds(network: Network, waves: Sequence[Wave], lengths: Lengths) -> tuple[int, ...]:
    """For each wave after how many seconds its devices go back unless confirmed: whole minutes, as devices count.

    From the first line of a wave that is what it takes itself, the waves after it, the counters of the canary and
    of all, what ``lengths`` say, and saving.
    """
    pace = Pace(network)
    every = [name for wave in waves for name in wave.devices]
    end = lengths.measuring + lengths.waiting + 2 * pace.seconds(every, DEVICE_SECONDS)
    found: list[int] = []
    for wave in reversed(waves):
        visits = 2 if wave.name == CANARY else 1
        end += visits * pace.seconds(wave.devices, DEVICE_SECONDS, paced=True)
        found.append(max(LEAST_SECONDS, 60 * math.ceil(end / 60)))
    return tuple(reversed(found))


def too_wide(waves: Sequence[Wave], most: int) -> list[DeviceError]:
    """The devices that have to begin to change with more than ``most`` sessions allow, as errors."""
    return [
        DeviceError(
            f"it changes at the same moment as {len(step) - 1} others, and a process holds {most} sessions open",
            Place(device=name),
            f"set QOSFORGE_DEVICE_SESSIONS to {len(step)} or more",
        )
        for wave in waves
        for step in wave.steps
        if len(step) > most
        for name in step
    ]


def too_short(network: Network, waves: Sequence[Wave], seconds: Sequence[int]) -> list[DeviceError]:
    """The devices whose timer cannot be set for so long, as errors."""
    found = []
    for wave, needed in zip(waves, seconds, strict=True):
        for name in wave.devices:
            own = driver_capabilities(network.device(name).driver, name)
            if own.revert_timer and own.longest_timer < needed:
                found.append(
                    DeviceError(
                        f"its timer ({own.goes_back}) holds a change for at most {own.longest_timer // 60} min, "
                        f"and from its first line to the verdict it takes up to {needed // 60} min",
                        Place(device=name),
                        "measure for less long, or write fewer waves, less pause or more at once in changes.yaml",
                    )
                )
    return found
