"""The audit of a network from the configurations of its devices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from qosforge.audit.consistency import check_consistency
from qosforge.audit.marks import MarkPath, check_marks, mark_paths
from qosforge.audit.running_plans import RunningPlans
from qosforge.audit.shadowed import check_shadowed
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.inventory.models import Network
from qosforge.note import note
from qosforge.plan.model import Plan
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration
from qosforge.platforms.masked_findings import mask_findings


@dataclass(frozen=True)
class Audit:
    """The result of an audit: plans, the paths of marks, and findings."""

    network: Network
    plans: Mapping[str, Plan]
    mark_paths: tuple[MarkPath, ...]
    findings: tuple[Finding, ...]


def audit(
    network: Network,
    texts: Mapping[str, Configuration],
    files: Mapping[str, str] | None = None,
    failed: Collection[str] = (),
) -> Audit:
    """Audit a network from its configurations, by device; pure.

    ``files`` names where a text came from, for findings about its lines. Devices without a text are told;
    ``failed`` are those of which an error says why.

    Raises:
        InputError: a device has a platform that is not installed.
    """
    plans = {
        device.name: parse_running(device.platform, texts[device.name], device.name, device.image)
        for device in network.devices
        if device.name in texts
    }
    running = RunningPlans(network, plans)
    findings = (
        *_unread(network, plans, failed),
        *check_consistency(running),
        *check_marks(running),
        *check_shadowed(running),
        *_not_understood(plans, files or {}),
    )
    platforms = {device.name: device.platform for device in network.devices}
    return Audit(network, plans, mark_paths(running), mask_findings(findings, texts, platforms))


def _unread(network: Network, plans: Mapping[str, Plan], failed: Collection[str]) -> Iterator[Finding]:
    for device in network.devices:
        if device.name not in plans:
            place = Place(device=device.name)
            if device.name in failed:
                yield note("device-not-read", place, variant="failed")
            else:
                yield note("device-not-read", place, name=device.name)


def _not_understood(plans: Mapping[str, Plan], files: Mapping[str, str]) -> Iterator[Finding]:
    for name, plan in plans.items():
        for line in plan.unknown:
            place = Place(device=name, file=files.get(name, "running configuration"), line=line.line)
            facts = {"text": line.text} | ({"context": line.context} if line.context else {})
            variant = "line-in-context" if line.context else "line"
            if line.undefined:
                yield note("undefined-reference", place, variant=variant, undefined=line.undefined, **facts)
            else:
                yield note("line-not-understood", place, variant=variant, **facts)
