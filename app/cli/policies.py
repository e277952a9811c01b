"""Commands about an intent before anything is touched: lint, compile, validate, diff."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.options import AsJson, NetworkFolder, Parameters, Policy, RequireBatfish, Strict, load, reach
from app.cli.output import findings_json, out, print_configuration, print_findings, print_json, write_file
from app.compiler.candidate import Candidate, make_candidate
from app.compiler.compile import Compilation, CompiledDevice, compile_intent
from app.deploy.fleet import Fleet
from app.errors import InputError
from app.findings import Finding, Severity, has_errors
from app.inventory.models import Network
from app.runs.live import read_running
from app.settings import load_settings
from app.validation import validate

Only = Annotated[list[str] | None, typer.Option("--device", "-d", help="Only this device (may be repeated).")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write one file per device into a folder.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (lint, compile_, validate_, diff):
        app.command(name=command.__name__.rstrip("_"))(command)


def _chosen(device: list[str] | None, network: Network) -> set[str]:
    """The devices that ``--device`` names; all without one.

    Raises:
        InputError: the network has no such device.
    """
    known = [d.name for d in network.devices]
    for name in device or ():
        if name not in known:
            raise InputError(f"{network.name} has no device {name!r}", mend=f"one of {', '.join(known)}")
    return set(device or known)


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
    names = _chosen(device, net)
    compilation = compile_intent(loaded, net)
    chosen = [d for d in compilation.devices if d.name in names]
    findings = [f for f in compilation.findings if f.device is None or f.device in names]
    if output is not None:
        for entry in chosen:
            write_file(output / f"{entry.name}.cfg", entry.text)
    if as_json:
        print_json(_compilation_json(compilation, chosen, findings))
    else:
        for entry in chosen:
            out.rule(f"[bold]{entry.name}[/] {entry.request.platform}", align="left")
            print_configuration(entry.text)
        print_findings(findings)
    sys.exit(int(has_errors(findings, strict=strict)))


def _compilation_json(
    compilation: Compilation, chosen: list[CompiledDevice], findings: list[Finding]
) -> dict[str, Any]:
    return {
        "intent": compilation.intent.intent.intent,
        "version": compilation.intent.version,
        "network": compilation.network.name,
        "findings": findings_json(findings),
        "devices": [
            {
                "name": d.name,
                "platform": d.request.platform,
                "plan": d.plan.model_dump(mode="json", exclude_defaults=True),
                "blocks": [vars(block) for block in d.blocks],
                "fidelity": [vars(f) for f in d.fidelity],
            }
            for d in chosen
        ],
    }


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
    compilation = compile_intent(loaded, net, texts)
    findings = (
        *compilation.findings,
        *validate(
            compilation,
            texts,
            batfish_host=settings.batfish_host,
            batfish_port=settings.batfish_port,
            require_batfish=require_batfish,
        ),
    )
    if as_json:
        print_json({"intent": loaded.intent.intent, "findings": findings_json(findings)})
    else:
        print_findings(findings)
    sys.exit(int(has_errors(findings, strict=strict)))


def diff(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    device: Only = None,
    as_json: AsJson = False,
) -> None:
    """Show what would be entered into every box, and what would undo it. The boxes are only read."""
    loaded, net = load(policy, network, parameters)
    names = _chosen(device, net)
    overlay, state = reach(load_settings(), net)
    with Fleet(net, overlay, state) as fleet:
        texts = read_running(fleet)
    compilation = compile_intent(loaded, net, texts)
    candidates = [make_candidate(d, texts[d.name]) for d in compilation.devices if d.name in names]
    if as_json:
        print_json([_candidate_json(candidate) for candidate in candidates])
        sys.exit(int(has_errors(compilation.findings)))
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
    print_findings(compilation.findings, Severity.WARNING)
    sys.exit(int(has_errors(compilation.findings)))


def _candidate_json(candidate: Candidate) -> dict[str, Any]:
    return {
        "device": candidate.device,
        "delta": list(candidate.delta),
        "inverse": list(candidate.inverse),
        "gaps": [vars(gap) for gap in candidate.gaps],
    }
