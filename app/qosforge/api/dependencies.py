"""What routes are given: the parts of the service, who calls, and the note for the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from qosforge.access.roles import Principal
from qosforge.api.backend import Backend
from qosforge.api.recording import CallNote


async def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    return backend


async def _caller(request: Request) -> Principal:
    # `Needs` put it there: it stands among the route's own dependencies, which are solved first.
    caller: Principal = request.state.caller
    return caller


async def _note(request: Request) -> CallNote:
    note: CallNote = request.state.note
    return note


TheBackend = Annotated[Backend, Depends(_backend)]
"""The parts of the service."""

Caller = Annotated[Principal, Depends(_caller)]
"""Who calls, on a route with ``dependencies=[Depends(Needs(role))]``."""

TheNote = Annotated[CallNote, Depends(_note)]
"""What the audit log will say of this call: a route may add network, resource and detail."""
