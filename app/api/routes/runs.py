"""Runs: asked for, listed, looked at, decided on."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AwareDatetime

from app.access.roles import EVERY_NETWORK, Role
from app.api.dependencies import Caller, TheBackend, TheNote
from app.api.idempotency import IdempotencyKey
from app.api.paging import Cursor, write_cursor
from app.api.problems import responses
from app.api.run_models import (
    Approval,
    Refusal,
    Retry,
    RunDetail,
    RunOrder,
    RunPage,
    RunSummary,
    detail_of,
    summary_of,
)
from app.api.security import Needs
from app.runs.desk import Order
from app.runs.tables import RunStatus, Verdict

router = APIRouter(tags=["runs"])

Name = Annotated[str, Query(min_length=1, max_length=128)]
_RUNS = "/api/v1/runs"


@router.post(
    "/runs",
    status_code=201,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses={
        200: {"description": "The run that an earlier call with the same key made.", "model": RunSummary},
        201: {"description": "A new run.", "headers": _LOCATION},
        **responses(404),
    },
)
def place_run(
    body: RunOrder, caller: Caller, backend: TheBackend, note: TheNote, key: IdempotencyKey, response: Response
) -> RunSummary:
    """Ask for a run. It is recorded and begins as soon as an executor is free; its events tell how it goes.

    A change that has to be approved, or waits for its time, is prepared and then waits without holding a box.
    """
    caller.require(Role.OPERATOR, body.network)
    note.network = body.network
    order = Order(
        network=backend.networks.network(body.network),
        intent=chosen(backend, body.policy),
        measure=body.measure,
        strict=body.strict,
        require_batfish=body.require_batfish,
        seed=body.seed,
        tester=body.tester,
        ticket=body.ticket,
        not_before=body.not_before,
        timeout=None if body.timeout_seconds is None else timedelta(seconds=body.timeout_seconds),
        source=body.source.model_dump() if body.source else None,
    )
    run, made = backend.desk.place(order, caller.name, key)
    note.resource = f"{_RUNS}/{run.id}"
    response.headers["Location"] = note.resource
    if not made:
        response.status_code = 200
    return summary_of(run)


@router.get("/runs", dependencies=[Depends(Needs(Role.VIEWER))])
def list_runs(
    caller: Caller,
    backend: TheBackend,
    network: Name | None = None,
    status: Annotated[list[RunStatus] | None, Query(max_length=len(RunStatus))] = None,
    policy: Name | None = None,
    verdict: Verdict | None = None,
    requested_by: Name | None = None,
    since: Annotated[AwareDatetime | None, Query(description="Made at this moment or later.")] = None,
    until: Annotated[AwareDatetime | None, Query(description="Made before this moment.")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunPage:
    """Runs of the networks that the caller sees, newest first.

    `next` leads through all pages; runs that are added meanwhile are before the first one and move nothing.
    """
