"""Problem details (RFC 9457): what the interface answers instead of a result.

Every error of `app/qosforge/errors.py` becomes one; anything else becomes a 500 that tells nothing but the
request's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from qosforge.access.roles import NotAllowed, NotAuthenticated
from qosforge.access.sessions import SessionUnknown
from qosforge.access.testers import TesterUnknown
from qosforge.access.throttle import TooManyAttempts
from qosforge.access.tokens import TokenUnknown
from qosforge.access.users import LastAdmin, NameTaken, UserUnknown
from qosforge.api.jobs.sync import SyncOutdated
from qosforge.artifacts.store import ArtifactMissing
from qosforge.compute import TooBusy, TookTooLong
from qosforge.compute_process import TookTooMuch
from qosforge.database.connections import DatabaseFailed
from qosforge.errors import (
    DeviceError,
    DeviceErrors,
    EngineBusy,
    InputError,
    NotInstalled,
    Place,
    QosforgeError,
    RefusedError,
    ServiceError,
    SourceError,
    StoreError,
    TesterError,
)
from qosforge.inventory.catalogue import DeviceUnknown, NetworkUnknown
from qosforge.policy_library.versions import PolicyMoved, PolicyUnknown
from qosforge.runs.record.invalid_state import WrongState
from qosforge.runs.record.store import RunUnknown
from qosforge.sources.description import SourceMissing
from qosforge.sweeps.sweeps import SweepUnknown
from qosforge.tester.measurement.faults import FaultyMeasurement
from qosforge.webhooks.registry import WebhookDisabled, WebhookUnknown

_LOG = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
"""When a caller may come again after a refusal that passes by itself."""

_TYPE = "urn:qosforge:problem:"


class Mistake(BaseModel):
    """One of the errors behind a problem: what is wrong, where, and the hint; the place as far as it is known."""

    model_config = ConfigDict(extra="allow")

    message: str
    hint: str = ""
    device: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str | None = None
    interface: str | None = None
    direction: str | None = None
    traffic_class: str | None = None


class Problem(BaseModel):
    """A problem by RFC 9457: ``type`` is stable and names the kind, ``instance`` is the request's id."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": _TYPE + "wrong-input",
                    "title": "Wrong input",
                    "status": 422,
                    "detail": "there is no network 'campsu'",
                    "instance": "urn:qosforge:request:0f8fad5bd9cb469fa16570867728950e",
                    "errors": [
                        {"message": "there is no network 'campsu'", "hint": "list the networks", "device": ""}
                    ],
                    "findings": [],
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[Mistake] = Field(default_factory=list, description="Every single error behind it.")
    findings: list[dict[str, Any]] = Field(
        default_factory=list,
        description="The compiler's and the validators' findings, where they stand against it.",
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: the last part of its type, title, status, and the hint where no error has its own."""

    name: str
    title: str
    status: int
    hint: str = ""


MALFORMED = Kind("malformed", "Malformed request", 400, "send the JSON that /api/v1/docs shows")
NOT_AUTHENTICATED = Kind("not-authenticated", "Not authenticated", 401)
NOT_ALLOWED = Kind("not-allowed", "Not allowed", 403)
NOT_FOUND = Kind("not-found", "Not found", 404, "/api/v1/docs shows every address")
WRONG_STATE = Kind("wrong-state", "Wrong state", 409)
NO_METHOD = Kind("method-not-allowed", "Method not allowed", 405, "the header Allow has those that it takes")
TOO_LARGE = Kind("too-large", "Request too large", 413, "send less, or raise QOSFORGE_REQUEST_BYTES of the service")
TOO_LONG = Kind("too-long", "Address too long", 414, "shorten path and query")
WRONG_INPUT = Kind("wrong-input", "Wrong input", 422)
REJECTED = Kind("rejected", "Rejected by findings", 422)
TOO_MANY = Kind("too-many-requests", "Too many requests", 429, "come again after Retry-After seconds")
HEADERS_TOO_LARGE = Kind("headers-too-large", "Request headers too large", 431, "send fewer or shorter headers")
INTERNAL = Kind("internal", "Internal error", 500, "the service's log has it under the id in instance")
NOT_INSTALLED = Kind("not-installed", "Not installed", 501)
DEVICE_FAILED = Kind("device-failed", "A device or tester failed", 502)
SOURCE_FAILED = Kind("source-failed", "The source of an inventory failed", 502)
UNAVAILABLE = Kind("unavailable", "Unavailable", 503)
BUSY = Kind("busy", "Busy", 503, "come again after Retry-After seconds")
TIMED_OUT = Kind("timed-out", "Timed out", 504, "ask for less at once, or raise QOSFORGE_REQUEST_SECONDS")


@dataclass(eq=False)
class TooLarge(InputError):
    """A body longer than the service takes."""


KINDS: dict[type[QosforgeError], Kind] = {
    InputError: WRONG_INPUT,
    RunUnknown: NOT_FOUND,
    WrongState: WRONG_STATE,
    TooLarge: TOO_LARGE,
    ArtifactMissing: NOT_FOUND,
    DeviceUnknown: NOT_FOUND,
    SessionUnknown: NOT_FOUND,
    SweepUnknown: NOT_FOUND,
    NetworkUnknown: NOT_FOUND,
    PolicyUnknown: NOT_FOUND,
    PolicyMoved: WRONG_STATE,
    TesterUnknown: NOT_FOUND,
    TokenUnknown: NOT_FOUND,
    UserUnknown: NOT_FOUND,
    WebhookUnknown: NOT_FOUND,
    WebhookDisabled: WRONG_STATE,
    LastAdmin: WRONG_STATE,
    NameTaken: WRONG_STATE,
    SourceMissing: NOT_FOUND,
    SyncOutdated: WRONG_STATE,
    RefusedError: REJECTED,
    NotAuthenticated: NOT_AUTHENTICATED,
    TooManyAttempts: TOO_MANY,
    NotAllowed: NOT_ALLOWED,
    DeviceError: DEVICE_FAILED,
    DeviceErrors: DEVICE_FAILED,
    TesterError: DEVICE_FAILED,
    SourceError: SOURCE_FAILED,
    StoreError: UNAVAILABLE,
    EngineBusy: UNAVAILABLE,
    TooBusy: BUSY,
    TookTooLong: TIMED_OUT,
    NotInstalled: NOT_INSTALLED,
    TookTooMuch: TIMED_OUT,
    ServiceError: UNAVAILABLE,
}
"""The nearest class of an error's own line decides."""


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route declares of problems beyond those that every route may answer (``responses=`` of FastAPI)."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


def problem_response(
    request_id: str,
    kind: Kind,
    detail: str,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
    findings: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """The answer that tells one problem; without ``errors`` the detail and the kind's hint are the one error."""
    problem = {
        "type": _TYPE + kind.name,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "instance": f"urn:qosforge:request:{request_id}",
        "errors": list(errors) or [InputError(detail, hint=kind.hint).document()],
        "findings": list(findings),
    }
    more = dict(headers or {})
    if kind.status == NOT_AUTHENTICATED.status:
        more.setdefault("WWW-Authenticate", 'Bearer realm="qosforge"')
    if kind.status in (TOO_MANY.status, BUSY.status):
        more.setdefault("Retry-After", str(RETRY_SECONDS))
    return JSONResponse(problem, kind.status, more, media_type=MEDIA_TYPE)


def error_response(request_id: str, error: QosforgeError) -> JSONResponse:
    """The answer for an error of the tree, with every single problem it carries and its findings."""
    kind = next((KINDS[base] for base in type(error).__mro__ if base in KINDS), INTERNAL)
    documents = [_shown(problem).document() for problem in error.problems()]
    findings = [finding.document() for finding in error.findings] if isinstance(error, RefusedError) else []
    headers = {"Retry-After": str(error.seconds)} if isinstance(error, TooManyAttempts) else None
    if isinstance(error, StoreError):
        _LOG.warning("the store failed", error=str(error))
    detail = _shown(error).message
    return problem_response(request_id, kind, detail, errors=documents, findings=findings, headers=headers)


def _shown(error: QosforgeError) -> QosforgeError:
    """An error as callers may read it: where the store is, and what its driver says of it, is for the log alone."""
    if isinstance(error, DatabaseFailed):
        hint = "come again; the service's log has the cause under the id in instance"
        return StoreError("the run store cannot be read or written now", hint=hint)
    if isinstance(error, StoreError):
        return StoreError(error.message, Place(device=error.where.device), error.hint)
    return error


def install_handlers(app: FastAPI) -> None:
    """Make every error of an application's routes a problem."""
    app.add_exception_handler(QosforgeError, _tell)
    app.add_exception_handler(RequestValidationError, _tell_invalid)
    app.add_exception_handler(HTTPException, _tell_http)


def request_id_of(request: Request) -> str:
    """The id of a request, given to it at the door."""
    return str(request.state.request_id)


async def _tell(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, QosforgeError)
    return error_response(request_id_of(request), error)


async def _tell_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # Never the input itself: it may hold a secret, or what JSON cannot say.
    faults = error.errors()
    documents = [document for fault in faults for document in _documents(fault)]
    malformed = any(fault["type"] == "json_invalid" for fault in faults)
    kind = MALFORMED if malformed else WRONG_INPUT
    detail = f"{documents[0]['path']}: {documents[0]['message']}"
    return problem_response(request_id_of(request), kind, detail, errors=documents)


async def _tell_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known = {kind.status: kind for kind in (MALFORMED, NOT_FOUND, NO_METHOD, TOO_LARGE)}
    phrase = HTTPStatus(error.status_code).phrase
    kind = known.get(error.status_code) or Kind(phrase.lower().replace(" ", "-"), phrase, error.status_code)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_allowed(request)) or headers.get("Allow", "")
    return problem_response(request_id_of(request), kind, str(error.detail), headers=headers)


def _allowed(request: Request) -> list[str]:
    """Every method of an address: the router itself tells only those of the first route that has it (RFC 9110)."""
    routes = [one for one in iter_route_contexts(request.app.routes) if isinstance(one.original_route, APIRoute)]
    return sorted(
        {method for one in routes if one.path_regex.match(request.url.path) for method in one.methods or ()}
    )


def _documents(fault: Mapping[str, Any]) -> list[dict[str, str]]:
    """What the model of a body has against it; every fault of its own of a measurement."""
    place = _location(fault["loc"])
    known = fault.get("ctx", {}).get("error")
    if isinstance(known, FaultyMeasurement):
        return [
            {"device": "", "path": f"{place}.{each.path}", "message": each.message, "hint": each.hint}
            for each in known.faults
        ]
    message = str(fault["msg"]).removeprefix("Value error, ")
    return [{"device": "", "path": place, "message": message, "hint": _hint(fault)}]


def _hint(fault: Mapping[str, Any]) -> str:
    match fault["type"]:
        case "missing":
            return "add it"
        case "extra_forbidden":
            return "leave it out, or check how it is spelt: /api/v1/docs has the fields"
        case "json_invalid":
            return "check quotes, commas and brackets"
        case _ if tuple(fault["loc"]) == ("body",):
            return "send a JSON object with the header Content-Type: application/json"
        case _:
            return "/api/v1/docs shows what it takes"


def _location(parts: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in parts)
