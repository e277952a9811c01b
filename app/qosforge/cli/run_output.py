"""What is printed of a run, whoever carried it out: this process or a service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from qosforge.cli.measurement_tables import (
    print_accounts,
    print_comparison,
    print_unjudged,
    print_verdicts,
    print_verdicts_of,
)
from qosforge.cli.output import STYLE, findings_json, print_finding_summary, print_findings, print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out, print_prose
from qosforge.device_names import name_devices
from qosforge.reports.alike_devices import gather_devices
from qosforge.reports.changes import change_sentence
from qosforge.reports.model import DeviceReport, RunReport
from qosforge.reports.run_metadata import run_metadata
from qosforge.reports.trade_offs import accounts, trade_offs
from qosforge.run_outcome import status_words
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict

Json = dict[str, Any]


def exit_code(status: str, verdict: str | None, *, failed: bool, left_out: bool = False) -> int:
    """0: kept or no changes, and nothing broken; 3: it failed (``failed``: a device or a service did), or
    devices were left out; else 1.
    """
    if left_out:
        return 3
    if status in (RunStatus.KEPT, RunStatus.NO_CHANGES) and verdict in (None, Verdict.MET):
        return 0
    # Problems of devices weigh more than what was measured.
    return 3 if failed or status in (RunStatus.FAILED, RunStatus.NEEDS_RECOVERY) else 1


def print_report(report: RunReport) -> None:
    """Findings in short, the comparison, verdicts and devices."""
    print_finding_summary(report.findings, report.id)
    out.print()
    print_comparison(report.before, report.after)
    print_accounts(report.before, report.after)
    _print_verdicts(report, every_bound=False)
    print_unjudged(report.unjudged_trade_offs, report.judged_last)
    _print_changes(report, every_bound=False)
    out.print()
    _print_boxes(report.devices)


def _print_verdicts(report: RunReport, *, every_bound: bool) -> None:
    verdicts = {
        "before": report.verdicts_before,
        "predicted": report.verdicts_predicted,
        "after": report.verdicts_after,
    }
    if not report.verdicts_predicted:  # a run of an older release, or one that measures nothing
        del verdicts["predicted"]
    print_verdicts(verdicts, every_bound=every_bound)


def _print_changes(report: RunReport, *, every_bound: bool) -> None:
    """What can be said of after against before; without ``every_bound`` what is worse of each class on its path, or
    else the first that is better."""
    told = []
    for each in report.changes:
        worse = [bound for bound in each.bounds if bound.change == "worse"]
        better = [bound for bound in each.bounds if bound.change == "better"]
        chosen = each.bounds if every_bound else worse or better[:1]
        told += [change_sentence(each, bound) for bound in chosen]
    if told:
        out.print(Text("\nAfter against before", style="bold"))
    for line in told:
        print_prose(Text(f"  {line}"), hanging=4)


def _print_boxes(devices: Sequence[DeviceReport]) -> None:
    table = Table(box=None, padding=(0, 1), title="Devices", title_justify="left", title_style="bold")
    for heading in ("device", "platform", "lines", "outcome"):
        table.add_column(heading)
    for alike in gather_devices(devices):
        lines = len(alike.devices[0].candidate.splitlines())
        row = (name_devices(alike.names), alike.platform, str(lines) if lines else "–", alike.outcome)
        table.add_row(*row)
    print_table(table)


def _print_candidates(devices: Iterable[DeviceReport]) -> None:
    for device in devices:
        out.print(Text(f"{device.name} would be given", style="bold"))
        for line in device.candidate.splitlines() or ("nothing: it holds everything",):
            out.print(Text(f"  {line}"), soft_wrap=True)


def print_end(report: RunReport, where: str) -> None:
    """How the run ended, and where its HTML report is."""
    outcomes = {
        "before": report.outcome_before(),
        "predicted": report.outcome_predicted(),
        "after": report.outcome_after(),
    }
    line = Text(
        f"\nrun {report.id}: {report.stands}",
        style="bold",
    )
    for label, outcome in outcomes.items():
        if outcome:
            left = label == "predicted" and outcome == "inconclusive" and report.is_left_to_run
            line.append(f"  {label} ", style="default")
            line.append("left to the run" if left else outcome, style=f"bold {STYLE[outcome]}")
    out.print(line)
    if report.left_out:
        print_prose(Text(f"left out: {', '.join(report.left_out)}; {report.reason_hint}", style="yellow"), 2)
    for word, other in (("rolls back", report.rollback_of), ("rolled back later by", report.rolled_back_by)):
        if other:
            out.print(f"{word} run {other}", soft_wrap=True)
    out.print(f"report: {where}", soft_wrap=True)


def run_json(report: RunReport, errors: Iterable[Mapping[str, str]], where: str | None) -> Json:
    """A run that was carried out, for machines."""
    return {
        "run": report.id,
        "status": report.status,
        "before": report.outcome_before(),
        "predicted": report.outcome_predicted(),
        "after": report.outcome_after(),
        "errors": list(errors),
        "report": where,
        "devices": {d.name: {"lines": d.candidate.splitlines(), "outcome": d.outcome} for d in report.devices},
        "findings": findings_json(report.findings),
        "verdicts": {
            "before": [v.model_dump(mode="json") for v in report.verdicts_before],
            "predicted": [v.model_dump(mode="json") for v in report.verdicts_predicted],
            "after": [v.model_dump(mode="json") for v in report.verdicts_after],
        },
        "evidence": {"before": report.evidence("before"), "after": report.evidence("after")},
        "keep": report.keep,
        "rollout": [wave.model_dump(mode="json") for wave in report.rollout],
        "left_out": {"devices": list(report.left_out), "retry": report.reason_hint if report.left_out else ""},
        "changes": [each.model_dump(mode="json") for each in report.changes],
        "prediction": report.prediction.model_dump(mode="json") if report.prediction else None,
        "unjudged_trade_offs": [each.model_dump(mode="json") for each in report.unjudged_trade_offs],
    } | expected_json(report.before, report.after)


def expected_json(before: Measurement | None, after: Measurement | None) -> Json:
    """Expected and observed throughput and the delay bound of every class, and trade-offs."""
    return {
        "accounts": [account.model_dump(mode="json") for account in accounts(before, after)],
        "trade_offs": [balance.model_dump(mode="json") for balance in trade_offs(before, after)],
    }


def print_whole(report: RunReport) -> None:
    """A run looked at later: who created it, every finding and bound, its devices and stages.

    Of a run that waits, the lines that it would enter are shown: they are what an approval is about.
    """
    for name, text in run_metadata(report):
        line = Text(f"  {name:<15} ", style="bold")
        print_prose(line.append(text, style="default"), hanging=18)
    print_findings(report.findings)
    print_comparison(report.before, report.after)
    print_accounts(report.before, report.after)
    _print_verdicts(report, every_bound=True)
    print_unjudged(report.unjudged_trade_offs, report.judged_last)
    _print_changes(report, every_bound=True)
    if report.status in (RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED):
        _print_candidates(report.devices)
    elif report.devices:
        _print_boxes(report.devices)
    table = Table(box=None, padding=(0, 1), title="Stages", title_justify="left", title_style="bold")
    for heading in ("stage", "started", "seconds", "outcome", ""):
        table.add_column(heading)
    for stage in report.stages:
        table.add_row(stage.name, f"{stage.started:%H:%M:%S}", f"{stage.seconds:.2f}", stage.outcome, stage.summary)
    print_table(table)
    out.print(f"{report.stands}: {report.intent} on {report.network}")


def print_measurement(measurement: Measurement, verdicts: Iterable[ClassVerdict], when: str = "now") -> None:
    """What the devices do now, or would do, against the objectives."""
    print_comparison(measurement, None, first=when)
    print_accounts(measurement, None, first=when)
    print_verdicts_of(verdicts, when)


def tell(run: Json, next_step: str, as_json: bool, page: str = "") -> None:
    """Where a run stands and what it waits for; ``run`` as the service has it, ``page`` where a browser sees it."""
    if as_json:
        print_json(run)
        return
    stands = status_words(run["status"], (run.get("outcome") or {}).get("kind", ""))
    out.print(Text(f"run {run['id']}: {stands}", style="bold"))
    if run["waits_for"]:
        print_prose(Text(f"waits for {run['waits_for']}"), 2)
    if run.get("rollback_of"):
        why = f": {run['rollback_reason']}" if run.get("rollback_reason") else ""
        out.print(Text(f"rolls back run {run['rollback_of']}{why}"), soft_wrap=True)
    if page:
        out.print(f"page: {page}", soft_wrap=True)
    if not run["final"]:
        print_prose(Text(next_step, style="dim"), 2)


def shown_path(path: Path) -> str:
    """A path as people read it: from here where it is below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
