"""The engine's records as JSON: step results, workflow arguments and errors. Never pickle."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

from qosforge.artifacts.store import canonical_json
from qosforge.errors import InputError, InputErrors, Place, QosforgeError
from qosforge.runs.engine.port import RecordedError

NAME = "qosforge_json"
"""Stands beside every record, so that another encoding is never taken for this one."""

_ERROR = "qosforge.error"
_RENAMED = {"WrongState": "InvalidState", "LeaseHeld": "DeviceLocked"}
"""Error classes by the names under which earlier releases recorded them."""


def encode(value: Any) -> str:
    """``value`` as JSON text; exceptions become a tagged object with message, place and hint.

    Raises:
        TypeError, ValueError: something in it is not JSON.
    """
    return canonical_json({_ERROR: _error_fields(value)} if isinstance(value, BaseException) else value)


def decode(text: str) -> Any:
    """The value that :func:`encode` wrote; errors come back as the nearest class of our error tree."""
    value = json.loads(text)
    if isinstance(value, dict) and value.keys() == {_ERROR}:
        return _error(value[_ERROR])
    return value


def require_plain_json(value: Any, what: str) -> Any:
    """``value`` itself, if it survives the record unchanged.

    Raises:
        TypeError: it does not: a first run and a recovered one would see different things.
    """
    try:
        same = json.loads(canonical_json(value)) == value
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} is not plain JSON: {error}") from error
    if not same:
        raise TypeError(f"{what} is not plain JSON: it holds tuples, or keys that are not text")
    return value


def _error_fields(error: BaseException) -> dict[str, Any]:
    if not isinstance(error, QosforgeError):
        return {"types": [type(error).__name__], "message": str(error)}
    place = {name: getattr(error.where, name) for name in Place.__dataclass_fields__}
    fields: dict[str, Any] = {
        "types": [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, QosforgeError)],
        "message": error.message,
        "where": {name: value for name, value in place.items() if value is not None},
        "hint": error.hint,
    }
    if isinstance(error, InputErrors):
        fields["errors"] = [_error_fields(one) for one in error.errors]
    return fields


def _error(fields: dict[str, Any]) -> QosforgeError:
    known = {kind.__name__: kind for kind in _tree(QosforgeError) if _takes_base_fields(kind)}
    names = [_RENAMED.get(name, name) for name in fields["types"]]
    kind = next((known[name] for name in names if name in known), None)
    if kind is None:
        return RecordedError(f"{fields['types'][0]}: {fields['message']}")
    error = kind(fields["message"], Place(**fields["where"]), fields["hint"])
    if isinstance(error, InputErrors):
        problems = [_error(one) for one in fields.get("errors", [])]
        error.errors = [one for one in problems if isinstance(one, InputError)]
    return error


def _takes_base_fields(kind: type[QosforgeError]) -> bool:
    """Whether message, place and hint are enough to make one (a class may have an ``__init__`` of its own)."""
    parameters = list(inspect.signature(kind).parameters.values())
    return [parameter.name for parameter in parameters[:3]] == ["message", "where", "hint"] and all(
        parameter.default is not parameter.empty for parameter in parameters[3:]
    )


def _tree(kind: type[QosforgeError]) -> Iterator[type[QosforgeError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)
