"""Login and logout of people."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Query, Request, Response
from pydantic import SecretStr
from starlette.responses import RedirectResponse

from qosforge.access.roles import NotAllowed, NotAuthenticated
from qosforge.access.throttle import TooManyAttempts
from qosforge.api.backend import Backend
from qosforge.api.dependencies import TheBackend
from qosforge.api.routes.login import FIRST_PAGE, begin_session, end_session, local_path
from qosforge.settings import Settings
from qosforge.web.pages import Page, ThePage
from qosforge.web.sections import section_of

router = APIRouter()

Target = Annotated[str, Query(max_length=2048)]


@router.get("/login")
def ask(
    page: ThePage,
    backend: TheBackend,
    to: Target = FIRST_PAGE,
    because: Annotated[str, Query(max_length=32)] = "",
) -> Response:
    """The login form; ``because``: why somebody who was logged in sees it."""
    return _form(page, backend, to, because=because)


@router.post("/login")
def log_in(
    *,
    page: ThePage,
    backend: TheBackend,
    request: Request,
    name: Annotated[str, Form(max_length=128)],
    password: Annotated[SecretStr, Form(max_length=1024)],
    to: Annotated[str, Form(max_length=2048)] = FIRST_PAGE,
) -> Response:
    """Open a session; only from this site's own form, so that no other site logs a browser in."""
    _require_own_page(request, backend.settings)
    answer = RedirectResponse(local_path(to), 303)
    try:
        begin_session(backend, request, answer, name.strip(), password.get_secret_value())
    except NotAuthenticated as error:
        request.state.audit.reason = error.message
        return _form(page, backend, to, 401, name=name, error=error)
    except TooManyAttempts as error:
        request.state.audit.reason = error.message
        refused = _form(page, backend, to, 429, name=name, error=error, wait=error.seconds)
        refused.headers["Retry-After"] = str(error.seconds)
        return refused
    return answer


@router.post("/logout")
def log_out(backend: TheBackend, request: Request) -> Response:
    """End the session; one that has ended already is no error."""
    answer = Response(status_code=204, headers={"HX-Redirect": "/login?because=logged-out"})
    try:
        end_session(backend, request, answer)
    except NotAuthenticated:
        request.state.audit = None  # nothing was changed
    return answer


def _require_own_page(request: Request, settings: Settings) -> None:
    """Require this site's own form: another site must not log a browser in under its own account.

    Browsers say by ``Sec-Fetch-Site`` where a form comes from; without TLS they say ``Origin`` alone.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        own = site in ("same-origin", "none")
    else:
        here = {request.headers.get("host"), urlsplit(settings.public_url or "").netloc}
        own = origin is None or urlsplit(origin).netloc in here - {""}
    if not own:
        raise NotAllowed("the form was sent by another site", hint="log in on this site's own page")


def _form(
    page: Page,
    backend: Backend,
    to: str,
    status: int = 200,
    *,
    name: str = "",
    because: str = "",
    error: NotAuthenticated | TooManyAttempts | None = None,
    wait: int = 0,
) -> Response:
    return page.answer(
        "login.html.j2",
        status,
        to=local_path(to),
        name=name,
        because=because,
        error=error,
        wait=wait,
        provider=backend.provider is not None,
        section=section_of(page, urlsplit(local_path(to)).path),
    )
