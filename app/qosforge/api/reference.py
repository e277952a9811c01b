"""Every call of the REST interface and every schema, as pages made from the OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qosforge.api.application import create_app
from qosforge.api.backend import open_backend
from qosforge.settings import Settings

_BEGINNING = """\
# Every call of the REST interface

Made from the OpenAPI document, which a service has at `/api/v1/openapi.json`. [REST](rest.md) says what all calls
have in common, how problems are told, and what the limits are. Each part has a page of its own, with its calls and
the schemas of their bodies; [schemas of several parts](%s) have another.
"""
OVERVIEW = "every-call.md"
"""The page that leads to all others."""
_SHARED = "every-schema.md"
_METHODS = ("get", "post", "put", "patch", "delete")
_SCHEMAS = "#/components/schemas/"
_TOLD_OF_ALL = frozenset({"400", "401", "403", "413", "414", "422", "429", "431", "500", "503", "504"})
"""Statuses of problems that any call may answer: the page of problems has them."""


Schemas = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class ReferencePage:
    """A page as Markdown, with its title in a menu and the name of its file."""

    file: str
    title: str
    text: str


@dataclass(frozen=True)
class _Part:
    """A part of the interface: its calls (method, path, operation) under one tag."""

    tag: str
    about: str
    calls: tuple[tuple[str, str, Mapping[str, Any]], ...]

    @property
    def title(self) -> str:
        return self.tag[:1].upper() + self.tag[1:]

    @property
    def file(self) -> str:
        return f"every-call-{self.tag.replace(' ', '-')}.md"


def pages() -> tuple[ReferencePage, ...]:
    """The pages of this release's interface; the first one is `OVERVIEW`."""
    with TemporaryDirectory() as folder:
        settings = Settings(var_dir=Path(folder), compute_processes=1)
        with open_backend(settings) as backend:
            document = create_app(backend).openapi()
    return pages_of(document)


def pages_of(document: Mapping[str, Any]) -> tuple[ReferencePage, ...]:
    """The pages of an OpenAPI document: the overview, one for each part, and one of what parts share."""
    schemas = document["components"]["schemas"]
    parts = tuple(_parts(document))
    file_of = _files(parts, schemas)
    made = [ReferencePage(OVERVIEW, "All calls", "\n".join(_overview(parts)) + "\n")]
    for part in parts:
        own = {name: schema for name, schema in schemas.items() if file_of[name] == part.file}
        text = _Writer(part.file, file_of).part(part, own)
        made.append(ReferencePage(part.file, part.title, text))
    shared = {name: schema for name, schema in schemas.items() if file_of[name] == _SHARED}
    text = "# Schemas of several parts of REST\n\n" + "\n".join(_Writer(_SHARED, file_of).schemas(shared)) + "\n"
    return (*made, ReferencePage(_SHARED, "Schemas of several parts", text))


def _parts(document: Mapping[str, Any]) -> Iterator[_Part]:
    by_tag: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                tag = operations[method].get("tags", ["system"])[0]
                by_tag.setdefault(tag, []).append((method.upper(), path, operations[method]))
    told = {tag["name"]: tag["description"] for tag in document["tags"]}
    return (_Part(tag, told.get(tag, ""), tuple(calls)) for tag, calls in by_tag.items() if calls)


def _files(parts: Sequence[_Part], schemas: Schemas) -> dict[str, str]:
    """By schema the file of its page: that of the part whose calls alone lead to it, else that of all."""
    users: dict[str, set[str]] = {name: set() for name in schemas}
    for part in parts:
        todo = set(_named([operation for _, _, operation in part.calls]))
        while todo:
            name = todo.pop()
            users[name].add(part.file)
            todo |= {other for other in _named(schemas[name]) if part.file not in users[other]}
    return {name: next(iter(of)) if len(of) == 1 else _SHARED for name, of in users.items()}


def _named(value: Any) -> Iterator[str]:
    """The schemas that a part of a document names."""
    if isinstance(value, Mapping):
        if isinstance(reference := value.get("$ref"), str) and reference.startswith(_SCHEMAS):
            yield reference.removeprefix(_SCHEMAS)
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _named(one)


def _overview(parts: Sequence[_Part]) -> Iterator[str]:
    yield _BEGINNING % _SHARED
    for part in parts:
        yield f"## {part.title}\n\n{part.about} [Its calls and schemas]({part.file}).\n"
        yield from _table(
            ("call", "what it does", "role"),
            (
                (
                    f"`{method} {path}`",
                    f"[{operation['summary']}]({part.file}#{_anchor(operation['summary'])})",
                    role,
                )
                for method, path, operation in part.calls
                for role in (operation.get("x-role", ""),)
            ),
        )


def _anchor(title: str) -> str:
    """The anchor of a heading, as the site makes it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


@dataclass(frozen=True)
class _Writer:
    """Writes a page: knows its own file, and the file of each schema, for links."""

    file: str
    file_of: Mapping[str, str]

    def part(self, part: _Part, own: Schemas) -> str:
        """A part's page: its calls, and the schemas that no other part has."""
        above = f"[All calls]({OVERVIEW}) · [schemas of several parts]({_SHARED})"
        lines = [f"# REST: {part.tag}\n\n{part.about}\n\n{above}\n"]
        for method, path, operation in part.calls:
            lines += self._call(method, path, operation)
        if own:
            lines += ["## Schemas\n", *self.schemas(own)]
        return "\n".join(lines) + "\n"

    def schemas(self, schemas: Schemas) -> Iterator[str]:
        """A section for each schema, by name."""
        yield "Fields that must be given are marked `*`.\n"
        for name, schema in sorted(schemas.items()):
            yield f"### {name}\n"
            if schema.get("description"):
                yield f"{_text(schema['description'], within_cell=False)}\n"
            required = schema.get("required", ())
            fields = schema.get("properties")
            if fields:
                yield from _table(
                    ("field", "type", "meaning"),
                    (
                        (_marked(field, field in required), self._type(body), _about(body))
                        for field, body in fields.items()
                    ),
                )
            elif "enum" in schema:
                yield f"One of {', '.join(f'`{value}`' for value in schema['enum'])}.\n"
            else:
                yield f"{self._type(schema)}\n"

    def _call(self, method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
        yield f"## {operation['summary']}\n\n`{method} {path}`\n"
        if operation.get("description"):
            yield f"{_text(operation['description'], within_cell=False)}\n"
        if role := operation.get("x-role"):
            yield f"Role: {role}\n"
        if parameters := operation.get("parameters"):
            yield from _table(
                ("parameter", "in", "type", "meaning"),
                (
                    (
                        _marked(one["name"], bool(one.get("required"))),
                        one["in"],
                        self._type(one["schema"]),
                        _about(one),
                    )
                    for one in parameters
                ),
            )
        for kind, media in operation.get("requestBody", {}).get("content", {}).items():
            yield f"Body ({kind}): {self._type(media.get('schema', {}))}\n"
        answers = operation.get("responses", {}).items()
        yield from _table(
            ("status", "answer", "body"),
            (
                (status, _text(answer.get("description", "")), self._body(answer))
                for status, answer in answers
                if status not in _TOLD_OF_ALL
            ),
        )

    def _body(self, answer: Mapping[str, Any]) -> str:
        content = answer.get("content", {})
        return ", ".join(
            self._type(media.get("schema", {})) if kind.endswith("json") else kind
            for kind, media in content.items()
        )

    def _type(self, schema: Mapping[str, Any]) -> str:
        """A type in a cell: the name of a schema is a link to it, wherever it is."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(_SCHEMAS)
            file = "" if self.file_of[name] == self.file else self.file_of[name]
            return f"[{name}]({file}#{_anchor(name)})"
        for choice in ("anyOf", "oneOf", "allOf"):
            if choice in schema:
                return " or ".join(dict.fromkeys(self._type(one) for one in schema[choice]))
        if "const" in schema:
            return f"`{schema['const']}`"
        if "enum" in schema:
            return ", ".join(f"`{value}`" for value in schema["enum"])
        kind = schema.get("type", "any")
        if kind == "array":
            return f"list of {self._type(schema.get('items', {}))}"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"object of {self._type(schema['additionalProperties'])} by name"
        return f"{kind} ({schema['format']})" if "format" in schema else str(kind)


def _marked(name: str, required: bool) -> str:
    return f"`{name}`{' *' if required else ''}"


def _about(one: Mapping[str, Any]) -> str:
    schema = one.get("schema", one)
    parts = [_text(one.get("description") or schema.get("description") or "")]
    if "default" in schema and schema["default"] not in (None, "", [], {}):
        parts.append(f"default `{schema['default']}`")
    return "; ".join(part for part in parts if part)


def _text(text: str, *, within_cell: bool = True) -> str:
    """A text of the document as Markdown: the double marks of code are single ones."""
    plain = text.replace("``", "`")
    return " ".join(plain.split()).replace("|", "\\|") if within_cell else plain


def _table(headings: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    if lines:
        yield "\n".join([f"| {' | '.join(headings)} |", "|---" * len(headings) + "|", *lines]) + "\n"
