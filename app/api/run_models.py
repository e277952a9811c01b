"""What the runs' routes take and give, as documents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from app.deltaq.objective import Outcome
from app.reports.balance import Account, Balance
from app.reports.model import RunReport, StageReport
from app.runs.contents import Kind
from app.runs.tables import RunStatus, Verdict
from app.tester.judging import ClassVerdict

_REQUEST = ConfigDict(extra="forbid")

RUN_EXAMPLE = "019a3f6e-5b1c-7c8e-9a40-0c5d9f1b7a11"
ARTIFACT_EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

Line = Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""One line of free text: it is shown, and goes into no configuration."""

ArtifactId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Source(BaseModel):
    """The Git commit that a policy came from."""

    model_config = _REQUEST

    repository: Line = Field(min_length=1, examples=["campus/qos"])
    commit: str = Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$", examples=["3f786850e387550fdab836ed7e6dc881de23001b"])
    path: Line = Field(min_length=1, examples=["policies/campus.yaml"])


class RunSummary(BaseModel):
    """A run in a list.

    ``waits_for`` says in words what a waiting run waits for, and ``due`` when it is looked at again by itself.
    ``verdict`` is what was measured; how the run ended is its ``status``.
    """

    id: str = Field(examples=[RUN_EXAMPLE])
    network: str
    policy: str
    policy_version: str
    status: RunStatus
    final: bool = Field(description="Whether the run is over.")
    verdict: Verdict | None
    created: datetime
    updated: datetime
    attempt: int
    requested_by: str
    ticket: str
    source: dict[str, str] | None
    not_before: datetime | None
    deadline: datetime | None
    due: datetime | None
    waits_for: str
    cancelled_by: str | None
    undo_of: str | None = Field(description="The run that this one takes back.")


class RunPage(BaseModel):
    """A page of runs, newest first; ``next`` is the path of the one after it."""

    runs: list[RunSummary]
    next: str | None = Field(description="Path with query of the following page; null on the last one.")


class RunDevice(BaseModel):
    """What a run did to a box: ``delta`` are the lines it enters, ``inverse`` those that take them back."""

    name: str
    platform: str
    outcome: str
    delta: list[str]
    inverse: list[str]


class Decision(BaseModel):
    """An approval or refusal; ``candidate`` is the list of deltas that it was about."""

    candidate: str
    approved: bool
    by: str
    comment: str
    at: datetime


class RunLinks(BaseModel):
    """Paths of what belongs to a run."""

    self: str
    events: str
    artifacts: str
    report: str


class RunDetail(RunSummary):
    """A run with what is known of it so far.

    ``candidate`` names what an approval is about: the list of every box's delta, as it was last prepared.
    """

    candidate: str | None
    approvals: list[Decision]
    stages: list[StageReport]
    devices: list[RunDevice]
    findings: list[dict[str, Any]]
    outcome_before: Outcome | None
    outcome_after: Outcome | None
    verdicts_before: list[ClassVerdict]
    verdicts_after: list[ClassVerdict]
    accounts: list[Account]
    who_paid: list[Balance]
    links: RunLinks


class Approval(BaseModel):
    """``candidate`` is the one that was looked at, from the run's detail."""

    model_config = _REQUEST

    candidate: ArtifactId = Field(examples=[ARTIFACT_EXAMPLE])
    comment: Line = Field(default="", examples=["looked at both edges"])


class Refusal(BaseModel):
    """Why it is not to be done."""

    model_config = _REQUEST

    comment: Line = Field(default="", examples=["not in the exam week"])


class Retry(BaseModel):
    """``start`` is the step to begin from; what was recorded before it is used again."""

    model_config = _REQUEST

    start: str = Field(default="read", pattern=r"^[a-z][a-z0-9-]{0,63}$", examples=["read"])


class RunEvent(BaseModel):
    """Something that happened to a run; ``seq`` grows."""

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
    """An artifact of a run. ``restricted``: it may hold secrets of a box, and takes an operator to read."""

    name: str = Field(examples=["running/vigo1"])
    kind: Kind
    id: str = Field(examples=[ARTIFACT_EXAMPLE])
    bytes: int
    media_type: str
    restricted: bool
    link: str


class ArtifactList(BaseModel):
    """All artifacts of a run so far."""

    artifacts: list[ArtifactEntry]


class Received(BaseModel):
    """A measurement that was taken, and who signed it."""

    run: str
    side: Literal["before", "after"]
    tester: str


def without_secrets(report: RunReport) -> RunReport:
    """The report without what boxes said they hold: running configurations carry secrets."""
    bare = [device.model_copy(update={"read_back": "", "diff": ""}) for device in report.devices]
    return report.model_copy(update={"devices": tuple(bare)})


Moment = AwareDatetime
