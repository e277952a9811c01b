"""Dependencies of routes: the parts of the service, the caller, and the entry of the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from qosforge.access.roles import Principal
from qosforge.api.backend import Backend
from qosforge.api.middleware.audit_log import AuditEntry


async def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    return backend


async def _caller(request: Request) -> Principal:
    # `Needs` put it there: it stands among the route's own dependencies, which are solved first.
    caller: Principal = request.state.caller
    return caller


async def _audit_entry(request: Request) -> AuditEntry:
    audit: AuditEntry = request.state.audit
    return audit


TheBackend = Annotated[Backend, Depends(_backend)]
"""The parts of the service."""

Caller = Annotated[Principal, Depends(_caller)]
"""Who calls, on a route with ``dependencies=[Depends(Needs(role))]``."""

TheAuditEntry = Annotated[AuditEntry, Depends(_audit_entry)]
"""What the audit log will say of this call: a route may add network, resource and detail."""
