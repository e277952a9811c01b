"""The audit log, in pages and as files. Admins of some networks see the calls that concern these."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from qosforge.access.audit_log import LoggedCall, as_csv, as_json_lines
from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.api.access_models import CallPage
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.media import TEXT
from qosforge.api.middleware.authorization import Needs

router = APIRouter(tags=["audit log"])

_ADMIN = [Depends(Needs(Role.ADMIN))]

After = Annotated[int, Query(ge=0, le=2**63 - 1, description="Number of the last call that is known.")]


@router.get("/calls", summary="List the audit log", dependencies=_ADMIN)
def list_calls(
    caller: Caller, backend: TheBackend, after: After = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> CallPage:
    """Calls that would change something, also refused ones, oldest first."""
    calls = _visible_networks(caller, backend, after, limit)
    return CallPage(calls=calls, next=calls[-1].seq if len(calls) == limit else None)


@router.get(
    "/calls/export",
    summary="Export the audit log",
    dependencies=_ADMIN,
    response_class=Response,
    responses={
        200: {
            "description": "One call a line; where there may be more, a link `next` (RFC 8288) leads on.",
            "content": {
                "application/jsonl": TEXT,
                "text/csv": TEXT,
            },
            "headers": {"Link": {"schema": {"type": "string"}}},
        }
    },
)
def export_calls(
    *,
    caller: Caller,
    backend: TheBackend,
    request: Request,
    form: Annotated[Literal["jsonl", "csv"], Query(alias="format")] = "jsonl",
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
) -> Response:
    """The audit log as JSON lines, or as comma-separated values (RFC 4180) with a header line."""
    calls = _visible_networks(caller, backend, after, limit)
    lines, media = (as_csv(calls), "text/csv") if form == "csv" else (as_json_lines(calls), "application/jsonl")
    answer = Response("".join(lines), media_type=media)
    answer.headers["Content-Disposition"] = f'attachment; filename="calls.{form}"'
    if len(calls) == limit:
        path = backend.settings.path_prefix + request.url.path
        target = f"{path}?format={form}&after={calls[-1].seq}&limit={limit}"
        answer.headers["Link"] = f'<{target}>; rel="next"'
    return answer


def _visible_networks(caller: Principal, backend: Backend, after: int, limit: int) -> list[LoggedCall]:
    networks = [network for network in caller.roles if caller.may(Role.ADMIN, network)]
    everything = EVERY_NETWORK in networks
    return backend.access.calls(None if everything else networks, after=after, limit=limit)
