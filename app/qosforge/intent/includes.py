"""Includes: an intent put together from its own file and the libraries of classes that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, Field, ValidationError

from qosforge.errors import InputError, Place
from qosforge.findings import Finding
from qosforge.intent.applications import OwnApplication
from qosforge.intent.base import IntentModel, Many, Name
from qosforge.intent.models import Intent, LinkEfficiencyRule, TrafficClass
from qosforge.intent.parameters import Parameter, Resolution, Value
from qosforge.intent.problems import as_problem
from qosforge.intent.yaml_source import MAX_BYTES, MAX_NODES, Path_, YamlDocument, parse_document, read_document
from qosforge.note import note
from qosforge.resources import root
from qosforge.units import shortened

MAX_INCLUDE_DEPTH = 8
MAX_FILES = 64
LONGEST_NAME = 200
LIBRARY = "policies"
"""Folder of the shipped policies: what is not beside the file that includes it is looked for here."""

_ENTRY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*\.ya?ml")


def _entry(value: str) -> str:
    if len(value) > LONGEST_NAME or _ENTRY.fullmatch(value) is None:
        raise ValueError(
            f"{shortened(value)} cannot be included: name a .yaml file in or below this folder or {LIBRARY}/, "
            "by letters, digits, '_', '-', '.' and '/' only"
        )
    return value


Entry = Annotated[str, AfterValidator(_entry)]


class Header(IntentModel):
    """What is put in before an intent is checked: the files it includes, and its parameters."""

    include: Many[Entry] = ()
    parameters: dict[Name, Value] = Field(default_factory=dict)


class Library(Header):
    """What an included file may hold."""

    version: Literal[1] = 1
    applications: tuple[OwnApplication, ...] = ()
    classes: tuple[TrafficClass, ...] = ()
    link_efficiency: tuple[LinkEfficiencyRule, ...] = ()


class WrittenIntent(Intent, Header):
    """An intent as it stands in its file: its classes may all be included."""

    classes: tuple[TrafficClass, ...] = ()


MERGED = ("applications", "classes", "link_efficiency")
"""Lists that an included file adds to."""

SHIPPED = f"qosforge:{LIBRARY}"
"""What the folder of the shipped policies is called: the same wherever qosforge is installed."""


class IncludeSource(Protocol):
    """Where included files come from."""

    def has(self, folder: str, entry: str) -> bool:
        """Whether a folder has the file.

        Raises:
            InputError: it lies outside the folder.
        """

    def read(self, name: str) -> YamlDocument:
        """A file by its name.

        Raises:
            InputError, InputErrors: it is no usable document.
        """


class FolderFiles:
    """Included files on disk."""

    def has(self, folder: str, entry: str) -> bool:
        """See `IncludeSource`."""
        inside = self._path(folder)
        path = inside / entry
        try:
            if not path.is_file():
                return False
            outside = not path.resolve().is_relative_to(inside.resolve())
        except (OSError, RuntimeError):  # a loop of symbolic links
            return False
        if outside:
            raise InputError(f"{entry!r} leads out of {folder}", hint="put the file itself into the folder")
        return True

    def read(self, name: str) -> YamlDocument:
        """See `IncludeSource`."""
        return read_document(self._path(name), name)

    def _path(self, name: str) -> Path:
        shipped = name.removeprefix(SHIPPED)
        return Path(name) if shipped == name else root() / LIBRARY / shipped.lstrip("/")


@dataclass(frozen=True)
class TextFiles:
    """Included files as texts by their names, as a run keeps them."""

    texts: Mapping[str, str]

    def has(self, folder: str, entry: str) -> bool:
        """See `IncludeSource`."""
        return _name(folder, entry) in self.texts

    def read(self, name: str) -> YamlDocument:
        """See `IncludeSource`."""
        return parse_document(self.texts[name], name)


@dataclass
class Sheets:
    """An intent's file and all that it includes, each once and before what includes it; and what is wrong there.

    It is not ``complete`` where a file that is included could not be read; ``broken`` are the names of parameters
    that have no proper value.
    """

    source: IncludeSource
    order: list[tuple[YamlDocument, Header]] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)
    complete: bool = True
    broken: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    _bytes: int = 0
    _values: int = 0

    def take(self, document: YamlDocument, trail: tuple[str, ...] = ()) -> None:
        """Read a document's header and what it includes; ``trail`` names the files that led here."""
        self._bytes += len(document.text)
        self._values += len(document.marks)
        header = self._header(document, Library if trail else Header)
        for index, entry in enumerate(header.include):
            try:
                self._include(document.file, entry, (*trail, document.file))
            except InputError as error:
                self.complete = False
                if error.where.file is not None:
                    self.problems.extend(e for e in error.problems() if isinstance(e, InputError))
                else:
                    where = document.place(("include", index))
                    self.problems.append(InputError(f"cannot include: {error.message}", where, error.hint))
        self.order.append((document, header))

    def _include(self, beside: str, entry: str, trail: tuple[str, ...]) -> None:
        folders = (str(PurePosixPath(beside).parent), SHIPPED)
        folder = next((f for f in folders if self.source.has(f, entry)), None)
        if folder is None:
            raise InputError(f"there is no {entry!r}", hint=f"it is looked for in {folders[0]} and in {LIBRARY}/")
        name = _name(folder, entry)
        if name in trail:
            way = " → ".join((*trail[trail.index(name) :], name))
            raise InputError(f"{entry!r} includes itself", hint=f"break the circle: {way}")
        if name in self._seen:
            return
        if len(trail) > MAX_INCLUDE_DEPTH:
            raise InputError(f"{entry!r} is more than {MAX_INCLUDE_DEPTH} includes deep", hint="include it sooner")
        if len(self._seen) >= MAX_FILES:
            raise InputError(f"{entry!r} is one file more than {MAX_FILES}", hint="join some of the files")
        self._seen.add(name)
        document = self.source.read(name)
        if self._bytes + len(document.text) > MAX_BYTES or self._values + len(document.marks) > MAX_NODES:
            limit = f"{MAX_BYTES:,} bytes or {MAX_NODES:,} values"
            raise InputError(f"with {entry!r} the intent has more than {limit}", hint="include less")
        if not isinstance(document.data, dict):
            where = document.place(())
            raise InputError(
                "is no library of classes: a mapping is expected", where, "write classes under 'classes'"
            )
        self.take(document, trail)

    def _header(self, document: YamlDocument, model: type[Header]) -> Header:
        if model is Library:
            self._check_library(document)
        include = self._validated(document, {"include": document.data.get("include", ())})
        self.complete = self.complete and include is not None
        given = document.data.get("parameters", {})
        parameters: dict[str, Any] = {}
        for name, value in given.items() if isinstance(given, dict) else ():
            one = self._validated(document, {"parameters": {name: value}})
            if one is None:
                self.broken.add(name)
            else:
                parameters.update(one.parameters)
        if not isinstance(given, dict):
            self._validated(document, {"parameters": given})
            self.complete = False
        return Header(include=include.include if include else (), parameters=parameters)

    def _check_library(self, document: YamlDocument) -> None:
        for key, value in document.data.items():
            if key not in Library.model_fields:
                hint = f"only the intent itself may: an included file has {', '.join(Library.model_fields)}"
                if key not in WrittenIntent.model_fields:
                    near = get_close_matches(key, Library.model_fields, n=1)
                    hint = (
                        f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(Library.model_fields)}"
                    )
                self.problems.append(InputError(f"unknown key {shortened(key)}", document.key_place((key,)), hint))
            elif key in MERGED and not isinstance(value, list):
                where, hint = document.place((key,)), "write a list such as [a, b]"
                self.problems.append(InputError(f"{shortened(value)} is not a list", where, hint))
        if "version" in document.data:
            self._validated(document, {"version": document.data["version"]})

    def _validated(self, document: YamlDocument, part: dict[str, Any]) -> Library | None:
        try:
            return Library.model_validate(part)
        except ValidationError as error:
            self.problems.extend(as_problem(document, details, Library) for details in error.errors())
            return None

    def parameters(self) -> dict[str, Parameter]:
        """The parameters of all files; what is read later has the last word."""
        return {
            name: Parameter(value, document.place(("parameters", name)))
            for document, header in self.order
            for name, value in header.parameters.items()
        }

    def merged(self, resolution: Resolution) -> tuple[YamlDocument, list[Finding]]:
        """One document of all files, with every reference replaced, and what replaced what.

        Raises:
            InputError: the parameters come to too much text.
        """
        resolved = [
            (document, {key: resolution.substitute(document, (key,)) for key in _body(document.data)})
            for document, _ in self.order
        ]
        top, data = resolved[-1]
        parts: dict[Path_, tuple[YamlDocument, Path_]] = {}
        findings: list[Finding] = []
        lists = {
            "classes": _classes(resolved, findings),
            "applications": [
                entry for document, body in resolved for entry in _entries(document, body, "applications")
            ],
            "link_efficiency": [
                entry
                for document, body in reversed(resolved)
                for entry in _entries(document, body, "link_efficiency")
            ],
        }
        for key, entries in lists.items() if len(resolved) > 1 else ():
            if not entries or not isinstance(data.get(key, []), list):
                continue
            if key not in data:
                parts[key,] = (top, ("include",))
            data[key] = [entry.value for entry in entries]
            parts.update({(key, at): (entry.document, entry.path) for at, entry in enumerate(entries)})
        return YamlDocument(top.file, data, top.marks, top.keys, top.text, parts), findings


@dataclass(frozen=True)
class _Part:
    """An entry of a list, and where it stands."""

    value: Any
    document: YamlDocument
    path: Path_


def _name(folder: str, entry: str) -> str:
    return str(PurePosixPath(folder) / entry)


def _body(data: dict[str, Any]) -> list[str]:
    return [key for key in data if key not in Header.model_fields]


def _entries(document: YamlDocument, body: dict[str, Any], key: str) -> list[_Part]:
    entries = body.get(key)
    return [
        _Part(entry, document, (key, at)) for at, entry in enumerate(entries if isinstance(entries, list) else ())
    ]


def _classes(resolved: Iterable[tuple[YamlDocument, dict[str, Any]]], findings: list[Finding]) -> list[_Part]:
    """All classes in the order of reading; one of a name that was there before takes its place."""
    classes: list[_Part] = []
    places: dict[str, list[int]] = {}
    for document, body in resolved:
        for part in _entries(document, body, "classes"):
            name = part.value.get("name") if isinstance(part.value, dict) else None
            known = places.setdefault(name, []) if isinstance(name, str) else []
            at = next((at for at in known if classes[at].document is not document), None)
            if at is None:
                known.append(len(classes))
                classes.append(part)
                continue
            findings.append(_replaced(name, part, classes[at]))
            classes[at] = part
    return classes


def _replaced(name: Any, part: _Part, earlier: _Part) -> Finding:
    where, before = part.document.place(part.path), earlier.document.place(earlier.path)
    return note(
        "class-replaced",
        Place(traffic_class=name, file=where.file, line=where.line),
        earlier=f"{before.file}:{before.line}",
    )
