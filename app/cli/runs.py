"""Commands that touch boxes or look at what was done: run, push, measure, recover, runs, show."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli import remote_runs
from app.cli.options import (
    AsJson,
    NetworkFolder,
    Packets,
    Parameters,
    Policy,
    RequireBatfish,
    RunId,
    Seed,
    Strict,
    load,
    reach,
)
from app.cli.ordering import WAIT_SECONDS, Asked, Key, NotBefore, Ticket, Timeout, Wait, WaitSeconds, Watching
from app.cli.output import (
    out,
    print_accounts,
    print_comparison,
    print_json,
    print_problems,
    print_verdicts_now,
    progress,
    require_writable,
    write_file,
)
from app.cli.reports import Junit, Markdown, Reports, Sarif
from app.cli.run_output import (
    exit_code,
    expected_json,
    print_end,
    print_report,
    print_runs,
    print_whole,
    run_json,
    shown_path,
)
from app.cli.server import remote
from app.deploy.fleet import Fleet
from app.reports.run_report import render_run_report
from app.runs import live
from app.runs.artifacts import ArtifactStore
from app.runs.report import run_report
from app.runs.service import open_service
from app.runs.store import RunStore
from app.settings import load_settings
from app.tester.export import measured_packets, require_format, write_packets


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (run, push, measure, recover, runs, show):
        app.command(name=command.__name__)(command)


def run(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    require_batfish: RequireBatfish = False,
    strict: Strict = False,
    seed: Seed = 1,
    ticket: Ticket = "",
    not_before: NotBefore = None,
    timeout: Timeout = None,
    wait: Wait = False,
    wait_seconds: WaitSeconds = WAIT_SECONDS,
    key: Key = None,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """The whole loop: compile, validate, measure, push, measure again, judge, keep or roll back."""
    asked = Asked(policy, network, parameters, True, strict, require_batfish, seed, ticket, not_before, timeout)
    _ask(asked, Reports(str(policy), sarif, junit, markdown), Watching(wait, wait_seconds, key), as_json)


def push(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    require_batfish: RequireBatfish = False,
    strict: Strict = False,
    ticket: Ticket = "",
    not_before: NotBefore = None,
    timeout: Timeout = None,
    wait: Wait = False,
    wait_seconds: WaitSeconds = WAIT_SECONDS,
    key: Key = None,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Push an intent without measuring: compile, validate, push, read back, save."""
    asked = Asked(policy, network, parameters, False, strict, require_batfish, 1, ticket, not_before, timeout)
    _ask(asked, Reports(str(policy), sarif, junit, markdown), Watching(wait, wait_seconds, key), as_json)


def _ask(asked: Asked, reports: Reports, watching: Watching, as_json: bool) -> None:
    with reports.told():
        if remote():
            remote_runs.place(asked.document(), watching, reports, as_json)
        else:
            _carry_out(asked, reports, as_json)


def _carry_out(asked: Asked, reports: Reports, as_json: bool) -> None:
    order = asked.order()
    with open_service(load_settings(), progress) as service:
        _report_recovered(service.recover())
        finished = service.run(order, getpass.getuser())
        report = run_report(service.store, service.artifacts, finished.run_id)
    reports.run(report)
    errors = finished.result["errors"]
    if as_json:
        print_json(run_json(report, errors, str(finished.report)))
    else:
        print_report(report)
        print_problems(errors)
        print_end(report, shown_path(finished.report))
    sys.exit(exit_code(finished.result["status"], finished.result.get("verdict"), failed=bool(errors)))


def _report_recovered(ended: list[dict[str, Any]]) -> None:
    for entry in ended:
        progress("recover", f"run {entry['run']} was unfinished: {entry['status']}")


def measure(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    seed: Seed = 1,
    packets: Packets = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the boxes do now against an intent's objectives. The boxes are only read."""
    loaded, net = load(policy, network, parameters)
    live.require_checks(loaded)
    if packets is not None:
        # Told now rather than after the measurement.
        require_format(packets)
        require_writable(packets)
    overlay, state = reach(load_settings(), net)
    with Fleet(net, overlay, state) as fleet:
        progress("read", f"{len(net.devices)} boxes over SSH")
        texts = live.read_running(fleet)
    progress("measure", "twin of the configuration read back")
    judged = live.measure(loaded.intent, net, texts, seed=seed)
    if packets is not None:
        write_packets(measured_packets(judged.measurement), packets)
    if as_json:
        print_json(
            {
                "outcome": judged.outcome,
                "verdicts": [v.model_dump(mode="json") for v in judged.verdicts],
                "measurement": judged.measurement.model_dump(mode="json"),
                **expected_json(judged.measurement, None),
            }
        )
    else:
        print_comparison(judged.measurement, None, first="now")
        print_accounts(judged.measurement, None, first="now")
        print_verdicts_now(judged.verdicts)
    sys.exit(0 if judged.outcome == "met" else 1)


def recover(as_json: AsJson = False) -> None:
    """Finish what a killed or failed run left behind: every box ends either confirmed or as it was."""
    with open_service(load_settings(), progress, recovers=True) as service:
        ended = service.recover()
    if as_json:
        print_json(ended)
    elif not ended:
        out.print("nothing to recover")
    for entry in ended if not as_json else ():
        out.print(f"run {entry['run']}: {entry['status'].replace('_', ' ')}")
        print_problems(entry["errors"])
    sys.exit(3 if any(entry["status"] in ("needs_recovery", "failed") for entry in ended) else 0)


def runs(limit: Annotated[int, typer.Option(min=1, help="How many.")] = 20, as_json: AsJson = False) -> None:
    """List the newest runs."""
    if remote():
        remote_runs.list_runs(limit, as_json)
        return
    settings = load_settings()
    settings.make_var_dir()
    with RunStore(settings.database_url) as store:
        found = store.list_runs(limit)
    entries = [
        {
            "run": r.id,
            "network": r.network,
            "policy": r.policy,
            "status": r.status.value,
            "verdict": r.verdict.value if r.verdict else None,
            "created": r.created.isoformat(),
        }
        for r in found
    ]
    if as_json:
        print_json(entries)
    else:
        print_runs(entries)


def show(
    run_id: RunId,
    html: Annotated[Path | None, typer.Option("--html", help="Write the HTML report here.")] = None,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Show one run: findings, comparison, verdicts, boxes and stages."""
    reports = Reports("policy.yaml", sarif, junit, markdown)
    if remote():
        remote_runs.show(run_id, html, reports, as_json)
        return
    settings = load_settings()
    settings.make_var_dir()
    with RunStore(settings.database_url) as store:
        report = run_report(store, ArtifactStore(settings.artifacts_dir), run_id)
    if html is not None:
        write_file(html, render_run_report(report))
    reports.run(report)
    if as_json:
        print_json(report.model_dump(mode="json") | expected_json(report.before, report.after))
        return
    print_whole(report)
