"""Every call that would change something goes into the audit log, refused ones too, before it is answered."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qosforge.access.access import Access
from qosforge.access.calls import UNKNOWN, Call
from qosforge.api.problems import TIMED_OUT, error_response
from qosforge.errors import QosforgeError


@dataclass
class CallNote:
    """What the log will say of a call; `Needs` begins it, and a route may add to it. Never a secret."""

    action: str
    actor: str = ""
    credential: str = ""
    network: str = ""
    resource: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    opened: str | None = None

    def call(self, status: int, request_id: str) -> Call:
        """The call as the log has it."""
        told = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "opened"}
        return Call(status=status, request_id=request_id, **told)

    def open(self, access: Access, request_id: str) -> None:
        """Note, before anything is changed, that the call is about to be carried out."""
        self.opened = access.open(self.call(UNKNOWN, request_id))


class RecordCalls:
    """Holds the answer to a call that has a `CallNote` back until the log has its row.

    Where the log cannot be written the caller is told so instead: nobody hears of a change that the log has not.
    What a call is about to do was noted before it began (`CallNote.open`), so a process that dies in between leaves
    its trace, too. A call that was given up while it was at work is in the log, too, as timed out.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answered = failed = False

        async def recorded(message: Message) -> None:
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
            await self._app(scope, receive, recorded)
        finally:
            if not answered:
                with anyio.CancelScope(shield=True):
                    await self._record(scope, TIMED_OUT.status)

    async def _record(self, scope: Scope, status: int) -> None:
        note: CallNote | None = scope["state"].get("note")
        if note is None:
            return
        call = note.call(status, scope["state"]["request_id"])
        await run_in_threadpool(self._access.record, call, note.opened)
