"""Login and logout of people."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from pydantic import SecretStr
from starlette.responses import RedirectResponse

from app.access.roles import NotAllowed, NotAuthenticated
from app.access.throttle import TooManyAttempts
from app.api.backend import Backend
from app.api.dependencies import TheBackend
from app.api.routes.login import begin_session, end_session
from app.web.pages import Page, ThePage

router = APIRouter()

FIRST_PAGE = "/"

Target = Annotated[str, Query(max_length=2048)]


@router.get("/login")
def ask(page: ThePage, backend: TheBackend, to: Target = FIRST_PAGE) -> Response:
    """Ask for name and password."""
    return _form(page, backend, to)


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
    """Begin a session; only from this site's own page, so that nobody is logged in as somebody else."""
    _require_own_page(request)
    answer = RedirectResponse(local_path(to), 303)
    try:
        begin_session(backend, request, answer, name, password.get_secret_value())
    except (NotAuthenticated, TooManyAttempts) as error:
        status = 429 if isinstance(error, TooManyAttempts) else 401
        return _form(page, backend, to, status, name=name, error=error)
    return answer


@router.post("/logout")
def log_out(backend: TheBackend, request: Request) -> Response:
    """End the session."""
    answer = Response(status_code=204, headers={"HX-Redirect": "/login"})
    end_session(backend, request, answer)
    return answer


def local_path(to: str) -> str:
    """An address of this site, or the first page: a link to the login must not lead elsewhere after it."""
    local = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if local else FIRST_PAGE


def _require_own_page(request: Request) -> None:
    site = request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise NotAllowed("the form was sent by another site", mend="log in on this site's own page")


def _form(
    page: Page,
    backend: Backend,
    to: str,
    status: int = 200,
    *,
    name: str = "",
    error: NotAuthenticated | TooManyAttempts | None = None,
) -> Response:
    provider = backend.provider is not None
    return page.answer("login.html.j2", status, to=local_path(to), name=name, error=error, provider=provider)
