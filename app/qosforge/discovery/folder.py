"""Create an inventory's folder from a discovery, or add what it lacks. Nothing is overwritten unasked."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qosforge.discovery.difference import EVERY_FIELD, InventoryChange, find_changes
from qosforge.discovery.documents import NOTHING, documents
from qosforge.discovery.file_changes import WRITTEN_FILES, write_changes
from qosforge.discovery.hosts_text import by_hand
from qosforge.discovery.model import Discovery
from qosforge.errors import InputError, Place, ServiceError
from qosforge.importing.document import as_yaml
from qosforge.inventory.drafts import apart, beside, located
from qosforge.inventory.editing import EMPTY_FILES
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network


def write_new(folder: Path, discovery: Discovery, data: Mapping[str, str] = NOTHING) -> Network:
    """Write the inventory of a discovery to a folder that must not exist, and load it.

    ``data`` is what all devices have in common, for ``defaults.yaml``.

    Raises:
        ServiceError: nothing was found.
        InputError: the folder exists or cannot be made.
        InputErrors: what was found is no consistent network; nothing is left behind.
    """
    if not discovery.devices:
        raise ServiceError(
            "no device could be read", Place(file=str(folder)), "see the notes, and correct them first"
        )
    if folder.exists():
        raise InputError("there is something already", Place(file=str(folder)), "name a folder that does not exist")
    with beside(folder) as made:
        made.mkdir()
        for name, text in documents(discovery, data).items():
            (made / name).write_text(text, encoding="utf-8")
        network = load_network(made)
        made.rename(folder)
    return network.model_copy(update={"name": folder.resolve().name})


def compare(folder: Path, discovery: Discovery) -> tuple[InventoryChange, ...]:
    """How an inventory's folder differs from what was found; nothing is written.

    Raises:
        InputError, InputErrors: the folder holds no network.
    """
    known = load_network(folder)
    return find_changes(known, discovery.network(known.name))


def add(folder: Path, discovery: Discovery) -> tuple[InventoryChange, ...]:
    """Give an inventory's folder the devices, ports and links that it lacks, and say which.

    What it has stays as it is, comments included: what changed or is gone is for a person to correct.

    Raises:
        InputError, InputErrors: the folder holds no network, or would hold none; nothing is written then.
    """
    known = load_network(folder)
    found = discovery.network(known.name)
    added = tuple(change for change in find_changes(known, found) if change.kind == "added")
    if added:
        write_draft(folder, draft(folder, added, known, found))
    return added


@dataclass(frozen=True)
class FolderDraft:
    """The files of a folder that changes are written into, by name: as they are (``None``: not there), and as they
    are to be.
    """

    before: Mapping[str, bytes | None]
    after: Mapping[str, bytes]


def draft(
    folder: Path,
    changes: Collection[InventoryChange],
    known: Network,
    discovered: Network,
    shared: Mapping[str, Any] = NOTHING,
    *,
    whole: bool = False,
) -> FolderDraft:
    """The files of a folder with these changes from the known network to the one found. Nothing is written to it.

    What the changes do not concern stays, comments included; files that are not there are made. ``shared`` is the
    data of the folder's defaults, which are made with it where there are none. With ``whole`` they are all the
    changes: the folder must then hold what was found.

    Raises:
        InputError: a file is not laid out so that this can be done, or a copy of the folder cannot be made.
        InputErrors: the folder would hold no consistent network.
    """
    before = _texts(folder)
    with apart(folder) as made:
        shutil.copytree(folder, made)
        files = {**EMPTY_FILES, "defaults.yaml": as_yaml({"data": dict(shared)})}
        for name, text in files.items():
            if not (made / name).exists():
                (made / name).write_text(text, encoding="utf-8")
        try:
            write_changes(made, changes, known, discovered, shared)
            network = load_network(made)
        except InputError as error:
            raise located(error, made, folder) from None
        if whole and find_changes(network, discovered, EVERY_FIELD):
            raise by_hand(str(folder / "hosts.yaml"))
        return FolderDraft(before, {name: (made / name).read_bytes() for name in WRITTEN_FILES})


def write_draft(folder: Path, drafted: FolderDraft) -> None:
    """Give a folder the files of a draft, all of them or none.

    Raises:
        InputError: a file was changed since the draft, or cannot be written.
    """
    with beside(folder) as made:
        shutil.copytree(folder, made)  # with the rights of its files
        for name, text in drafted.after.items():
            (made / name).write_bytes(text)
        if _texts(folder) != drafted.before:
            raise InputError("was changed meanwhile", Place(file=str(folder)), "try again")
        _take_over(made, folder, drafted.before)


def _texts(folder: Path) -> dict[str, bytes | None]:
    paths = {name: folder / name for name in WRITTEN_FILES}
    return {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}


def _take_over(made: Path, folder: Path, before: Mapping[str, bytes | None]) -> None:
    """Replace each changed file in one step; where one cannot be, those before it are put back."""
    replaced: list[str] = []
    try:
        for name, text in before.items():
            if (made / name).read_bytes() != text:
                (made / name).replace(folder / name)
                replaced.append(name)
    except OSError:
        for name in replaced:
            text = before[name]
            if text is None:
                (folder / name).unlink(missing_ok=True)
            else:
                (folder / name).write_bytes(text)
        raise
