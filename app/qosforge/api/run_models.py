"""Request and response bodies of the routes about runs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from qosforge.configtree import headings_only
from qosforge.deltaq.objective import Evidence, Outcome
from qosforge.keep_rule import KeepRule
from qosforge.reports.model import DecisionReport, PredictionReport, RunReport, StageReport, WaveReport
from qosforge.reports.trade_offs import Account, TradeOff, accounts, trade_offs
from qosforge.reports.unjudged_trade_offs import UnjudgedTradeOff
from qosforge.runs.requests.run_request import Line
from qosforge.runs.views.artifact_list import ArtifactKind
from qosforge.runs.views.summary import RunSummary
from qosforge.tester.measurement.changes import ClassChange
from qosforge.tester.measurement.judging import ClassVerdict

_REQUEST = ConfigDict(extra="forbid")

RUNS = "/api/v1/runs"
"""Where runs are."""

ARTIFACT_EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

ArtifactId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class RunPage(BaseModel):
    """A page of runs, newest first; ``next`` is the path of the one after it."""

    runs: list[RunSummary]
    next: str | None = Field(description="Path with query of the following page; null on the last one.")


class RunDevice(BaseModel):
    """What a run did to a device: ``delta`` are the lines it enters, ``inverse`` those that roll them back.

    ``difference`` is what its configuration loses (``-``) and gains (``+``) by them, below the headings where that
    stands (a space): one setting that changes is its old line and its new one.
    """

    name: str
    platform: str
    outcome: str
    delta: list[str]
    inverse: list[str]
    difference: list[str]


class RunLinks(BaseModel):
    """Paths of what belongs to a run."""

    self: str
    events: str
    artifacts: str
    report: str


class RunDetail(RunSummary):
    """A run in detail, as far as it is known.

    ``candidate`` names what an approval is about: the list of every device's delta, as it was last prepared.
    """

    candidate: str | None
    approvals: list[DecisionReport]
    stages: list[StageReport]
    devices: list[RunDevice]
    findings: list[dict[str, Any]]
    outcome_before: Outcome | None
    outcome_predicted: Outcome | None
    outcome_after: Outcome | None
    evidence_before: Evidence | None = Field(description="The weakest of its paths; each verdict has its own.")
    evidence_after: Evidence | None = Field(description="The weakest of its paths; each verdict has its own.")
    verdicts_before: list[ClassVerdict]
    verdicts_predicted: list[ClassVerdict]
    verdicts_after: list[ClassVerdict]
    keep: KeepRule = Field(description="When its change is kept after it was measured.")
    question: str | None = Field(
        description="What an approver is asked to keep now: approve or reject it as the candidate."
    )
    changes: list[ClassChange] = Field(description="After against before, bound by bound.")
    prediction: PredictionReport | None = Field(description="What the prediction says beside its verdicts.")
    unjudged_trade_offs: list[UnjudgedTradeOff] = Field(
        description="What the change costs classes without an objective: predicted, or measured once it is made."
    )
    rollout: list[WaveReport] = Field(description="The waves of its push, and how far each came.")
    set_aside: str = Field(description="The finding of Batfish that was set aside for it, by whom and why.")
    left_out: list[str] = Field(description="Devices that failed and were left out of a change that stands.")
    links: RunLinks


class Approval(BaseModel):
    """An approval of ``candidate``, as the run's detail has it."""

    model_config = _REQUEST

    candidate: ArtifactId = Field(examples=[ARTIFACT_EXAMPLE])
    comment: Line = Field(default="", examples=["looked at both edges"])


class Rejection(BaseModel):
    """A rejection with its reason."""

    model_config = _REQUEST

    comment: Line = Field(default="", examples=["not in the exam week"])


class Rollback(BaseModel):
    """Why a run is rolled back; it is kept with the run that does it."""

    model_config = _REQUEST

    reason: Line = Field(default="", examples=["voice calls broke up"])


class Retry(BaseModel):
    """``start`` is the step to begin from; what was recorded before it is used again."""

    model_config = _REQUEST

    start: str = Field(default="read", pattern=r"^[a-z][a-z0-9-]{0,63}$", examples=["read"])


class RunEvent(BaseModel):
    """An event of a run, numbered by ``seq``."""

    seq: int
    kind: str
    data: dict[str, Any]
    at: datetime


class EventPage(BaseModel):
    """Events in their order; ``after`` is where to go on, and ``final`` says that no more will come."""

    events: list[RunEvent]
    after: int
    final: bool


class ArtifactEntry(BaseModel):
    """An artifact of a run. ``restricted``: it may hold secrets of a device, and takes an operator to read."""

    name: str = Field(examples=["running/vigo1"])
    kind: ArtifactKind
    id: str = Field(examples=[ARTIFACT_EXAMPLE])
    media_type: str
    restricted: bool
    link: str


class ArtifactList(BaseModel):
    """All artifacts of a run so far."""

    artifacts: list[ArtifactEntry]


class MeasurementReceipt(BaseModel):
    """The receipt of a measurement: its run, side and tester."""

    run: str
    side: Literal["before", "after"]
    tester: str


def detail_of(summary: RunSummary, report: RunReport, candidate: str | None) -> RunDetail:
    """A run in detail, from its summary and its report."""
    here = f"{RUNS}/{summary.id}"
    return RunDetail(
        **dict(summary),
        candidate=candidate,
        approvals=list(report.decisions),
        stages=list(report.stages),
        devices=[
            RunDevice(
                name=device.name,
                platform=device.platform,
                outcome=device.outcome,
                delta=device.candidate.splitlines(),
                inverse=device.inverse.splitlines(),
                difference=device.difference.splitlines(),
            )
            for device in report.devices
        ],
        findings=[finding.document() for finding in report.findings],
        outcome_before=report.outcome_before(),
        outcome_predicted=report.outcome_predicted(),
        outcome_after=report.outcome_after(),
        evidence_before=report.evidence("before"),
        evidence_after=report.evidence("after"),
        verdicts_before=list(report.verdicts_before),
        verdicts_predicted=list(report.verdicts_predicted),
        verdicts_after=list(report.verdicts_after),
        keep=report.keep,
        question=report.question,
        changes=list(report.changes),
        prediction=report.prediction,
        unjudged_trade_offs=list(report.unjudged_trade_offs),
        rollout=list(report.rollout),
        set_aside=report.set_aside,
        left_out=list(report.left_out),
        links=RunLinks(self=here, events=f"{here}/events", artifacts=f"{here}/artifacts", report=f"{here}/report"),
    )


class ReportDocument(RunReport):
    """A report with its measurements, what was expected of each class, and trade-offs."""

    accounts: tuple[Account, ...]
    trade_offs: tuple[TradeOff, ...]


def report_document(report: RunReport) -> ReportDocument:
    """The report as a JSON document."""
    sides = report.before, report.after
    return ReportDocument(**dict(report), accounts=accounts(*sides), trade_offs=trade_offs(*sides))


def without_secrets(report: RunReport) -> RunReport:
    """The report with no line of a device that the run did not change: running configurations carry secrets."""
    bare = [
        device.model_copy(
            update={
                "diff": _changes(device.diff),
                "difference": "\n".join(headings_only(device.difference.splitlines())),
            }
        )
        for device in report.devices
    ]
    return report.model_copy(update={"devices": tuple(bare)})


def _changes(diff: str) -> str:
    return "\n".join(line for line in diff.splitlines() if line.startswith(("+", "-", "@@")))
