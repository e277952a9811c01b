"""The JSON Schema of the intent language, for editors and other tools: ``python -m app.intent.schema``."""

from __future__ import annotations

import json
import sys
from typing import Any

from app.intent.models import Intent


def intent_schema() -> dict[str, Any]:
    """The schema of an intent as people write it (JSON Schema, draft 2020-12)."""
    schema = Intent.model_json_schema(by_alias=True, mode="validation")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "qosforge intent"}
    return {**head, **{key: _bare(value) for key, value in schema.items() if key != "title"}}


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
