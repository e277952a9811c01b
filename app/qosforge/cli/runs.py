"""Commands that touch devices or look at what was done there: run, push, measure, recover, show."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from qosforge.cli import remote_runs
from qosforge.cli.options import (
    AcceptUnconfirmed,
    AsideReason,
    AsJson,
    NetworkFolder,
    Packets,
    Parameters,
    Policy,
    RequireBatfish,
    RunId,
    Seed,
    SetAside,
    Strict,
    Tester,
)
from qosforge.cli.reports import Junit, Markdown, Reports, Sarif
from qosforge.cli.run_options import (
    WAIT_SECONDS,
    FollowOptions,
    Key,
    NotBefore,
    RunOptions,
    Ticket,
    Timeout,
    Wait,
    WaitSeconds,
)
from qosforge.cli.server import remote
from qosforge.errors import InputError, Place


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (run, push, measure, recover, show):
        app.command(name=command.__name__)(command)


def run(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    require_batfish: RequireBatfish = False,
    accept_unconfirmed: AcceptUnconfirmed = False,
    set_aside: SetAside = None,
    reason: AsideReason = "",
    strict: Strict = False,
    seed: Seed = 1,
    tester: Tester = "twin",
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
    """Do the whole loop: measure, push, measure again, judge, keep or roll back."""
    run_options = RunOptions(
        policy,
        network,
        parameters,
        True,
        strict,
        require_batfish,
        seed,
        ticket,
        not_before,
        timeout,
        accept_unconfirmed,
        set_aside,
        reason,
        tester,
    )
    _start(
        run_options, Reports(str(policy), sarif, junit, markdown), FollowOptions(wait, wait_seconds, key), as_json
    )


def push(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    require_batfish: RequireBatfish = False,
    accept_unconfirmed: AcceptUnconfirmed = False,
    set_aside: SetAside = None,
    reason: AsideReason = "",
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
    run_options = RunOptions(
        policy,
        network,
        parameters,
        False,
        strict,
        require_batfish,
        1,
        ticket,
        not_before,
        timeout,
        accept_unconfirmed,
        set_aside,
        reason,
    )
    _start(
        run_options, Reports(str(policy), sarif, junit, markdown), FollowOptions(wait, wait_seconds, key), as_json
    )


def _start(run_options: RunOptions, reports: Reports, follow_options: FollowOptions, as_json: bool) -> None:
    with reports.told():
        if remote():
            remote_runs.start(run_options.request(), follow_options, reports, as_json)
        else:
            _local().start(run_options, reports, as_json)


def measure(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    seed: Seed = 1,
    tester: Tester = "twin",
    packets: Packets = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the devices do now against an intent's objectives. The devices are only read."""
    run_options = RunOptions(policy, network, parameters, True, False, False, seed, "", None, None)
    if remote() and tester != "twin":
        raise InputError("a service measures with the twin", Place(path="--tester"), "measure without --server")
    if remote():
        remote_runs.measure(run_options, packets, as_json)
    else:
        _local().measure(run_options, tester, packets, as_json)


def recover(as_json: AsJson = False) -> None:
    """Finish what a killed or failed run left behind. Every device ends either confirmed or as it was."""
    _local().recover(as_json)


def show(
    run_id: RunId,
    html: Annotated[Path | None, typer.Option("--html", help="Write the HTML report here.")] = None,
    pdf: Annotated[
        Path | None, typer.Option("--pdf", metavar="FILE", help="Write the report as a PDF here.")
    ] = None,
    sarif: Sarif = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Show one run: findings, comparison, verdicts, devices and stages."""
    reports = Reports("policy.yaml", sarif, junit, markdown)
    with reports.told():
        if remote():
            remote_runs.show(run_id, html, pdf, reports, as_json)
        else:
            import_module("qosforge.cli.stored_runs").show(run_id, html, pdf, reports, as_json)


def _local() -> ModuleType:
    """What works on this machine: the engine, the drivers and the plots, which a call to a service does without."""
    return import_module("qosforge.cli.local_runs")
