"""Policies: their versions, what is in them and how they differ."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from app.access.roles import Role
from app.api.dependencies import Caller, TheBackend, TheNote
from app.api.problems import responses
from app.api.resources import (
    PolicyDiff,
    PolicyDocument,
    PolicyList,
    PolicyVersionDocument,
    PolicyVersions,
)
from app.api.run_models import Line, Source
from app.api.security import Needs
from app.intent.written import LONGEST_FILE, Written
from app.runs.policies import LATEST

router = APIRouter(tags=["policies"])

POLICIES = "/api/v1/policies"
_VIEWER: dict[str, Any] = {"dependencies": [Depends(Needs(Role.VIEWER))]}

Number = Annotated[int | Literal["latest"], Query(examples=[2])]


class PolicyText(BaseModel):
    """A policy to keep. ``file`` is what messages call its text, ``included`` has what it includes by name.

    Nothing is opened: shipped libraries are known, all other files are given. ``base`` is the number of the version
    that the text began from (0: a shipped one, or none): where another one is the newest by now, nothing is stored.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "version: 1\nintent: gold\ninclude: [classes/rfc4594-4.yaml]\n"
                    "apply: [{interfaces: wan, direction: output}]\n",
                    "comment": "four classes on all lines",
                }
            ]
        },
    )

    text: str
    included: dict[str, str] = Field(default_factory=dict)
    file: str = Field(default="policy.yaml", max_length=LONGEST_FILE)
    comment: Line = ""
    source: Source | None = None
    base: Annotated[int, Field(ge=0, strict=True)] | None = None


@router.get("/policies", **_VIEWER)
def list_policies(backend: TheBackend) -> PolicyList:
    """The newest version of every policy."""
    return PolicyList(policies=[PolicyVersionDocument.of(version) for version in backend.policies.newest()])


@router.get("/policies/{name}", responses=responses(404), **_VIEWER)
def get_policy(backend: TheBackend, name: str) -> PolicyDocument:
    """The newest version of a policy."""
    return PolicyDocument.of(backend.policies.get(name))


@router.get("/policies/{name}/versions", responses=responses(404), **_VIEWER)
def list_policy_versions(backend: TheBackend, name: str) -> PolicyVersions:
    """The versions of a policy, newest first."""
    return PolicyVersions(
        versions=[PolicyVersionDocument.of(version) for version in backend.policies.versions(name)]
    )


@router.post(
    "/policies/{name}/versions",
    status_code=201,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses={
        200: {"description": "The newest version has these very texts already.", "model": PolicyVersionDocument},
        201: {
            "description": "A new version.",
            "headers": {"Location": {"description": "Path of the version.", "schema": {"type": "string"}}},
        },
        **responses(409),
    },
)
def store_policy(
    *, body: PolicyText, caller: Caller, backend: TheBackend, note: TheNote, name: str, response: Response
) -> PolicyVersionDocument:
    """Keep a text as the newest version of the policy that it is called; it has to be a valid intent."""
    source = body.source.model_dump() if body.source else None
    version, made = backend.policies.store(
        name, Written(body.text, body.file, body.included), caller.name, body.comment, source, base=body.base
    )
    note.resource = f"{POLICIES}/{name}/versions/{version.number}"
    response.headers["Location"] = note.resource
    if not made:
        response.status_code = 200
    return PolicyVersionDocument.of(version)


@router.get("/policies/{name}/versions/{number}", responses=responses(404), **_VIEWER)
def get_policy_version(backend: TheBackend, name: str, number: int) -> PolicyDocument:
    """A version of a policy."""
    return PolicyDocument.of(backend.policies.get(name, number))


@router.get("/policies/{name}/diff", responses=responses(404), **_VIEWER)
def diff_policy(*, backend: TheBackend, name: str, before: Number, after: Number = LATEST) -> PolicyDiff:
    """What a version has other than an earlier one, in its text and in what it means."""
    return PolicyDiff.of(backend.policies.difference(name, before, after))
