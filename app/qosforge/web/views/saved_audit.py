"""The audit of configurations that somebody sent, as its page shows it. They are kept in memory alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial

from qosforge.api.backend import Backend
from qosforge.api.jobs.queue import JobProgress
from qosforge.audit.saved import audit_saved
from qosforge.audit.table import joined_rows
from qosforge.discovery.facts import Note
from qosforge.discovery.model import FoundDevice
from qosforge.discovery.saved_files import configuration_text, recognise_configurations
from qosforge.errors import Place
from qosforge.web.views.audit import AuditView, view_of

MOST_ROWS = 500
"""Rows of what is configured that the page has."""

Files = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class DeviceFile:
    """A device that was recognised, and the file that is its configuration."""

    name: str
    platform: str
    file: str


@dataclass(frozen=True)
class SavedAuditView:
    """The audit of a network made of files: ``rows`` say what is configured, ``notes`` what was left out."""

    audit: AuditView
    devices: tuple[DeviceFile, ...]
    links: int
    notes: tuple[Note, ...]
    rows: tuple[tuple[str, ...], ...]


def submit_saved_audit(backend: Backend, files: Files, *, person: str) -> str:
    """Audit files in the background; returns the id by which the same person finds the result while it is kept.

    Raises:
        TooBusy: too many jobs of this person wait.
    """
    digest = hashlib.sha256()
    for name, data in files:
        digest.update(b"%d %d %s" % (len(name.encode()), len(data), name.encode()) + data)
    audit_id = digest.hexdigest()[:32]
    backend.jobs.submit(_key(audit_id, person), saved_audit_view, files, person=person, topic="audit of files")
    return audit_id


def saved_audit(backend: Backend, audit_id: str, *, person: str) -> JobProgress | None:
    """How far an audit of somebody's files is; ``None`` where it is not, or no longer, kept."""
    return backend.jobs.progress(_key(audit_id, person))


def saved_audit_view(files: Files) -> SavedAuditView:
    """Audit configurations without an inventory, for people.

    Raises:
        InputError: none of the files is a configuration, or two are of one device.
    """
    texts = ((name, partial(configuration_text, data, Place(file=name))) for name, data in files)
    read, notes = recognise_configurations(texts, files[0][0] if len(files) == 1 else "")
    saved = audit_saved(read, notes, "files")
    by_name = {one.device: one.file for one in read}
    return SavedAuditView(
        audit=view_of(saved.result),
        devices=tuple(_device(one, by_name) for one in saved.found.devices),
        links=len(saved.found.links),
        notes=saved.incomplete,
        rows=tuple(joined_rows(saved.result)),
    )


def _device(found: FoundDevice, files: dict[str, str]) -> DeviceFile:
    return DeviceFile(found.name, found.facts.platform, files[found.facts.hostname])


def _key(audit_id: str, person: str) -> str:
    return f"audit of files {audit_id} {person}"
