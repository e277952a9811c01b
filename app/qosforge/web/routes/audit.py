"""Audits, of a network by its readings and of saved configurations: whether they are consistent, where marks go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Path, Response, UploadFile
from fastapi.responses import RedirectResponse

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.device_names import natural_order
from qosforge.device_state.drift_watch import drift_watch
from qosforge.errors import InputError, Place, QosforgeError
from qosforge.platforms.base import installed, platform
from qosforge.runs.record.readings import reading_times
from qosforge.runs.requests.addresses import no_address_at_all
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.uploaded_files import MOST_BYTES, MOST_FILES, unpack_files
from qosforge.web.views.audit import MOST_SHOWN, SHOWN, submit_audit
from qosforge.web.views.audit_filter import AuditFilter
from qosforge.web.views.saved_audit import (
    MOST_PLATFORMS,
    MOST_ROWS,
    files_of_unknown_platform,
    saved_audit,
    submit_saved_audit,
)
from qosforge.web.views.unread import still_unread

router = APIRouter()

Sought = Annotated[AuditFilter, Depends()]
AuditId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


@router.get("/audit", dependencies=sees(Role.VIEWER))
def new_file_audit(page: ThePage) -> Response:
    """The form that takes saved configurations to audit."""
    return _form(page)


@router.post("/audit", dependencies=sees(Role.VIEWER, recorded=False))
def audit_files(
    page: ThePage, caller: Caller, backend: TheBackend, files: Annotated[list[UploadFile] | None, File()] = None
) -> Response:
    """Audit the given configurations in the background, and go to the page of the result."""
    try:
        given = unpack_files((one.filename or "", one.file.read()) for one in files or () if one.filename)
    except InputError as error:
        return _form(page, error.problems(), 422)
    audit_id = submit_saved_audit(backend, given, person=caller.name)
    return RedirectResponse(f"/audit/{audit_id}", 303)


@router.get("/audit/{audit_id}", dependencies=sees(Role.VIEWER))
def show_file_audit(
    *, page: ThePage, caller: Caller, backend: TheBackend, audit_id: AuditId, sought: Sought
) -> Response:
    """The audit of files that the caller gave, or how far it is."""
    progress = saved_audit(backend, audit_id, person=caller.name)
    if page.is_fragment and (progress is None or progress.problems):
        return Response(status_code=204, headers={"HX-Refresh": "true"})  # the form is a page of its own
    if progress is None:
        return _not_kept(page)
    if progress.problems:
        return _form(page, progress.problems, 422)
    return page.answer(
        "networks/file_audit.html.j2",
        progress=progress,
        audit_id=audit_id,
        **_narrowed(sought),
        most_rows=MOST_ROWS,
        most_platforms=MOST_PLATFORMS,
        platforms=sorted(installed(), key=lambda name: platform(name).family.title),
    )


@router.post("/audit/{audit_id}", dependencies=sees(Role.VIEWER, recorded=False))
def tell_platforms(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    audit_id: AuditId,
    file: Annotated[list[str], Form()],
    told: Annotated[list[str], Form()],
) -> Response:
    """Audit the same files again with the platforms of those whose lines do not tell theirs."""
    files = files_of_unknown_platform(backend, audit_id, person=caller.name)
    if files is None:
        return _not_kept(page)
    platforms = dict(zip(file, told, strict=False))
    for name, chosen in platforms.items():
        if name not in dict(files):
            raise InputError(page.text("This is none of the files."), Place(file=name))
        if chosen:
            platform(chosen)
    again = submit_saved_audit(backend, files, person=caller.name, platforms=platforms)
    return RedirectResponse(f"/audit/{again}", 303)


def _narrowed(sought: AuditFilter) -> dict[str, Any]:
    return {"sought": sought, "shown": SHOWN, "most_shown": MOST_SHOWN}


def _not_kept(page: Page) -> Response:
    lost = InputError(page.text("This result is no longer kept."), hint=page.text("Give the files again."))
    return _form(page, [lost], 404)


def _form(page: Page, errors: Sequence[QosforgeError] = (), status: int = 200) -> Response:
    limits = {
        "request_mib": page.backend.settings.request_bytes >> 20,
        "most_files": MOST_FILES,
        "most_mib": MOST_BYTES >> 20,
    }
    return page.answer("networks/new_file_audit.html.j2", status, errors=errors, **limits)


@router.get("/networks/{network}/audit", dependencies=sees(Role.VIEWER))
def show_audit(
    *, page: ThePage, caller: Caller, backend: TheBackend, network: str, sought: Sought, retry: bool = False
) -> Response:
    """A network's audit by the last readings of its devices, or how far it is; one that failed is made again to
    ``retry``. No device is asked.
    """
    found = backend.networks.network(network)
    return page.answer(
        "networks/audit.html.j2",
        network=found,
        readings=reading_times(backend.database).get(found.name),
        unread=sorted(still_unread(backend.database, drift_watch(backend.database, found.name)), key=natural_order),
        unaddressed=no_address_at_all(backend.settings, found),
        progress=submit_audit(backend, found, person=caller.name, retry=retry),
        **_narrowed(sought),
    )
