"""Jobs of syncs: compare an inventory with its source, in a process of its own and within a request's time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qosforge.access.roles import Principal
from qosforge.compute import TookTooLong
from qosforge.errors import InputError, Place, SourceError
from qosforge.reports.line_difference import line_difference
from qosforge.sources.description import SOURCE, NetworkSource, read_source
from qosforge.sources.sync import SyncPlan, plan_sync, write_plan

if TYPE_CHECKING:
    from qosforge.api.backend import Backend

_MARGIN_SECONDS = 3.0
"""Part of a request's time limit that is kept for its response, or for writing the files."""


@dataclass(eq=False)
class SyncOutdated(InputError):
    """The difference has changed since it was shown."""


@dataclass(frozen=True)
class SyncPreview:
    """The plan of a sync, and the diff of each of its files."""

    plan: SyncPlan
    diffs: tuple[str, ...]


def source_of(backend: Backend, network: str) -> NetworkSource:
    """The source that a network's inventory names; it is not read.

    Raises:
        NetworkUnknown, SourceMissing: there is none.
        InputError, InputErrors: what describes it is wrong.
    """
    with backend.networks.open_for_reading(network) as folder:
        return read_source(folder)


def preview_sync(backend: Backend, caller: Principal, network: str, *, remove: bool) -> SyncPreview:
    """How a network's inventory differs from its source, which is read. Nothing is written.

    Raises:
        NetworkUnknown, SourceMissing: there is none.
        InputError, InputErrors: the inventory or what describes its source is wrong, or a secret is not there.
        SourceError: the source cannot be read, or not within a request's time.
        TooBusy: too many calls wait to read sources.
    """
    with backend.networks.open_for_reading(network) as folder, _source_deadline(backend) as seconds:
        return backend.sources.call(read_difference, folder, remove=remove, timeout=seconds, caller=caller.name)


def write_sync(backend: Backend, caller: Principal, network: str, digest: str, *, remove: bool) -> SyncPlan:
    """Write the difference of this digest, after the source was read again; what was written.

    Raises:
        SyncOutdated: inventory or source changed since the difference was shown.
        InputError, InputErrors, SourceError, TooBusy: as `preview_sync`; or a file cannot be written.
    """
    with backend.networks.open_for_reading(network) as folder, _source_deadline(backend) as seconds:
        plan = backend.sources.call(plan_sync, folder, remove=remove, timeout=seconds, caller=caller.name)
    if plan.digest != digest:
        message = "the difference is no longer the one that was shown: the inventory or its source has changed"
        raise SyncOutdated(message, Place(path="digest"), "look at it again, and write that one")
    with backend.networks.open_for_writing(network) as folder:
        write_plan(folder, plan)
    return plan


def read_difference(folder: Path, *, remove: bool) -> SyncPreview:
    """Plan a sync and make its diffs, in the computing process: see `plan_sync`."""
    plan = plan_sync(folder, remove=remove)
    return SyncPreview(plan, tuple(line_difference(file.before or "", file.after) for file in plan.files))


@contextmanager
def _source_deadline(backend: Backend) -> Iterator[float]:
    """The seconds that a source may take, and a `SourceError` for one that takes longer."""
    whole = backend.settings.request_seconds
    seconds = max(whole / 2, whole - _MARGIN_SECONDS)
    try:
        yield seconds
    except TookTooLong:
        hint = (
            "narrow the filter, raise QOSFORGE_REQUEST_SECONDS, or run qosforge network sync where the service runs"
        )
        raise SourceError(f"the source was not read within {seconds:g} s", Place(file=SOURCE), hint) from None
