"""Files with a device's configuration, on this host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from qosforge.discovery.facts import Note
from qosforge.discovery.saved_files import LARGEST, configuration_text, recognise_configurations
from qosforge.errors import InputError, Place
from qosforge.importing import RunningConfiguration
from qosforge.platforms.base import platform
from qosforge.units import listed

Platforms = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="FILE=PLATFORM",
        help="Of what platform a file is whose lines do not tell it (may be repeated).",
    ),
]


def read_text(file: Path, device: str | None = None) -> str:
    """The text of a configuration; what is no UTF-8 in it is replaced.

    Raises:
        InputError: it cannot be read, is no text or is too large.
    """
    place = Place(file=str(file), device=device)
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except IsADirectoryError:
        hint = "name its files, one a device; `qosforge network import FOLDER` takes a whole one"
        raise InputError("is a folder", place, hint) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place, "check the path") from None
    return configuration_text(data, place)


def saved_configurations(
    places: Iterable[Path], platforms: Iterable[str] = ()
) -> tuple[list[RunningConfiguration], list[Note]]:
    """The configurations in files, and in folders of them; what is none is a note.

    ``platforms`` are words ``FILE=PLATFORM`` for files whose lines do not tell theirs.

    Raises:
        InputError: there is none, a folder cannot be read, or such a word names no file or no platform.
    """
    given = list(places)
    files = [file for place in given for file in _files(place)]
    where = files[0] if len(files) == 1 else next(iter(given), "")
    readers = ((str(file), partial(read_text, file)) for file in files)
    read, notes = recognise_configurations(readers, str(where), _told_platforms(platforms, files))
    return read, [replace(note, hint=_say_how(note)) for note in notes]


def _say_how(note: Note) -> str:
    """The hint of a file that was left out, with the option that takes it."""
    return note.hint.replace("--platform:", f"--platform {Path(note.line).name}=PLATFORM, which is one of", 1)


def _told_platforms(words: Iterable[str], files: Sequence[Path]) -> Mapping[str, str]:
    """Platforms by the paths of their files."""
    names = {file.name: str(file) for file in files}
    told: dict[str, str] = {}
    for word in words:
        name, separator, platform_id = word.rpartition("=")
        if not separator or name not in names:
            raise InputError(
                f"{word!r} names none of the files",
                Place(path="--platform"),
                f"FILE=PLATFORM, FILE one of {listed(sorted(names))}",
            )
        platform(platform_id)
        told[names[name]] = platform_id
    return told


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
