"""Predictions: what a policy would do to the traffic. No device is read."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.jobs.prediction import predict_traffic_json
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.device_state.last_known import last_known
from qosforge.policy_library.choice import PolicyChoice, policy_source
from qosforge.prediction.predict import LONGEST_SECONDS, MOST_SECONDS
from qosforge.reports.prediction import PredictionDocument

router = APIRouter(tags=["predictions"])


class PredictionRequest(BaseModel):
    """A policy and the network that it is for. No scenario is simulated for longer than ``at_most_seconds``."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"network": "campus", "policy": {"name": "campus-collaboration"}, "seed": 1, "at_most_seconds": 10}
            ]
        },
    )

    network: str = Field(min_length=1, max_length=128, examples=["campus"])
    policy: PolicyChoice
    seed: StrictInt = Field(default=1, ge=0, le=2**64 - 1)
    at_most_seconds: StrictInt = Field(default=MOST_SECONDS, ge=1, le=LONGEST_SECONDS)


@router.post(
    "/predictions",
    summary="Predict what a policy does",
    response_model=PredictionDocument,
    dependencies=[Depends(Needs(Role.VIEWER, recorded=False))],
    responses=responses(404, 502),
)
def predict_policy(body: PredictionRequest, caller: Caller, backend: TheBackend) -> Any:
    """Compile a policy and measure its plans on the twin, beside what the devices last held. What the policy does
    not change is as it was last read, or as delivered.
    """
    caller.require(Role.VIEWER, body.network)
    network = backend.networks.network(body.network)
    policy = policy_source(backend.policies.seen_by(caller), body.policy)
    read = last_known(backend.run_requests.store, backend.artifacts, network)
    running = {name: found.text for name, found in read.items()}
    made = backend.compute_for(
        caller,
        predict_traffic_json,
        policy,
        network,
        running,
        seed=body.seed,
        at_most_seconds=body.at_most_seconds,
        within=backend.settings.request_seconds,
    )
    return Response(made, media_type="application/json")
