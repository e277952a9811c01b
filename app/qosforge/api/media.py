"""Content of answers without a model, for the OpenAPI document: texts, and JSON of any shape.

Their schemas have names: generators of clients make one class of each, and one class twice of what has none.
"""

from __future__ import annotations

from typing import Any

SCHEMAS: dict[str, dict[str, Any]] = {
    "Text": {"title": "Text", "description": "A text as it is.", "type": "string"},
    "JsonDocument": {
        "title": "JsonDocument",
        "description": "A document whose fields another specification or its media type has.",
    },
}

TEXT: dict[str, Any] = {"schema": {"$ref": "#/components/schemas/Text"}}
JSON_DOCUMENT: dict[str, Any] = {"schema": {"$ref": "#/components/schemas/JsonDocument"}}
