"""One run, as the store has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.run_outcome import RunOutcome
from qosforge.runs.record.outcome import OUTCOME_COLUMNS, read_outcome
from qosforge.runs.record.reason import REASON_TEXTS
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.tables import RunStatus, Verdict


@dataclass(frozen=True, slots=True)
class Run:
    """One run. ``policy_version`` is the hash of the policy's canonical form; ``params`` is the JSON of `resolved`.

    ``attempt`` counts from 1, and begins at the stage ``start``; ``source`` is the Git commit of its policy
    (``repository``, ``commit``, ``path``) where it has one; ``not_before`` is when it may push at the earliest,
    ``deadline`` when it gives up. A run that waits is looked at again when ``due`` has come, and ``waits_for`` says
    in words what for. ``reason`` says why it ended without its change, or stopped: with the step, the device (empty
    where none is meant) and the way on.
    """

    id: str
    network: str
    policy: str
    policy_version: str
    status: RunStatus
    verdict: Verdict | None
    created: datetime
    updated: datetime
    params: dict[str, Any]
    schema_version: int
    attempt: int
    requested_by: str
    ticket: str
    source: dict[str, str] | None
    not_before: datetime | None
    deadline: datetime | None
    due: datetime | None
    waits_for: str
    cancelled_by: str | None
    start: str
    reason: str
    reason_step: str
    reason_device: str
    reason_hint: str
    outcome_kind: str
    outcome_reasons: list[dict[str, str]] | None
    outcome_advice: str
    settle_first: str | None
    rolled_back_by: str | None

    @property
    def outcome(self) -> RunOutcome | None:
        """What it came to; ``None`` while it goes on."""
        return read_outcome({name: getattr(self, name) for name in (*REASON_TEXTS, *OUTCOME_COLUMNS)})

    @property
    def rollback_of(self) -> str | None:
        """The run that this one rolls back."""
        return self.resolved.rollback_of

    @property
    def rollback_reason(self) -> str:
        """Why a person rolls that run back; empty where nobody said."""
        return self.resolved.rollback_reason

    @property
    def resolved(self) -> ResolvedRun:
        """What the run does."""
        columns = ("policy", "policy_version", "ticket", "source", "not_before", "deadline")
        listed = {name: getattr(self, name) for name in columns}
        return ResolvedRun.model_validate({**self.params, **listed, "network_name": self.network})


def read_run(row: sa.Row[Any]) -> Run:
    """The run of a row of the table of runs."""
    fields = dict(row._mapping)
    verdict = fields["verdict"]
    known = {"status": RunStatus(fields["status"]), "verdict": None if verdict is None else Verdict(verdict)}
    return Run(**{**fields, **known})
