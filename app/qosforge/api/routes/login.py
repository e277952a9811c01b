"""Web sessions: login by password or by an OpenID Connect provider, and logout. These calls need no role."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from qosforge.access.browsers import KNOWN
from qosforge.access.clients import Client, client_of
from qosforge.access.credentials import new_secret
from qosforge.access.oidc import Provider
from qosforge.access.roles import NotAuthenticated
from qosforge.access.sessions import CSRF_HEADER, LONGEST, cookie_name, cookie_path, is_secure
from qosforge.access.users import is_user
from qosforge.api.access_models import LoginCredentials, Me
from qosforge.api.backend import Backend
from qosforge.api.dependencies import TheBackend
from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.api.problems import responses
from qosforge.api.routes.me import me_of

router = APIRouter(tags=["login"])

FIRST_PAGE = "/"

_LOGIN_SECONDS = 600  # from the start of a login by a provider to its end

# RFC 6749, appendix A: printable ASCII.
Answer = Annotated[str | None, Query(max_length=2048, pattern=r"^[ -~]*$")]


@router.post("/login", summary="Log in by name and password", responses=responses(401, 429))
def log_in(body: LoginCredentials, backend: TheBackend, request: Request, response: Response) -> Me:
    """Log in by name and password: sets the session cookie and returns the CSRF token of changing calls."""
    cookie = begin_session(backend, request, response, body.name, body.password.get_secret_value())
    return me_of(backend.access.session(cookie), cookie)


@router.post("/logout", summary="Log out", status_code=204, responses=responses(401, 403))
def log_out(backend: TheBackend, request: Request, response: Response) -> None:
    """End the web session."""
    end_session(backend, request, response)


def begin_session(backend: Backend, request: Request, response: Response, name: str, password: str) -> str:
    """Open a session by name and password, set its cookie, and return it.

    Raises:
        NotAuthenticated: there is no such user, or the password is wrong.
        TooManyAttempts: too many logins of this name or address failed.
    """
    known_name = is_user(backend.database, name)  # any other may be a password, typed into the wrong field
    audit = _start_audit_entry(request, f"users/{name}" if known_name else "")
    client = _client(request)
    audit.address = client.address or ""  # kept only where it fails: else it is the session's
    audit.open(backend.access, request.state.request_id)
    browser = f"{cookie_name(backend.settings)}-browser"
    cookie, known = backend.access.log_in(name, password, client, request.cookies.get(browser))
    audit.actor, audit.credential, audit.address = name, "session", ""
    _change_session(backend, request, response, cookie)
    if known is not None:
        _set_cookie(backend, response, browser, known, int(KNOWN.total_seconds()))
    return cookie


def end_session(backend: Backend, request: Request, response: Response) -> None:
    """End the session of a request with its CSRF token, and delete the cookie.

    Raises:
        NotAuthenticated, NotAllowed: there is no such session, or the call is none of its own.
    """
    audit = _start_audit_entry(request, "session")
    cookie = request.cookies.get(cookie_name(backend.settings))
    if cookie is None:
        raise NotAuthenticated("the call carries no session", hint="log in first")
    audit.actor, audit.credential = backend.access.session(cookie).name, "session"
    backend.access.check_csrf(cookie, request.headers.get(CSRF_HEADER))
    audit.open(backend.access, request.state.request_id)
    backend.access.log_out(cookie)
    _delete_cookie(backend, response, cookie_name(backend.settings))


@router.get(
    "/login/oidc",
    summary="Log in by a provider",
    status_code=303,
    response_class=RedirectResponse,
    responses={303: {"description": "To the provider."}, **responses(404)},
)
def begin_login(
    backend: TheBackend,
    to: Annotated[str, Query(max_length=1024, description="Where on this site the browser goes after it.")] = "",
) -> RedirectResponse:
    """Redirect the browser to the OpenID Connect provider, where one is configured."""
    secret = new_secret()
    answer = RedirectResponse(_provider(backend).begin(secret), 303)
    kept = f"{secret}.{urlsafe_b64encode(to.encode()).decode()}" if to else secret
    _set_cookie(backend, answer, _login_cookie(backend), kept, _LOGIN_SECONDS)
    return answer


@router.get(
    "/login/oidc/callback",
    summary="Return from a provider's login",
    status_code=303,
    response_class=RedirectResponse,
    responses={303: {"description": "Logged in: to the page that was asked for."}, **responses(401, 404)},
)
def finish_login(
    *,
    backend: TheBackend,
    request: Request,
    state: Answer = None,
    code: Answer = None,
    iss: Answer = None,
    error: Answer = None,
) -> RedirectResponse:
    """The provider's callback: opens a web session if the provider's subject is a user here."""
    provider = _provider(backend)
    audit = _start_audit_entry(request, "session")
    kept = request.cookies.get(_login_cookie(backend))
    if kept is None:
        raise NotAuthenticated("this browser began no login, or too long ago", hint="begin the login again")
    secret, _, to = kept.partition(".")
    given = {"state": state, "code": code, "iss": iss, "error": error}
    subject = provider.finish(secret, {name: value for name, value in given.items() if value is not None})
    client = _client(request)
    audit.detail, audit.address = {"issuer": provider.issuer, "subject": subject}, client.address or ""
    audit.open(backend.access, request.state.request_id)
    name, cookie = backend.access.log_in_by_provider(provider.issuer, subject, client)
    audit.actor, audit.credential, audit.address = name, "session", ""
    answer = RedirectResponse(_page_of(to), 303)
    _delete_cookie(backend, answer, _login_cookie(backend))
    _change_session(backend, request, answer, cookie)
    return answer


def local_path(to: str) -> str:
    """A path of this site, else the first page: a link to the login must not redirect elsewhere."""
    local = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if local else FIRST_PAGE


def _page_of(kept: str) -> str:
    try:
        return local_path(urlsafe_b64decode(kept).decode())
    except ValueError:  # the cookie is not as it was set
        return FIRST_PAGE


def _provider(backend: Backend) -> Provider:
    if backend.provider is None:
        raise HTTPException(404, "no login provider is set up")
    return backend.provider


def _client(request: Request) -> Client:
    return client_of(request.client.host if request.client else None, request.headers.get("user-agent"))


def _start_audit_entry(request: Request, resource: str) -> AuditEntry:
    audit = AuditEntry(f"{request.method} {request.url.path}", resource=resource)
    request.state.audit = audit
    return audit


def _change_session(backend: Backend, request: Request, response: Response, cookie: str) -> None:
    """Set the cookie of the new session and end the old one."""
    name = cookie_name(backend.settings)
    if old := request.cookies.get(name):
        backend.access.log_out(old)
    _set_cookie(backend, response, name, cookie, int(LONGEST.total_seconds()))


def _set_cookie(backend: Backend, response: Response, name: str, value: str, seconds: int) -> None:
    # Lax, not strict: the way back from a provider comes from its site.
    settings = backend.settings
    response.set_cookie(
        name,
        value,
        seconds,
        secure=is_secure(settings),
        httponly=True,
        samesite="lax",
        path=cookie_path(settings),
    )


def _delete_cookie(backend: Backend, response: Response, name: str) -> None:
    settings = backend.settings
    response.delete_cookie(name, cookie_path(settings), secure=is_secure(settings), httponly=True)


def _login_cookie(backend: Backend) -> str:
    return cookie_name(backend.settings) + "-login"
