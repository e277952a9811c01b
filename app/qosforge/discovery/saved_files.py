"""Files with a device's configuration, as people saved them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType

from qosforge.discovery.facts import Note, Topic
from qosforge.errors import InputError, Place
from qosforge.importing.running_configuration import PlatformNotTold, RunningConfiguration, read_configuration
from qosforge.platforms.base import installed

LARGEST = 16 * 2**20
"""Bytes of a configuration file; the largest devices print a few megabytes."""

HOW_TO_SAVE = "save what `show running-config` prints, one file a device"


def configuration_text(data: bytes, place: Place) -> str:
    """The text of a configuration; what is no UTF-8 in it is replaced.

    Raises:
        InputError: it is no text or is too large.
    """
    if len(data) > LARGEST:
        raise InputError("is too large for a configuration", place, "give the running configuration of one device")
    if b"\0" in data:
        raise InputError("is not a text", place, "give the configuration as the device prints it")
    return data.decode("utf-8", errors="replace")


def recognise_configurations(
    files: Iterable[tuple[str, Callable[[], str]]], where: str, platforms: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[RunningConfiguration], list[Note]]:
    """The configurations among files, each given by its path and what reads it; what is none is a note.

    ``platforms`` are those of paths whose lines do not tell theirs.

    Raises:
        InputError: there is none; ``where`` is then where they were looked for.
    """
    read, notes = sort_configurations(files, platforms)
    require_configuration(read, notes, where)
    return read, notes


def sort_configurations(
    files: Iterable[tuple[str, Callable[[], str]]], platforms: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[RunningConfiguration], list[Note]]:
    """As `recognise_configurations`; there may be none. A file whose platform is not told has such a note.

    Of several configurations of one device the first is taken, and the others are notes.
    """
    read: dict[str, RunningConfiguration] = {}
    notes: list[Note] = []
    for name, text in files:
        try:
            one = read_configuration(text(), name, platform_id=platforms.get(name))
            if one.device in read:
                message = (
                    f"{_beside(read[one.device].file, name)} is a configuration of {one.device}, too, and was taken"
                )
                raise InputError(message, hint="give the newest alone")
            read[one.device] = one
        except InputError as error:
            topic = Topic.UNKNOWN_PLATFORM if isinstance(error, PlatformNotTold) else Topic.LEFT_OUT
            notes.append(Note(topic, "", name, f"{PurePath(name).name}: {error.message}", error.hint))
    return [*read.values()], notes


def _beside(file: str, name: str) -> str:
    """What ``file`` is called where the path ``name`` is known: its name, or its path where it stands elsewhere."""
    return PurePath(file).name if PurePath(file).parent == PurePath(name).parent else file


def require_configuration(read: Sequence[RunningConfiguration], notes: Sequence[Note], where: str) -> None:
    """Make sure that there is a configuration among files.

    Raises:
        InputError: there is none; ``where`` is where they were looked for.
    """
    if not read:
        why = "; ".join(note.message for note in notes[:3])
        message = f"no configuration of a device is here{f' ({why})' if why else ''}"
        hint = HOW_TO_SAVE
        if any(note.topic is Topic.UNKNOWN_PLATFORM for note in notes):
            known = ", ".join(sorted(installed()))
            hint += f"; of one whose lines do not tell it: --platform FILE=PLATFORM ({known})"
        raise InputError(message, Place(file=where), hint)
