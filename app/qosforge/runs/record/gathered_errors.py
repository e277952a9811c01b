"""Errors of many devices by what they say: the same of several is told once, with their names or their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.device_names import name_devices
from qosforge.runs.record.step_error import StepError


@dataclass(frozen=True, slots=True)
class GatheredError:
    """What one error says, or the same one of each of ``devices``; none where it is about no single device."""

    devices: tuple[str, ...]
    message: str
    hint: str
    settles: str

    @property
    def device(self) -> str:
        """The device, where it is about just one."""
        return self.devices[0] if len(self.devices) == 1 else ""

    @property
    def named(self) -> str:
        """Its devices in a sentence."""
        return name_devices(self.devices)

    @property
    def told(self) -> str:
        """What is wrong, with its devices."""
        return f"{self.named}: {self.message}" if self.devices else self.message

    @property
    def beside_device(self) -> str:
        """What is wrong, where the name of a single device stands beside it."""
        return self.message if self.device else self.told

    def __str__(self) -> str:
        """It in words: its devices, what is wrong, the hint."""
        return f"{self.told} ({self.hint})" if self.hint else self.told


def gather_errors(errors: Iterable[StepError]) -> tuple[GatheredError, ...]:
    """Errors that say the same as one, those of the most devices first; else in their order."""
    alike: dict[tuple[str, str, str, bool], dict[str, None]] = {}
    for error in errors:
        key = (error.message, error.hint, error.settles, bool(error.device))
        alike.setdefault(key, {})[error.device] = None
    found = [
        GatheredError(tuple(filter(None, devices)), message, hint, settles)
        for (message, hint, settles, _), devices in alike.items()
    ]
    return tuple(sorted(found, key=lambda one: -max(1, len(one.devices))))
