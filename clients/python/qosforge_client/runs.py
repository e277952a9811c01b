"""Runs: started, followed to their end, decided on, rolled back."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from qosforge_client.connection import Connection
from qosforge_client.errors import StillRunning, Unavailable, Unreachable
from qosforge_client.events import sent_events
from qosforge_client.models import InlinePolicy, NamedPolicy, Run, RunEvent, RunPage, RunStatus, RunSummary, Verdict

ReportFormat = Literal["html", "json", "junit", "sarif", "markdown"]

OUTAGE_SECONDS = 300.0
"""How long the service may be away while a run is waited for."""
_PAUSE_SECONDS = 1.0
_SIDE_OF_PEOPLE = frozenset({RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED, RunStatus.NEEDS_RECOVERY})
"""Where a run waits for somebody, or for its time."""


class _Events(BaseModel):
    events: tuple[RunEvent, ...] = Field(default=())


class Runs:
    """The runs of a service (`Client.runs`). Every method raises `QosforgeClientError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def start(
        self,
        network: str,
        policy: InlinePolicy | NamedPolicy,
        *,
        measure: bool = True,
        strict: bool = False,
        ticket: str = "",
        not_before: datetime | None = None,
        timeout_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> RunSummary:
        """Start a run.

        ``measure``: keep its change only if the objectives are met. ``strict``: warnings stand against it, too.
        ``not_before``, with its zone: push no earlier. With the same ``idempotency_key`` and request, the run of
        the first call is given again; without, every call starts one.
        """
        body = {
            "network": network,
            "policy": policy.model_dump(mode="json"),
            "measure": measure,
            "strict": strict,
            "ticket": ticket,
            "not_before": not_before.isoformat() if not_before else None,
            "timeout_seconds": timeout_seconds,
        }
        return self._send("/runs", body, idempotency_key or str(uuid.uuid4()))

    def get(self, run_id: str) -> Run:
        """A run, how far it came, and what it found and measured."""
        return self._connection.read(Run, "GET", _path(run_id))

    def page(
        self,
        *,
        network: str | None = None,
        policy: str | None = None,
        status: RunStatus | None = None,
        verdict: Verdict | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> RunPage:
        """Runs, newest first: those before the run ``before``, at most ``limit`` (200) at once."""
        query = {"network": network, "policy": policy, "status": status, "verdict": verdict, "before": before}
        return self._connection.read(RunPage, "GET", "/runs", query=query | {"limit": limit})

    def wait(self, run_id: str, *, seconds: float = 3600.0, through: Sequence[RunStatus] = ()) -> Run:
        """The run once it is over, or waits for somebody or for its time.

        It is told by the service's events, and asked for now and then where these do not come through.

        Args:
            run_id: the run.
            seconds: the longest to wait.
            through: statuses to wait on in, such as `RunStatus.NEEDS_APPROVAL` while somebody else approves.

        Raises:
            StillRunning: it is not there after ``seconds``.
            QosforgeClientError: the service was away for longer than `OUTAGE_SECONDS`, or told a problem.
        """
        end = time.monotonic() + seconds
        seen, after = time.monotonic(), 0
        while True:
            try:
                run = self.get(run_id)
                seen = time.monotonic()
                if run.final or (run.status in _SIDE_OF_PEOPLE and run.status not in through):
                    return run
                after, news = self._listen(run_id, after, end)
                if news:
                    continue
            except (Unreachable, Unavailable):
                if time.monotonic() - seen > OUTAGE_SECONDS:
                    raise
            if time.monotonic() >= end:
                raise StillRunning(run_id, seconds)
            time.sleep(min(_PAUSE_SECONDS, max(end - time.monotonic(), 0.0)))

    def events(self, run_id: str, *, after: int = 0) -> Iterator[RunEvent]:
        """The events so far, after number ``after``."""
        while True:
            page = self._connection.read(_Events, "GET", _path(run_id, "events"), query={"after": after})
            if not page.events:
                return
            yield from page.events
            after = page.events[-1].seq

    def approve(self, run_id: str, candidate: str, comment: str = "") -> RunSummary:
        """Approve the changes that ``candidate`` names (`Run.candidate`); others than these it does not cover.

        Where they are predicted to break objectives, ``comment`` says why: without it the service refuses.
        """
        return self._send(_path(run_id, "approve"), {"candidate": candidate, "comment": comment})

    def reject(self, run_id: str, comment: str = "") -> RunSummary:
        """Reject what a waiting run would do: it ends, untouched. ``comment`` says why: without it the service
        refuses, but of a run that asks whether to keep its change, which is then rolled back.
        """
        return self._send(_path(run_id, "reject"), {"comment": comment})

    def cancel(self, run_id: str) -> RunSummary:
        """Cancel a run; what it changed is rolled back."""
        return self._send(_path(run_id, "cancel"))

    def roll_back(self, run_id: str, reason: str = "", *, idempotency_key: str | None = None) -> RunSummary:
        """Roll a kept run back; gives the run that does it, which keeps the ``reason``."""
        body = {"reason": reason} if reason else None  # an earlier service takes none
        return self._send(_path(run_id, "rollback"), body, idempotency_key or str(uuid.uuid4()))

    def report(self, run_id: str, form: ReportFormat = "markdown") -> str:
        """The report, as far as the run came."""
        return self._connection.call("GET", _path(run_id, "report"), query={"format": form}).decode()

    def report_pdf(self, run_id: str) -> bytes:
        """The report as a PDF."""
        return self._connection.call("GET", _path(run_id, "report.pdf"))

    def _send(self, path: str, body: Any = None, key: str | None = None) -> RunSummary:
        return self._connection.read(RunSummary, "POST", path, body=body, key=key)

    def _listen(self, run_id: str, after: int, end: float) -> tuple[int, bool]:
        """Listen until the status changes, the stream ends or breaks, or time is up.

        Returns:
            The number of the last event, and whether it was news of the status.
        """
        # A stream that breaks ends like any: whether the service is still there, the next look at the run shows.
        with suppress(Unreachable), self._connection.lines(_path(run_id, "events"), after) as lines:
            for event in sent_events(lines):
                if event is not None:
                    after = int(event.id) if event.id.isascii() and event.id.isdigit() else after
                    if event.kind in ("status", "end") and _is_new(event.data):
                        return after, True
                if time.monotonic() >= end:
                    break
        return after, False


def _is_new(data: str) -> bool:
    """Whether a status is one at which waiting may end: a stream begins with those that are past."""
    try:
        status = json.loads(data).get("status")
    except (ValueError, AttributeError):
        return True
    return status not in (RunStatus.PENDING, RunStatus.RUNNING)


def _path(run_id: str, *parts: str) -> str:
    return "/".join(("/runs", quote(run_id, safe=""), *parts))
