"""The program itself: Python, its packages, the twin, its data files, and what its optional parts need."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from packaging.markers import Marker

from qosforge.finding_codes import explain
from qosforge.operations import server
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.platforms.base import installed, platform
from qosforge.resources import read_text, root
from qosforge.system_packages import install_command, parts
from qosforge.twin.part import VERSION
from qosforge.twin.report import read_report
from qosforge.twin.scenario import FlowSpec, LinkSpec, NodeSpec, PortSpec, TwinScenario
from qosforge.twin.sources import TraceSource

LOCK = "requirements-runtime.lock"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)(?: *; *([^\\]+))?", re.MULTILINE)
_OLDEST = (3, 11)
_BACKUP = "postgresql-backup"
"""The part that only an installation on PostgreSQL uses."""


def check_python(_around: CheckContext) -> Iterator[CheckResult]:
    """The interpreter is new enough."""
    told = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= _OLDEST
    hint = "" if good else "install Python 3.11 or newer"
    yield CheckResult("python", CheckState.GOOD if good else CheckState.FAILED, told, hint)


def check_packages(_around: CheckContext) -> Iterator[CheckResult]:
    """What is installed is what this release was tested with."""
    unlike, count = [], 0
    for name, wanted, marker in _PIN.findall(read_text(LOCK)):
        if marker and not Marker(marker.strip()).evaluate():
            continue
        count += 1
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "missing"
        if found != wanted:
            unlike.append(f"{name} {found} instead of {wanted}")
    if not unlike:
        yield CheckResult("packages", CheckState.GOOD, f"{count} as in {LOCK}")
        return
    gone = any(" missing " in entry for entry in unlike)
    yield CheckResult(
        "packages",
        CheckState.FAILED if gone else CheckState.WARNING,
        "; ".join(unlike[:5]) + (f"; and {len(unlike) - 5} more" if len(unlike) > 5 else ""),
        f"pip install --require-hashes -r {root() / LOCK}",
    )


def check_twin(_around: CheckContext) -> Iterator[CheckResult]:
    """The simulator loads, and carries one packet over one link in the time that its size takes."""
    near, far = ("a", "p"), ("b", "p")
    one = TwinScenario(
        version=VERSION,
        duration_ps=10**9,
        nodes=tuple(NodeSpec(name=node, ports=(PortSpec(name=port),)) for node, port in (near, far)),
        links=(LinkSpec(a=near, b=far, rate_bps=8_000_000, framing="none"),),
        flows=(FlowSpec(name="one", path=(near,), source=TraceSource(times_ps=(0,), ip_bytes=(1000,))),),
    )
    hint = "install qosforge-twin of this release"
    try:
        twin = import_module("qosforge_twin")
    except ImportError as error:
        yield CheckResult("twin", CheckState.FAILED, f"cannot be loaded: {error}", hint)
        return
    try:
        flow = read_report(twin.run(one.json(), 1)).flows[0]
    except ValueError as error:  # its ScenarioError is one
        yield CheckResult("twin", CheckState.FAILED, f"refuses a packet: {error}", hint)
        return
    took = flow.delay_ps.min if flow.delivered == 1 else None
    good = took == 10**9
    yield CheckResult(
        "twin",
        CheckState.GOOD if good else CheckState.FAILED,
        "a packet of 1000 bytes took 1 ms at 8 Mb/s" if good else f"1000 bytes at 8 Mb/s took {took} ps, not 10⁹",
        "" if good else hint,
    )


def check_data(_around: CheckContext) -> Iterator[CheckResult]:
    """Templates of every platform, policies, and the list of findings are there."""
    platforms = sorted(installed())
    missing = [name for name in platforms if not any((root() / "templates" / name).glob("*.j2"))]
    for name in platforms:
        platform(name)
    policies = len(list((root() / "policies").glob("*.yaml")))
    explain("batfish-not-checked")
    if missing or not policies or not platforms:
        what = ", ".join(f"templates/{name}" for name in missing) or ("policies" if platforms else "platforms")
        yield CheckResult("data files", CheckState.FAILED, f"missing: {what}", "install qosforge again")
        return
    yield CheckResult(
        "data files", CheckState.GOOD, f"{len(platforms)} platforms and {policies} policies in {root()}"
    )


def check_parts(context: CheckContext) -> Iterator[CheckResult]:
    """Every optional part of a service has what it needs of the operating system and of Python."""
    for part in parts().values():
        if not part.service or (part.name == _BACKUP and context.is_embedded):
            continue
        if missing := part.missing():
            told = f"{part.title}: missing {', '.join(missing)}"
            yield CheckResult(part.name, CheckState.WARNING, told, install_command(missing))
        else:
            yield CheckResult(part.name, CheckState.GOOD, f"{part.title}: {', '.join(part.packages)}")
    try:
        told = f"export as Parquet: pyarrow {version('pyarrow')}"
    except PackageNotFoundError:
        told = "not installed: export as Parquet needs the Python package pyarrow"
    yield CheckResult("parquet", CheckState.GOOD, told)
    if not context.is_embedded:
        with context.reading() as connection:
            major = server.major_version(connection)
        for name in ("pg_dump", "pg_restore"):
            yield CheckResult(name, CheckState.GOOD, server.program(name, major))
