"""Errors of many devices by their cause: the same of several is told once, with their names or their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qosforge.device_names import MOST_NAMED, name_devices, natural_order
from qosforge.runs.record.step_error import StepError


@dataclass(frozen=True, slots=True)
class GatheredError:
    """What one error says, or the same one of each of ``devices``; none where it is about no single device.

    ``refused`` is what several devices refused, each group of them with an answer that ``message`` has; else it is
    empty.
    """

    devices: tuple[str, ...]
    message: str
    hint: str
    settles: str
    refused: str = ""

    @property
    def device(self) -> str:
        """The device, where it is about just one."""
        return self.devices[0] if len(self.devices) == 1 else ""

    @property
    def subject(self) -> str:
        """Its devices, as a sentence that `message` ends begins; empty where it is about none."""
        return self._subject(0)

    @property
    def told(self) -> str:
        """What is wrong, with its devices."""
        return self.told_of(0)

    def told_of(self, total: int) -> str:
        """The same, where ``total`` devices might have had it; 0 where their number says nothing."""
        return f"{self._subject(total)} {self.message}".strip()

    @property
    def beside_device(self) -> str:
        """What is wrong, where the name of a single device stands beside it."""
        return self.message if self.device else self.told

    def __str__(self) -> str:
        """It in words: its devices, what is wrong, the hint."""
        return f"{self.told} ({self.hint})" if self.hint else self.told

    def _subject(self, total: int) -> str:
        count = len(self.devices)
        if self.refused:
            return f"{count} of {total} devices" if total else f"{count} devices"
        if count == total and count > MOST_NAMED:
            return f"{count} devices:"
        return f"{name_devices(self.devices)}:" if self.devices else ""


def gather_errors(errors: Iterable[StepError]) -> tuple[GatheredError, ...]:
    """Errors of one cause as one, those of the most devices first; else in their order.

    Of one cause are errors that say the same, and refusals of the same: how far each device came, and on which line
    it stopped, is no other cause. The devices of each stand in their natural order.
    """
    alike: dict[tuple[object, ...], dict[str, StepError]] = {}
    for error in errors:
        says = ("", error.refused) if error.answer and error.device else (error.message, "")
        key = (*says, error.hint, error.settles, bool(error.device))
        alike.setdefault(key, {}).setdefault(error.device, error)
    return tuple(sorted((_gathered(tuple(some.values())) for some in alike.values()), key=_weight))


def _weight(one: GatheredError) -> int:
    return -max(1, len(one.devices))


def _gathered(errors: Sequence[StepError]) -> GatheredError:
    first, errors = errors[0], sorted(errors, key=lambda error: natural_order(error.device))
    devices = tuple(error.device for error in errors if error.device)
    if not first.answer or len(devices) == 1:
        return GatheredError(devices, first.message, first.hint, first.settles)
    answers: dict[str, list[str]] = {}
    for error in errors:
        answers.setdefault(error.answer, []).append(error.device)
    some = sorted(answers.items(), key=lambda one: -len(one[1]))
    counts = [f"{len(names)} " if len(some) > 1 else "" for _, names in some]
    told = [f"{n}“{answer}” ({name_devices(names)})" for n, (answer, names) in zip(counts, some, strict=True)]
    return GatheredError(
        devices, f"refused {first.refused}: {', '.join(told)}", first.hint, first.settles, first.refused
    )
