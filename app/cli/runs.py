"""Commands that touch boxes or look at what was done: run, push, measure, recover, runs, show."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from app.cli.options import (
    AsJson,
    NetworkFolder,
    Packets,
    Parameters,
    Policy,
    RequireBatfish,
    Seed,
    Strict,
    load,
    reach,
)
from app.cli.output import (
    STYLE,
    findings_json,
    out,
    print_accounts,
    print_comparison,
    print_finding_summary,
    print_findings,
    print_json,
    print_problems,
    print_verdicts,
    print_verdicts_now,
    progress,
    require_writable,
    write_file,
)
from app.deploy.fleet import Fleet
from app.reports.balance import accounts, who_paid
from app.reports.model import RunReport
from app.reports.run_report import render_run_report
from app.runs import live
from app.runs.artifacts import ArtifactStore
from app.runs.desk import Order
from app.runs.report import run_report
from app.runs.service import Finished, open_service
from app.runs.store import RunStore
from app.settings import load_settings
from app.tester.export import measured_packets, require_format, write_packets
from app.tester.measurement import Measurement


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
    as_json: AsJson = False,
) -> None:
    """The whole loop: compile, validate, measure, push, measure again, judge, keep or roll back."""
    loaded, net = load(policy, network, parameters)
    order = Order(net, loaded, strict=strict, require_batfish=require_batfish, seed=seed)
    _carry_out(order, as_json)


def push(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    require_batfish: RequireBatfish = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Push an intent without measuring: compile, validate, push, read back, save."""
    loaded, net = load(policy, network, parameters)
    _carry_out(Order(net, loaded, measure=False, strict=strict, require_batfish=require_batfish), as_json)


def _carry_out(order: Order, as_json: bool) -> None:
    with open_service(load_settings(), progress) as service:
        _report_recovered(service.recover())
        finished = service.run(order, getpass.getuser())
        report = run_report(service.store, service.artifacts, finished.run_id)
    if as_json:
        print_json(_run_json(finished, report))
    else:
        _print_report(report)
        print_problems(finished.result["errors"])
        _print_end(finished, report)
    sys.exit(_exit_code(finished))


def _exit_code(finished: Finished) -> int:
    if finished.good:
        return 0
    # Problems of boxes weigh more than what was measured.
    return 3 if finished.result["errors"] else 1


def _report_recovered(ended: list[dict[str, Any]]) -> None:
    for entry in ended:
        progress("recover", f"run {entry['run']} was unfinished: {entry['status']}")


def _print_report(report: RunReport) -> None:
    print_finding_summary(report.findings, report.id)
    out.print()
    print_comparison(report.before, report.after)
    print_accounts(report.before, report.after)
    print_verdicts(report.verdicts_before, report.verdicts_after, every_bound=False)
    out.print()
    table = Table(box=None, padding=(0, 1), title="Boxes", title_justify="left", title_style="bold")
    for heading in ("box", "platform", "lines", "outcome"):
        table.add_column(heading)
    for device in report.devices:
        lines = len(device.candidate.splitlines())
        table.add_row(device.name, device.platform, str(lines) if lines else "–", device.outcome)
    out.print(table)


def _print_end(finished: Finished, report: RunReport) -> None:
    before, after = report.outcome_before(), report.outcome_after()
    line = Text(f"\nrun {finished.run_id}: {report.status.replace('_', ' ')}", style="bold")
    for label, outcome in (("before", before), ("after", after)):
        if outcome:
            line.append(f"  {label} ", style="default")
            line.append(outcome, style=f"bold {STYLE[outcome]}")
    out.print(line)
    path, here = finished.report, Path.cwd()
    out.print(f"report: {path.relative_to(here) if path.is_relative_to(here) else path}", soft_wrap=True)


def _run_json(finished: Finished, report: RunReport) -> dict[str, Any]:
    return {
        "run": finished.run_id,
        "status": finished.result["status"],
        "before": report.outcome_before(),
        "after": report.outcome_after(),
        "errors": finished.result["errors"],
        "report": str(finished.report),
        "devices": {d.name: {"lines": d.candidate.splitlines(), "outcome": d.outcome} for d in report.devices},
        "findings": findings_json(report.findings),
        "verdicts": {
            "before": [v.model_dump(mode="json") for v in report.verdicts_before],
            "after": [v.model_dump(mode="json") for v in report.verdicts_after],
        },
    } | _expected_json(report.before, report.after)


def _expected_json(before: Measurement | None, after: Measurement | None) -> dict[str, Any]:
    """Expected and observed throughput and the delay bound of every class, and who paid."""
    return {
        "accounts": [account.model_dump(mode="json") for account in accounts(before, after)],
        "who_paid": [balance.model_dump(mode="json") for balance in who_paid(before, after)],
    }


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
                **_expected_json(judged.measurement, None),
            }
        )
    else:
        print_comparison(judged.measurement, None, first="now")
        print_accounts(judged.measurement, None, first="now")
        print_verdicts_now(judged.verdicts)
    sys.exit(0 if judged.outcome == "met" else 1)


def recover(as_json: AsJson = False) -> None:
    """Finish what a killed or failed run left behind: every box ends either confirmed or as it was."""
    with open_service(load_settings(), progress) as service:
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
    settings = load_settings()
    settings.make_var_dir()
    with RunStore(settings.database_url) as store:
        found = store.list_runs(limit)
    if as_json:
        print_json(
            [
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
        )
        return
    if not found:
        out.print("no runs yet")
        return
    table = Table(box=None, padding=(0, 1))
    for heading in ("run", "created", "network", "policy", "status", "verdict"):
        table.add_column(heading)
    for entry in found:
        verdict = entry.verdict.value if entry.verdict else "–"
        created = f"{entry.created:%Y-%m-%d %H:%M:%S}"
        status = entry.status.value.replace("_", " ")
        table.add_row(entry.id, created, entry.network, entry.policy, status, verdict)
    out.print(table)


def show(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or how it begins.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write the HTML report here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one run: findings, comparison, verdicts, boxes and stages."""
    settings = load_settings()
    settings.make_var_dir()
    with RunStore(settings.database_url) as store:
        report = run_report(store, ArtifactStore(settings.artifacts_dir), run_id)
    if html is not None:
        write_file(html, render_run_report(report))
    if as_json:
        print_json(report.model_dump(mode="json") | _expected_json(report.before, report.after))
        return
    print_findings(report.findings)
    print_comparison(report.before, report.after)
    print_accounts(report.before, report.after)
    print_verdicts(report.verdicts_before, report.verdicts_after)
    table = Table(box=None, padding=(0, 1), title="Stages", title_justify="left", title_style="bold")
    for heading in ("stage", "started", "seconds", "outcome", ""):
        table.add_column(heading)
    for stage in report.stages:
        table.add_row(stage.name, f"{stage.started:%H:%M:%S}", f"{stage.seconds:.2f}", stage.outcome, stage.summary)
    out.print(table)
    out.print(f"{report.status.replace('_', ' ')}: {report.intent} on {report.network}")
