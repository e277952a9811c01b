"""Downloads of a run that take seconds: the PDF report, and everything in one archive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.routes.run_artifacts import run_report_pdf
from qosforge.api.run_models import report_document, without_secrets
from qosforge.reports.bundle import ZipEntry, stream_zip
from qosforge.reports.junit import run_junit
from qosforge.reports.markdown import run_markdown
from qosforge.reports.run_report import render_run_report
from qosforge.reports.sarif import sarif
from qosforge.runs.views.redaction import RedactedArtifacts
from qosforge.web.pages import sees
from qosforge.web.views.run import RunView

router = APIRouter()


@router.get("/runs/{run_id}/report.pdf", dependencies=sees(Role.VIEWER))
def report_pdf(caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """The PDF report of the API, here so that a failure is shown as a page."""
    return run_report_pdf(caller, backend, run_id)


@router.get("/runs/{run_id}/everything.zip", dependencies=sees(Role.VIEWER))
def everything(caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """An archive of all reports and artifacts; those that may hold a device's secrets need an operator."""
    view = RunView(backend, caller, backend.run_requests.run(run_id))
    operator = view.may(Role.OPERATOR)
    whole = backend.run_requests.detail(run_id)
    report = whole if operator else without_secrets(whole)
    page = backend.compute_for(caller, render_run_report, report)

    def entries() -> Iterator[ZipEntry]:
        yield "report.html", page.encode
        yield "report.json", lambda: report_document(report).model_dump_json().encode()
        yield "report.md", lambda: run_markdown(report).encode()
        yield "report.junit.xml", lambda: run_junit(report).encode()
        intent_file = view.run.resolved.intent_file or "policy.yaml"
        yield "findings.sarif", lambda: json.dumps(sarif(report.findings, intent_file, Path.cwd())).encode()
        copies = RedactedArtifacts(backend.artifacts, view.artifacts)
        for content in view.artifacts:
            if operator:
                yield f"artifacts/{content.file_name}", partial(backend.artifacts.get_bytes, content.id)
            elif not content.kind.restricted:
                yield f"artifacts/{content.file_name}", partial(copies.copy, content)

    return StreamingResponse(
        stream_zip(entries(), view.run.updated),
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="run-{run_id}.zip"'},
    )
