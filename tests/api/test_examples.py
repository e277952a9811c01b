"""What the interface's document gives as examples is what it describes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from starlette.testclient import TestClient


def examples(node: Any, path: str = "#") -> Iterator[tuple[str, Any, Any]]:
    """Every example with its place and the schema that it stands in."""
    if isinstance(node, list):
        for number, entry in enumerate(node):
            yield from examples(entry, f"{path}/{number}")
    elif isinstance(node, dict):
        schema = node.get("schema", node)
        if isinstance(schema, dict):
            given = node.get("examples", [])
            for example in given if isinstance(given, list) else []:
                yield path, example, schema
            if "example" in node and not path.endswith("/properties"):
                yield path, node["example"], schema
        for name, entry in node.items():
            if name not in ("examples", "example"):
                yield from examples(entry, f"{path}/{name}")


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    made: dict[str, Any] = client.get("/api/v1/openapi.json").json()
    return made


def test_every_example_is_what_its_schema_says(document: dict[str, Any]) -> None:
    components = {"components": document["components"]}
    found = list(examples(document))
    wrong = [
        f"{path}: {error.message}"
        for path, example, schema in found
        for error in Draft202012Validator(schema | components, validate_formats=True).iter_errors(example)
    ]
    assert len(found) > 30
    assert wrong == []


def _shown(field: dict[str, Any]) -> bool:
    choices = (*field.get("anyOf", ()), *field.get("oneOf", ()))
    return "examples" in field or "$ref" in field or any(map(_shown, choices))


def test_every_body_shows_an_example(document: dict[str, Any]) -> None:
    """A body of its own, or each field that has to be given."""
    schemas = document["components"]["schemas"]
    lacking = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            for media in content.values():
                schema = media["schema"]
                while "$ref" in schema and "examples" not in schema:
                    schema = schemas[schema["$ref"].rpartition("/")[2]]
                fields = [schema.get("properties", {}).get(name, {}) for name in schema.get("required", [])]
                shown = "examples" in schema or all(map(_shown, fields))
                if not shown:
                    lacking.append(f"{method} {path}")
    assert not lacking, lacking


MAIN = {"runs", "policies", "previews"}
"""Parts of the interface whose answers all have an example."""


def test_the_main_answers_show_an_example(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    named, lacking = set(), []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                answer = response.get("content", {}).get("application/json", {}).get("schema")
                if answer is None or not status.startswith("2"):
                    continue
                name = answer.get("$ref", "").rpartition("/")[2]
                if name and "examples" in schemas[name]:
                    named.add(name)
                elif MAIN & set(operation["tags"]) and name not in {"ReportDocument", "JsonDocument"}:
                    lacking.append(f"{method} {path}: {name}")
    assert not lacking, lacking
    assert named >= {"RunDetail", "PolicyDocument", "CompilePreview", "NetworkDetail", "DeviceList"}
