"""Files with a device's configuration, as people saved them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from qosforge.discovery.facts import Note, Topic
from qosforge.errors import InputError, Place
from qosforge.importing import RunningConfiguration, read_configuration

LARGEST = 16 * 2**20
"""Bytes of a configuration file; the largest devices print a few megabytes."""


def read_text(file: Path, device: str | None = None) -> str:
    """The text of a configuration; what is no UTF-8 in it is replaced.

    Raises:
        InputError: it cannot be read, is no text or is too large.
    """
    place = Place(file=str(file), device=device)
    try:
        if file.stat().st_size > LARGEST:
            raise InputError(
                "is too large for a configuration", place, "give the running configuration of one device"
            )
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place) from None
    if b"\0" in data:
        raise InputError("is not a text", place, "give the configuration as the device prints it")
    return data.decode("utf-8", errors="replace")


def saved_configurations(places: Iterable[Path]) -> tuple[list[RunningConfiguration], list[Note]]:
    """The configurations in files, and in folders of them; what is none is a note.

    Raises:
        InputError: there is none, or a file cannot be read.
    """
    read: list[RunningConfiguration] = []
    notes: list[Note] = []
    files = [file for place in places for file in _files(place)]
    for file in files:
        try:
            read.append(read_configuration(read_text(file), str(file)))
        except InputError as error:
            notes.append(Note(Topic.LEFT_OUT, "", str(file), f"{file.name}: {error.message}", error.hint))
    if not read:
        where = Place(file=str(files[0] if len(files) == 1 else next(iter(places), "")))
        why = "; ".join(note.message for note in notes[:3])
        raise InputError(f"no configuration of a device is here{f' ({why})' if why else ''}", where, _HINT)
    return read, notes


def other_texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """The texts in a folder with their files; what is no text is left out."""
    for file in _files(folder):
        try:
            yield file, read_text(file)
        except InputError:
            continue


_HINT = "save what `show running-config` prints, one file a device"


def _files(place: Path) -> Iterator[Path]:
    """A file itself, or those of a folder that are not hidden, by name."""
    if not place.is_dir():
        yield place
        return
    try:
        yield from sorted(one for one in place.iterdir() if one.is_file() and not one.name.startswith("."))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", Place(file=str(place))) from None
