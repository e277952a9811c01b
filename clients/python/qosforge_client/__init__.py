"""Typed client of a qosforge service: policies, previews, runs and their reports.

Written by hand: what programs need beside the calls (waiting, keys against doing a thing twice, problems as
exceptions) is what generators leave out. Its models are held to the service's OpenAPI document by a test.
"""

from __future__ import annotations

from qosforge_client.client import Client
from qosforge_client.errors import (
    Conflict,
    DeviceFailed,
    ErrorDetail,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Problem,
    QosforgeClientError,
    Rejected,
    StillRunning,
    Unavailable,
    Unreachable,
    WrongInput,
)
from qosforge_client.models import (
    Candidate,
    DeviceChange,
    DevicePreview,
    Evidence,
    Finding,
    InlinePolicy,
    NamedPolicy,
    Policy,
    PolicyVersion,
    Preview,
    Run,
    RunEvent,
    RunOutcome,
    RunPage,
    RunStatus,
    RunSummary,
    Stage,
    Verdict,
)

__all__ = [
    "Candidate",
    "Client",
    "Conflict",
    "DeviceChange",
    "DeviceFailed",
    "DevicePreview",
    "ErrorDetail",
    "Evidence",
    "Finding",
    "InlinePolicy",
    "NamedPolicy",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "Policy",
    "PolicyVersion",
    "Preview",
    "Problem",
    "QosforgeClientError",
    "Rejected",
    "Run",
    "RunEvent",
    "RunOutcome",
    "RunPage",
    "RunStatus",
    "RunSummary",
    "Stage",
    "StillRunning",
    "Unavailable",
    "Unreachable",
    "Verdict",
    "WrongInput",
]
