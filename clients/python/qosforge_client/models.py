"""Documents of a service. Fields that a newer service adds are ignored; the report has them all (`Runs.report`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Parameter = str | int | float | bool


class RunStatus(StrEnum):
    """Where a run stands."""

    PENDING = "pending"
    RUNNING = "running"
    NEEDS_APPROVAL = "needs_approval"
    SCHEDULED = "scheduled"
    NEEDS_RECOVERY = "needs_recovery"
    KEPT = "kept"
    ROLLED_BACK = "rolled_back"
    NO_CHANGES = "no_changes"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Verdict(StrEnum):
    """What the measurement said about the objectives."""

    MET = "met"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"


class Evidence(StrEnum):
    """What verdicts rest on, the weakest first."""

    PREDICTED = "predicted"
    EMULATED = "emulated"
    MEASURED = "measured"


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class InlinePolicy(_Document):
    """A policy as text. ``included`` has the texts of its includes by name, ``file`` is what messages call it."""

    text: str
    included: Mapping[str, str] = Field(default_factory=dict)
    parameters: Mapping[str, Parameter] = Field(default_factory=dict)
    file: str = "policy.yaml"


class NamedPolicy(_Document):
    """A policy that the service has; without ``version`` the newest."""

    name: str
    version: int | str = "latest"
    parameters: Mapping[str, Parameter] = Field(default_factory=dict)


class Finding(_Document):
    """What a compiler or validator says: a stable ``code``, where it stands, and how to put it right."""

    code: str
    severity: str
    message: str
    device: str | None = None
    interface: str | None = None
    direction: str | None = None
    traffic_class: str | None = Field(default=None, alias="class")
    file: str | None = None
    line: int | None = None
    requested: str | None = None
    applied: str | None = None
    hint: str | None = None


class PolicyVersion(_Document):
    """A version of a policy. Number 0 ships with qosforge; ``version`` is the hash of what it means."""

    name: str
    number: int
    version: str
    author: str
    comment: str
    at: datetime | None
    network: str
    trusted_on: tuple[str, ...]


class Policy(_Document):
    """A version with its text, byte for byte, and what it includes by name."""

    about: PolicyVersion
    text: str
    included: Mapping[str, str]


class Candidate(_Document):
    """The lines that would be entered into a device, and those that would roll them back.

    ``difference`` is what its configuration would lose (``-``) and gain (``+``).
    """

    delta: tuple[str, ...]
    inverse: tuple[str, ...]
    difference: tuple[str, ...] = ()


class DevicePreview(_Document):
    """What a policy configures on a device; ``candidate`` where the device was read (``live``)."""

    name: str
    platform: str
    configuration: str
    complete: bool
    candidate: Candidate | None = None


class Preview(_Document):
    """What a policy would do to a network; ``good``: no finding stands against it."""

    intent: str
    version: str
    network: str
    good: bool
    findings: tuple[Finding, ...]
    devices: tuple[DevicePreview, ...]


class OutcomeReason(_Document):
    """One thing that happened to a run; ``device`` is empty where no single one is meant."""

    message: str
    short: str
    """The same in a line."""
    step: str
    device: str


class RunOutcome(_Document):
    """What a run came to. ``reasons`` say why it did not keep its change, the weightiest first."""

    kind: str
    """kept, kept_in_part, restored, rolled_back_by_hand, rolled_back, recovered, half_way, no_changes, rejected,
    failed or cancelled; newer services may have others.
    """
    reasons: tuple[OutcomeReason, ...]
    advice: str | None
    """What to do: retry, retry_left_out, change_policy, recover, settle_first, or as_told by ``reason_hint``."""
    settle_first: str | None
    """The run that has to be settled first."""
    rolled_back_by: str | None


class RunSummary(_Document):
    """A run in a list. ``waits_for`` says in words what a waiting run waits for."""

    id: str
    network: str
    policy: str
    policy_version: str
    status: RunStatus | str = Field(union_mode="left_to_right")
    """A text where a newer service has a status that this release does not know."""
    final: bool
    """Whether the run is over."""
    verdict: Verdict | None
    created: datetime
    updated: datetime
    attempt: int
    created_by: str
    ticket: str
    due: datetime | None
    waits_for: str
    cancelled_by: str | None
    reason: str
    """Why it ended without its change, or stopped."""
    reason_device: str
    reason_hint: str
    outcome: RunOutcome | None = None
    """What it came to, its reasons one by one; none while it goes on, or of an earlier service."""
    rollback_of: str | None
    rollback_reason: str = ""
    """Why a person rolls it back; empty of an earlier service, too."""
    rolled_back_by: str | None
    page: str
    """Path of its page for people."""


class RunPage(_Document):
    """Runs, newest first; ``next`` is the path of the following page."""

    runs: tuple[RunSummary, ...]
    next: str | None


class DeviceChange(_Document):
    """What a run did to a device; ``difference`` is what its configuration lost (``-``) and gained (``+``)."""

    name: str
    platform: str
    outcome: str
    delta: tuple[str, ...]
    inverse: tuple[str, ...]
    difference: tuple[str, ...]


class Stage(_Document):
    """A stage of a run, and how long it took."""

    name: str
    started: datetime
    seconds: float
    outcome: str
    summary: str = ""


class TradeOffFigure(_Document):
    """A figure of a class before a change (``None``: not known) and after it: a part of its packets for ``loss``,
    milliseconds for ``mean delay``.
    """

    label: str
    before: float | None
    after: float
    scenario: str
    path: str


class UnjudgedTradeOff(_Document):
    """A class without an objective that a change makes worse. ``known`` is how it is known what it got before:
    ``measured``, or ``simulated`` by what the devices held when they were read; ``unknown`` is why it is not.
    """

    name: str
    number: int
    figures: tuple[TradeOffFigure, ...]
    paths: int
    known: str | None
    unknown: str = ""


class Run(RunSummary):
    """A run in detail. ``candidate`` names the changes that an approval is about; ``unjudged_trade_offs`` is what
    the change costs classes without an objective, as predicted, or as measured once it is made.
    """

    candidate: str | None
    stages: tuple[Stage, ...]
    devices: tuple[DeviceChange, ...]
    findings: tuple[Finding, ...]
    outcome_before: Verdict | None
    outcome_predicted: Verdict | None
    outcome_after: Verdict | None
    evidence_before: Evidence | None = None
    evidence_after: Evidence | None = None
    unjudged_trade_offs: tuple[UnjudgedTradeOff, ...] = ()
    left_out: tuple[str, ...]


class RunEvent(_Document):
    """An event of a run, numbered by ``seq``."""

    seq: int
    kind: str
    data: dict[str, Any]
