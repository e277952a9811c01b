"""The preview of a policy as its page shows it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated

from fastapi import Form

from qosforge.access.roles import Principal
from qosforge.api.backend import Backend
from qosforge.device_state.last_known import LastKnown
from qosforge.findings import Fidelity, Finding, Severity
from qosforge.intent.policy_source import LONGEST_FILE, PolicySource
from qosforge.platforms.base import platform
from qosforge.policy_library.versions import LATEST, SHIPPED_VERSION
from qosforge.reports.class_lines import ClassLine, class_lines
from qosforge.reports.fidelity import FidelityCell, fidelity_by_class
from qosforge.reports.folded_findings import FindingFold, fold_findings
from qosforge.reports.gathered_changes import GatheredChange, difference_or_lines
from qosforge.reports.grouped_findings import FindingGroup, GroupRow, group_findings
from qosforge.reports.preview import ClassDocument, DevicePreview, FindingDocument, PolicyPreview
from qosforge.reports.proofs import Proofs, proof_of, proofs
from qosforge.web.views.class_colours import class_colour
from qosforge.web.views.run_form import Ticked

MAX_WHOLE_DEVICES = 100
"""Devices that are previewed in one answer; more come in parts, which are shown as they are compiled."""
FIRST_PART, PART = 5, 25
"""Devices of the first part, so that it comes soon, and of each later one."""
MAX_SHOWN_DEVICES = 40
"""Devices that are listed; further ones are folded away."""

_Name = Annotated[str, Form(max_length=128)]
_Count = Annotated[int, Form(ge=0, le=100_000_000)]


@dataclass(frozen=True)
class PreviewForm:
    """Whose preview is asked for: of a stored ``policy``; without one of a ``text``, which messages call ``name``
    and which has the includes of version ``number`` of policy ``begun``. ``accept_unconfirmed`` is that of the run.
    """

    network: _Name
    text: Annotated[str, Form()] = ""
    name: Annotated[str, Form(max_length=LONGEST_FILE)] = "policy.yaml"
    begun: _Name = ""
    number: Annotated[int, Form()] = SHIPPED_VERSION
    policy: _Name = ""
    version: Annotated[str, Form(pattern=r"^(latest|[0-9]{1,9})$")] = LATEST
    accept_unconfirmed: Ticked = ""

    @property
    def is_edited(self) -> bool:
        """Whether it is a text that is being edited."""
        return not self.policy

    def written(self, backend: Backend, caller: Principal) -> PolicySource:
        """The policy that is meant, unchecked.

        Raises:
            PolicyUnknown: there is no such policy, or not this version.
        """
        if self.policy:
            number = LATEST if self.version == LATEST else int(self.version)
            return backend.policies.seen_by(caller).get(self.policy, number).written()
        included = backend.policies.seen_by(caller).get(self.begun, self.number).included if self.begun else {}
        return PolicySource(self.text, self.name, included)


@dataclass(frozen=True)
class PartsSoFar:
    """How many devices of a preview are ``done``: ``unsound`` ones have errors, ``unread`` ones were never read.

    ``exact`` ones serve every class as requested; ``changed`` ones would have lines ``added`` and ``removed``. A
    preview in parts sends this along with each part.
    """

    done: _Count
    unsound: _Count = 0
    unread: _Count = 0
    exact: _Count = 0
    changed: _Count = 0
    added: _Count = 0
    removed: _Count = 0

    def __add__(self, other: PartsSoFar) -> PartsSoFar:
        return PartsSoFar(**{name: count + getattr(other, name) for name, count in asdict(self).items()})

    @property
    def values(self) -> dict[str, int]:
        """The counts by name, as the next part is asked for."""
        return asdict(self)


@dataclass(frozen=True)
class PreviewClass:
    """A traffic class with the number of its colour."""

    name: str
    colour: int
    line: int | None


@dataclass(frozen=True)
class ConfigurationEntry:
    """A configuration line to enter; ``takes_away`` where it removes something."""

    text: str
    takes_away: bool


@dataclass(frozen=True)
class ClassTrouble:
    """What stands against a class on a device, the gravest first; at least one."""

    groups: tuple[FindingGroup[FindingDocument], ...]

    @property
    def severity(self) -> Severity:
        """The gravest: an error or a warning."""
        return self.groups[0].finding.severity


@dataclass(frozen=True)
class DeviceView:
    """A device of the preview, with its last known configuration."""

    preview: DevicePreview
    read: LastKnown | None
    findings: tuple[FindingDocument, ...]
    classes: Mapping[str, PreviewClass]

    @property
    def name(self) -> str:
        """The device's name."""
        return self.preview.name

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return platform(self.preview.platform, self.preview.name).family.title

    @cached_property
    def cells(self) -> Mapping[str, FidelityCell]:
        """How near it comes to each class that it serves."""
        return fidelity_by_class(self.preview.fidelity)

    @cached_property
    def trouble(self) -> Mapping[str | None, ClassTrouble]:
        """The errors and warnings about each class; under no name those about the device as a whole."""
        found: dict[str | None, list[FindingDocument]] = {}
        for finding in self.findings:
            if finding.severity is not Severity.INFO:
                about = {row.traffic_class or finding.traffic_class for row in finding.rows}
                for name in about or {finding.traffic_class}:
                    found.setdefault(name, []).append(finding)
        return {name: ClassTrouble(tuple(group_findings(some))) for name, some in found.items()}

    @property
    def is_exact(self) -> bool:
        """Whether it serves every class as asked."""
        return all(cell.fidelity is Fidelity.EXACT for cell in self.cells.values())

    @property
    def severities(self) -> Mapping[str, int]:
        """How many findings of each severity it has."""
        return severity_counts(self.findings)

    @property
    def finding_groups(self) -> tuple[FindingGroup[FindingDocument], ...]:
        """Its findings, the gravest first."""
        return group_findings(self.findings)

    @property
    def plan(self) -> str:
        """Its plan as JSON."""
        return json.dumps(self.preview.plan, indent=2, ensure_ascii=False)

    @property
    def configuration(self) -> tuple[ClassLine, ...]:
        """Its configuration by lines."""
        return class_lines(self.preview)

    @cached_property
    def entries(self) -> tuple[ConfigurationEntry, ...] | None:
        """What would be entered: nothing where it holds the plan already, ``None`` where it was never read."""
        return None if self.preview.candidate is None else self._entries(self.preview.candidate.delta)

    @cached_property
    def change(self) -> GatheredChange:
        """What its configuration would lose and gain, as a run has it; nothing where it was never read."""
        found = self.preview.candidate
        lines = difference_or_lines(found.difference, found.delta) if found and found.delta else ()
        return GatheredChange((self.name,), lines)

    @property
    def inverse(self) -> tuple[ConfigurationEntry, ...]:
        """What would undo it."""
        return () if self.preview.candidate is None else self._entries(self.preview.candidate.inverse)

    def _entries(self, lines: tuple[str, ...]) -> tuple[ConfigurationEntry, ...]:
        # Some settings are said with `no`; they stand in the configuration itself.
        kept = {line.strip() for line in self.preview.configuration.splitlines()}
        return tuple(
            ConfigurationEntry(line, line.strip().startswith(("no ", "default ")) and line.strip() not in kept)
            for line in lines
        )


@dataclass(frozen=True)
class PreviewView:
    """A preview: ``seconds`` is how long it took, ``unread`` why devices could not be read just now;
    ``judged``, whether a check judges a class.
    """

    preview: PolicyPreview
    file: str
    last_known: Mapping[str, LastKnown]
    seconds: float
    editable: bool
    unread: Mapping[str, str]
    judged: bool = True

    @property
    def unconfirmed(self) -> int:
        """How many devices would be given lines that a run refuses to enter unless somebody accepts them."""
        found = (one for one in self.preview.findings if one.code == "lines-unconfirmed")
        return len({one.device for one in found if one.severity is not Severity.INFO})

    @property
    def beyond_reach(self) -> int:
        """How many objectives, path by path, no configuration can keep."""
        return sum(one.code == "objective-below-minimum" for one in self.preview.findings)

    @property
    def unmeasurable(self) -> FindingDocument | None:
        """What says that the network describes no traffic for any measurement of the policy, where that is so."""
        found = (one for one in self.preview.findings if one.code == "verify-no-traffic")
        return next((one for one in found if one.variant in ("none-described", "no-stations")), None)

    @property
    def doubtful(self) -> bool:
        """Whether a run of it would be rejected for its lines or its measurements, or has objectives that no
        configuration can keep.
        """
        return bool(self.unconfirmed or self.beyond_reach or self.unmeasurable)

    @cached_property
    def classes(self) -> Mapping[str, PreviewClass]:
        """The classes by name, in their order; of several of a name it is the outermost."""
        found: dict[str, PreviewClass] = {}
        for each in self.preview.classes:
            found.setdefault(each.name, _class(each))
        return found

    @cached_property
    def devices(self) -> tuple[DeviceView, ...]:
        """The devices, in the order of the inventory."""
        by_device: dict[str | None, list[FindingDocument]] = {}
        for finding in self.preview.findings:
            by_device.setdefault(finding.device, []).append(finding)
        return tuple(
            DeviceView(
                device, self.last_known.get(device.name), tuple(by_device.get(device.name, ())), self.classes
            )
            for device in self.preview.devices
        )

    @cached_property
    def shown(self) -> tuple[DeviceView, ...]:
        """The devices that are listed at once: of many, those that something is to be said of."""
        if len(self.devices) <= MAX_SHOWN_DEVICES:
            return self.devices
        return self.noted[:MAX_SHOWN_DEVICES]

    @property
    def folded(self) -> tuple[DeviceView, ...]:
        """The others."""
        shown = {device.name for device in self.shown}
        return tuple(device for device in self.devices if device.name not in shown)

    @property
    def noted(self) -> tuple[DeviceView, ...]:
        """The devices that something is to be said of."""
        return tuple(device for device in self.devices if not device.is_exact or device.severities["error"])

    @property
    def exact(self) -> tuple[DeviceView, ...]:
        """The devices that serve every class as requested."""
        noted = {device.name for device in self.noted}
        return tuple(device for device in self.devices if device.name not in noted)

    @property
    def so_far(self) -> PartsSoFar:
        """Its devices, counted."""
        return PartsSoFar(
            done=len(self.devices),
            unsound=self.unsound,
            unread=sum(device.entries is None for device in self.devices),
            exact=len(self.exact),
            changed=sum(bool(device.entries) for device in self.devices),
            added=sum(device.change.added for device in self.devices),
            removed=sum(device.change.removed for device in self.devices),
        )

    @property
    def unsound(self) -> int:
        """How many devices have errors."""
        return sum(device.severities["error"] > 0 for device in self.devices)

    @property
    def served(self) -> tuple[PreviewClass, ...]:
        """The classes that some device serves, or that something stands against."""
        found = {name for device in self.devices for name in (*device.cells, *device.trouble)}
        return tuple(each for name, each in self.classes.items() if name in found)

    @property
    def severities(self) -> Mapping[str, int]:
        """How many findings of each severity there are, as they are listed."""
        return severity_counts(entry.finding for entry in self.finding_groups)

    @cached_property
    def finding_groups(self) -> tuple[FindingGroup[FindingDocument], ...]:
        """The findings, the gravest first."""
        return group_findings(self.preview.findings)

    @cached_property
    def finding_folds(self) -> tuple[FindingFold[FindingDocument], ...]:
        """The same; many of one code, each with a message of its own, stand together."""
        return tuple(fold_findings(self.finding_groups))

    @property
    def errors(self) -> tuple[FindingFold[FindingDocument], ...]:
        """What a run of it would be rejected for."""
        return tuple(fold for fold in self.finding_folds if fold.finding.severity is Severity.ERROR)

    @property
    def wrong_devices(self) -> tuple[str, ...]:
        """The devices that errors are of, in the order of the inventory."""
        found = {one.device for one in self.preview.findings if one.severity is Severity.ERROR}
        return tuple(device.name for device in self.devices if device.name in found)

    @property
    def refused_classes(self) -> dict[str, tuple[str, ...]]:
        """By the name of a class that errors are of, the devices that cannot do what it asks for."""
        found: dict[str, list[str]] = {}
        for one in self.preview.findings:
            if one.severity is Severity.ERROR and one.device:
                for name in (one.traffic_class, *(row.traffic_class for row in one.rows)):
                    if name:
                        found.setdefault(name, []).append(one.device)
        return {name: tuple(dict.fromkeys(devices)) for name, devices in found.items()}

    @cached_property
    def proofs(self) -> Proofs:
        """What our own checks proved and refuted; Batfish is asked by a run."""
        told = (finding for finding in self.preview.findings if proof_of(finding.code))
        return proofs((Finding.model_validate(finding.model_dump()) for finding in told), checked=True)

    def line_of(self, about: FindingDocument | GroupRow) -> int | None:
        """The line of the edited text that a finding, or a row of one, is about."""
        return about.line if self.editable and about.file == self.file else None

    @property
    def never_read(self) -> int:
        """How many devices were never read."""
        return sum(device.read is None for device in self.devices)


@dataclass(frozen=True)
class LargePreview:
    """The head of the preview of a large network: the ``devices`` that the policy applies to, ``unread`` why some
    could not be read just now.
    """

    network: str
    devices: tuple[str, ...]
    unread: Mapping[str, str]


def severity_counts(findings: Iterable[FindingDocument]) -> Mapping[str, int]:
    """How many findings of each severity there are."""
    found = Counter(finding.severity for finding in findings)
    return {severity.value: found[severity] for severity in Severity}


def _class(each: ClassDocument) -> PreviewClass:
    return PreviewClass(each.name, class_colour(each.number), each.line)
