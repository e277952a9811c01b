"""Plug-ins that read sources of inventories, found by the entry point group ``qosforge.inventories``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from qosforge.errors import InputError, Place
from qosforge.intent.yaml_source import YamlDocument
from qosforge.sources.model import SourceNetwork

GROUP = "qosforge.inventories"


@dataclass(frozen=True)
class SourceFile:
    """The file that describes a source, for messages; and the environment that secrets are taken from."""

    document: YamlDocument
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    @property
    def folder(self) -> Path:
        """The network's folder: relative paths of options count from it."""
        return Path(self.document.file).parent

    def place(self, *path: str | int) -> Place:
        """The place of an option's value."""
        return self.document.place(("options", *path))


class SourcePlugin(Protocol):
    """One kind of source. An entry point of the group names an instance."""

    options: type[BaseModel]
    """The model of its own options, which stand under ``options`` of ``source.yaml``."""

    def location(self, options: Any) -> str:
        """Where the source is, as people know it: an address or a name, and no secret."""
        ...

    def read(self, options: Any, file: SourceFile) -> SourceNetwork:
        """Read the whole source; nothing is changed in it.

        Raises:
            InputError: an option names something that does not exist.
            SourceError: the source cannot be read; no secret is in the message.
        """
        ...


@cache
def installed() -> Mapping[str, EntryPoint]:
    """Entry points of the installed plug-ins by their names."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def load_plugin(name: str, place: Place) -> SourcePlugin:
    """The plug-in of this name; ``place`` is where it is named.

    Raises:
        InputError: none is installed under this name, or it cannot be loaded.
    """
    if name not in installed():
        known = ", ".join(sorted(installed()))
        raise InputError(f"there is no plug-in {name!r} for sources", place, f"installed: {known}")
    try:
        plugin: SourcePlugin = installed()[name].load()
    except Exception as error:  # noqa: BLE001  somebody else's code: whatever it raises is told, not shown as ours
        raise InputError(f"the plug-in {name!r} cannot be loaded: {error}", place, "install it again") from None
    if not all(hasattr(plugin, part) for part in ("options", "location", "read")):
        hint = "bring it to a release for this one: docs/inventory-sources.md says what it has to have"
        raise InputError(f"the plug-in {name!r} is not as qosforge needs it", place, hint)
    return plugin
