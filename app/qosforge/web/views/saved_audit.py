"""The audit of configurations that somebody sent, as its page shows it. Results are kept for a day."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePath

from pydantic import TypeAdapter, ValidationError

from qosforge.api.backend import Backend
from qosforge.api.jobs.queue import JobProgress
from qosforge.audit.file_audits import FileAudit, begin_file_audit, drop_file_audit, end_file_audit, find_file_audit
from qosforge.audit.saved import audit_saved
from qosforge.audit.table import joined_rows
from qosforge.discovery.facts import Note, Topic
from qosforge.discovery.model import FoundDevice
from qosforge.discovery.saved_files import configuration_text, require_configuration, sort_configurations
from qosforge.errors import Place, QosforgeError
from qosforge.release import release
from qosforge.web.uploaded_files import pack_files, unpack_archive
from qosforge.web.views.audit import AuditView, view_of

MOST_ROWS = 500
"""Rows of what is configured that the page has."""
MOST_PLATFORMS = 200
"""Files whose platform the page asks for."""

Files = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class DeviceFile:
    """A device that was recognised, and the file that is its configuration."""

    name: str
    platform: str
    file: str


@dataclass(frozen=True)
class FilePlatform:
    """A file whose lines do not tell its platform: the one that was chosen, or ``why`` there is none.

    ``left_out``: a person said that it has none.
    """

    file: str
    platform: str
    why: str
    left_out: bool = False

    @property
    def is_open(self) -> bool:
        """Whether nobody has said yet what it is."""
        return not self.platform and not self.left_out


@dataclass(frozen=True)
class SavedAuditView:
    """The audit of a network made of files: ``rows`` say what is configured, ``notes`` what was left out.

    There is no ``audit`` while the platform of every file has to be told.
    """

    audit: AuditView | None
    devices: tuple[DeviceFile, ...]
    links: int
    notes: tuple[Note, ...]
    platforms: tuple[FilePlatform, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SavedAuditProgress:
    """How far an audit of files is: its result, or what is wrong with the files, once it has ended."""

    result: SavedAuditView | None = None
    problems: tuple[QosforgeError, ...] = ()


@dataclass(frozen=True)
class PackedAudit:
    """A view as it is stored, and the files where the platform of one may be told."""

    view: bytes
    files: bytes | None


_VIEW = TypeAdapter(SavedAuditView)


def submit_saved_audit(
    backend: Backend, files: Files, *, person: str, platforms: Mapping[str, str] | None = None
) -> str:
    """Audit files in the background; returns the id by which the same person finds the result while it is kept.

    ``platforms`` are those of files whose lines do not tell theirs; of one that is to be left out it is "".

    Raises:
        TooBusy: too many jobs of this person wait.
    """
    told = dict(platforms or {})
    digest = hashlib.sha256(json.dumps([release(), person, told], sort_keys=True).encode())
    for name, data in files:
        digest.update(b"%d %d %s" % (len(name.encode()), len(data), name.encode()) + data)
    audit_id, now = digest.hexdigest()[:32], datetime.now(UTC)
    began = begin_file_audit(backend.database, audit_id, person, now)
    if began is None:
        return audit_id
    try:
        # One that is under way is computed here as well, unless it is already: its process may have died.
        backend.jobs.submit(
            _job(audit_id, began),
            pack_audit,
            files,
            told,
            person=person,
            at_end=partial(_store, backend, audit_id),
        )
    except QosforgeError:
        if began == now:
            drop_file_audit(backend.database, audit_id)
        raise
    return audit_id


def saved_audit(backend: Backend, audit_id: str, *, person: str) -> SavedAuditProgress | None:
    """How far an audit of somebody's files is; ``None`` where it is not, or no longer, kept."""
    found = find_file_audit(backend.database, audit_id, person, datetime.now(UTC))
    if found is None:
        return None
    if found.result is None:
        return _unfinished(backend, audit_id, found)
    try:
        return SavedAuditProgress(_VIEW.validate_json(zlib.decompress(found.result)))
    except ValidationError:  # another release stored it
        return None


def _unfinished(backend: Backend, audit_id: str, found: FileAudit) -> SavedAuditProgress | None:
    """How far an audit without a result is."""
    job = backend.jobs.progress(_job(audit_id, found.at))
    if found.problems or (job is not None and job.error is None):
        return SavedAuditProgress(problems=found.problems)
    if job is not None and job.error is not None:  # the row could not be told
        return SavedAuditProgress(problems=tuple(job.error.problems()))
    # A store in a file has one service: what is not computed here is computed nowhere.
    return None if backend.database.is_embedded else SavedAuditProgress()


def _job(audit_id: str, began: datetime) -> str:
    return f"audit of files {audit_id} {began.isoformat()}"


def files_of_unknown_platform(backend: Backend, audit_id: str, *, person: str) -> Files | None:
    """The files of an audit in which the platform of one may be told; ``None`` where they are not kept."""
    found = find_file_audit(backend.database, audit_id, person, datetime.now(UTC))
    return None if found is None or found.files is None else unpack_archive(found.files)


def pack_audit(files: Files, platforms: Mapping[str, str]) -> PackedAudit:
    """Audit configurations without an inventory, for people and to be stored.

    Raises:
        InputError: none of the files is a configuration.
    """
    view = saved_audit_view(files, platforms)
    return PackedAudit(zlib.compress(_VIEW.dump_json(view)), pack_files(files) if view.platforms else None)


def saved_audit_view(files: Files, platforms: Mapping[str, str]) -> SavedAuditView:
    """Audit configurations without an inventory, for people; ``platforms`` as `submit_saved_audit` takes them.

    Raises:
        InputError: none of the files is a configuration.
    """
    chosen = {name: told for name, told in platforms.items() if told}
    texts = ((name, partial(configuration_text, data, Place(file=name))) for name, data in files)
    read, notes = sort_configurations(texts, chosen)
    unknown = {note.line: _why(note) for note in notes if note.topic is Topic.UNKNOWN_PLATFORM}
    file_platforms = tuple(
        FilePlatform(name, chosen.get(name, ""), unknown.get(name, ""), platforms.get(name) == "")
        for name, _ in files
        if name in platforms or name in unknown
    )
    left_out = tuple(note for note in notes if note.topic is not Topic.UNKNOWN_PLATFORM)
    if not read and unknown:
        return SavedAuditView(None, (), 0, left_out, file_platforms, ())
    require_configuration(read, notes, files[0][0] if len(files) == 1 else "")
    saved = audit_saved(read, left_out, "files")
    by_name = {one.device: one.file for one in read}
    return SavedAuditView(
        audit=view_of(saved.result),
        devices=tuple(_device(one, by_name) for one in saved.found.devices),
        links=len(saved.found.links),
        notes=saved.incomplete,
        platforms=file_platforms,
        rows=tuple(joined_rows(saved.result)),
    )


def _store(backend: Backend, audit_id: str, progress: JobProgress) -> None:
    if progress.error is not None:
        end_file_audit(backend.database, audit_id, error=progress.error)
    else:
        made: PackedAudit = progress.result
        end_file_audit(backend.database, audit_id, result=made.view, files=made.files)


def _why(note: Note) -> str:
    """Why a platform is not told, without the file's name, which stands beside it."""
    return note.message.removeprefix(f"{PurePath(note.line).name}: ")


def _device(found: FoundDevice, files: dict[str, str]) -> DeviceFile:
    return DeviceFile(found.name, found.facts.platform, files[found.facts.hostname])
