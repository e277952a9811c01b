"""The service itself: health, readiness, version, metrics."""

from __future__ import annotations

import platform
from functools import partial
from typing import Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.media import TEXT
from qosforge.api.middleware.authorization import Needs
from qosforge.api.readiness import ReadinessCheck
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.release import release
from qosforge.runs.engine.port import WORKFLOW_VERSION
from qosforge.telemetry.metrics import CONTENT_TYPE

router = APIRouter(tags=["system"])


class Health(BaseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Whether the service can do its work, with the result of each check."""

    ready: bool
    checks: list[ReadinessCheck]


class Version(BaseModel):
    """The versions of this service."""

    release: str = Field(examples=["0.1.0"])
    workflow: str = Field(description="Version of the durable run; runs of another one begin a fresh attempt.")
    schema_revision: str = Field(description="Revision of the tables that the database holds.")
    schema_newest: str = Field(description="Revision that this release makes.")
    python: str


@router.get("/health", summary="Check that the service answers")
async def health() -> Health:
    """Whether the process is alive; nothing else is checked."""
    return Health()


@router.get(
    "/ready",
    summary="Check that the service can work",
    responses={503: {"model": Readiness, "description": "Not ready"}},
)
def ready(backend: TheBackend, response: Response) -> Readiness:
    """Whether the database answers with the tables of this release, a run could be written now, and some process
    carries out runs. It answers within a second, also where the database does not.
    """
    stopping = backend.stopping.is_set()
    detail = "the service is being stopped" if stopping else "takes requests"
    found = [ReadinessCheck(name="service", good=not stopping, detail=detail), *backend.readiness.checks()]
    good = all(check.good for check in found)
    response.status_code = 200 if good else 503
    return Readiness(ready=good, checks=found)


@router.get("/version", summary="Show the version")
def version(backend: TheBackend) -> Version:
    """The versions of this service."""
    with backend.database.read() as connection:
        revision = current_revision(connection)
    return Version(
        release=release(),
        workflow=WORKFLOW_VERSION,
        schema_revision=revision or "",
        schema_newest=known_revisions()[0],
        python=platform.python_version(),
    )


@router.get(
    "/metrics",
    summary="Show metrics for Prometheus",
    dependencies=[Depends(Needs(Role.VIEWER))],
    response_class=Response,
    responses={200: {"content": {"text/plain": TEXT}, "description": "Prometheus' text"}},
)
def metrics(backend: TheBackend, caller: Caller) -> Response:
    """Requests, runs, stages, the queue, executors and computations in Prometheus' text format. Names of users or
    devices are not in it, and those of networks only where the caller is a viewer of the network: give Prometheus a
    token of its own.
    """
    return Response(backend.metrics.text(partial(caller.may, Role.VIEWER)), media_type=CONTENT_TYPE)
