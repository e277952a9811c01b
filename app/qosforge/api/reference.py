"""Every call of the REST interface and every schema, as a page made from the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qosforge.api.application import create_app
from qosforge.api.backend import open_backend
from qosforge.settings import Settings

_BEGINNING = """\
# Every call of the REST interface

Made from the OpenAPI document, which a service has at `/api/v1/openapi.json`. [REST](rest.md) says what all calls
have in common, how problems are told, and what the limits are.
"""
_METHODS = ("get", "post", "put", "patch", "delete")
_SCHEMAS = "#/components/schemas/"
_TOLD_OF_ALL = frozenset({"400", "401", "403", "413", "414", "422", "429", "431", "500", "503", "504"})
"""Statuses of problems that any call may answer: the page of problems has them."""


def page() -> str:
    """The page, as Markdown: a section for each part of the interface, and one for the schemas."""
    with TemporaryDirectory() as folder:
        settings = Settings(var_dir=Path(folder), compute_processes=1)
        with open_backend(settings) as backend:
            document = create_app(backend).openapi()
    return page_of(document)


def page_of(document: Mapping[str, Any]) -> str:
    """The page of an OpenAPI document."""
    return "\n".join([_BEGINNING, *_calls(document), *_schemas(document["components"]["schemas"])]) + "\n"


def _calls(document: Mapping[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[tuple[str, str, dict[str, Any]]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                tag = operations[method].get("tags", ["system"])[0]
                by_tag.setdefault(tag, []).append((method.upper(), path, operations[method]))
    told = {tag["name"]: tag["description"] for tag in document["tags"]}
    for tag, calls in by_tag.items():
        if calls:
            yield f"## {tag[:1].upper()}{tag[1:]}\n\n{told.get(tag, '')}\n"
            for method, path, operation in calls:
                yield from _call(method, path, operation)


def _call(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {operation['summary']}\n\n`{method} {path}`\n"
    if operation.get("description"):
        yield f"{_text(operation['description'], within_cell=False)}\n"
    if role := operation.get("x-role"):
        yield f"Role: {role}\n"
    if parameters := operation.get("parameters"):
        yield from _table(
            ("parameter", "in", "type", "meaning"),
            (
                (_marked(one["name"], bool(one.get("required"))), one["in"], _type(one["schema"]), _about(one))
                for one in parameters
            ),
        )
    for kind, media in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body ({kind}): {_type(media.get('schema', {}))}\n"
    answers = operation.get("responses", {}).items()
    yield from _table(
        ("status", "answer", "body"),
        (
            (status, _text(answer.get("description", "")), _body(answer))
            for status, answer in answers
            if _own(status)
        ),
    )


def _own(status: str) -> bool:
    return status not in _TOLD_OF_ALL


def _marked(name: str, required: bool) -> str:
    return f"`{name}`{' *' if required else ''}"


def _body(answer: Mapping[str, Any]) -> str:
    content = answer.get("content", {})
    return ", ".join(
        _type(media.get("schema", {})) if kind.endswith("json") else kind for kind, media in content.items()
    )


def _schemas(schemas: Mapping[str, Any]) -> Iterator[str]:
    yield "## Schemas\n\nFields that must be given are marked `*`.\n"
    for name, schema in sorted(schemas.items()):
        yield f"### {name}\n"
        if schema.get("description"):
            yield f"{_text(schema['description'], within_cell=False)}\n"
        required = schema.get("required", ())
        fields = schema.get("properties")
        if fields:
            yield from _table(
                ("field", "type", "meaning"),
                ((_marked(field, field in required), _type(body), _about(body)) for field, body in fields.items()),
            )
        elif "enum" in schema:
            yield f"One of {', '.join(f'`{value}`' for value in schema['enum'])}.\n"
        else:
            yield f"{_type(schema)}\n"


def _about(one: Mapping[str, Any]) -> str:
    schema = one.get("schema", one)
    parts = [_text(one.get("description") or schema.get("description") or "")]
    if "default" in schema and schema["default"] not in (None, "", [], {}):
        parts.append(f"default `{schema['default']}`")
    return "; ".join(part for part in parts if part)


def _type(schema: Mapping[str, Any]) -> str:
    """A type in a cell: the name of a schema is a link."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_SCHEMAS)
        return f"[{name}](#{name.lower()})"
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[choice]))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])} by name"
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)


def _text(text: str, *, within_cell: bool = True) -> str:
    """A text of the document as Markdown: the double marks of code are single ones."""
    plain = text.replace("``", "`")
    return " ".join(plain.split()).replace("|", "\\|") if within_cell else plain


def _table(headings: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    if lines:
        yield "\n".join([f"| {' | '.join(headings)} |", "|---" * len(headings) + "|", *lines]) + "\n"
