"""Errors: problems that the service tells (RFC 9457), and a service that is not reached."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from qosforge_client.models import Finding

_TYPE = "urn:qosforge:problem:"


class QosforgeClientError(Exception):
    """Whatever this package raises."""


class Unreachable(QosforgeClientError):
    """The service could not be reached, or what answers is no qosforge service."""


class StillRunning(QosforgeClientError):
    """A run is not over after the time to wait; it goes on by itself."""

    def __init__(self, run_id: str, seconds: float) -> None:
        super().__init__(f"run {run_id} is not over after {seconds:g} s; it goes on by itself")
        self.run_id = run_id


class ErrorDetail(BaseModel):
    """One error of a problem: the message, the hint, and the place as far as it is known."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    message: str
    hint: str = ""
    device: str = ""
    file: str | None = None
    line: int | None = None
    path: str | None = None


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str
    title: str
    status: int
    detail: str
    instance: str = ""
    errors: tuple[ErrorDetail, ...] = ()
    findings: tuple[Finding, ...] = ()


class Problem(QosforgeClientError):
    """A problem that the service told.

    ``kind`` is the last part of its type, such as ``wrong-input``; ``instance`` is the request's id, under which
    the service's log has it.
    """

    def __init__(self, body: _Body) -> None:
        hints = [error.hint for error in body.errors if error.hint]
        super().__init__(f"{body.detail} ({hints[0]})" if hints else body.detail)
        self.type = body.type
        self.title = body.title
        self.status = body.status
        self.detail = body.detail
        self.instance = body.instance
        self.errors = body.errors
        self.findings = body.findings

    @property
    def kind(self) -> str:
        """The last part of the type."""
        return self.type.removeprefix(_TYPE)


class NotAuthenticated(Problem):
    """The token is unknown, expired or revoked (401)."""


class NotAllowed(Problem):
    """The token's role does not allow it (403)."""


class NotFound(Problem):
    """There is no such run, policy, network or device (404)."""


class Conflict(Problem):
    """The run or policy is in another state than the call takes (409)."""


class WrongInput(Problem):
    """The request is wrong; ``errors`` says where (400, 413, 422)."""


class Rejected(WrongInput):
    """Findings stand against the policy; ``findings`` has them."""


class DeviceFailed(Problem):
    """A device, a tester or the source of an inventory failed (502)."""


class Unavailable(Problem):
    """The service is busy, starts, or took too long; try again (429, 503, 504)."""


_BY_STATUS: Mapping[int, type[Problem]] = {
    400: WrongInput,
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    413: WrongInput,
    422: WrongInput,
    429: Unavailable,
    502: DeviceFailed,
    503: Unavailable,
    504: Unavailable,
}


def error_of(status: int, body: bytes, url: str) -> QosforgeClientError:
    """The error of an answer that is no success."""
    try:
        read: Any = json.loads(body)
        problem = _Body.model_validate(read)
    except (ValueError, ValidationError):
        return Unreachable(f"{url} answers {status}, and not as a qosforge service does: is this its address?")
    if problem.type == _TYPE + "rejected":
        return Rejected(problem)
    return _BY_STATUS.get(status, Problem)(problem)
