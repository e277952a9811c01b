"""Files with a device's configuration, on this host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from qosforge.discovery.facts import Note
from qosforge.discovery.saved_files import LARGEST, configuration_text, recognise_configurations
from qosforge.errors import InputError, Place
from qosforge.importing import RunningConfiguration


def read_text(file: Path, device: str | None = None) -> str:
    """The text of a configuration; what is no UTF-8 in it is replaced.

    Raises:
        InputError: it cannot be read, is no text or is too large.
    """
    place = Place(file=str(file), device=device)
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place) from None
    return configuration_text(data, place)


def saved_configurations(places: Iterable[Path]) -> tuple[list[RunningConfiguration], list[Note]]:
    """The configurations in files, and in folders of them; what is none is a note.

    Raises:
        InputError: there is none, or a folder cannot be read.
    """
    given = list(places)
    files = [file for place in given for file in _files(place)]
    where = files[0] if len(files) == 1 else next(iter(given), "")
    return recognise_configurations(((str(file), partial(read_text, file)) for file in files), str(where))


def other_texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """The texts in a folder with their files; what is no text is left out."""
    for file in _files(folder):
        try:
            yield file, read_text(file)
        except InputError:
            continue


def _files(place: Path) -> Iterator[Path]:
    """A file itself, or those of a folder that are not hidden, by name."""
    if not place.is_dir():
        yield place
        return
    try:
        yield from sorted(one for one in place.iterdir() if one.is_file() and not one.name.startswith("."))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", Place(file=str(place))) from None
