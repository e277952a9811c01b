"""The audit of a network: what its devices hold, whether it is consistent, and where marks are lost."""

from __future__ import annotations

from fastapi import APIRouter, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.audit import MOST_SHOWN, SHOWN, submit_audit

router = APIRouter()


@router.get("/networks/{network}/audit", dependencies=sees(Role.VIEWER))
def show_audit(page: ThePage, caller: Caller, backend: TheBackend, network: str) -> Response:
    """A network's audit by the last readings of its devices, or how far it is. No device is asked."""
    found = backend.networks.network(network)
    return page.answer(
        "networks/audit.html.j2",
        network=found,
        progress=submit_audit(backend, found, person=caller.name),
        shown=SHOWN,
        most_shown=MOST_SHOWN,
    )
