"""What is kept of a prediction beside its measurement: the seconds simulated, and what classes get today."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from qosforge.findings import Finding
from qosforge.tester.measurement.class_figures import ClassFigures


@dataclass(frozen=True, slots=True)
class SimulatedTime:
    """Seconds that a scenario was simulated, all replications together, and that the policy wants it measured."""

    scenario: str
    seconds: int
    wanted: Annotated[int, Field(description="how long the policy wants it measured")]


def left_to_run(simulated: Iterable[SimulatedTime], findings: Sequence[Finding]) -> SimulatedTime | None:
    """The scenario of which the least was simulated of what the run measures, where that is all that keeps bounds
    open; ``None`` where all was simulated, or by the ``findings`` some stay open in the run as well.
    """
    short = [one for one in simulated if one.seconds < one.wanted]
    return min(short, key=lambda one: one.seconds / one.wanted) if short and not findings else None


class TodayScenario(BaseModel):
    """What the classes without an objective get in a scenario by what the devices hold now.

    Where that was not simulated, ``figures`` are empty, and either ``unread`` or ``why`` says why.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    figures: tuple[ClassFigures, ...] = ()
    unread: tuple[str, ...] = Field(
        default=(), description="Devices on its ways whose configuration was never read."
    )
    why: str = Field(default="", description="Why it cannot be simulated, in words.")


Today = tuple[TodayScenario, ...]
"""By scenario, in the order of the policy's checks; empty where every class has an objective."""
