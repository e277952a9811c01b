"""``source.yaml``: the inventory source of a network, and the mapping of its words to ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from qosforge.deploy.driver_and_platform import (
    driver_fits_platform,
    foreign_driver,
    unknown_feature,
    unknown_features,
)
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.errors import InputError, InputErrors, Place
from qosforge.intent.problems import as_problem
from qosforge.intent.yaml_source import Path_, YamlDocument, read_document
from qosforge.inventory.models import DeviceRole
from qosforge.inventory.reach import OWN, Reach
from qosforge.platforms.base import platform
from qosforge.sources.plugins import SourceFile, SourcePlugin, load_plugin

SOURCE = "source.yaml"
_SECRET = re.compile(r"token|password|secret|passphrase|(?:^|_)key(?:$|_)", re.IGNORECASE)
Word = Annotated[str, Field(min_length=1, max_length=63)]
Given = TypeVar("Given", bound=BaseModel)


class PlatformChoice(BaseModel):
    """What a source's platform is here. ``image`` counts for devices of which the source tells none; ``driver`` is
    the platform's own unless given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    platform: Word
    image: Word | None = None
    driver: Word | None = None
    features: frozenset[Word] = frozenset()


def _choice(value: object) -> object:
    return {"platform": value} if isinstance(value, str) else value


class SourceDescription(BaseModel):
    """A source: the plug-in that reads it, its options, and a meaning for each of its words.

    A tag that means ``null`` is left out without a note. ``credentials``, ``transport`` and ``jump`` are given to
    new devices (see ``docs/reaching.md``).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    plugin: Word
    options: dict[str, Any] = {}
    platforms: dict[str, Annotated[PlatformChoice, BeforeValidator(_choice)]] = {}
    roles: dict[str, DeviceRole] = {}
    tags: dict[str, Word | None] = {}
    credentials: str | None = None
    transport: str = "ssh"
    jump: str | None = None


@dataclass(eq=False)
class SourceMissing(InputError):
    """The network's inventory has no source."""


@dataclass(frozen=True)
class NetworkSource:
    """A described source, ready to be read."""

    description: SourceDescription
    reach: Reach
    plugin: SourcePlugin
    options: BaseModel
    file: SourceFile

    @property
    def location(self) -> str:
        """Where it is, as people know it."""
        return self.plugin.location(self.options)


def read_source(folder: Path) -> NetworkSource:
    """The source that a network's folder names.

    Raises:
        SourceMissing: the folder has no ``source.yaml``.
        InputError: it names no plug-in that is installed.
        InputErrors: what it says is wrong; carries every problem, with its place and without any secret.
    """
    path = folder / SOURCE
    if not path.is_file():
        hint = "write one: see docs/inventory-sources.md"
        raise SourceMissing(f"the network has no {SOURCE}", Place(file=str(path)), hint)
    document = read_document(path)
    problems: list[InputError] = []
    description = _validated(SourceDescription, document.data, document, (), problems)
    if description is None:
        raise InputErrors("does not describe a source", Place(file=str(path)), "", problems)
    plugin = load_plugin(description.plugin, document.place(("plugin",)))
    options = _validated(plugin.options, description.options, document, ("options",), problems)
    words = {key: getattr(description, key) for key in OWN if getattr(description, key) is not None}
    reach = _validated(Reach, words, document, (), problems)
    problems += _unknown_platforms(description, document)
    if problems or options is None or reach is None:
        raise InputErrors("does not describe a source", Place(file=str(path)), "", problems)
    return NetworkSource(description, reach, plugin, options, SourceFile(document))


def is_secret(name: str) -> bool:
    """Whether an option of this name is one that nobody may read."""
    return _SECRET.search(name) is not None


def _validated(
    model: type[Given], data: Any, document: YamlDocument, base: Path_, problems: list[InputError]
) -> Given | None:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        at = base if base in document.marks else ()
        problems.extend(as_problem(document, _masked(details), model, at) for details in error.errors())
        return None


def _masked(details: ErrorDetails) -> ErrorDetails:
    """The details of a problem, without the value where that may be a secret."""
    secret = any(isinstance(part, str) and is_secret(part) for part in details["loc"])
    return {**details, "input": "…"} if secret else details


def _unknown_platforms(description: SourceDescription, document: YamlDocument) -> list[InputError]:
    problems = []
    for name, choice in description.platforms.items():
        known = True
        for key, check in (("platform", platform), ("driver", driver_capabilities)):
            value = getattr(choice, key)
            try:
                if value is not None:
                    check(value, "")
            except InputError as error:
                place = document.place(("platforms", name, key))
                problems.append(InputError(error.message, place, error.hint))
                known = False
        if known and choice.driver is not None and not driver_fits_platform(choice.driver, choice.platform):
            place = document.place(("platforms", name, "driver"))
            problems.append(foreign_driver(choice.driver, choice.platform, place))
        place = document.place(("platforms", name, "features"))
        words = unknown_features(choice.platform, choice.features)
        problems.extend(unknown_feature(choice.platform, word, place) for word in words)
    return problems


def secret_values(values: Mapping[str, Any]) -> frozenset[str]:
    """The values of options that nobody may read."""
    return frozenset(str(value) for name, value in values.items() if value and is_secret(name))
