"""Commands about an intent before anything is touched: lint, compile, validate, diff."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, NetworkFolder, Parameters, Policy, RequireBatfish, Strict, load, reach
from app.cli.output import findings_json, out, print_configuration, print_findings, print_json, write_file
from app.compiler.compile import compile_intent
from app.deploy.fleet import Fleet
from app.findings import Severity, has_errors
from app.reports.preview import (
    Checks,
    candidate_document,
    check,
    chosen_devices,
    compile_document,
    validate_document,
)
from app.runs.live import read_running
from app.settings import load_settings

Only = Annotated[list[str] | None, typer.Option("--device", "-d", help="Only this device (may be repeated).")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write one file per device into a folder.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (lint, compile_, validate_, diff):
        app.command(name=command.__name__.rstrip("_"))(command)


def lint(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Check an intent: language, and what each box can do of it. Nothing is contacted."""
    loaded, net = load(policy, network, parameters)
    compilation = compile_intent(loaded, net)
    if as_json:
        print_json({"intent": loaded.intent.intent, "findings": findings_json(compilation.findings)})
    else:
        print_findings(compilation.findings)
        out.print(
            f"{loaded.intent.intent}: {len(loaded.intent.classes)} classes on {len(compilation.devices)} devices"
        )
    sys.exit(int(has_errors(compilation.findings, strict=strict)))


def compile_(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    device: Only = None,
    output: Output = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Compile an intent into the configuration of every box. Nothing is contacted."""
    loaded, net = load(policy, network, parameters)
    checked = check(loaded, net, devices=device or (), strict=strict)
    if output is not None:
        for entry in checked.devices:
            write_file(output / f"{entry.name}.cfg", entry.text)
    if as_json:
        print_json(compile_document(checked).model_dump(mode="json", by_alias=True))
    else:
        for entry in checked.devices:
            out.rule(f"[bold]{entry.name}[/] {entry.request.platform}", align="left")
            print_configuration(entry.text)
        print_findings(checked.findings)
    sys.exit(int(not checked.good))


def validate_(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    live: Annotated[bool, typer.Option("--live", help="Check against what the boxes hold now.")] = False,
    require_batfish: RequireBatfish = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Compile and validate: own checks, and Batfish where a service is configured."""
    loaded, net = load(policy, network, parameters)
    settings = load_settings()
    texts: dict[str, str] = {}
    if live:
        overlay, state = reach(settings, net)
        with Fleet(net, overlay, state) as fleet:
            texts = read_running(fleet)
    checks = Checks(settings.batfish_host, settings.batfish_port, require_batfish)
    checked = check(loaded, net, texts, checks=checks, strict=strict)
    if as_json:
        print_json(validate_document(checked).model_dump(mode="json", by_alias=True))
    else:
        print_findings(checked.findings)
    sys.exit(int(not checked.good))


def diff(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    device: Only = None,
    as_json: AsJson = False,
) -> None:
    """Show what would be entered into every box, and what would undo it. The boxes are only read."""
    loaded, net = load(policy, network, parameters)
    names = chosen_devices(net, device or ())
    overlay, state = reach(load_settings(), net)
    with Fleet(net, overlay, state) as fleet:
        texts = read_running(fleet)
    checked = check(loaded, net, texts, devices=names)
    candidates = checked.candidates
    if as_json:
        print_json([candidate_document(candidate).model_dump(mode="json") for candidate in candidates])
        sys.exit(int(not checked.good))
    for candidate in candidates:
        out.rule(f"[bold]{candidate.device}[/]", align="left")
        if candidate.empty:
            out.print("nothing to change")
        else:
            print_configuration(candidate.text)
            for gap in candidate.gaps:
                out.print(str(gap), style="yellow", markup=False)
            out.print("[dim]undone by[/]")
            print_configuration("\n".join(candidate.inverse))
    print_findings(checked.findings, Severity.WARNING)
    sys.exit(int(not checked.good))
