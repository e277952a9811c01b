"""Turns problem details (RFC 9457) of a service back into the errors that they describe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from qosforge.access.roles import NotAllowed, NotAuthenticated
from qosforge.errors import (
    DeviceErrors,
    InputError,
    InputErrors,
    Place,
    QosforgeError,
    RefusedError,
    ServiceError,
)
from qosforge.findings import Finding

_E = TypeVar("_E", bound=QosforgeError)
_LONGEST = 500
_PLACE = ("file", "line", "column", "path", "device", "interface", "direction", "traffic_class")


@dataclass(eq=False)
class RejectedByService(RefusedError):
    """The service rejected the request because of its ``findings``."""

    findings: tuple[Finding, ...] = field(default=())


def error_of(status: int, body: bytes, url: str) -> QosforgeError:
    """The error of a response; one without a problem document is described by its status."""
    problem = _problem(body)
    if problem is None:
        hint = "is this the address of a qosforge service?" if status in (301, 302, 307, 308, 404, 405) else ""
        kind = InputError if status in (404, 405) else ServiceError
        return kind(f"the service answered with status {status}", Place(path=url), hint)
    detail = _text(problem.get("detail")) or _text(problem.get("title")) or f"status {status}"
    entries = [entry for entry in problem.get("errors") or () if isinstance(entry, Mapping)]
    findings = tuple(_findings(problem.get("findings")))
    first = entries[0] if entries else {}
    hint = _text(first.get("hint"))
    where = _place(first)
    match status:
        case 401:
            return NotAuthenticated(detail, Place(path=url), hint="set QOSFORGE_TOKEN to a token that is valid")
        case 403:
            return NotAllowed(detail, Place(path=url), hint)
        case _ if findings:
            return RejectedByService(detail, where, hint, findings)
        case 422 if str(problem.get("type", "")).endswith(":rejected"):
            return RejectedByService(detail, where, hint)
        case 502:
            errors: list[QosforgeError] = [_one(ServiceError, entry) for entry in entries]
            errors = errors or [ServiceError(detail, where, hint)]
            return DeviceErrors(detail, Place(path=url), "", errors)
        case _ if status < 500 and status not in (408, 429):
            if len(entries) > 1:
                return InputErrors(detail, where, "", [_one(InputError, entry) for entry in entries])
            return InputError(_text(first.get("message")) or detail, where, hint)
        case _:
            return ServiceError(f"the service: {detail}", Place(path=url), hint or "try again later")


def _problem(body: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(body)
    except ValueError:
        return None
    return read if isinstance(read, dict) and ("detail" in read or "title" in read) else None


def _one(kind: type[_E], entry: Mapping[str, Any]) -> _E:
    return kind(_text(entry.get("message")) or "is wrong", _place(entry), _text(entry.get("hint")))


def _place(entry: Mapping[str, Any]) -> Place:
    place: dict[str, Any] = {}
    for name in _PLACE:
        value = entry.get(name)
        if name in ("line", "column"):
            place[name] = value if isinstance(value, int) else None
        else:
            place[name] = _text(value) or None
    return Place(**place)


def _findings(entries: object) -> list[Finding]:
    return [found for entry in entries if (found := finding_of(entry))] if isinstance(entries, list) else []


def finding_of(entry: object) -> Finding | None:
    """A finding from its document (`Finding.document`); ``None`` for what is none."""
    if not isinstance(entry, Mapping):
        return None
    fields = {"traffic_class" if name == "class" else name: value for name, value in entry.items()}
    try:
        return Finding.model_validate(fields)
    except ValidationError:
        return None


def _text(value: object) -> str:
    """One bounded line; what a service sends goes to a terminal."""
    if not isinstance(value, str):
        return ""
    line = "".join(c if c.isprintable() else " " for c in value)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
