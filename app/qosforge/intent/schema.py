"""The JSON Schema of the intent language, for editors and other tools: ``python -m qosforge.intent.schema``."""

from __future__ import annotations

import json
import sys
from collections.abc import Container
from typing import Any

from qosforge.intent.includes import Header, WrittenIntent

REFERENCE = {"type": "string", "pattern": r"^\$\{[A-Za-z][A-Za-z0-9_-]*\}$"}
"""What stands for a value that is a parameter's."""


def intent_schema() -> dict[str, Any]:
    """The schema of an intent as people write it (JSON Schema, draft 2020-12)."""
    schema = WrittenIntent.model_json_schema(by_alias=True, mode="validation")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "qosforge intent"}
    plain = {key: _bare(value) for key, value in schema.items() if key != "title"}
    return {**head, **_referring(plain, as_it_is=Header.model_fields), "$defs": _definitions(plain["$defs"])}


def _definitions(definitions: dict[str, Any]) -> dict[str, Any]:
    return {**{name: _referring(node) for name, node in definitions.items()}, "Reference": REFERENCE}


def _referring(node: dict[str, Any], as_it_is: Container[str] = ()) -> dict[str, Any]:
    """A node whose values may be those of parameters; ``as_it_is`` are properties without."""
    kept = dict(node)
    if "properties" in node:
        kept["properties"] = {
            key: value if key in as_it_is else _value(value) for key, value in node["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            kept[key] = _value(node[key])
    if "anyOf" in node:
        kept["anyOf"] = [_referring(branch) for branch in node["anyOf"]]
    return kept


def _value(node: dict[str, Any]) -> dict[str, Any]:
    """A value with a reference beside it, where it is not text anyway, nor made of parts with keys."""
    referring = _referring(node)
    branches = referring.get("anyOf", [referring])
    if any(branch.get("type") == "string" and "enum" not in branch for branch in branches):
        return referring
    if all(_is_made_of_parts(branch) for branch in branches if branch.get("type") != "null"):
        return referring
    named: dict[str, Any] = {
        key: referring.pop(key) for key in ("title", "description", "default") if key in referring
    }
    return {**named, "anyOf": [*referring.get("anyOf", [referring]), {"$ref": "#/$defs/Reference"}]}


def _is_made_of_parts(node: dict[str, Any]) -> bool:
    return "$ref" in node or "const" in node or node.get("type") == "object" or "$ref" in node.get("items", {})


def _bare(value: Any) -> Any:
    """A part of the schema without the defaults that nobody would write: empty, or parsed quantities."""
    if isinstance(value, list):
        return [_bare(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if k != "default" or (isinstance(v, bool | str | int) and v != "")}
    return {k: _bare(v) for k, v in kept.items()}


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(intent_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
