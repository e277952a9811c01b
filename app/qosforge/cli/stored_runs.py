"""Runs of this machine's store, looked at and decided on: without the engine and the drivers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qosforge.artifacts.store import open_artifacts
from qosforge.cli.account import account
from qosforge.cli.output import print_json, require_writable, write_file
from qosforge.cli.reports import Reports
from qosforge.cli.run_output import expected_json, print_whole, tell
from qosforge.reports.pdf import run_pdf
from qosforge.reports.run_report import render_run_report
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.views.report import run_report
from qosforge.runs.views.summary import summary_of
from qosforge.settings import load_settings


def show(run_id: str, html: Path | None, pdf: Path | None, reports: Reports, as_json: bool) -> None:
    """One run of this machine's store."""
    settings = load_settings()
    settings.make_var_dir()
    with RunStore(settings.database_url) as store:
        report = run_report(store, open_artifacts(settings, store.database), run_id)
    if html is not None:
        write_file(html, render_run_report(report))
    if pdf is not None:
        require_writable(pdf)
        write_file(pdf, run_pdf(report))
    reports.run(report)
    if as_json:
        print_json(report.model_dump(mode="json") | expected_json(report.before, report.after))
        return
    print_whole(report)


def decide(decision: Callable[[RunRequests, str], Run], as_json: bool) -> None:
    """Decide on a run of this machine's store, as the user of this shell."""
    settings = load_settings()
    settings.make_var_dir()
    with RunStore(settings.database_url) as store:
        run_requests = RunRequests(settings, store, open_artifacts(settings, store.database))
        run = decision(run_requests, account())
        listed = run_requests.candidate(run.id)
        document = summary_of(run).model_dump(mode="json")
    tell(
        {**document, "candidate": listed.id if listed else None},
        "qosforge serve carries it out, or qosforge recover",
        as_json,
    )
