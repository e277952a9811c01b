"""The input of the reports for pipelines: findings, and each device's preview."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from qosforge.configtree import Gap
from qosforge.errors import QosforgeError
from qosforge.findings import DEFAULT, Finding
from qosforge.note import note
from qosforge.reports.preview import CompilePreview, DevicePreview, GapDocument, ValidatePreview


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The check of an intent on a network, before any device is changed.

    ``policy`` is its file, where findings that have no place of their own are shown.
    """

    intent: str
    policy: str
    network: str = ""
    version: str = ""
    findings: tuple[Finding, ...] = ()
    devices: tuple[DevicePreview, ...] = ()

    @property
    def device_names(self) -> tuple[str, ...]:
        """The devices, or where none is shown those that findings name."""
        named = (finding.device for finding in self.findings if finding.device)
        return tuple(device.name for device in self.devices) or tuple(dict.fromkeys(named))


def check_report(preview: CompilePreview | ValidatePreview, policy: str) -> CheckReport:
    """The report input of a preview."""
    return CheckReport(
        preview.intent,
        policy,
        preview.network,
        preview.version,
        tuple(Finding.model_validate(entry.model_dump()) for entry in preview.findings),
        preview.devices if isinstance(preview, CompilePreview) else (),
    )


def gap_text(gap: GapDocument) -> str:
    """A gap in words."""
    return str(Gap(gap.place, gap.first, gap.lines))


def as_findings(error: QosforgeError, policy: str) -> tuple[Finding, ...]:
    """The problems of an error as findings, so that a report can show why the check failed.

    What has no file is told of the ``policy``.
    """
    return tuple(
        note(
            "wrong-input",
            replace(problem.where, file=problem.where.file or policy),
            variant="hinted" if problem.hint else DEFAULT,
            problem=f"{problem.where.path}: {problem.message}" if problem.where.path else problem.message,
            **({"advice": problem.hint} if problem.hint else {}),
        )
        for problem in error.problems()
    )


def findings_by_device(findings: Iterable[Finding], names: Iterable[str]) -> dict[str | None, list[Finding]]:
    """Findings by device, every name among the keys; ``None`` has those of no device in ``names``."""
    found: dict[str | None, list[Finding]] = {None: [], **{name: [] for name in names}}
    for finding in findings:
        found[finding.device if finding.device in found else None].append(finding)
    return found
