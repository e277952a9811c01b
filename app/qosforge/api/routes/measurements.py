"""Measurements of the devices as they are, judged by a policy's objectives. The devices are only read."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.jobs.measurement import MeasurementDocument, measure_network
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.intent.policy_source import load_policy
from qosforge.policy_library.choice import PolicyChoice, policy_source
from qosforge.tester.measurable import require_checks, require_traffic
from qosforge.tester.network_under_test import devices_under_test

router = APIRouter(tags=["measurements"])


class MeasurementRequest(BaseModel):
    """A measurement to make: the policy whose objectives judge, and the network."""

    model_config = ConfigDict(extra="forbid")

    network: str = Field(min_length=1, max_length=128, examples=["campus"])
    policy: PolicyChoice
    seed: StrictInt = Field(default=1, ge=0, le=2**64 - 1)


@router.post(
    "/measurements",
    summary="Measure a network now",
    response_model=MeasurementDocument,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(404, 502),
)
def measure_now(body: MeasurementRequest, caller: Caller, backend: TheBackend, audit: TheAuditEntry) -> Any:
    """Read the devices over SSH, and measure their running configurations on the twin."""
    audit.network = body.network
    caller.require(Role.OPERATOR, body.network)
    network = backend.networks.network(body.network)
    policy = policy_source(backend.policies.seen_by(caller), body.policy)
    loaded = load_policy(policy)
    require_traffic(network)
    require_checks(loaded)
    texts = backend.previews.running(audit, network, tuple(sorted(devices_under_test(loaded.intent, network))))
    # Half of a request's time is left for what takes longer than it did before.
    seconds = backend.settings.request_seconds / 2
    body_ = backend.compute_for(caller, measure_network, policy, network, texts, body.seed, seconds)
    return Response(body_, media_type="application/json")
