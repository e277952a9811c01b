"""The artifacts of a run, and its report in several formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from qosforge.access.roles import NotAllowed, Principal, Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.media import JSON_DOCUMENT, TEXT
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.api.run_models import (
    ARTIFACT_EXAMPLE,
    RUNS,
    ArtifactEntry,
    ArtifactList,
    ReportDocument,
    report_document,
    without_secrets,
)
from qosforge.artifacts.store import artifact_id
from qosforge.page_addresses import run_page, service_address
from qosforge.reports.junit import run_junit
from qosforge.reports.markdown import run_markdown
from qosforge.reports.model import RunReport
from qosforge.reports.pdf import run_pdf
from qosforge.reports.run_report import render_run_report
from qosforge.reports.sarif import sarif
from qosforge.runs.record.run import Run
from qosforge.runs.views.artifact_list import RunArtifact, list_artifacts
from qosforge.runs.views.redaction import RedactedArtifacts

router = APIRouter(tags=["runs"])

_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The report is one page with its styles inside, and needs nothing else."""

Form = Literal["html", "json", "junit", "sarif", "markdown"]

_MEDIA_TYPES: dict[Form, str] = {
    "json": "application/json",
    "junit": "application/xml",
    "sarif": "application/sarif+json",
    "markdown": "text/markdown; charset=utf-8",
}


@router.get(
    "/runs/{run_id}/artifacts", summary="List the artifacts of a run", dependencies=[Depends(Needs(Role.VIEWER))]
)
def run_artifacts(backend: TheBackend, run_id: str) -> ArtifactList:
    """Every artifact of a run so far, by name."""
    return ArtifactList(
        artifacts=[_entry(run_id, content) for content in list_artifacts(backend.run_requests.store, run_id)]
    )


@router.get(
    "/runs/{run_id}/artifacts/{artifact}",
    summary="Download an artifact of a run",
    dependencies=[Depends(Needs(Role.VIEWER))],
    response_class=Response,
    responses={
        200: {
            "description": "The bytes as they were stored: their SHA-256 is the id. Where they hold secrets of a"
            " device, callers who are no operators get them masked.",
            "content": {
                "application/json": JSON_DOCUMENT,
                "application/yaml": TEXT,
                "text/plain": TEXT,
            },
        }
    },
)
def run_artifact(
    caller: Caller,
    backend: TheBackend,
    run_id: str,
    artifact: Annotated[str, InPath(pattern="^[0-9a-f]{64}$", examples=[ARTIFACT_EXAMPLE])],
) -> Response:
    """One artifact of a run. Device configurations may hold secrets, and need an operator."""
    whole = list_artifacts(backend.run_requests.store, run_id)
    found = [content for content in whole if content.id == artifact]
    if not found:
        raise HTTPException(404, "the run has no such artifact")
    readable = [content for content in found if not content.kind.restricted]
    network = backend.run_requests.run(run_id).network
    operates = caller.may(Role.OPERATOR, network)
    if not readable and not operates:
        raise NotAllowed(
            f"what a device holds may carry secrets, and {caller.name} is no operator of network {network}",
            hint="ask an operator, or read the report",
        )
    content = (readable or found)[0]
    stored = backend.run_requests.artifacts
    data = stored.get_bytes(artifact) if operates else RedactedArtifacts(stored, whole).copy(content)
    tag = {"ETag": f'"{artifact}"'} if operates or artifact_id(data) == artifact else {}
    return Response(data, media_type=content.kind.media_type, headers=tag)


@router.get(
    "/runs/{run_id}/report",
    summary="Show the report of a run",
    dependencies=[Depends(Needs(Role.VIEWER))],
    response_class=Response,
    responses={
        200: {
            "description": "The report in the form that was asked for.",
            "model": ReportDocument,
            "content": {
                "text/html": TEXT,
                "application/xml": TEXT,
                "application/sarif+json": JSON_DOCUMENT,
                "text/markdown": TEXT,
            },
        }
    },
)
def run_report(
    caller: Caller,
    backend: TheBackend,
    run_id: str,
    form: Annotated[Form, Query(alias="format", description="`sarif` and `junit` are for pipelines.")] = "html",
) -> Response:
    """The report of a run, as far as it came. A viewer's has no line of a device that the run did not change."""
    report = _redact(caller, backend, run_id)
    if form == "html":
        # Its plots take seconds, which would hold up every other request in this process.
        page = backend.compute_for(caller, render_run_report, report)
        return HTMLResponse(page, headers={"Content-Security-Policy": _PAGE_POLICY})
    text = _render(report, form, backend.run_requests.run(run_id), backend.settings.public_url)
    return Response(text, media_type=_MEDIA_TYPES[form])


@router.get(
    "/runs/{run_id}/report.pdf",
    summary="Download the report of a run as a PDF",
    dependencies=[Depends(Needs(Role.VIEWER))],
    response_class=Response,
    responses={
        200: {
            "description": "The HTML report on sheets of A4.",
            "content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}},
        },
        **responses(501),
    },
)
def run_report_pdf(caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """The report of a run as a PDF. A viewer's has no line of a device that the run did not change."""
    report = _redact(caller, backend, run_id)
    data = backend.compute_for(caller, run_pdf, report)
    named = {"Content-Disposition": f'inline; filename="{run_id}.pdf"'}
    return Response(data, media_type="application/pdf", headers=named)


def _redact(caller: Principal, backend: Backend, run_id: str) -> RunReport:
    """The report with what the caller may read of it."""
    report = backend.run_requests.detail(run_id)
    operates = caller.may(Role.OPERATOR, backend.run_requests.run(run_id).network)
    return report if operates else without_secrets(report)


def _entry(run_id: str, content: RunArtifact) -> ArtifactEntry:
    return ArtifactEntry(
        name=content.name,
        kind=content.kind,
        id=content.id,
        media_type=content.kind.media_type,
        restricted=content.kind.restricted,
        link=f"{RUNS}/{run_id}/artifacts/{content.id}",
    )


def _render(report: RunReport, form: Form, run: Run, public_url: str | None) -> str:
    page = service_address(public_url, run_page(run.id)) if public_url else ""
    if form == "junit":
        return run_junit(report, page)
    if form == "markdown":
        return run_markdown(report, page)
    if form == "sarif":
        return json.dumps(sarif(report.findings, run.resolved.intent_file, Path.cwd()))
    return report_document(report).model_dump_json()
