"""Sweeps: a policy with many values of its parameters, each point predicted on the twin by the executors."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from starlette.exceptions import HTTPException

from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.api.sweep_models import SWEEPS, PointResult, SweepDetail, SweepList, SweepRequest
from qosforge.policy_library.choice import policy_source
from qosforge.sweeps.sweeps import NewSweep, Sweep, Sweeps, SweepUnknown

router = APIRouter(tags=["sweeps"])

_LOCATION = {"Location": {"description": "Path of the sweep.", "schema": {"type": "string"}}}


@router.post(
    "/sweeps",
    summary="Start a sweep",
    status_code=201,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses={201: {"description": "A new sweep.", "headers": _LOCATION}, **responses(404)},
)
def start_sweep(
    *, body: SweepRequest, caller: Caller, backend: TheBackend, audit: TheAuditEntry, response: Response
) -> Sweep:
    """Start a sweep: every combination of the values, under every seed. No device is read or touched."""
    audit.network = body.network
    caller.require(Role.OPERATOR, body.network)
    order = NewSweep(
        backend.networks.network(body.network),
        policy_source(backend.policies.seen_by(caller), body.policy),
        body.parameters,
        body.seeds,
    )
    sweep = _sweeps(backend).submit(order, caller.name)
    audit.resource = f"{SWEEPS}/{sweep.id}"
    response.headers["Location"] = audit.resource
    return sweep


@router.get("/sweeps", summary="List sweeps", dependencies=[Depends(Needs(Role.VIEWER))])
def list_sweeps(
    *,
    caller: Caller,
    backend: TheBackend,
    before: Annotated[str | None, Query(max_length=36, description="Sweeps that are older than this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SweepList:
    """The newest sweeps of the networks that the caller sees."""
    networks = None if caller.may(Role.VIEWER, EVERY_NETWORK) else caller.networks(caller.roles)
    found = _sweeps(backend).newest(networks, before, limit)
    return SweepList(sweeps=list(found))


@router.get(
    "/sweeps/{sweep_id}",
    summary="Show a sweep",
    dependencies=[Depends(Needs(Role.VIEWER))],
    responses=responses(404),
)
def get_sweep(caller: Caller, backend: TheBackend, sweep_id: str) -> SweepDetail:
    """A sweep with all its points and their results so far."""
    sweeps = _sweeps(backend)
    return SweepDetail.of(_require_visible(sweeps, caller, sweep_id), sweeps.points(sweep_id))


@router.get(
    "/sweeps/{sweep_id}/points/{number}",
    summary="Show a point of a sweep",
    response_model=PointResult,
    dependencies=[Depends(Needs(Role.VIEWER))],
    responses=responses(404),
)
def get_sweep_point(caller: Caller, backend: TheBackend, sweep_id: str, number: int) -> Any:
    """The result of a point: verdicts, and the figures of every flow."""
    sweeps = _sweeps(backend)
    _require_visible(sweeps, caller, sweep_id)
    point = sweeps.point(sweep_id, number)
    if point.result is None:
        raise HTTPException(404, "the point has no result" + (f": {point.error}" if point.error else " yet"))
    return Response(backend.artifacts.get_bytes(point.result), media_type="application/json")


def _sweeps(backend: TheBackend) -> Sweeps:
    return Sweeps(backend.database, backend.artifacts)


def _require_visible(sweeps: Sweeps, caller: Principal, sweep_id: str) -> Sweep:
    """The sweep; unknown to callers who do not see its network."""
    sweep = sweeps.get(sweep_id)
    if not caller.may(Role.VIEWER, sweep.network):
        raise SweepUnknown("there is no such sweep")
    return sweep
