"""The figures of a run: drawn once, a scenario at a time, and kept with the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from qosforge.access.roles import Principal
from qosforge.api.backend import Backend
from qosforge.artifacts.store import ArtifactMissing
from qosforge.reports.scenario_figures import FIGURES, ScenarioFigures, scenario_figures
from qosforge.runs.record.events import EventKind

SHARE_OF_REQUEST = 0.7
"""Part of a request's time that drawing may take: what is left is for the page that tells of a failure."""
_MOST = 200
"""Events of figures that are looked through."""


@dataclass(frozen=True)
class DrawnFigures:
    """What is kept of the figures of one run; ``measured`` names its measurements, empty where there are none.

    ``scenario`` is the one that was asked for; empty: the first.
    """

    backend: Backend
    run_id: str
    measured: str
    scenario: str

    @cached_property
    def _kept(self) -> dict[str, dict[str, Any]]:
        """What events say of figures of the present measurements, by scenario."""
        events = self.backend.run_requests.store.events.newest(self.run_id, _MOST, EventKind.FIGURES)
        found = (event.data for event in reversed(events))
        return {
            str(data["scenario"]): data for data in found if self.measured and data["measured"] == self.measured
        }

    @property
    def scenarios(self) -> tuple[str, ...]:
        """All scenarios in their order, once one is drawn."""
        return tuple(next(iter(self._kept.values()))["scenarios"]) if self._kept else ()

    @property
    def titled(self) -> tuple[tuple[str, str], ...]:
        """All scenarios in their order, each with what it is."""
        titles = self.document.titles if self.document else ()
        return tuple(zip(self.scenarios, titles or self.scenarios, strict=True))

    @property
    def shown(self) -> str:
        """The scenario that is shown, or drawn first; empty where none is known yet."""
        return self.scenario or next(iter(self.scenarios), "")

    @cached_property
    def document(self) -> ScenarioFigures | None:
        """The figures of the scenario; ``None`` where they are yet to be drawn."""
        data = self._kept.get(self.shown)
        if data is None:
            return None
        try:
            return FIGURES.validate_json(self.backend.artifacts.get_bytes(data["artifact"]))
        except (ArtifactMissing, ValueError):  # an earlier release drew them: they are drawn anew
            return None

    def draw(self, caller: Principal) -> ScenarioFigures | None:
        """Draw them in a computing process and keep them; ``None`` where the run has no such scenario.

        Raises:
            TooBusy, TookTooLong, TookTooMuch, ComputeDied: as `Compute.call`.
        """
        report = self.backend.run_requests.detail(self.run_id)
        seconds = SHARE_OF_REQUEST * self.backend.settings.request_seconds
        work = partial(scenario_figures, report, self.scenario)
        drawn = self.backend.compute.call(work, timeout=seconds, caller=caller.name)
        if drawn is not None:
            artifact = self.backend.artifacts.put_bytes(FIGURES.dump_json(drawn))
            self.backend.run_requests.store.events.figures(
                self.run_id,
                {
                    "scenario": drawn.scenario,
                    "scenarios": list(drawn.scenarios),
                    "measured": self.measured,
                    "artifact": artifact,
                },
            )
        return drawn
