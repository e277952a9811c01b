"""What is said where running and startup configuration differ. Imports no driver: previews of texts need none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from qosforge.findings import Finding, Severity
from qosforge.platforms.device_text import DeviceText

CHOICES = (
    "to keep what runs, save it on the device (write memory); to go back to what is saved, reload the device, or "
    "replace its configuration by startup where it can; then try again"
)
"""How the two are made alike. Which of them is right, nobody but the administrator knows."""
MOST_LINES = 5
"""Of a difference, those that are told."""


@dataclass(frozen=True)
class LiveState:
    """What devices hold, by device: running configurations, and unsaved lines that stand in the way of a push,
    as they may be shown.
    """

    running: Mapping[str, DeviceText] = field(default_factory=dict)
    unsaved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def difference(lines: Sequence[str]) -> str:
    """That running and startup differ, and in what; ``lines`` may be shown."""
    more = f" and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    return f"running and startup configuration differ in {len(lines)} lines: {'; '.join(lines[:MOST_LINES])}{more}"


def not_saved(device: str, lines: Sequence[str]) -> Finding:
    """That lines stand in the way of a push to a device: see `qosforge.deploy.unsaved.in_the_way`."""
    return Finding(
        code="running-not-saved",
        severity=Severity.ERROR,
        message=f"{difference(lines)}; a push would make that permanent, or lose it",
        device=device,
        hint=CHOICES,
    )
