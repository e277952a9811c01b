"""Authorization: every route but the public ones declares the role that it needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

import sqlalchemy as sa
from fastapi import Depends, HTTPException, Request

from qosforge.access.clients import address_of
from qosforge.access.roles import ASK_FOR_ROLE, NotAllowed, NotAuthenticated, Principal, Role
from qosforge.access.sessions import CSRF_HEADER, cookie_name
from qosforge.api.backend import Backend
from qosforge.api.dependencies import TheBackend
from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.api.parameters import require_known_parameters
from qosforge.runs.record.store import RunUnknown
from qosforge.runs.record.tables import RUNS

_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
"""The names of users, external testers and webhooks."""

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

NO_CREDENTIAL = "the call carries no credential"


class Needs:
    """A dependency that authenticates the caller and requires a role on the network of the call.

    That is on the network of path parameter ``network``, or on that of the run ``run_id``; where the path names
    neither, on any network: then the route itself calls ``caller.require(role, body.network)``. A run of a network
    on which the caller has no role at all does not exist for the caller.

    Stands in a route's own ``dependencies=[Depends(Needs(role))]``; the OpenAPI document gets ``x-role`` from it.
    """

    def __init__(self, role: Role, *, everywhere: bool = False, recorded: bool = True) -> None:
        """``everywhere``: the role is required on every network, for calls that concern them all.

        ``recorded``: whether a call goes into the audit log; reading calls never do, and one that is sent by
        POST only for its body (a preview) says ``False``.
        """
        self.role = role
        self.everywhere = everywhere
        self.recorded = recorded

    def __call__(self, request: Request, backend: TheBackend) -> Principal:
        return self._authorize(request, backend, request.url.path)

    def _authorize(self, request: Request, backend: Backend, resource: str) -> Principal:
        audit = AuditEntry(f"{request.method} {request.url.path}", resource=request.url.path)
        request.state.audit = None if request.method in _SAFE or not self.recorded else audit
        caller = _authenticate(request, backend)
        request.state.caller = caller
        audit.actor, audit.credential, audit.resource = caller.name, caller.credential, resource
        self._check(caller, request, backend, audit)
        require_known_parameters(request)
        if request.state.audit is not None:
            audit.open(backend.access, request.state.request_id)
        return caller

    def _check(self, caller: Principal, request: Request, backend: Backend, audit: AuditEntry) -> None:
        network = request.path_params.get("network")
        if network is None and "run_id" in request.path_params:
            network, policy = _network_and_policy_of_run(caller, request.path_params["run_id"], backend)
            audit.detail = {"policy": policy}
        if self.everywhere:
            caller.require(self.role)
        elif network is not None:
            audit.network = network
            caller.require(self.role, network)
        elif not any(role.covers(self.role) for role in caller.roles.values()):
            raise NotAllowed(f"only {self.role.person} of a network may do this", hint=ASK_FOR_ROLE)


async def _name_in_body(request: Request) -> str:
    """The field ``name`` of a body that FastAPI has read by now; empty where it is no name of anything here."""
    try:
        is_json = "json" in request.headers.get("content-type", "")
        body = await request.json() if is_json else await request.form()
    except (ValueError, HTTPException):
        return ""
    name = body.get("name") if isinstance(body, Mapping) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else ""


class NeedsNamed(Needs):
    """`Needs` of a route that makes something by the name in its body: a refused call, too, is logged with it.

    ``area`` is what the resource in the audit log begins with: ``users`` of ``users/ann``.
    """

    def __init__(self, area: str, role: Role, *, everywhere: bool = False) -> None:
        super().__init__(role, everywhere=everywhere)
        self.area = area

    def __call__(
        self, request: Request, backend: TheBackend, name: Annotated[str, Depends(_name_in_body)] = ""
    ) -> Principal:
        return self._authorize(request, backend, f"{self.area}/{name}" if name else request.url.path)


def audit_live_read(request: Request, backend: Backend, network: str) -> AuditEntry:
    """The audit entry of a call that opens sessions to devices, which is recorded whatever its method and role."""
    audit: AuditEntry | None = request.state.audit
    if audit is None:
        caller: Principal = request.state.caller
        path = request.url.path
        audit = AuditEntry(f"{request.method} {path}", caller.name, caller.credential, network, path)
        audit.open(backend.access, request.state.request_id)
        request.state.audit = audit
    return audit


def _authenticate(request: Request, backend: Backend) -> Principal:
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            raise NotAuthenticated("the scheme of the credential is not Bearer", hint="send a bearer token")
        return backend.access.authenticate(token.strip())
    cookie = request.cookies.get(cookie_name(backend.settings))
    if cookie is None:
        raise NotAuthenticated(NO_CREDENTIAL, hint="send `Authorization: Bearer qf_…`")
    caller = backend.access.session(cookie, address_of(request.client.host if request.client else None))
    if request.method not in _SAFE:
        backend.access.check_csrf(cookie, request.headers.get(CSRF_HEADER))
    return caller


def _network_and_policy_of_run(caller: Principal, run_id: str, backend: Backend) -> tuple[str, str]:
    query = sa.select(RUNS.c.network, RUNS.c.policy).where(RUNS.c.id == run_id)
    with backend.database.read() as connection:
        found = connection.execute(query).first()
    if found is None or not caller.may(Role.VIEWER, found.network):
        raise RunUnknown(
            "there is no such run", hint="GET /api/v1/runs lists those that you see; give the whole id"
        )
    return str(found.network), str(found.policy)
