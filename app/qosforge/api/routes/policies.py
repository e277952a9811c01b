"""Policies: their versions, contents and differences."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.api.access_models import NetworkName, NetworkOrAll
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.api.resources import (
    PolicyDiff,
    PolicyDocument,
    PolicyList,
    PolicyVersionDocument,
    PolicyVersions,
)
from qosforge.intent.policy_source import LONGEST_FILE, PolicySource
from qosforge.policy_library.versions import LATEST
from qosforge.runs.requests.run_request import CommitSource, Line

router = APIRouter(tags=["policies"])

POLICIES = "/api/v1/policies"
_VIEWER: dict[str, Any] = {"dependencies": [Depends(Needs(Role.VIEWER))]}

Number = Annotated[int | Literal["latest"], Query(examples=[2])]


class PolicyText(BaseModel):
    """A new version. ``file`` is the name of its text in messages, ``included`` has its includes by name.

    Nothing is opened: shipped libraries are known, all other files are given. ``base`` is the number of the version
    that the text began from (0: a shipped one, or none): where another one is the newest by now, nothing is stored.
    ``network`` says whose policy it is, ``*`` that of all networks; a stored policy stays where it is.
    ``shadow_shipped`` lets it stand in the place of a shipped one, on every network.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "version: 1\nintent: gold\ninclude: [classes/rfc4594-4.yaml]\n"
                    "apply: [{interfaces: wan, direction: output}]\n",
                    "network": "campus",
                    "comment": "four classes on all lines",
                }
            ]
        },
    )

    text: str
    included: dict[str, str] = Field(default_factory=dict)
    file: str = Field(default="policy.yaml", max_length=LONGEST_FILE)
    comment: Line = ""
    source: CommitSource | None = None
    base: Annotated[int, Field(ge=0, strict=True)] | None = None
    network: NetworkOrAll | None = None
    shadow_shipped: StrictBool = False


class TakeOver(BaseModel):
    """The network on which a version is to be run."""

    model_config = ConfigDict(extra="forbid")

    network: NetworkName = Field(examples=["campus"])


@router.get("/policies", summary="List policies", **_VIEWER)
def list_policies(caller: Caller, backend: TheBackend) -> PolicyList:
    """The newest version of every policy of the caller's networks, and of all networks."""
    return PolicyList(
        policies=[
            PolicyVersionDocument.of(version, caller) for version in backend.policies.seen_by(caller).newest()
        ]
    )


@router.get("/policies/{name}", summary="Show a policy", responses=responses(404), **_VIEWER)
def get_policy(caller: Caller, backend: TheBackend, name: str) -> PolicyDocument:
    """The newest version of a policy."""
    return PolicyDocument.of(backend.policies.seen_by(caller).get(name), caller)


@router.get(
    "/policies/{name}/versions", summary="List the versions of a policy", responses=responses(404), **_VIEWER
)
def list_policy_versions(caller: Caller, backend: TheBackend, name: str) -> PolicyVersions:
    """The versions of a policy, newest first."""
    return PolicyVersions(
        versions=[
            PolicyVersionDocument.of(version, caller) for version in backend.policies.seen_by(caller).versions(name)
        ]
    )


@router.post(
    "/policies/{name}/versions",
    summary="Store a version of a policy",
    status_code=201,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses={
        200: {"description": "The newest version has these very texts already.", "model": PolicyVersionDocument},
        201: {
            "description": "A new version.",
            "headers": {"Location": {"description": "Path of the version.", "schema": {"type": "string"}}},
        },
        **responses(404, 409),
    },
)
def store_policy(
    *, body: PolicyText, caller: Caller, backend: TheBackend, audit: TheAuditEntry, name: str, response: Response
) -> PolicyVersionDocument:
    """Store a text as the newest version of a policy; it has to be a valid intent.

    Policies of a network are written by its operators, those of all networks by admins of every network.
    """
    audit.network = body.network or ""
    require_owner(caller, backend, body.network)
    source = body.source.model_dump() if body.source else None
    version, made = backend.policies.seen_by(caller).store(
        name,
        PolicySource(body.text, body.file, body.included),
        body.comment,
        source,
        network=body.network,
        base=body.base,
        shadow_shipped=body.shadow_shipped,
    )
    audit.network = version.network
    audit.resource = f"{POLICIES}/{name}/versions/{version.number}"
    response.headers["Location"] = audit.resource
    if not made:
        response.status_code = 200
    return PolicyVersionDocument.of(version, caller)


@router.get(
    "/policies/{name}/versions/{number}", summary="Show a version of a policy", responses=responses(404), **_VIEWER
)
def get_policy_version(caller: Caller, backend: TheBackend, name: str, number: int) -> PolicyDocument:
    """A version of a policy."""
    return PolicyDocument.of(backend.policies.seen_by(caller).get(name, number), caller)


@router.post(
    "/policies/{name}/versions/{number}/take-over",
    summary="Take over a version of a policy",
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(404),
)
def take_policy_over(
    *, body: TakeOver, caller: Caller, backend: TheBackend, audit: TheAuditEntry, name: str, number: int
) -> PolicyVersionDocument:
    """Take over a version that somebody else wrote, so that it may be run on a network of mine."""
    audit.network = body.network
    require_owner(caller, backend, body.network)
    return PolicyVersionDocument.of(backend.policies.seen_by(caller).take_over(name, number, body.network), caller)


@router.get(
    "/policies/{name}/diff", summary="Compare two versions of a policy", responses=responses(404), **_VIEWER
)
def diff_policy(
    *, caller: Caller, backend: TheBackend, name: str, before: Number, after: Number = LATEST
) -> PolicyDiff:
    """The difference of a version and an earlier one, in text and in meaning."""
    return PolicyDiff.of(backend.policies.seen_by(caller).difference(name, before, after), caller)


def require_owner(caller: Principal, backend: Backend, network: str | None) -> None:
    """Make sure that a network, where one is named, exists and the caller is its operator.

    Raises:
        NotAllowed: the caller is not.
        NetworkUnknown: there is no such network.
    """
    if network is not None and network != EVERY_NETWORK:
        caller.require(Role.OPERATOR, network)
        backend.networks.network(network)
