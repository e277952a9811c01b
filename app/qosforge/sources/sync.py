"""Synchronise a network's folder with its source: compare them, and write the changes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qosforge.discovery.difference import EVERY_FIELD, InventoryChange, find_changes
from qosforge.discovery.facts import Note
from qosforge.discovery.folder import FolderDraft, draft, write_draft
from qosforge.errors import Place, SourceError
from qosforge.intent.yaml_source import read_document
from qosforge.inventory.loader import BOUNDS, load_network
from qosforge.inventory.models import Network
from qosforge.inventory.reach import OWN
from qosforge.sources.description import SOURCE, read_source
from qosforge.sources.mapping import map_network
from qosforge.sources.target import target_network


@dataclass(frozen=True)
class SourceComparison:
    """How a network's folder differs from its source; ``shared`` is the data that its devices have in common."""

    folder: Path
    known: Network
    target: Network
    changes: tuple[InventoryChange, ...]
    notes: tuple[Note, ...]
    shared: Mapping[str, Any]

    @property
    def gone_devices(self) -> tuple[str, ...]:
        """The devices of the folder that the source does not have."""
        return tuple(change.key[0] for change in self.changes if (change.what, change.kind) == ("device", "gone"))


def compare_with_source(folder: Path) -> SourceComparison:
    """Read the source that a folder names, and compare the folder with it. Nothing is written.

    A folder without ``hosts.yaml`` counts as a network without devices.

    Raises:
        InputError, InputErrors: the folder's files are wrong, or what they name does not exist.
        SourceError: the source cannot be read.
    """
    source = read_source(folder)
    known = _known_network(folder)
    found = map_network(source.plugin.read(source.options, source.file), source.description)
    if known.devices and not (found.devices or found.undescribed):
        # Such as for a token that may see none: then everything would count as gone.
        message = "the source has no devices, and the network has some: nothing is compared"
        raise SourceError(
            message, Place(file=str(folder / SOURCE)), "check the filter, and what the token may read"
        )
    target = target_network(known, found, source.reach)
    shared = _shared(folder, {key: getattr(source.reach, key) for key in OWN})
    changes = find_changes(known, target.network, EVERY_FIELD)
    return SourceComparison(folder, known, target.network, changes, target.notes, shared)


def without_removals(comparison: SourceComparison) -> SourceComparison:
    """The same comparison, but for devices that the source does not have: they stay, with their links."""
    gone = set(comparison.gone_devices)
    target = comparison.target
    kept = [device for device in comparison.known.devices if device.name in gone]
    used = {end for link in target.links for end in (link.a, link.b)}
    links = [
        link for link in comparison.known.links if {link.a[0], link.b[0]} & gone and not {link.a, link.b} & used
    ]
    network = target.model_copy(update={"devices": (*target.devices, *kept), "links": (*target.links, *links)})
    changes = find_changes(comparison.known, network, EVERY_FIELD)
    return SourceComparison(
        comparison.folder, comparison.known, network, changes, comparison.notes, comparison.shared
    )


def write_comparison(comparison: SourceComparison) -> None:
    """Make the folder say what the source does; what people wrote beyond it stays.

    Raises:
        InputError: a file is not laid out so that this can be done, was changed meanwhile or cannot be written.
        InputErrors: the folder would hold no consistent network; nothing is written then.
    """
    write_draft(comparison.folder, _draft(comparison))


def _draft(comparison: SourceComparison) -> FolderDraft:
    return draft(
        comparison.folder,
        comparison.changes,
        comparison.known,
        comparison.target,
        comparison.shared,
        whole=True,
    )


@dataclass(frozen=True)
class FileChange:
    """A file that differs from what its source makes of it; ``before`` is ``None`` where there is none yet."""

    name: str
    before: str | None
    after: str


@dataclass(frozen=True)
class SyncPlan:
    """What a sync would write, worked out without writing it.

    ``gone`` are the devices that the source does not have: ``changes`` take them out only where that was asked for
    (``remove``). ``devices`` and ``links`` count what the folder would hold.
    """

    remove: bool
    changes: tuple[InventoryChange, ...]
    gone: tuple[str, ...]
    notes: tuple[Note, ...]
    devices: int
    links: int
    draft: FolderDraft

    @property
    def files(self) -> tuple[FileChange, ...]:
        """The files that would be written."""
        pairs = ((name, self.draft.before[name], after) for name, after in self.draft.after.items())
        return tuple(
            FileChange(name, None if before is None else before.decode(), after.decode())
            for name, before, after in pairs
            if before != after
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the files that would be written, as they are and as they would be: what was shown of it holds
        as long as this is the same.
        """
        found = hashlib.sha256()
        for file in self.files:
            for text in (file.name, file.before, file.after):
                part = b"" if text is None else text.encode()
                # With their lengths, so that no other texts come to the same bytes.
                found.update(f"{-1 if text is None else len(part)}:".encode() + part)
        return found.hexdigest()


def plan_sync(folder: Path, *, remove: bool = False) -> SyncPlan:
    """Read the source that a folder names, and work out what would be written. Nothing is.

    Without ``remove``, devices that the source does not have stay, with their links.

    Raises:
        InputError, InputErrors: as `compare_with_source`; or the folder cannot be made to say what the source does.
        SourceError: the source cannot be read.
    """
    comparison = compare_with_source(folder)
    gone = comparison.gone_devices
    wanted = comparison if remove or not gone else without_removals(comparison)
    drafted = _draft(wanted) if wanted.changes else FolderDraft({}, {})
    devices, links = len(wanted.target.devices), len(wanted.target.links)
    return SyncPlan(remove, wanted.changes, gone, wanted.notes, devices, links, drafted)


def write_plan(folder: Path, plan: SyncPlan) -> None:
    """Write what was planned, all of it or nothing.

    Raises:
        InputError: a file was changed since the plan, or cannot be written.
    """
    if plan.files:
        write_draft(folder, plan.draft)


def _known_network(folder: Path) -> Network:
    if (folder / "hosts.yaml").exists():
        return load_network(folder)
    return Network(name=folder.resolve().name, devices=(), links=(), stations=())


def _shared(folder: Path, reach: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data of the folder's defaults; where it has none yet, what its devices are reached by."""
    path = folder / "defaults.yaml"
    if not path.exists():
        return {key: value for key, value in reach.items() if value is not None}
    data = read_document(path, bounds=BOUNDS).data
    return (data.get("data") if isinstance(data, dict) else None) or {}
