"""Messages of webhooks: the types of events, and the body of a delivery in format `VERSION`.

Body and types have the form that Standard Webhooks 1.0.0 recommends ("Payload structure", "Event types").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, Field

from qosforge.run_outcome import RunOutcome

Version = Literal[2]
VERSION: Version = 2
"""Grows when a field changes its meaning or goes; receivers have to bear new fields."""

LONGEST_TEXT = 2000
"""Characters of any text of an event: the specification advises to keep bodies below 20 kB."""


LONGEST_SHORT = 300
MOST_REASONS = 3
"""The same of a reason in a line, and how many reasons of an outcome are told."""


class EventType(StrEnum):
    """The type of an event."""

    RUN_ENDED = "run.ended"
    """A run is over, with its status and its verdict."""
    RUN_VERDICT_BROKEN = "run.verdict_broken"
    """A run was measured to break its objectives, whether its change was kept or not."""
    RUN_NEEDS_RECOVERY = "run.needs_recovery"
    """A run stopped with a device between two states."""
    RUN_APPROVAL_WANTED = "run.approval_wanted"
    """A run waits for an approver: on what it would push, or on whether to keep what it pushed."""
    DRIFT_FOUND = "drift.found"
    """A device of a network that was in step is not as the last run left it."""
    DRIFT_CHANGED = "drift.changed"
    """Other devices drifted, or drifted otherwise, than at the look before."""
    DRIFT_GONE = "drift.gone"
    """No device of a network is drifted any more."""
    TEST = "webhook.test"
    """Somebody tried the webhook."""


class RunNotice(BaseModel):
    """A run, as it stood when the event happened. ``page`` is its page on the service, ``rollback_of`` the run that
    it rolls back, where it does, ``outcome`` what it came to, null while it goes on.
    """

    run: str
    network: str
    policy: str
    policy_version: str
    attempt: int
    status: str
    verdict: Literal["met", "broken", "inconclusive"] | None
    created_by: str
    ticket: str
    reason: str
    reason_step: str
    reason_device: str
    page: str = Field(examples=["/runs/0190f8a2-7c1e-7b6a-9d3e-5f1c2b3a4d5e"])
    rollback_of: str | None = None
    outcome: RunOutcome | None = None


class ApprovalNotice(RunNotice):
    """A run that waits for an approver. ``asks``: to ``push`` its change, or to ``keep`` it; ``waits_for`` says it
    in words, ``until`` is when it stops waiting, null where it does not.
    """

    asks: Literal["push", "keep"]
    waits_for: str
    until: datetime | None


class DriftNotice(BaseModel):
    """A network after a look for drift. ``devices``: in how many places each device that drifted is not as the last
    run left it; ``unread``: devices that could not be read, which count as they were at the look before.
    """

    network: str
    devices: dict[str, int] = Field(examples=[{"r1": 3}])
    unread: list[str]
    page: str = Field(examples=["/networks/campus"])


class TrialNotice(BaseModel):
    """A test of a webhook: its name, and who tried it."""

    webhook: str
    created_by: str


DATA: Mapping[EventType, type[BaseModel]] = {
    EventType.RUN_ENDED: RunNotice,
    EventType.RUN_VERDICT_BROKEN: RunNotice,
    EventType.RUN_NEEDS_RECOVERY: RunNotice,
    EventType.RUN_APPROVAL_WANTED: ApprovalNotice,
    EventType.DRIFT_FOUND: DriftNotice,
    EventType.DRIFT_CHANGED: DriftNotice,
    EventType.DRIFT_GONE: DriftNotice,
    EventType.TEST: TrialNotice,
}
"""What ``data`` has, by the type of the event."""


@dataclass(frozen=True)
class Notice:
    """One event to tell of, on one network (empty: on none); ``data`` is plain JSON, as `DATA` says."""

    type: EventType
    network: str
    data: Mapping[str, Any]
    at: datetime


def body(type_: str, at: datetime, data: Mapping[str, Any], service: str | None) -> bytes:
    """The body of a delivery: compact JSON in UTF-8, the same bytes at every attempt.

    ``service`` is where browsers reach the service, null where it does not know.
    """
    document = {
        "version": VERSION,
        "type": type_,
        "timestamp": at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "service": service,
        "data": data,
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
