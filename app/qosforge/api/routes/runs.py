"""Runs: started, listed, looked at, decided on."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.idempotency import IdempotencyKey
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.api.run_models import (
    RUNS,
    Approval,
    Rejection,
    Retry,
    Rollback,
    RunDetail,
    RunPage,
    detail_of,
)
from qosforge.api.run_pages import Before, next_page, visible_networks
from qosforge.policy_library.choice import load_run_policy
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.requests.resolve import RunDocuments
from qosforge.runs.requests.run_request import Moment, RunRequest
from qosforge.runs.views.summary import RunSummary, summary_of

router = APIRouter(tags=["runs"])

Name = Annotated[str, Query(min_length=1, max_length=128)]
_LOCATION = {"Location": {"description": "Path of the run.", "schema": {"type": "string"}}}


@router.post(
    "/runs",
    summary="Start a run",
    status_code=201,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses={
        200: {"description": "The run that an earlier call with the same key made.", "model": RunSummary},
        201: {"description": "A new run.", "headers": _LOCATION},
        **responses(404),
    },
)
def start_run(
    *,
    body: RunRequest,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    key: IdempotencyKey,
    response: Response,
) -> RunSummary:
    """Start a run. It is recorded and begins as soon as an executor is free; its events tell how it goes.

    To set a finding of Batfish aside takes an approver of the network.
    A change that has to be approved, or waits for its time, is prepared and then waits without holding a device.
    """
    audit.network = body.network
    caller.require(Role.OPERATOR, body.network)
    if body.set_aside is not None:
        caller.require(Role.APPROVER, body.network)
    network = backend.networks.network(body.network)
    intent, stored = load_run_policy(backend.policies.seen_by(caller), body.policy)
    audit.detail = {"policy": stored.name if stored else intent.intent.intent}
    run, made = backend.run_requests.submit(body, RunDocuments(network, intent, stored), caller.name, key)
    audit.resource = f"{RUNS}/{run.id}"
    response.headers["Location"] = audit.resource
    if not made:
        response.status_code = 200
    return summary_of(run)


@router.get("/runs", summary="List runs", dependencies=[Depends(Needs(Role.VIEWER))])
def list_runs(
    *,
    caller: Caller,
    backend: TheBackend,
    request: Request,
    before: Before,
    network: Name | None = None,
    status: RunStatus | None = None,
    policy: Name | None = None,
    verdict: Verdict | None = None,
    created_by: Name | None = None,
    since: Annotated[Moment | None, Query(description="Made at this moment or later.")] = None,
    until: Annotated[Moment | None, Query(description="Made before this moment.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunPage:
    """Runs of the networks that the caller sees, newest first.

    `next` leads through all pages; runs that are added meanwhile are before the first one and move nothing.
    """
    found = backend.run_requests.store.list_runs(
        limit + 1,
        networks=visible_networks(caller, network),
        status=status,
        policy=policy,
        verdict=verdict,
        requested_by=created_by,
        since=since,
        until=until,
        before=before,
    )
    page = found[:limit]
    more = len(found) > limit
    return RunPage(runs=[summary_of(run) for run in page], next=next_page(request, page[-1].id) if more else None)


@router.get("/runs/{run_id}", summary="Show a run", dependencies=[Depends(Needs(Role.VIEWER))])
def get_run(backend: TheBackend, run_id: str) -> RunDetail:
    """A run, how far it came, and what it found and measured."""
    run_requests = backend.run_requests
    candidate = run_requests.candidate(run_id)
    return detail_of(
        summary_of(run_requests.run(run_id)),
        run_requests.detail(run_id, measurements=False),
        candidate.id if candidate else None,
    )


@router.post(
    "/runs/{run_id}/approve",
    summary="Approve a run",
    dependencies=[Depends(Needs(Role.APPROVER))],
    responses=responses(409),
)
def approve_run(
    body: Approval, caller: Caller, backend: TheBackend, audit: TheAuditEntry, run_id: str
) -> RunSummary:
    """Approve the candidate of a run; the approval does not count for another list of changes.

    Where the network's rules ask for four eyes, nobody may approve it who wrote the policy, or who created,
    cancelled or retried a run that makes the same change. Of a change that is predicted to break objectives the
    comment says why it is approved all the same; without one it is refused.
    """
    audit.detail |= {"comment": body.comment}
    return summary_of(backend.run_requests.approve(run_id, caller.name, body.candidate, body.comment))


@router.post(
    "/runs/{run_id}/reject",
    summary="Reject a run",
    dependencies=[Depends(Needs(Role.APPROVER))],
    responses=responses(409),
)
def reject_run(
    body: Rejection, caller: Caller, backend: TheBackend, audit: TheAuditEntry, run_id: str
) -> RunSummary:
    """Reject what a waiting run would do: it ends, untouched. The comment says why; without one it is refused. One
    that asks whether to keep its change is rolled back, and needs no comment.
    """
    audit.detail |= {"comment": body.comment}
    return summary_of(backend.run_requests.reject(run_id, caller.name, body.comment))


@router.post(
    "/runs/{run_id}/cancel",
    summary="Cancel a run",
    status_code=202,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(409),
)
def cancel_run(caller: Caller, backend: TheBackend, run_id: str) -> RunSummary:
    """Cancel a run: a waiting one at once, a running one at its next step; what it changed is rolled back."""
    return summary_of(backend.run_requests.cancel(run_id, caller.name))


@router.post(
    "/runs/{run_id}/pause",
    summary="Pause a run",
    status_code=202,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(409),
)
def pause_run(caller: Caller, backend: TheBackend, run_id: str) -> RunSummary:
    """Pause a rollout before its next wave; the changes made so far stay, unconfirmed.

    One that is paused for longer than its network's rules allow is rolled back.
    """
    return summary_of(backend.run_requests.pause(run_id, caller.name))


@router.post(
    "/runs/{run_id}/resume",
    summary="Resume a run",
    status_code=202,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(409),
)
def resume_run(caller: Caller, backend: TheBackend, run_id: str) -> RunSummary:
    """Resume a paused rollout with its next wave."""
    return summary_of(backend.run_requests.resume(run_id, caller.name))


@router.post(
    "/runs/{run_id}/try-now",
    summary="Try a half-way run now",
    status_code=202,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(409),
)
def try_run_now(caller: Caller, backend: TheBackend, run_id: str) -> RunSummary:
    """Try at once to put back the devices of a run that stopped half-way, not only when its next try is due."""
    return summary_of(backend.run_requests.try_now(run_id, caller.name))


@router.post(
    "/runs/{run_id}/retry",
    summary="Retry a run",
    status_code=202,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(409),
)
def retry_run(body: Retry, caller: Caller, backend: TheBackend, run_id: str) -> RunSummary:
    """Retry a run that failed or was cut short, from its beginning or from a later step.

    Of a run that was kept but left devices out, a new run is made, which changes just these.
    """
    return summary_of(backend.run_requests.retry(run_id, caller.name, body.start))


@router.post(
    "/runs/{run_id}/rollback",
    summary="Roll back a run",
    status_code=201,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses={201: {"description": "The run that rolls it back.", "headers": _LOCATION}, **responses(409)},
)
def roll_back_run(
    *,
    body: Rollback | None = None,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    run_id: str,
    key: IdempotencyKey,
    response: Response,
) -> RunSummary:
    """Roll a kept run back, by a run of its own: it waits for no approval, window or freeze.

    The body, which may be left out, says why. To roll that one back makes the change again, and waits like any.
    """
    reason = body.reason if body else ""
    audit.detail |= {"reason": reason}
    run = backend.run_requests.roll_back(run_id, caller.name, key, reason)
    response.headers["Location"] = f"{RUNS}/{run.id}"
    return summary_of(run)
