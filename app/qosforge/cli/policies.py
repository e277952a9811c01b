"""Commands about an intent before anything is touched: lint, compile, validate, diff."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from qosforge.cli.device_files import INCOMPLETE, write_device_files
from qosforge.cli.differences import print_differences
from qosforge.cli.options import AsJson, NetworkFolder, Parameters, Policy, RequireBatfish, Strict
from qosforge.cli.output import findings_json, print_configuration, print_findings, print_json, print_waves
from qosforge.cli.previews import PreviewOptions, compile_preview, validate_preview
from qosforge.cli.reports import Junit, Markdown, Reports, Sarif
from qosforge.cli.terminal import out, print_heading
from qosforge.findings import Severity
from qosforge.reports.checks import check_report
from qosforge.units import counted

Only = Annotated[list[str] | None, typer.Option("--device", "-d", help="Only this device (may be repeated).")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write one file per device into a folder.")]
Lines = Annotated[
    bool, typer.Option("--lines", help="Show the lines that are entered, and those that roll them back, too.")
]
CHANGES = 4
"""Exit code where devices would change, for those who ask for it."""
ExitCode = Annotated[bool, typer.Option("--exit-code", help=f"End with {CHANGES} where something would change.")]
Live = Annotated[bool, typer.Option("--live", help="Check against what the devices hold now.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (lint, compile_, validate_, diff):
        app.command(name=command.__name__.rstrip("_"))(command)


def lint(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    strict: Strict = False,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Check an intent: language, and what each device can do of it. Nothing is contacted."""
    preview_options = PreviewOptions(policy, network, parameters, strict=strict)
    reports = Reports(str(policy), sarif, junit, markdown)
    with reports.told():
        preview = compile_preview(preview_options)
        check = check_report(preview, str(policy))
        reports.check(check, strict=strict)
    if as_json:
        print_json({"intent": preview.intent, "findings": findings_json(check.findings)})
    else:
        print_findings(check.findings)
        out.print(f"{preview.intent}: {preview_options.size()}{counted(len(preview.devices), 'device')}")
    sys.exit(int(not preview.good))


def compile_(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    device: Only = None,
    output: Output = None,
    strict: Strict = False,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Compile an intent into the configuration of every device. Nothing is contacted."""
    reports = Reports(str(policy), sarif, junit, markdown)
    with reports.told():
        preview = compile_preview(PreviewOptions(policy, network, parameters, device, strict=strict))
        check = check_report(preview, str(policy))
        reports.check(check, strict=strict)
    if output is not None:
        texts = {entry.name: entry.configuration for entry in preview.devices}
        complete = {entry.name for entry in preview.devices if entry.complete}
        write_device_files(output, "cfg", texts, complete)
    if as_json:
        print_json(preview.model_dump(mode="json", by_alias=True))
    else:
        for entry in preview.devices:
            incomplete = "" if entry.complete else f", {INCOMPLETE}"
            print_heading(Text.assemble((entry.name, "bold"), f" {entry.platform}", (incomplete, "red")))
            print_configuration(entry.configuration)
        print_findings(check.findings)
    sys.exit(int(not preview.good))


def validate_(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    live: Live = False,
    require_batfish: RequireBatfish = False,
    strict: Strict = False,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Compile and validate: own checks, and Batfish where a service is configured."""
    reports = Reports(str(policy), sarif, junit, markdown)
    with reports.told():
        preview = validate_preview(
            PreviewOptions(policy, network, parameters, live=live, strict=strict), require_batfish
        )
        check = check_report(preview, str(policy))
        reports.check(check, strict=strict)
    if as_json:
        print_json(preview.model_dump(mode="json", by_alias=True))
    else:
        print_findings(check.findings)
    sys.exit(int(not preview.good))


def diff(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    device: Only = None,
    lines: Lines = False,
    tells_changes: ExitCode = False,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Show what would change on every device, as a difference. The devices are only read."""
    reports = Reports(str(policy), sarif, junit, markdown)
    with reports.told():
        preview = compile_preview(PreviewOptions(policy, network, parameters, device, live=True))
        check = check_report(preview, str(policy))
        reports.check(check)
    candidates = [entry.candidate for entry in preview.devices if entry.candidate is not None]
    if as_json:
        print_json([candidate.model_dump(mode="json") for candidate in candidates])
    else:
        print_differences(candidates, lines=lines)
        if preview.rollout:
            print_waves(preview.rollout)
        print_findings(check.findings, Severity.WARNING)
    changes = any(candidate.delta for candidate in candidates)
    sys.exit(1 if not preview.good else CHANGES if changes and tells_changes else 0)
