"""Commands that decide on runs: wait, approve, reject, cancel, pause, resume, retry, rollback."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from qosforge.cli import remote_runs
from qosforge.cli.options import AsJson, RunId
from qosforge.cli.reports import Junit, Markdown, Reports, Sarif
from qosforge.cli.run_options import WAIT_SECONDS, Key, WaitSeconds
from qosforge.cli.server import remote
from qosforge.client.request_documents import idempotency_key
from qosforge.errors import InputError

if TYPE_CHECKING:
    from qosforge.runs.record.run import Run
    from qosforge.runs.requests.requests import RunRequests

Comment = Annotated[str, typer.Option("--comment", help="Why.")]
RollbackReason = Annotated[str, typer.Option("--reason", help="Why; it is kept with the new run.")]
Candidate = Annotated[
    str | None,
    typer.Option("--candidate", metavar="ID", help="What was looked at; else what the run would do now."),
]
Start = Annotated[str, typer.Option("--start", metavar="STAGE", help="Stage to begin at.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (wait, approve, reject, cancel, pause, resume, retry):
        app.command(name=command.__name__)(command)
    app.command(name="rollback")(roll_back)


def wait(
    run_id: RunId,
    wait_seconds: WaitSeconds = WAIT_SECONDS,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Follow a run on a service to its end, and exit by its verdict."""
    if not remote():
        raise InputError("wait follows a run on a service", hint="name it: --server URL, or QOSFORGE_SERVER")
    reports = Reports("policy.yaml", sarif, junit, markdown)
    with reports.told():
        remote_runs.wait(run_id, wait_seconds, reports, as_json)


def approve(run_id: RunId, candidate: Candidate = None, comment: Comment = "", as_json: AsJson = False) -> None:
    """Approve what a run would do, or keeping what it asks about. It goes on by itself.

    A change that is predicted to break objectives takes a comment that says why.
    """
    if remote():
        remote_runs.approve(run_id, candidate, comment, as_json)
        return

    def decide(run_requests: RunRequests, who: str) -> Run:
        asked, listed = run_requests.question(run_id), run_requests.candidate(run_id)
        return run_requests.approve(run_id, who, candidate or asked or (listed.id if listed else ""), comment)

    _decide(decide, as_json)


def reject(run_id: RunId, comment: Comment = "", as_json: AsJson = False) -> None:
    """Reject what a run would do. It ends, and no device was touched. One that asks what to keep is rolled back."""
    if remote():
        remote_runs.decide(run_id, "reject", {"comment": comment}, as_json)
    else:
        _decide(lambda run_requests, who: run_requests.reject(run_id, who, comment), as_json)


def cancel(run_id: RunId, as_json: AsJson = False) -> None:
    """Stop a run; what it touched is undone."""
    if remote():
        remote_runs.decide(run_id, "cancel", None, as_json)
    else:
        _decide(lambda run_requests, who: run_requests.cancel(run_id, who), as_json)


def pause(run_id: RunId, as_json: AsJson = False) -> None:
    """Hold a rollout before its next wave. What was changed stands meanwhile, unconfirmed."""
    if remote():
        remote_runs.decide(run_id, "pause", None, as_json)
    else:
        _decide(lambda run_requests, who: run_requests.pause(run_id, who), as_json)


def resume(run_id: RunId, as_json: AsJson = False) -> None:
    """Let a paused rollout go on with its next wave."""
    if remote():
        remote_runs.decide(run_id, "resume", None, as_json)
    else:
        _decide(lambda run_requests, who: run_requests.resume(run_id, who), as_json)


def retry(run_id: RunId, start: Start = "read", as_json: AsJson = False) -> None:
    """Let a run that ended without its change begin again. Of one that left devices out, change just those."""
    if remote():
        remote_runs.decide(run_id, "retry", {"start": start}, as_json)
    else:
        _decide(lambda run_requests, who: run_requests.retry(run_id, who, start), as_json)


def roll_back(run_id: RunId, key: Key = None, reason: RollbackReason = "", as_json: AsJson = False) -> None:
    """Undo a run that was kept, by a new run."""
    if remote():
        body = {"reason": reason} if reason else None
        remote_runs.decide(run_id, "rollback", body, as_json, idempotency_key(key))
    else:
        _decide(lambda run_requests, who: run_requests.roll_back(run_id, who, key, reason), as_json)


def _decide(decision: Callable[[RunRequests, str], Run], as_json: bool) -> None:
    """Decide on a run of this machine's store, as the user of this shell."""
    import_module("qosforge.cli.stored_runs").decide(decision, as_json)
