"""One run as its page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.access.roles import Principal, Role
from app.api.backend import Backend
from app.api.run_models import without_secrets
from app.findings import Finding, Severity
from app.reports.model import DeviceReport, RunReport
from app.runs.contents import Content, contents
from app.runs.possible import Possible, possible
from app.runs.progress import Progress, progress
from app.runs.store import Run
from app.runs.tables import RunStatus
from app.runs.undo import undone_by

_SEVERITIES = tuple(Severity)
_ABOUT_TO_TOUCH = frozenset({RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED, RunStatus.PENDING, RunStatus.RUNNING})


@dataclass(frozen=True)
class RunView:
    """A run as ``caller`` may see it; each part is looked up when a template first asks for it."""

    backend: Backend
    caller: Principal
    run: Run

    @cached_property
    def seq(self) -> int:
        """The newest event: what the page shows is not older. Ask for it before the rest."""
        return self.backend.desk.store.events.last(self.run.id)

    @cached_property
    def progress(self) -> Progress:
        """Stages, and boxes by steps."""
        return progress(self.backend.desk.store, self.run)

    @property
    def key(self) -> str:
        """Changes with what the page shows beside the progress."""
        ended = sum(stage.outcome is not None for stage in self.progress.stages)
        return f"{self.run.attempt}.{ended}.{self.run.updated.timestamp()}"

    @cached_property
    def report(self) -> RunReport:
        """All that is known but the measurements; for a viewer without the lines that the run did not change."""
        found = self.backend.desk.detail(self.run.id, measurements=False)
        return found if self.may(Role.OPERATOR) else without_secrets(found)

    def may(self, role: Role | str) -> bool:
        """Whether the caller has the role on the run's network."""
        return self.caller.may(Role(role), self.run.network)

    @cached_property
    def possible(self) -> Possible:
        """What the caller may ask of the run by its state."""
        return possible(self.backend.desk, self.run, self.caller.name)

    @property
    def changed(self) -> tuple[DeviceReport, ...]:
        """The boxes that get, or would get, lines."""
        return tuple(device for device in self.report.devices if device.candidate)

    @property
    def findings(self) -> list[Finding]:
        """Errors first, otherwise in the order they were found."""
        return sorted(self.report.findings, key=lambda finding: _SEVERITIES.index(finding.severity))

    @property
    def still_to_come(self) -> bool:
        """Whether what is worked out is yet to be entered, and was not."""
        return self.run.status in _ABOUT_TO_TOUCH

    @property
    def touched(self) -> tuple[str, ...]:
        """The boxes on which the run's change stands."""
        return tuple(device.name for device in self.report.devices if device.outcome == "confirmed")

    @cached_property
    def undone_by(self) -> list[Run]:
        """The runs that were asked for to take this one back."""
        return undone_by(self.backend.desk.store, self.run)

    @cached_property
    def contents(self) -> tuple[Content, ...]:
        """Its artifacts."""
        return contents(self.backend.desk.store, self.run.id)
