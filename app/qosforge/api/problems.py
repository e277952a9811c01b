"""Problem details (RFC 9457): the error responses of the API.

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
from starlette.types import Receive, Scope, Send

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
    validator_message,
)
from qosforge.inventory.catalogue import DeviceUnknown, NetworkUnknown
from qosforge.policy_library.versions import PolicyMoved, PolicyUnknown
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.store import RunUnknown
from qosforge.sources.description import SourceMissing
from qosforge.sweeps.sweeps import SweepUnknown
from qosforge.tester.measurement.faults import FaultyMeasurement
from qosforge.webhooks.registry import WebhookDisabled, WebhookUnknown

_LOG = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
"""When a caller may come again after a refusal that passes by itself."""

PROBLEM = "problem"
"""The name in a request's state of the detail of the problem that it is answered with."""

_TYPE = "urn:qosforge:problem:"


class ErrorDetail(BaseModel):
    """One error of a problem: the message, the hint, and the place as far as it is known."""

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
    errors: list[ErrorDetail] = Field(default_factory=list, description="Every single error behind it.")
    findings: list[dict[str, Any]] = Field(
        default_factory=list,
        description="The compiler's and the validators' findings, where they stand against it.",
    )


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A type of problem: the last part of its URI, title, status, and a hint for errors without their own."""

    name: str
    title: str
    status: int
    hint: str = ""


MALFORMED = ProblemType("malformed", "Malformed request", 400, "send the JSON that /api/v1/docs shows")
NOT_AUTHENTICATED = ProblemType("not-authenticated", "Not authenticated", 401)
NOT_ALLOWED = ProblemType("not-allowed", "Not allowed", 403)
NOT_FOUND = ProblemType("not-found", "Not found", 404, "/api/v1/docs shows every address")
WRONG_STATE = ProblemType("wrong-state", "Wrong state", 409)
NO_METHOD = ProblemType("method-not-allowed", "Method not allowed", 405, "the header Allow has those that it takes")
TOO_LARGE = ProblemType(
    "too-large", "Request too large", 413, "send less, or raise QOSFORGE_REQUEST_BYTES of the service"
)
TOO_LONG = ProblemType("too-long", "Address too long", 414, "shorten path and query")
WRONG_INPUT = ProblemType("wrong-input", "Wrong input", 422)
REJECTED = ProblemType("rejected", "Rejected by findings", 422)
TOO_MANY = ProblemType("too-many-requests", "Too many requests", 429, "come again after Retry-After seconds")
HEADERS_TOO_LARGE = ProblemType(
    "headers-too-large", "Request headers too large", 431, "send fewer or shorter headers"
)
INTERNAL = ProblemType("internal", "Internal error", 500, "the service's log has it under the id in instance")
NOT_INSTALLED = ProblemType("not-installed", "Not installed", 501)
DEVICE_FAILED = ProblemType("device-failed", "A device or tester failed", 502)
SOURCE_FAILED = ProblemType("source-failed", "The source of an inventory failed", 502)
UNAVAILABLE = ProblemType("unavailable", "Unavailable", 503)
BUSY = ProblemType("busy", "Busy", 503, "come again after Retry-After seconds")
TIMED_OUT = ProblemType("timed-out", "Timed out", 504, "ask for less at once, or raise QOSFORGE_REQUEST_SECONDS")


@dataclass(eq=False)
class TooLarge(InputError):
    """A body longer than the service takes."""


KINDS: dict[type[QosforgeError], ProblemType] = {
    InputError: WRONG_INPUT,
    RunUnknown: NOT_FOUND,
    InvalidState: WRONG_STATE,
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
    """The problems that a route may answer beyond those of every route (``responses=`` of FastAPI)."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


class ProblemResponse(JSONResponse):
    """A problem document; the state of the request that it answers has its detail, for the audit log."""

    media_type = MEDIA_TYPE

    def __init__(self, problem: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        super().__init__(problem, problem["status"], headers)
        self._detail = str(problem["detail"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"][PROBLEM] = self._detail
        await super().__call__(scope, receive, send)


def problem_response(
    request_id: str,
    kind: ProblemType,
    detail: str,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
    findings: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """The response for one problem; without ``errors`` its detail and its type's hint are the one error."""
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
    return ProblemResponse(problem, more)


def error_response(request_id: str, error: QosforgeError) -> JSONResponse:
    """The response for an error of our tree, with each of its problems and its findings."""
    kind = next((KINDS[base] for base in type(error).__mro__ if base in KINDS), INTERNAL)
    documents = [_public_error(problem).document() for problem in error.problems()]
    findings = [finding.document() for finding in error.findings] if isinstance(error, RefusedError) else []
    headers = {"Retry-After": str(error.seconds)} if isinstance(error, TooManyAttempts) else None
    if isinstance(error, StoreError):
        _LOG.warning("the store failed", error=str(error))
    detail = _public_error(error).message
    return problem_response(request_id, kind, detail, errors=documents, findings=findings, headers=headers)


def _public_error(error: QosforgeError) -> QosforgeError:
    """An error as callers may read it: the place of the store and its driver's message go to the log alone."""
    if isinstance(error, DatabaseFailed):
        hint = "come again; the service's log has the cause under the id in instance"
        return StoreError("the run store cannot be read or written now", hint=hint)
    if isinstance(error, StoreError):
        return StoreError(error.message, Place(device=error.where.device), error.hint)
    return error


def install_handlers(app: FastAPI) -> None:
    """Install handlers that answer every error of an application's routes with a problem."""
    app.add_exception_handler(QosforgeError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)


def request_id_of(request: Request) -> str:
    """The id of a request, which the middleware gave it."""
    return str(request.state.request_id)


async def _answer_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, QosforgeError)
    return error_response(request_id_of(request), error)


async def _answer_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # Never the input itself: it may hold a secret, or what JSON cannot say.
    faults = error.errors()
    documents = [document for fault in faults for document in _documents(fault)]
    malformed = any(fault["type"] == "json_invalid" for fault in faults)
    kind = MALFORMED if malformed else WRONG_INPUT
    detail = f"{documents[0]['path']}: {documents[0]['message']}"
    return problem_response(request_id_of(request), kind, detail, errors=documents)


async def _answer_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known = {kind.status: kind for kind in (MALFORMED, NOT_FOUND, NO_METHOD, TOO_LARGE)}
    phrase = HTTPStatus(error.status_code).phrase
    kind = known.get(error.status_code) or ProblemType(phrase.lower().replace(" ", "-"), phrase, error.status_code)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_allowed_methods(request)) or headers.get("Allow", "")
    return problem_response(request_id_of(request), kind, str(error.detail), headers=headers)


def _allowed_methods(request: Request) -> list[str]:
    """All methods of a path (RFC 9110): the router itself knows only those of the first route that matches."""
    routes = [one for one in iter_route_contexts(request.app.routes) if isinstance(one.original_route, APIRoute)]
    return sorted(
        {method for one in routes if one.path_regex.match(request.url.path) for method in one.methods or ()}
    )


def _documents(fault: Mapping[str, Any]) -> list[dict[str, str]]:
    """The validation errors of a body; for a measurement, each of its own faults."""
    place = _location(fault["loc"])
    known = fault.get("ctx", {}).get("error")
    if isinstance(known, FaultyMeasurement):
        return [
            {"device": "", "path": f"{place}.{each.path}", "message": each.message, "hint": each.hint}
            for each in known.faults
        ]
    message = validator_message(str(fault["msg"]))
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
