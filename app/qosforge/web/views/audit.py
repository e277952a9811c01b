"""The audit of a network as its page shows it: findings by what they mean, and where marks go."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from qosforge.api.backend import Backend
from qosforge.api.jobs.queue import JobProgress
from qosforge.audit import Audit, audit
from qosforge.audit.marks import MarkPath, change_text
from qosforge.device_state.last_known import last_known
from qosforge.dscp import dscp_label
from qosforge.finding_codes import load_codes
from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.web.views.readings_key import readings_key

SHOWN = 6
"""Places of a group that are shown at once; more are folded."""
MOST_SHOWN = 200
"""Places of a group that the page has at all."""
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_UNREAD = "device-not-read"
_OTHERWISE = re.compile(r"; (?:an error|a warning|information) (?:beyond|where).*", re.DOTALL)
"""When a finding has another severity: it stands under the one that it has."""


@dataclass(frozen=True)
class AuditPlace:
    """Findings of one device that say the same of several ports."""

    finding: Finding
    ports: tuple[str, ...]


@dataclass(frozen=True)
class AuditGroup:
    """Findings of one code and severity: what they mean, why that matters, and every place. No ``hint``: there
    is nothing to do.
    """

    code: str
    severity: Severity
    meaning: str
    why: str
    hint: str
    findings: tuple[Finding, ...]

    @property
    def devices(self) -> int:
        """How many devices it is about."""
        return len({finding.device for finding in self.findings})

    @property
    def places(self) -> tuple[AuditPlace, ...]:
        """Every place; ports of a device of which the same is said stand together."""
        alike: dict[Hashable, list[Finding]] = {}
        for one in self.findings:
            alike.setdefault((one.device, one.direction, one.traffic_class, one.message, one.line), []).append(one)
        return tuple(
            AuditPlace(same[0], tuple(one.interface for one in same if one.interface)) for same in alike.values()
        )


@dataclass(frozen=True)
class LostMarks:
    """Marks of a path that become others, with the device and port where that happens."""

    marks: str
    device: str
    port: str


@dataclass(frozen=True)
class PathView:
    """A path between two end hosts: the marks that arrive, and those that are lost.

    ``unread`` are devices on it that were never read: what passes them is not known.
    """

    source: str
    target: str
    kept: str
    lost: tuple[LostMarks, ...]
    unread: tuple[str, ...]


@dataclass(frozen=True)
class PathsView:
    """Paths from an end host on which the same becomes of marks."""

    source: str
    targets: tuple[str, ...]
    kept: str
    lost: tuple[LostMarks, ...]


@dataclass(frozen=True)
class AuditView:
    """An audit; ``unread`` are devices of which no configuration is known."""

    groups: tuple[AuditGroup, ...]
    paths: tuple[PathView, ...]
    audited: int
    unread: tuple[str, ...]

    @property
    def known_paths(self) -> tuple[PathView, ...]:
        """The paths on which every device was read."""
        return tuple(path for path in self.paths if not path.unread)

    @property
    def path_rows(self) -> tuple[PathsView, ...]:
        """The paths on which every device was read; those of a host that are alike together."""
        alike: dict[tuple[str, str, tuple[LostMarks, ...]], list[str]] = {}
        for path in self.known_paths:
            alike.setdefault((path.source, path.kept, path.lost), []).append(path.target)
        return tuple(PathsView(source, tuple(to), kept, lost) for (source, kept, lost), to in alike.items())

    @property
    def unknown_paths(self) -> tuple[PathView, ...]:
        """The paths that lead through a device which was never read."""
        return tuple(path for path in self.paths if path.unread)

    def count(self, severity: str) -> int:
        """How many findings are of a severity."""
        return sum(len(group.findings) for group in self.groups if group.severity == severity)


def submit_audit(backend: Backend, network: Network, *, person: str, retry: bool = False) -> JobProgress:
    """Audit what the devices of a network were last known to hold, unless that is under way, done or has failed;
    where it has, only to ``retry``.

    Raises:
        TooBusy: too many jobs of this person wait.
        StoreError: an artifact is missing or damaged.
    """
    key = f"audit {network.name} {readings_key(backend, network)}"
    progress = backend.jobs.progress(key)
    if progress is not None and not (retry and progress.state == "failed"):
        return progress
    known = last_known(backend.run_requests.store, backend.artifacts, network)
    texts = {name: read.text for name, read in known.items()}
    return backend.jobs.submit(key, audit_view, network, texts, person=person, topic=f"audit {network.name}")


def audit_view(network: Network, texts: Mapping[str, DeviceText]) -> AuditView:
    """Audit a network from its configurations, for people."""
    return view_of(audit(network, texts))


def view_of(found: Audit) -> AuditView:
    """An audit, for people."""
    unread = tuple(f.device or "" for f in found.findings if f.code == _UNREAD)
    told = [finding for finding in found.findings if finding.code != _UNREAD]
    return AuditView(_groups(told), _paths(found.mark_paths), len(found.plans), unread)


def _groups(findings: list[Finding]) -> tuple[AuditGroup, ...]:
    gathered: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in findings:
        gathered.setdefault((finding.code, finding.severity), []).append(finding)
    known = load_codes().codes
    groups = []
    for (code, severity), same in gathered.items():
        entry = known[code]
        hint = "" if entry.hint.startswith("nothing") else _sentence(entry.hint)
        meaning = _sentence(_OTHERWISE.sub("", entry.meaning))
        groups.append(AuditGroup(code, severity, meaning, _sentence(entry.why), hint, tuple(same)))
    return tuple(sorted(groups, key=lambda group: (_ORDER.index(group.severity), -len(group.findings))))


def _sentence(text: str) -> str:
    """With a capital letter, and without the marks of code."""
    plain = text.replace("`", "")
    return plain[:1].upper() + plain[1:]


def _paths(ways: tuple[MarkPath, ...]) -> tuple[PathView, ...]:
    pairs: dict[tuple[str, str], list[MarkPath]] = {}
    for way in ways:
        pairs.setdefault((way.source, way.target), []).append(way)
    return tuple(_path(source, target, found) for (source, target), found in pairs.items())


def _path(source: str, target: str, ways: list[MarkPath]) -> PathView:
    kept = ", ".join(dscp_label(way.dscp) for way in ways if way.arrives == way.dscp)
    lost: dict[tuple[str, str], list[str]] = {}
    for way in ways:
        if way.lost_at is not None:
            lost.setdefault(way.lost_at, []).append(change_text(way))
    marks = tuple(LostMarks(", ".join(m), *port) for port, m in lost.items())
    return PathView(source, target, kept, marks, ways[0].unread)
