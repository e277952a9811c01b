"""What is said where running and startup configuration differ. Imports no driver: previews of texts need none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from qosforge.errors import Place
from qosforge.finding_codes import explain
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.platforms.device_text import DeviceText
from qosforge.units import counted

MOST_LINES = 5
"""Of a difference, those that are told."""


@dataclass(frozen=True)
class LiveState:
    """What devices hold, by device: running configurations, and unsaved lines that stand in the way of a push,
    as they may be shown; a device of which that is not known is not in ``unsaved``.
    """

    running: Mapping[str, DeviceText] = field(default_factory=dict)
    unsaved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def difference(lines: Sequence[str]) -> str:
    """That running and startup differ, and in what; ``lines`` may be shown."""
    more = f" and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    amount = counted(len(lines), "line")
    return f"running and startup configuration differ in {amount}: {'; '.join(lines[:MOST_LINES])}{more}"


def how_to_agree() -> str:
    """How the two are made alike. Which of them is right, nobody but the administrator knows."""
    return explain("running-not-saved").hint


def not_saved(device: str, lines: Sequence[str]) -> Finding:
    """That lines stand in the way of a push to a device: see `qosforge.deploy.unsaved.in_the_way`."""
    return note("running-not-saved", Place(device=device), difference=difference(lines))
