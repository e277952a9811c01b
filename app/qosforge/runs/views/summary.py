"""The summary of a run, as lists show it."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from qosforge.page_addresses import run_page
from qosforge.run_outcome import RunOutcome
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus, Verdict


class RunSummary(BaseModel):
    """A run in a list.

    ``waits_for`` says in words what a waiting run waits for, and ``due`` when it is looked at again by itself.
    ``verdict`` is what was measured; how the run ended is its ``status``.
    """

    id: str = Field(examples=["019a3f6e-5b1c-7c8e-9a40-0c5d9f1b7a11"])
    network: str
    policy: str
    policy_version: str
    status: RunStatus
    final: bool = Field(description="Whether the run is over.")
    verdict: Verdict | None
    created: datetime
    updated: datetime
    attempt: int
    created_by: str
    ticket: str
    source: dict[str, str] | None
    not_before: datetime | None
    deadline: datetime | None
    due: datetime | None
    waits_for: str
    cancelled_by: str | None
    reason: str = Field(description="Why it ended without its change, or stopped.")
    reason_step: str = Field(description="The step at which that was.")
    reason_device: str = Field(description="The device on which it was; empty where no single one is meant.")
    reason_hint: str = Field(description="The way on.")
    outcome: RunOutcome | None = Field(
        description="What it came to: the same as a typed value, its reasons one by one; null while it goes on."
    )
    rollback_of: str | None = Field(description="The run that this one rolls back.")
    rollback_reason: str = Field(description="Why a person rolls it back; empty where nobody said.")
    rolled_back_by: str | None = Field(
        description="The run that rolled this one's change back after it was kept; null while the change stands."
    )
    page: str = Field(
        description="Path of its page for people, within the service.",
        examples=["/runs/019a3f6e-5b1c-7c8e-9a40-0c5d9f1b7a11"],
    )


def summary_of(run: Run) -> RunSummary:
    """A run as lists have it."""
    names = RunSummary.model_fields.keys() - {"created_by", "final", "page"}
    return RunSummary(
        **{name: getattr(run, name) for name in names},
        created_by=run.requested_by,
        final=run.status.final,
        page=run_page(run.id),
    )
