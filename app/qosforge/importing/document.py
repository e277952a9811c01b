"""Write imported intents and inventories as readable YAML: one class a paragraph, short mappings on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

WIDTH = 110
"""Columns that a line has at most, where it can be broken."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_QUANTITY = re.compile(r"\d+(?:\.\d+)? (?:b/s|kb/s|Mb/s|Gb/s|B|kB|ms|packets|%)")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"})


def as_yaml(value: Mapping[str, Any], heading: str = "") -> str:
    """A mapping as a YAML document; ``heading`` stands above it as a comment."""
    comment = "".join(f"# {line}\n" for line in heading.splitlines())
    return comment + "\n".join(_block(value, 0)) + "\n"


def _block(value: Mapping[str, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, inner in value.items():
        start = f"{pad}{_scalar(key)}:"
        line = f"{start} {flow_text(inner)}"
        whole = key in ("classes", "children", "apply", "link_efficiency", "interfaces", "applications", "data")
        if (
            not isinstance(inner, dict | list)
            or not inner
            or (len(line) <= WIDTH and not (whole and _nested(inner)))
        ):
            yield line
        elif isinstance(inner, dict):
            yield start
            yield from _block(inner, indent + 2)
        else:
            yield start
            for entry in inner:
                yield from _entry(entry, indent + 2)


def _entry(value: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    line = f"{pad}- {flow_text(value)}"
    if not isinstance(value, dict) or (len(line) <= WIDTH and "name" not in value):
        yield line
        return
    lines = [*_block(value, indent + 2)]
    yield f"{pad}- {lines[0].lstrip()}"
    yield from lines[1:]


def _nested(value: Any) -> bool:
    return any(isinstance(v, dict) for v in (value.values() if isinstance(value, dict) else value))


def flow_text(value: Any) -> str:
    """A value as YAML writes it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {flow_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = str(value)
    plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS
    return text if plain or _QUANTITY.fullmatch(text) else json.dumps(text, ensure_ascii=False)
