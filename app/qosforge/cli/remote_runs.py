"""Runs on a service: started, followed, looked at; printed as those of this machine are."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qosforge.cli.output import print_json, print_problems, require_writable, write_file
from qosforge.cli.reports import Reports
from qosforge.cli.run_options import FollowOptions, RunOptions
from qosforge.cli.run_output import (
    exit_code,
    expected_json,
    print_end,
    print_measurement,
    print_report,
    print_whole,
    run_json,
    tell,
)
from qosforge.cli.server import connect
from qosforge.cli.terminal import progress
from qosforge.client.connection import Connection
from qosforge.client.documents import read, require
from qosforge.client.request_documents import idempotency_key
from qosforge.client.run_events import StillRunning, StreamedEvent, follow
from qosforge.page_addresses import run_page, service_address
from qosforge.reports.model import RunReport
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.run_request import RunRequest
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict

Json = dict[str, Any]


def start(request: RunRequest, follow_options: FollowOptions, reports: Reports, as_json: bool) -> None:
    """Start a run; follow it to its end and exit by its verdict, if so wished."""
    with connect() as connection:
        body = request.model_dump(mode="json")
        run = _run(connection.post("/runs", body, key=idempotency_key(follow_options.key)))
        if follow_options.wait:
            finish(connection, run["id"], follow_options.seconds, reports, as_json)
        run = _run(connection.get(f"/runs/{run['id']}"))
    tell(run, f"follow it: qosforge wait {run['id']}", as_json, page_of(connection, run["id"]))


def finish(connection: Connection, run_id: str, seconds: float, reports: Reports, as_json: bool) -> None:
    """Follow a run to its end, print what came of it and exit by its verdict."""
    progress("run", run_id)
    where = page_of(connection, run_id)
    try:
        follow(connection, run_id, partial(_show, where), seconds=seconds)
    except StillRunning:
        reports.run(report_of(connection, run_id), where)  # as it stands
        raise
    run = _run(connection.get(_path(run_id)))
    report = report_of(connection, run_id)
    reports.run(report, where)
    errors = [
        {"device": "", "message": f"{stage.name}: {stage.summary}", "hint": ""}
        for stage in report.stages
        if stage.outcome == "failed"
    ]
    if as_json:
        print_json(run_json(report, errors, where))
    else:
        print_report(report)
        print_problems(errors)
        print_end(report, where)
    sys.exit(exit_code(run["status"], run["verdict"], failed=bool(errors), left_out=bool(report.left_out)))


def page_of(connection: Connection, run_id: str) -> str:
    """The address of a run's page, for browsers."""
    return service_address(connection.url, run_page(run_id))


def report_of(connection: Connection, run_id: str) -> RunReport:
    """The report of a run, with its measurements."""
    return read(RunReport, connection.get(f"{_path(run_id)}/report", {"format": "json"}))


def wait(run_id: str, seconds: float, reports: Reports, as_json: bool) -> None:
    """Follow a run that was started before."""
    with connect() as connection:
        finish(connection, _run(connection.get(_path(run_id)))["id"], seconds, reports, as_json)


def show(run_id: str, html: Path | None, pdf: Path | None, reports: Reports, as_json: bool) -> None:
    """One run: findings, comparison, verdicts, devices and stages."""
    with connect() as connection:
        report = report_of(connection, run_id)
        if html is not None:
            write_file(html, connection.text(f"{_path(run_id)}/report", {"format": "html"}))
        if pdf is not None:
            require_writable(pdf)
            write_file(pdf, connection.data(f"{_path(run_id)}/report.pdf"))
    reports.run(report, page_of(connection, report.id))
    if as_json:
        print_json(report.model_dump(mode="json") | expected_json(report.before, report.after))
    else:
        print_whole(report)


def measure(run_options: RunOptions, packets: Path | None, as_json: bool) -> None:
    """Let a service measure what the devices do now; exits by the verdict."""
    if packets is not None:
        # Only here: the formats take their time to import.
        from qosforge.tester.measurement.export import measured_packets, require_format, write_packets  # noqa: PLC0415

        require_format(packets)
        require_writable(packets)
    order = run_options.request().model_dump(mode="json", include={"network", "policy", "seed"})
    with connect() as connection:
        found = require(connection.post("/measurements", order), "measurement", "verdicts", "outcome")
    measurement = read(Measurement, found["measurement"])
    if packets is not None:
        write_packets(measured_packets(measurement), packets)
    if as_json:
        print_json(found)
    else:
        print_measurement(measurement, tuple(read(ClassVerdict, v) for v in found["verdicts"]))
    sys.exit(0 if found["outcome"] == "met" else 1)


def decide(run_id: str, what: str, body: Json | None, as_json: bool, key: str | None = None) -> None:
    """Approve, reject, cancel, retry or roll back; prints where the run stands then."""
    with connect() as connection:
        run = _run(connection.post(f"{_path(run_id)}/{what}", body, key=key))
    tell(run, f"follow it: qosforge wait {run['id']}", as_json, page_of(connection, run["id"]))


def approve(run_id: str, candidate: str | None, comment: str, as_json: bool) -> None:
    """Approve what a run would do: the candidate that was looked at, else what it would do now, which is shown.

    Raises:
        InputError: there is nothing to approve.
    """
    with connect() as connection:
        run = require(_run(connection.get(_path(run_id))), "candidate", "devices")
        question = run.get("question")
        body = {"candidate": candidate or question or run["candidate"] or "", "comment": comment}
        if candidate is None and question is None:
            for device in run["devices"]:
                progress("approve", f"{device['name']}: {len(device['delta'])} lines")
        run = _run(connection.post(f"/runs/{run['id']}/approve", body))
    tell(run, f"follow it: qosforge wait {run['id']}", as_json, page_of(connection, run["id"]))


def _path(run_id: str) -> str:
    return f"/runs/{quote(run_id, safe='')}"


def _run(document: Any) -> Json:
    return require(document, "id", "network", "policy", "status", "verdict", "created", "waits_for", "final")


def _show(page: str, event: StreamedEvent) -> None:
    data = {name: str(value) for name, value in event.data.items() if value is not None}
    match event.kind:
        case "progress":
            progress(data.get("stage", ""), data.get("text", ""))
        case "status":
            said = " ".join(text for text in (data.get("waits_for", ""), data.get("reason", ""), _by(data)) if text)
            progress(data.get("status", "").replace("_", " "), said)
            if data.get("status") == RunStatus.NEEDS_APPROVAL:
                progress("approve", f"or reject it: {page}")
        case "decision":
            word = "approved" if event.data.get("approved") else "rejected"
            progress(word, " ".join(text for text in (_by(data), data.get("comment", "")) if text))
        case "stage" if data.get("outcome") not in (None, "done"):
            progress(data.get("stage", ""), data.get("outcome", ""))
        case "pause":
            progress("paused" if event.data.get("paused") else "resumed", _by(data))
        case "cancel" | "measurement" | "try":
            progress(event.kind, " ".join(text for text in (data.get("side", ""), _by(data)) if text))


def _by(data: dict[str, str]) -> str:
    who = data.get("by") or data.get("tester")
    return f"by {who}" if who else ""
