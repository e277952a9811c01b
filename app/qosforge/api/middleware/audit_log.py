"""Audit middleware: a call that would change something, denied or not, is in the audit log before its response."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.access.audit_log import UNKNOWN, Call
from qosforge.access.authentication import Access
from qosforge.api.problems import PROBLEM, TIMED_OUT, error_response
from qosforge.errors import QosforgeError


@dataclass
class AuditEntry:
    """The entry of a call in the audit log, created by `Needs` and completed by routes. Never a secret.

    ``reason`` is set by a route that tells by a page of its own why it refuses; of a problem it is known without.
    """

    action: str
    actor: str = ""
    credential: str = ""
    network: str = ""
    resource: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    address: str = ""
    opened: str | None = None

    def call(self, status: int, request_id: str) -> Call:
        """The finished entry."""
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "opened"}
        return Call(status=status, request_id=request_id, **known)

    def open(self, access: Access, request_id: str) -> None:
        """Record, before anything is changed, that the call is about to be carried out."""
        self.opened = access.open(self.call(UNKNOWN, request_id))


class AuditMiddleware:
    """Holds the response to a call with an `AuditEntry` back until the audit log has its row.

    Where the log cannot be written the response is that error: no change is confirmed without a row. The start of a
    call is recorded before it changes anything (`AuditEntry.open`), so a process that dies meanwhile leaves a row,
    too. A call whose caller left is recorded as timed out.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answered = failed = False

        async def send_recorded(message: Message) -> None:
            nonlocal answered, failed
            if message["type"] == "http.response.start":
                answered = True
                try:
                    await self._record(scope, message["status"])
                except QosforgeError as error:
                    failed = True
                    await error_response(scope["state"]["request_id"], error)(scope, receive, send)
            if not failed:
                await send(message)

        try:
            await self._app(scope, receive, send_recorded)
        finally:
            if not answered:
                with anyio.CancelScope(shield=True):
                    await self._record(scope, TIMED_OUT.status)

    async def _record(self, scope: Scope, status: int) -> None:
        audit: AuditEntry | None = scope["state"].get("audit")
        if audit is None:
            return
        audit.reason = audit.reason or scope["state"].get(PROBLEM, "")
        call = audit.call(status, scope["state"]["request_id"])
        await run_in_threadpool(self._access.record, call, audit.opened)
