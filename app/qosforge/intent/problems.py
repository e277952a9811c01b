"""Translate Pydantic's validation errors to problems with a place, the value and a hint."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from qosforge.errors import InputError, validator_message
from qosforge.intent.yaml_source import Path_, YamlDocument
from qosforge.units import shortened

_EXPECTED = {
    "string_type": ("text", "write text, in quotes if it looks like a number or a date"),
    "string_unicode": ("text", "use characters that are text"),
    "int_type": ("a whole number", "write a whole number such as 50"),
    "int_from_float": ("a whole number", "write a whole number such as 50"),
    "int_parsing": ("a whole number", "write a whole number such as 50"),
    "bool_type": ("true or false", "write true or false"),
    "bool_parsing": ("true or false", "write true or false"),
    "tuple_type": ("a list", "write a list such as [a, b]"),
    "list_type": ("a list", "write a list such as [a, b]"),
    "frozen_set_type": ("a list", "write a list such as [a, b]"),
    "dict_type": ("a mapping", "write keys with values such as {key: value}"),
    "model_type": ("a mapping", "write keys with values such as {key: value}"),
}
"""Pydantic's error types with what is expected and how it is written."""

_EMPTY_LISTS = {
    "any": ("the class has no packets", "choose an application or a mark for this class"),
    "apply": ("the policy applies nowhere yet", "add a scope: in which direction, and on which ports"),
    "classes": ("there is no class here", "add or choose 1 class at least"),
}
"""What a list without an entry means, by its key, and what to do."""

_BOUNDS = {"less_than_equal": ("le", "at most"), "greater_than_equal": ("ge", "at least")}
"""Pydantic's error types about bounds: the name of the bound, and how it is told."""


def as_problem(
    document: YamlDocument, details: ErrorDetails, model: type[BaseModel], base: Path_ = (), inside: Path_ = ()
) -> InputError:
    """One problem of a validation; what was validated by ``model`` stands at ``base`` of the document.

    ``inside`` leads from the model to what was validated, where that is a part of it.
    """
    loc = details["loc"]
    own = _real_path(_at(document.data, base), loc)
    path = (*base, *own)
    kind = details["type"]
    if kind == "extra_forbidden":
        siblings = keys_at(model, (*inside, *own[:-1]))
        near = get_close_matches(str(loc[-1]), siblings, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(siblings)}"
        return InputError(f"unknown key {shortened(loc[-1])}", document.key_place(path), hint)
    if kind == "missing" and isinstance(loc[-1], int):
        message = f"{shortened(details['input'])} has too few values"
        return InputError(message, document.place(path), f"write {loc[-1] + 1} of them at least")
    if kind == "too_short":
        hint = f"give {details['ctx']['min_length']} at least"
        if details["input"]:
            return InputError(f"{shortened(details['input'])} has too few entries", document.place(path), hint)
        message, hint = _EMPTY_LISTS.get(str(path[-1]) if path else "", ("nothing is listed here", hint))
        return InputError(message, document.place(path), hint)
    if kind == "too_long":
        # Reading stops at the bound, so how many there are is looked up.
        given, most = _at(document.data, path), details["ctx"]["max_length"]
        count = len(given) if isinstance(given, list | dict) else details["ctx"]["actual_length"]
        return InputError(f"{count:,} entries are too many here", document.place(path), f"give at most {most:,}")
    if kind == "string_too_short":
        message = f"{shortened(details['input'])} is too short" if details["input"] else "nothing is written here"
        return InputError(message, document.place(path), f"write at least {details['ctx']['min_length']} character")
    if kind == "string_too_long":
        message = f"{shortened(details['input'])} is too long"
        return InputError(message, document.place(path), f"write at most {details['ctx']['max_length']} characters")
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        message = f"{shortened(details['input'])} is not possible here"
        return InputError(message, document.place(path), f"give {words} {details['ctx'][bound]}")
    if kind == "missing":
        return InputError(f"missing key {str(loc[-1])!r}", document.place(path), "add it")
    if kind == "value_error":
        said = validator_message(details["msg"])
        quoted = shortened(details["input"])  # may have a colon of its own
        begin = len(quoted) if said.startswith(quoted) else 0
        message, _, hint = said[begin:].partition(": ")
        return InputError(said[:begin] + message, document.place(path), hint)
    if kind in _EXPECTED:
        expected, hint = _EXPECTED[kind]
        if isinstance(details["input"], date) and kind == "string_type":
            written = shortened(details["input"])
            return InputError(
                f"{written} is a date, not text", document.place(path), f'write it in quotes: "{written}"'
            )
        return InputError(f"{shortened(details['input'])} is not {expected}", document.place(path), hint)
    message = f"{shortened(details['input'])} is not possible here"
    return InputError(message, document.place(path), details["msg"][:1].lower() + details["msg"][1:])


def _at(data: Any, path: Path_) -> Any:
    for part in path:
        data = data[part]
    return data


def _real_path(data: Any, loc: Path_) -> Path_:
    """The part of Pydantic's location that exists in the document (it adds names of its own for unions)."""
    path: list[str | int] = []
    for part in loc:
        if isinstance(data, dict):
            present = part in data
        else:
            present = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if present:
            data = data[part]
            path.append(part)
    return tuple(path)


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def keys_at(model: type[BaseModel], path: Path_) -> list[str]:
    """The keys that a model knows at a path."""
    nodes = list(_branches(_schema(model), _schema(model)))
    for part in path:
        below = [
            node["items"] if isinstance(part, int) else node["properties"][part]
            for node in nodes
            if ("items" in node if isinstance(part, int) else part in node.get("properties", {}))
        ]
        nodes = [branch for node in below for branch in _branches(node, _schema(model))]
    return list(dict.fromkeys(key for node in nodes for key in node.get("properties", {})))


def _branches(node: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema node with references followed and alternatives spread."""
    if "$ref" in node:
        yield from _branches(schema["$defs"][node["$ref"].rpartition("/")[2]], schema)
    for alternative in (*node.get("anyOf", ()), *node.get("allOf", ())):
        yield from _branches(alternative, schema)
    yield node
