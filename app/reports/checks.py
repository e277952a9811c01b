"""What the reports for pipelines are made of: findings, and what an intent would make of each box."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.errors import QosforgeError
from app.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class FidelityLine:
    """How near one class on one interface is to what was asked; shares in per cent of the link rate."""

    traffic_class: str
    interface: str
    fidelity: str
    asked_percent: float | None = None
    will_be_percent: float | None = None


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """What an intent would make of one box.

    ``delta`` has the lines that would be entered into the box as it runs now, ``inverse`` those that undo them and
    ``gaps`` where an interface is without its policy meanwhile; ``delta`` is ``None`` where no box was read.
    """

    name: str
    platform: str
    configuration: str = ""
    fidelity: tuple[FidelityLine, ...] = ()
    delta: tuple[str, ...] | None = None
    inverse: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """An intent on a network before anything is touched.

    ``policy`` is its file, where findings that have no place of their own are shown.
    """

    intent: str
    policy: str
    network: str = ""
    version: str = ""
    findings: tuple[Finding, ...] = ()
    devices: tuple[DeviceCheck, ...] = field(default=())


def as_findings(error: QosforgeError, policy: str) -> tuple[Finding, ...]:
    """Problems of an error as findings, so that a report shows what kept it from being made.

    What has no file is told of the ``policy``.
    """
    return tuple(
        Finding(
            code="wrong-input",
            severity=Severity.ERROR,
            message=f"{problem.where.path}: {problem.message}" if problem.where.path else problem.message,
            device=problem.where.device,
            interface=problem.where.interface,
            direction=problem.where.direction,
            traffic_class=problem.where.traffic_class,
            file=problem.where.file or policy,
            line=problem.where.line,
            mend=problem.mend or None,
        )
        for problem in error.problems()
    )


def of_devices(findings: Iterable[Finding], names: Iterable[str]) -> dict[str | None, list[Finding]]:
    """Findings by device, every name among the keys; ``None`` has those of no device in ``names``."""
    found: dict[str | None, list[Finding]] = {None: [], **{name: [] for name in names}}
    for finding in findings:
        found[finding.device if finding.device in found else None].append(finding)
    return found
