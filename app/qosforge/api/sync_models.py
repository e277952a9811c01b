"""A network and the source of its inventory, as documents."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from qosforge.api.jobs.sync import SyncPreview
from qosforge.discovery.difference import InventoryChange, Kind, What
from qosforge.discovery.facts import Note
from qosforge.sources.description import NetworkSource


class InventorySource(BaseModel):
    """The source of a network's inventory: the plug-in that reads it, and its location."""

    plugin: str = Field(examples=["netbox"])
    location: str = Field(examples=["https://netbox.example.net"])

    @classmethod
    def of(cls, source: NetworkSource) -> Self:
        """A source's."""
        return cls(plugin=source.description.plugin, location=source.location)


class SyncFile(BaseModel):
    """A file of the inventory that would be written; ``new`` where there is none yet, ``diff`` is unified."""

    file: str = Field(examples=["hosts.yaml"])
    new: bool
    diff: str


class SyncChange(BaseModel):
    """One difference; ``field``, ``known`` and ``found`` are empty where the whole thing is added or goes."""

    kind: Kind
    what: What
    name: str
    field: str
    known: str
    found: str

    @classmethod
    def of(cls, change: InventoryChange) -> Self:
        """A change's."""
        return cls(
            kind=change.kind,
            what=change.what,
            name=change.name,
            field=change.field,
            known=change.known,
            found=change.found,
        )


class SyncNote(BaseModel):
    """A note on something of the source that could not be taken over, with a hint."""

    topic: str
    device: str
    message: str
    hint: str

    @classmethod
    def of(cls, note: Note) -> Self:
        """A note's."""
        return cls(topic=note.topic.value, device=note.device, message=note.message, hint=note.hint)


class SyncDifference(BaseModel):
    """The difference between a network's inventory and its source. Nothing was written.

    ``digest`` names what would be written; ``gone`` are devices that the source does not have, which stay unless
    ``remove``.
    """

    network: str
    source: InventorySource
    remove: bool
    digest: str
    files: list[SyncFile]
    changes: list[SyncChange]
    gone: list[str]
    notes: list[SyncNote]

    @classmethod
    def of(cls, network: str, source: NetworkSource, preview: SyncPreview) -> Self:
        """A preview's."""
        plan = preview.plan
        return cls(
            network=network,
            source=InventorySource.of(source),
            remove=plan.remove,
            digest=plan.digest,
            files=[
                SyncFile(file=file.name, new=file.before is None, diff=diff)
                for file, diff in zip(plan.files, preview.diffs, strict=True)
            ],
            changes=[SyncChange.of(change) for change in plan.changes],
            gone=list(plan.gone),
            notes=[SyncNote.of(note) for note in plan.notes],
        )


class SyncRequest(BaseModel):
    """The difference to write: its ``digest``, and ``remove`` as in the request that showed it."""

    model_config = ConfigDict(extra="forbid")

    digest: str = Field(pattern=r"^[0-9a-f]{64}$", examples=["0" * 64])
    remove: StrictBool = False


class SyncResult(BaseModel):
    """What was written: the files, and how many devices and links the inventory has now.

    ``left`` are devices that the source does not have, which stay.
    """

    network: str
    written: list[str]
    devices: int
    links: int
    left: list[str]
