"""Previews: compile or validate a policy for a network. Nothing is changed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.jobs.preview import PreviewKind
from qosforge.api.middleware.authorization import Needs, audit_live_read
from qosforge.api.previews import Preview, PreviewRequest
from qosforge.api.problems import responses
from qosforge.policy_library.choice import PolicyChoice, policy_source
from qosforge.reports.preview import CompilePreview, ValidatePreview

router = APIRouter(tags=["previews"])

DeviceName = Annotated[str, Field(min_length=1, max_length=63)]
_DOCUMENT = {"ETag": {"description": "SHA-256 of the document.", "schema": {"type": "string"}}}


class CompileRequest(BaseModel):
    """A policy and the network that it is for.

    ``devices``: tell of these alone. ``live``: read the devices, and tell what would be entered into each and what
    would roll it back. ``strict``: warnings stand against it, too.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "network": "campus",
                    "policy": {"name": "rfc4594-12", "parameters": {"standard_percent": 15}},
                    "devices": ["r1"],
                }
            ]
        },
    )

    network: str = Field(min_length=1, max_length=128, examples=["campus"])
    policy: PolicyChoice
    devices: list[DeviceName] = Field(default_factory=list, max_length=10_000)
    live: StrictBool = False
    strict: StrictBool = False


class ValidateRequest(CompileRequest):
    """A policy and the network that it is for. ``require_batfish``: it is an error if Batfish does not check."""

    require_batfish: StrictBool = False


@router.post(
    "/compile",
    summary="Preview a policy",
    response_model=CompilePreview,
    dependencies=[Depends(Needs(Role.VIEWER, recorded=False))],
    responses={200: {"headers": _DOCUMENT}, **responses(404, 502)},
)
def compile_policy(body: CompileRequest, caller: Caller, backend: TheBackend, request: Request) -> Response:
    """Compile a policy for a network: plan, configuration and findings of every device.

    Findings do not fail the call: `good` says whether any stands against a push.
    """
    return _answer("compile", body, caller, backend, request)


@router.post(
    "/validate",
    summary="Validate a policy",
    response_model=ValidatePreview,
    dependencies=[Depends(Needs(Role.VIEWER, recorded=False))],
    responses={200: {"headers": _DOCUMENT}, **responses(404, 502)},
)
def validate_policy(body: ValidateRequest, caller: Caller, backend: TheBackend, request: Request) -> Response:
    """Compile and check a policy for a network: our own checks, and Batfish where the service has one."""
    return _answer("validate", body, caller, backend, request, require_batfish=body.require_batfish)


def _answer(
    kind: PreviewKind,
    body: CompileRequest,
    caller: Caller,
    backend: TheBackend,
    request: Request,
    *,
    require_batfish: bool = False,
) -> Response:
    caller.require(Role.VIEWER, body.network)
    preview_request = PreviewRequest(
        kind=kind,
        network=body.network,
        written=policy_source(backend.policies.seen_by(caller), body.policy),
        devices=tuple(body.devices),
        live=audit_live_read(request, backend, body.network) if body.live else None,
        strict=body.strict,
        require_batfish=require_batfish,
        caller=caller.name,
    )
    return document(backend.previews.preview(preview_request))


def document(preview: Preview) -> Response:
    """A preview as it is sent."""
    return Response(preview.body, media_type="application/json", headers={"ETag": f'"{preview.tag}"'})
