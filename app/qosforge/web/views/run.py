"""One run as its page shows it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal
from urllib.parse import urlencode

from qosforge.access.roles import Principal, Role
from qosforge.api.backend import Backend
from qosforge.api.run_models import without_secrets
from qosforge.deploy.not_saved import not_saved
from qosforge.device_names import name_devices
from qosforge.findings import Finding, Severity
from qosforge.inventory.changes import Approval
from qosforge.reports.evidence import interval, observed, why_open
from qosforge.reports.gathered_changes import GatheredChange
from qosforge.reports.model import DeviceReport, RunReport
from qosforge.reports.table import format_bound
from qosforge.reports.trade_offs import side_texts
from qosforge.run_outcome import RunOutcome
from qosforge.runs.record.attempts import AttemptCause, attempt_causes
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.invalid_state import BetweenStates, ChangedSince, RunExpired
from qosforge.runs.record.readings import last_unsaved
from qosforge.runs.record.run import Run
from qosforge.runs.record.set_aside import CODES
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.allowed_actions import AllowedActions, Denial, allowed_actions
from qosforge.runs.views.artifact_list import RunArtifact, list_artifacts
from qosforge.runs.views.progress import Progress, progress
from qosforge.runs.workflow.external_tester import awaited_side
from qosforge.tester.measurement.document import Side
from qosforge.web.views.device_changes import changes_of, count_lines, diff_lines, lines_back, lines_left
from qosforge.web.views.drawn_figures import DrawnFigures
from qosforge.web.views.network_runs import networks_in_force
from qosforge.web.views.run_approved import RunApproved
from qosforge.web.views.run_devices import DeviceRows, device_rows, errors_beside
from qosforge.web.views.run_events import EventSearch, RunEvents
from qosforge.web.views.run_findings import RunFindings
from qosforge.web.views.run_reasons import RunReasons
from qosforge.web.views.run_rollback import RunRollback
from qosforge.web.views.run_steps import (
    Step,
    StepRow,
    has_failed,
    step_rows,
    steps_of,
)
from qosforge.web.views.run_tab import Tab, default_tab
from qosforge.web.views.run_tiles import RunTiles
from qosforge.web.views.run_under_way import UnderWay, under_way
from qosforge.web.views.run_verdicts import RunVerdicts

_AS_BEFORE = frozenset({"undone", "nothing to change", "not touched", "not changed"})
_ABOUT_TO_TOUCH = frozenset({RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED, RunStatus.PENDING, RunStatus.RUNNING})


def _gives(stage: Stage) -> bool:
    """Whether a stage gave what the page shows beside the progress."""
    return stage.outcome is not None and stage.name not in ("read", "compile", "push", "counters")


@dataclass(frozen=True)
class RunView:
    """A run as ``caller`` may see it; each part is looked up when a template first asks for it.

    ``chosen`` is the part of the page that was asked for; ``scenario`` and ``figure`` are which figure, ``search``
    is which events.
    """

    backend: Backend
    caller: Principal
    run: Run
    chosen: Tab | Literal[""] = ""
    scenario: str = ""
    figure: str = ""
    search: EventSearch = field(default_factory=EventSearch)

    @property
    def tab(self) -> Tab:
        """The part that the page shows."""
        return self.chosen or default_tab(self.run, self.report, drawn=bool(self.measured and self.drawn.document))

    @property
    def query(self) -> str:
        """What was asked for, as a query; it is empty where that is the default."""
        return self._query(self.chosen)

    @cached_property
    def seq(self) -> int:
        """The newest event: what the page shows is not older. Ask for it before the rest."""
        return self.backend.run_requests.store.events.last(self.run.id)

    @cached_property
    def progress(self) -> Progress:
        """Stages, and devices by steps."""
        return progress(self.backend.run_requests.store, self.run)

    @property
    def key(self) -> str:
        """Changes with what the page shows beside the progress."""
        ended = sum(_gives(stage) for stage in self.progress.stages)
        return f"{self.run.attempt}.{ended}.{self.run.updated.timestamp()}.{self.run.rolled_back_by or ''}"

    @cached_property
    def report(self) -> RunReport:
        """All that is known but the measurements; for a viewer without the lines that the run did not change.

        Of a run that was approved it is what was approved, until it goes on.
        """
        return self._report_of(self.run.id, self.approved.attempt if self.approved else None)

    def _report_of(self, run_id: str, attempt: int | None = None) -> RunReport:
        found = self.backend.run_requests.detail(run_id, measurements=False, attempt=attempt)
        return found if self.may(Role.OPERATOR) else without_secrets(found)

    @property
    def figure_query(self) -> str:
        """The figure that was asked for, as a query."""
        return self._query("figures")

    def _query(self, tab: Tab | Literal[""]) -> str:
        asked = (("tab", tab), ("scenario", self.scenario), ("figure", self.figure), *self.search.parameters)
        return urlencode([(name, value) for name, value in asked if value])

    @staticmethod
    def denied(denial: Denial) -> Literal["between", "expired", "changed", ""]:
        """Why an action is not allowed, where the page has its own words for that."""
        match denial:
            case BetweenStates():
                return "between"
            case RunExpired():
                return "expired"
            case ChangedSince():
                return "changed"
        return ""

    def may(self, role: Role | str) -> bool:
        """Whether the caller has the role on the run's network."""
        return self.caller.may(Role(role), self.run.network)

    @cached_property
    def allowed_actions(self) -> AllowedActions:
        """What the caller may ask of the run by its state."""
        return allowed_actions(self.backend.run_requests, self.run, self.caller.name)

    @property
    def changed(self) -> tuple[DeviceReport, ...]:
        """The devices that get, or would get, lines."""
        return tuple(device for device in self.report.devices if device.candidate)

    @cached_property
    def changes(self) -> tuple[GatheredChange, ...]:
        """What the configurations lose and gain; devices that change alike together."""
        return changes_of(self.report.devices)

    @cached_property
    def left_lines(self) -> Mapping[str, tuple[str, ...]]:
        """Of a rollback, by device: the lines that the run had entered and this one does not take away."""
        of = self.run.resolved.rollback_of
        return {} if of is None else lines_left(changes_of(self._report_of(of).devices), self.changes)

    @property
    def lines(self) -> tuple[int, int]:
        """How many lines all devices gain, and how many they lose."""
        return count_lines(self.changes)

    lines_back = staticmethod(lines_back)
    diff_lines = staticmethod(diff_lines)

    def device(self, name: str) -> DeviceReport:
        """What is known of a device."""
        return next(device for device in self.report.devices if device.name == name)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The run's steps as people follow them."""
        decisions = [one for one in self.report.decisions if not one.keeping]
        judged = self.judged.by_step(self.run.status is RunStatus.NO_CHANGES)
        return steps_of(self.run, self.progress, decisions, judged, asks=self.approval != "none")

    def step_rows(self, *, earlier: bool) -> list[StepRow]:
        """The steps of the last attempt, or of those before it, as they are listed with the decisions."""
        return step_rows(self.progress, self.report.decisions, earlier=earlier)

    @cached_property
    def device_rows(self) -> DeviceRows:
        """The rows of its devices."""
        return device_rows(self.progress.devices, half_way=self.run.status is RunStatus.NEEDS_RECOVERY)

    errors_beside = staticmethod(errors_beside)
    has_failed = staticmethod(has_failed)
    gather_errors = staticmethod(gather_errors)
    name_devices = staticmethod(name_devices)

    @cached_property
    def under_way(self) -> UnderWay | None:
        """What it is doing right now, and how far it is; ``None`` while it does nothing."""
        return under_way(self.run.resolved, self.progress, self.backend.run_requests.rules(self.run).changes)

    @cached_property
    def rollback(self) -> RunRollback:
        """How its change was, or is being, rolled back."""
        return RunRollback(self.backend.run_requests.store, self.run, self.progress)

    @cached_property
    def attempt_causes(self) -> Mapping[AttemptCause, int]:
        """Why it began again, and how often for each cause; what a retention took is not known any more."""
        return attempt_causes(self.backend.run_requests.store.events.of_status(self.run.id))

    @cached_property
    def tiles(self) -> RunTiles:
        """The classes of its policy, by what they get."""
        stages = () if self.given_up else self._stages
        return RunTiles(self.backend.artifacts, self.run, self.report, self.judged, stages)

    @cached_property
    def drawn(self) -> DrawnFigures:
        """The figures that are kept with the run."""
        return DrawnFigures(self.backend, self.run.id, self.measured, self.scenario)

    @cached_property
    def found(self) -> RunFindings:
        """Its findings."""
        return RunFindings(self.report)

    @cached_property
    def not_saved(self) -> tuple[Finding, ...]:
        """What would stop it at devices that it would change: lines not saved when they were last read."""
        names = [device.name for device in self.changed]
        found = last_unsaved(self.backend.database, self.run.network, names)
        return tuple(not_saved(name, lines) for name, lines in found.items())

    @cached_property
    def events(self) -> RunEvents:
        """The events that are looked for."""
        seen, events = self.progress, self.backend.run_requests.store.events
        devices = tuple(each.device for each in seen.devices)
        return RunEvents(events, self.run.id, (*seen.earlier, *seen.stages), devices, self.search)

    def may_set_aside(self, finding: Finding) -> bool:
        """Whether the caller may begin a new run without minding a finding that this one was rejected for."""
        resolved = self.run.resolved
        stopped = self.run.status is RunStatus.REJECTED and finding.severity is not Severity.INFO
        again = bool(resolved.policy_name) and resolved.brings_policy
        return stopped and again and finding.code.startswith(CODES) and self.may(Role.APPROVER)

    def aside_link(self, finding: Finding) -> dict[str, str]:
        """The parameters of the form of a new run in which a finding is set aside."""
        return {
            "network": self.run.network,
            "policy": self.run.resolved.policy_name,
            "set_aside_code": finding.code,
            "set_aside_device": finding.device or "",
            "set_aside_text": finding.message[:500],
        }

    @property
    def checked(self) -> bool:
        """Whether the compiled changes were checked, so that there are findings or none."""
        return any(stage.name == "validate" and stage.outcome for stage in self._stages) or bool(
            self.report.findings
        )

    @property
    def still_to_come(self) -> bool:
        """Whether what is worked out is yet to be entered, and was not."""
        return self.run.status in _ABOUT_TO_TOUCH

    @property
    def touched(self) -> tuple[str, ...]:
        """The devices on which the run's change stands."""
        return tuple(device.name for device in self.report.devices if device.outcome == "confirmed")

    @property
    def touched_any(self) -> bool:
        """Whether any line was sent to any device."""
        return any(device.outcome not in ("nothing to change", "not touched") for device in self.report.devices)

    @cached_property
    def judged(self) -> RunVerdicts:
        """What came of its objectives."""
        return RunVerdicts(self.report)

    side_texts = staticmethod(side_texts)
    amount = staticmethod(format_bound)
    observed = staticmethod(observed)
    interval = staticmethod(interval)
    why_open = staticmethod(why_open)

    @staticmethod
    def draw() -> str:
        """A key under which something is asked for once."""
        return str(uuid.uuid4())

    @property
    def measured(self) -> str:
        """Changes with what there is to draw; empty where that is nothing."""
        told = (stage.summary for stage in self._stages if isinstance(stage.summary, MeasurementSummary))
        given = [summary.measurement for summary in told if summary.measurement]
        return hashlib.sha256(" ".join(given).encode()).hexdigest()[:16] if given and not self.given_up else ""

    @cached_property
    def outcome(self) -> RunOutcome | None:
        """What it came to; ``None`` while it goes on."""
        return self.run.outcome

    @cached_property
    def reasons(self) -> RunReasons:
        """Why it ended without its change, or stopped."""
        return RunReasons(self.run.status, self.outcome, self.progress.stages, self.report)

    @cached_property
    def approved(self) -> RunApproved | None:
        """Its approval, while it has not gone on since."""
        return RunApproved.of(self.run, self.progress, self.backend.run_requests.store.decisions.on(self.run.id))

    @property
    def _stages(self) -> tuple[Stage, ...]:
        """The stages of the attempt that the report is about."""
        seen, of = self.progress, self.approved
        if of is None or not of.has_begun:
            return seen.stages
        return tuple(stage for stage in seen.earlier if stage.run_attempt == of.attempt)

    @property
    def is_as_before(self) -> bool:
        """Whether every device that it touched reads as it did before, by what its journal says of each."""
        return all(device.outcome in _AS_BEFORE for device in self.report.devices)

    @property
    def approval(self) -> Approval:
        """Who has to approve the change; by four eyes, who had a hand in it may not."""
        return self.backend.run_requests.rules(self.run).approval

    @property
    def awaits_outside(self) -> Side | None:
        """The side of the push of which an external tester has to give its measurement now."""
        return awaited_side(self.run)

    @cached_property
    def policy_now(self) -> str | None:
        """The policy that the network's devices hold by its runs now; ``None`` where none stands."""
        network = self.run.network
        return networks_in_force(self.backend.database, [network])[network].name

    @property
    def given_up(self) -> bool:
        """Whether a retention took what it had read and made."""
        seen = self.progress
        return any(stage.name == RETENTION_STAGE for stage in (*seen.earlier, *seen.stages))

    @cached_property
    def artifacts(self) -> tuple[RunArtifact, ...]:
        """Its artifacts, as far as they are there."""
        return () if self.given_up else list_artifacts(self.backend.run_requests.store, self.run.id)
