"""What people do to a run: approve, reject, cancel, try its rollback, pause, resume, try again, roll back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.runs.requests.decisions import LONGEST_COMMENT
from qosforge.runs.requests.requests import LONGEST_KEY
from qosforge.web.pages import sees

router = APIRouter()

Comment = Annotated[str, Form(max_length=LONGEST_COMMENT)]
Key = Annotated[str, Form(max_length=LONGEST_KEY)]

_CHANGED = {"HX-Trigger": "run-changed"}


def _no_content() -> Response:
    """An empty response: the page refreshes itself."""
    return Response(status_code=204, headers=_CHANGED)


@router.post("/runs/{run_id}/approve", dependencies=sees(Role.APPROVER))
def approve(
    *,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    run_id: str,
    candidate: Annotated[str, Form(max_length=64)],
    comment: Comment = "",
) -> Response:
    """Approve the candidate that the page shows."""
    audit.detail |= {"comment": _line(comment)}
    backend.run_requests.approve(run_id, caller.name, candidate, _line(comment))
    return _no_content()


@router.post("/runs/{run_id}/reject", dependencies=sees(Role.APPROVER))
def reject(
    caller: Caller, backend: TheBackend, audit: TheAuditEntry, run_id: str, comment: Comment = ""
) -> Response:
    """Reject the candidate of a run."""
    audit.detail |= {"comment": _line(comment)}
    backend.run_requests.reject(run_id, caller.name, _line(comment))
    return _no_content()


@router.post("/runs/{run_id}/cancel", dependencies=sees(Role.OPERATOR))
def cancel(caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """Cancel a run."""
    backend.run_requests.cancel(run_id, caller.name)
    return _no_content()


@router.post("/runs/{run_id}/try-now", dependencies=sees(Role.OPERATOR))
def try_now(caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """Try now to put back the devices of a run that stands half-way."""
    backend.run_requests.try_now(run_id, caller.name)
    return _no_content()


@router.post("/runs/{run_id}/pause", dependencies=sees(Role.OPERATOR))
def pause(caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """Pause a rollout before its next wave."""
    backend.run_requests.pause(run_id, caller.name)
    return _no_content()


@router.post("/runs/{run_id}/resume", dependencies=sees(Role.OPERATOR))
def resume(caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """Resume a paused rollout."""
    backend.run_requests.resume(run_id, caller.name)
    return _no_content()


@router.post("/runs/{run_id}/retry", dependencies=sees(Role.OPERATOR))
def retry(
    caller: Caller, backend: TheBackend, run_id: str, start: Annotated[str, Form(max_length=64)] = "read"
) -> Response:
    """Retry a run; if a run of its own changes the devices that were left out, go there."""
    run = backend.run_requests.retry(run_id, caller.name, start)
    if run.id != run_id:
        return Response(status_code=204, headers={"HX-Redirect": f"/runs/{run.id}"})
    return _no_content()


@router.post("/runs/{run_id}/rollback", dependencies=sees(Role.OPERATOR))
def roll_back(
    *, caller: Caller, backend: TheBackend, audit: TheAuditEntry, run_id: str, key: Key, reason: Comment = ""
) -> Response:
    """Start the run that rolls this one back, and go to its page."""
    audit.detail |= {"reason": _line(reason)}
    run = backend.run_requests.roll_back(run_id, caller.name, key, _line(reason))
    return Response(status_code=204, headers={"HX-Redirect": f"/runs/{run.id}"})


def _line(comment: str) -> str:
    """A comment as one line of text, as all faces keep it."""
    return "".join(letter for letter in " ".join(comment.split()) if letter.isprintable())
